package community

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store/communities"
)

func TestRecommend(t *testing.T) {
	t.Parallel()
	community := func(id string, users float64, categories ...string) ranked {
		return ranked{Rankable: communities.Rankable{ID: id, CategoryIDs: categories}, score: int64(users * oneUser)}
	}
	caller := taste{
		followed: map[string]int{"friends": 3, "crowd": 100, "mine": 50}, categories: map[string]bool{"music": true},
		excluded: map[string]bool{"mine": true},
	}
	list := caller.recommend([]ranked{
		community("mine", 9), community("busy", 3.5), community("friends", 0.25), community("crowd", 0), community("music", 2, "art", "music"),
		community("equal-b", 3), community("equal-a", 3, "art"), community("quiet", 0),
	})
	ids := service.Map(list, func(c ranked) string { return c.ID })
	require.Equal(t, []string{"crowd", "busy", "friends", "music", "equal-b", "equal-a", "quiet"}, ids)
	require.Equal(t, int64(10*oneUser), list[0].score, "ten followed members count")
	require.Equal(t, int64(3*oneUser), list[3].score, "a shared category counts as a user")
}

func TestRankKeysAreInTheOrderOfScores(t *testing.T) {
	t.Parallel()
	require.Less(t, ranked{score: 9}.key(), ranked{score: 10}.key())
	require.Less(t, ranked{score: 999_999_999}.key(), ranked{score: 10 * 2100 * oneUser}.key())
}
