package flags

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/servicetest"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/db"
)

// TestAdministrators tests that administrators have no flags. The requests read nothing: there is no database.
func TestAdministrators(t *testing.T) {
	t.Parallel()
	admin := servicetest.Admin()
	ctx := auth.WithCaller(t.Context(), admin)
	newRequest := func() *service.Request {
		return &service.Request{ReadBatch: (&store.Store{DB: new(db.DB)}).NewReadBatch(), Caller: admin}
	}
	r := newRequest()
	Remove(r)
	require.Equal(t, fail.CodeForbidden, fail.From(r.Run(ctx)).Code)

	got, err := Mine(ctx, newRequest(), "malformed")
	require.NoError(t, err)
	require.False(t, got.GetResult() || got.GetIsFlagByMe())
}
