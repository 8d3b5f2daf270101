package service

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/db"
)

func TestRequestOfAdministrator(t *testing.T) {
	r := &Request{Caller: &auth.Caller{Kind: auth.Admin}}
	require.Nil(t, r.User())
	require.Empty(t, r.UserRows())
	require.ErrorIs(t, r.RequireUser(), errNoAccount)
	require.ErrorIs(t, RequireAccount(r.Caller), errNoAccount)
	require.NoError(t, RequireAccount(&auth.Caller{Kind: auth.User}))
}

// TestAfterRun tests that the steps of a request run in order, after the caller is confirmed, and stop at the first
// error.
func TestAfterRun(t *testing.T) {
	newRequest := func() (*Request, *[]string) {
		r, steps := &Request{ReadBatch: store.New(new(db.DB)).NewReadBatch()}, &[]string{}
		r.AfterRun(func(context.Context) error { *steps = append(*steps, "first"); return nil })
		return r, steps
	}
	ctx := auth.WithCaller(t.Context(), &auth.Caller{Kind: auth.Admin})
	r, steps := newRequest()
	refused := errors.New("refused")
	r.AfterRun(func(context.Context) error { *steps = append(*steps, "second"); return refused })
	r.AfterRun(func(context.Context) error { *steps = append(*steps, "third"); return nil })
	require.ErrorIs(t, r.Run(ctx), refused)
	require.Equal(t, []string{"first", "second"}, *steps)

	r, steps = newRequest()
	require.Equal(t, fail.CodeUnauthorized, fail.From(r.Run(t.Context())).Code)
	require.Empty(t, *steps, "an anonymous caller gets no further")
}

// TestChecks tests the requests whose Run makes checks of their own.
func TestChecks(t *testing.T) {
	admin := &auth.Caller{Kind: auth.Admin}
	ctx := auth.WithCaller(t.Context(), admin)
	d := &Deps{Store: store.New(new(db.DB))}
	require.ErrorIs(t, d.NewUserRequest(ctx).Run(ctx), errNoAccount)
	require.NoError(t, d.NewPrivilegedRequest(ctx, auth.BanUser).Run(ctx))

	r := d.NewRequest(ctx)
	r.CheckID("malformed")
	r.Check(func() error { t.Error("made after a failed check"); return nil })
	require.ErrorIs(t, r.Run(ctx), fail.NotFound())
	r = d.NewRequest(ctx)
	r.CheckID(region.NewID(region.EU))
	require.NoError(t, r.Run(ctx))
}

func TestResponses(t *testing.T) {
	require.True(t, Success().GetSuccess())
	require.Equal(t, "success", StatusSuccess().GetStatus())
	require.True(t, StatusSuccess().GetSuccess() && StatusSuccess().GetData().GetSuccess())
	require.Zero(t, Millis().Nanosecond()%int(time.Millisecond))
}
