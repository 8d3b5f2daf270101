package store_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/core"
)

// TestCountsOfUnusedReactions adds and removes reactions of many names. The rows of their counts must not stay.
func TestCountsOfUnusedReactions(t *testing.T) {
	s := openNew(t)
	ref, user := region.NewID(region.EU), region.NewID(region.EU)
	const names = 60
	other := region.NewID(region.EU)
	w := s.NewTx(region.EU)
	w.Count(other, core.CountReactions("name-1"), +1)
	commit(t, w)
	for i := range names {
		r := content.Reaction{
			ReferenceType: "post", ReferenceID: ref, UserID: user, UserPublicID: "u", Name: fmt.Sprint("name-", i), ID: region.NewID(region.EU),
			CreatedAt: time.Now(),
		}
		w := s.NewTx(region.EU)
		w.GuardReactionNames(ref, 3, core.ErrConflict)
		w.InsertReaction(r, core.ErrConflict)
		commit(t, w)
		if i%30 == 0 { // these stay
			continue
		}
		w = s.NewTx(region.EU)
		w.DeleteReaction(r, core.ErrConflict)
		commit(t, w)
	}
	counts := core.Counts{}
	reads := s.NewReadBatch()
	reads.CountsOf([]string{ref}, counts)
	require.NoError(t, reads.Run(t.Context()))
	require.Equal(t, map[string]int64{"name-0": 1, "name-30": 1}, counts.Reactions(ref))
	require.Equal(t, map[string]int64{"name-1": 1}, countsOf(t, s, other).Reactions(other), "of another reference")
	require.Len(t, counts[ref], 3, "those and the last that was removed: %v", counts[ref])
}
