package view

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

func TestFlagItem(t *testing.T) {
	t.Parallel()
	target := region.NewID(region.SG)
	users := []store.User{{ID: "moderator", PublicID: "mona"}, {ID: "flagger", PublicID: "finn"}}
	item := store.FlagItem{
		TargetID: target, TargetType: store.FlagPost, PlaceID: "place", State: store.FlagsClaimed, FlagCount: 2, ClaimedBy: "moderator",
		ClaimedUntil: &deletedAt,
	}
	flags := []store.Flag{{TargetID: target, UserID: "flagger", Reason: "spam"}, {TargetID: target, UserID: "unavailable"}}
	m := FlagItem(item, region.SG, flags, users)
	require.Equal(t, [2]string{"place", ""}, [2]string{m.GetCommunityId(), m.GetChannelId()})
	require.Equal(t, "mona", m.GetClaimedBy())
	require.Equal(t, deletedAt, m.GetClaimedUntil().AsTime())
	require.Equal(t, string(region.SG), m.GetRegion())
	require.Empty(t, m.GetResolvedBy())
	require.Nil(t, m.GetResolvedAt())
	require.Equal(t, []string{"finn", ""}, mapList(m.GetFlags(), (*plazav1.Flag).GetUserId), "the home of a user can be unavailable")
	require.Equal(t, []string{"flagger", "unavailable"}, mapList(m.GetFlags(), (*plazav1.Flag).GetUserInternalId))

	item.TargetType = store.FlagMessage
	m = FlagItem(item, region.SG, nil, users)
	require.Equal(t, [2]string{"", "place"}, [2]string{m.GetCommunityId(), m.GetChannelId()})
	require.Equal(t, "mona", FlagNote(store.FlagNote{AuthorID: "moderator"}, users).GetUserId())
}

func TestFlagItemCounts(t *testing.T) {
	t.Parallel()
	counts := store.Counts{
		"a": {store.FlagsCounter(store.FlagsOpen): 1, store.FlagsCounter(store.FlagsClaimed): 2, store.FlagsCounter(store.FlagsResolved): 3},
		"b": {store.FlagsCounter(store.FlagsOpen): 10, store.FlagsCounter(store.FlagsResolved): 1 << 40},
		"c": {store.FlagsCounter(store.FlagsOpen): 100},
	}
	m := FlagItemCounts(counts, []string{"a", "b", "unknown"})
	require.Equal(t, [3]int32{11, 2, 1<<31 - 1}, [3]int32{m.GetOpen(), m.GetClaimed(), m.GetResolved()})
	require.True(t, proto.Equal(&plazav1.CountFlagItemsResponse{}, FlagItemCounts(counts, nil)))
}
