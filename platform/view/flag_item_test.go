package view

import (
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/people"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

func TestFlagItem(t *testing.T) {
	t.Parallel()
	target := region.NewID(region.SG)
	users := []people.User{{ID: "moderator", PublicID: "mona"}, {ID: "flagger", PublicID: "finn"}}
	item := content.FlagItem{
		TargetID: target, TargetType: content.FlagPost, PlaceID: "place", State: content.FlagsClaimed, FlagCount: 2, ClaimedBy: "moderator",
		ClaimedUntil: &deletedAt,
	}
	flags := []content.Flag{{TargetID: target, UserID: "flagger", Reason: "spam"}, {TargetID: target, UserID: "unavailable"}}
	m := FlagItem(item, region.SG, flags, users)
	require.Equal(t, [2]string{"place", ""}, [2]string{m.GetCommunityId(), m.GetChannelId()})
	require.Equal(t, "mona", m.GetClaimedBy())
	require.Equal(t, deletedAt, m.GetClaimedUntil().AsTime())
	require.Equal(t, string(region.SG), m.GetRegion())
	require.Empty(t, m.GetResolvedBy())
	require.Nil(t, m.GetResolvedAt())
	require.Equal(t, []string{"finn", ""}, mapList(m.GetFlags(), (*plazav1.Flag).GetUserId), "the home of a user can be unavailable")
	require.Equal(t, []string{"flagger", "unavailable"}, mapList(m.GetFlags(), (*plazav1.Flag).GetUserInternalId))

	item.TargetType = content.FlagMessage
	m = FlagItem(item, region.SG, nil, users)
	require.Equal(t, [2]string{"", "place"}, [2]string{m.GetCommunityId(), m.GetChannelId()})
	require.Equal(t, "mona", FlagNote(content.FlagNote{AuthorID: "moderator"}, users).GetUserId())
}

func TestFlagItemCounts(t *testing.T) {
	t.Parallel()
	counts := core.Counts{
		"a": {
			content.FlagsCounter(content.FlagsOpen): 1, content.FlagsCounter(content.FlagsClaimed): 2,
			content.FlagsCounter(content.FlagsResolved): 3,
		},
		"b": {content.FlagsCounter(content.FlagsOpen): 10, content.FlagsCounter(content.FlagsResolved): 1 << 40},
		"c": {content.FlagsCounter(content.FlagsOpen): 100},
	}
	m := FlagItemCounts(counts, []string{"a", "b", "unknown"})
	require.Equal(t, [3]int32{11, 2, 1<<31 - 1}, [3]int32{m.GetOpen(), m.GetClaimed(), m.GetResolved()})
	require.True(t, proto.Equal(&plazav1.CountFlagItemsResponse{}, FlagItemCounts(counts, nil)))
}
