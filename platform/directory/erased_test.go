package directory_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/db"
)

// TestErasedUsersAreForgotten checks that a server does not find a user by a cached public id once it knows that the user is being
// erased, and that a request that still finds the row does not cache it again.
func TestErasedUsersAreForgotten(t *testing.T) {
	n := newNetwork(t)
	name := nameDecidedAt(region.EU)
	id := claim(t, n.at(region.EU), name)
	d, st := n.serverAt(region.SG)
	require.Equal(t, id, lookup(t, d, name))

	st.Routes().Put(db.Route{UserID: id, Home: region.EU, To: region.EU, State: db.RouteErasing, Version: 1}, nil)
	require.Equal(t, id, lookup(t, d, name), "the row is still there")
	other := n.at(region.US)
	require.Equal(t, id, lookup(t, other, name))
	require.NoError(t, n.at(region.EU).Release(t.Context(), name, id))
	require.Empty(t, lookup(t, d, name))
	require.Equal(t, id, lookup(t, other, name), "the other server does not know about the erasure")
}
