package view

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/store/messaging"
	"github.com/plaza-social/plaza/platform/store/people"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

func TestMarkers(t *testing.T) {
	t.Parallel()
	u := people.User{ID: "internal", PublicID: "anna", CreatedAt: deletedAt}
	m := (&Builder{}).Markers(u, Markers{})
	require.Empty(t, m.GetUserMarkers())
	require.NotNil(t, m.GetPaging())

	m = (&Builder{}).Markers(u, Markers{User: &messaging.UserMarker{}})
	require.Equal(t, deletedAt, m.GetUserMarkers()[0].GetCreatedAt().AsTime(), "a user without markers")
	require.Equal(t, deletedAt, m.GetUserMarkers()[0].GetUpdatedAt().AsTime())
	require.Nil(t, m.GetUserMarkers()[0].GetLastSyncAt())

	later := deletedAt.Add(time.Hour)
	m = (&Builder{}).Markers(u, Markers{
		User: &messaging.UserMarker{Unread: 3, IsMentioned: true, CreatedAt: &later, UpdatedAt: &later, LastSyncAt: &later},
		Feeds: []messaging.FeedMarker{
			{FeedID: "behind", EntityID: "c", LastSegment: 9, ReadTo: 5, DeliveredTo: 7, LastMention: 6},
			{FeedID: "mentioned before", LastSegment: 9, ReadTo: 6, LastMention: 6},
			{FeedID: "ahead", LastSegment: 4, ReadTo: 5},
			{FeedID: "deleted", LastSegment: 9, ReadTo: 5, LastMention: 6, IsDeleted: true},
		},
		Entities: []messaging.EntityMarker{{EntityID: "c", Unread: 4, IsMentioned: true}},
	})
	require.Equal(t, later, m.GetUserMarkers()[0].GetUpdatedAt().AsTime())
	require.Equal(t, []int32{4, 3, 0, 0}, mapList(m.GetUserFeedMarkers(), (*plazav1.UserFeedMarker).GetUnreadCount))
	require.Equal(t, []bool{true, false, false, false}, mapList(m.GetUserFeedMarkers(), (*plazav1.UserFeedMarker).GetIsMentioned))
	require.Equal(t, []int32{9, 9, 4, 9}, mapList(m.GetFeedMarkers(), (*plazav1.FeedMarker).GetLastSegment))
	first := m.GetUserFeedMarkers()[0]
	require.Equal(t, [3]int32{5, 7, 6}, [3]int32{first.GetReadToSegment(), first.GetDeliveredToSegment(), first.GetLastMentionSegment()})
	require.Equal(t, int32(4), m.GetUserEntityMarkers()[0].GetUnreadCount())
	for _, id := range []string{m.GetUserMarkers()[0].GetUserId(), first.GetUserId(), m.GetUserEntityMarkers()[0].GetUserId()} {
		require.Equal(t, "internal", id, "clients look up markers by the internal id of the user")
	}
}

func TestMarkersOfFeedsAndMessages(t *testing.T) {
	t.Parallel()
	f := (&Builder{}).FeedMarker(messaging.MessageFeed{ID: "f", EntityID: "c", LastSegment: 3, DeletedAt: &deletedAt})
	require.True(t, f.GetIsDeleted())
	require.Equal(t, int32(3), f.GetLastSegment())
	c := (&Builder{}).ContentMarker(messaging.Message{ID: "m", FeedID: "f", Segment: 3, CreatorID: "u"},
		messaging.ContentMarker{Read: 1, Delivered: 2})
	require.Equal(t, [3]int32{3, 1, 2}, [3]int32{c.GetSegment(), c.GetReadCount(), c.GetDeliveredCount()})
	require.Equal(t, [2]string{"m", "f"}, [2]string{c.GetContentId(), c.GetFeedId()})
}
