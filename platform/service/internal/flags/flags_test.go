package flags

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/servicetest"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

func TestAdministratorsCannotFlag(t *testing.T) {
	t.Parallel()
	policy := Policy{settings: store.Settings{IsReportEnabled: true}}
	_, err := policy.Flag(&service.Request{Caller: servicetest.Admin()}, store.FlagPost, "p", &plazav1.FlagPostRequest{}, time.Time{})
	require.Equal(t, fail.CodeForbidden, fail.From(err).Code)
	_, err = Unflag(&service.Request{Caller: servicetest.Admin()}, "p")
	require.Equal(t, fail.CodeForbidden, fail.From(err).Code)
}

func TestMine(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		flagged bool
		caller  *auth.Caller
		want    bool
	}{
		{true, servicetest.User(t, "me"), true},
		{false, servicetest.User(t, "me"), false},
		{true, servicetest.Admin(), false},
	} {
		got := (&Mine{flagged: test.flagged}).Response(test.caller)
		require.Equal(t, test.want, got.GetResult())
		require.Equal(t, test.want, got.GetIsFlagByMe())
	}
}
