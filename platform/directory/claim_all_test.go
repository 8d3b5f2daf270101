package directory_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/region"
)

// TestClaimAll claims ids that are decided in all homes, one of which is claimed already, and finds copies at the homes of the
// users.
func TestClaimAll(t *testing.T) {
	n := newNetwork(t)
	d := n.at(region.EU)
	known := nameDecidedAt(region.SG)
	knownID := claim(t, d, known)
	newIDs := map[string]string{known: region.NewID(region.EU)}
	for _, home := range region.All() {
		newIDs[nameLike("new", home)] = region.NewID(region.US)
	}
	claimed, err := d.ClaimAll(t.Context(), newIDs)
	require.NoError(t, err)
	require.Len(t, claimed, len(newIDs))
	for publicID, id := range newIDs {
		if publicID == known {
			id = knownID
		}
		require.Equal(t, id, claimed[publicID])
		require.Equal(t, id, d.Known(publicID))
		require.Equal(t, id, lookup(t, n.at(region.SG), publicID))
		homes := n.homesOf(publicID)
		require.Equal(t, id, homes[d.HomeOf(publicID)])
		require.Equal(t, id, homes[region.US], "the home of the user")
	}
}
