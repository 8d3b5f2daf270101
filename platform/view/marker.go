package view

import (
	"cmp"

	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Markers are rows about what a user has not read.
type Markers struct {
	Feeds    []store.FeedMark
	Entities []store.EntityMark
	User     *store.UserMark // nil leaves the user's own marker out
}

// Markers makes the messages of a user's markers. A user without a feed has one since they exist.
func (b *Builder) Markers(u store.User, m Markers) *plazav1.MarkerResponse {
	a := &plazav1.MarkerResponse{Paging: &plazav1.Paging{}}
	if m.User != nil {
		a.UserMarkers = append(a.UserMarkers, &plazav1.UserMarker{
			UserId:      u.PublicID,
			LastSyncAt:  tsOrNil(m.User.LastSyncAt),
			UnreadCount: count(m.User.Unread),
			IsMentioned: m.User.IsMentioned,
			CreatedAt:   ts(*cmp.Or(m.User.CreatedAt, &u.CreatedAt)),
			UpdatedAt:   ts(*cmp.Or(m.User.UpdatedAt, &u.CreatedAt)),
		})
	}
	for _, f := range m.Feeds {
		a.UserFeedMarkers = append(a.UserFeedMarkers, userFeedMarker(u, f))
		a.FeedMarkers = append(a.FeedMarkers, feedMarkerOf(f))
	}
	for _, e := range m.Entities {
		a.UserEntityMarkers = append(a.UserEntityMarkers, &plazav1.UserEntityMarker{
			UserId: u.PublicID, EntityId: e.EntityID, UnreadCount: count(e.Unread), IsDeleted: e.IsDeleted,
			IsMentioned: e.IsMentioned, CreatedAt: ts(e.CreatedAt), UpdatedAt: ts(e.UpdatedAt),
		})
	}
	return a
}

func userFeedMarker(u store.User, f store.FeedMark) *plazav1.UserFeedMarker {
	return &plazav1.UserFeedMarker{
		UserId:             u.PublicID,
		EntityId:           f.EntityID,
		FeedId:             f.FeedID,
		ReadToSegment:      count(f.ReadTo),
		DeliveredToSegment: count(f.DeliveredTo),
		UnreadCount:        count(f.Unread()),
		LastMentionSegment: count(f.LastMention),
		IsMentioned:        f.IsMentioned(),
		CreatedAt:          ts(f.CreatedAt),
		UpdatedAt:          ts(f.UpdatedAt),
	}
}

// feedMarkerOf is the feed as a user's marker knows it.
func feedMarkerOf(f store.FeedMark) *plazav1.FeedMarker {
	return &plazav1.FeedMarker{
		FeedId: f.FeedID, EntityId: f.EntityID, LastSegment: count(f.LastSegment), IsDeleted: f.IsDeleted,
		CreatedAt: ts(f.CreatedAt), UpdatedAt: ts(f.UpdatedAt),
	}
}

// FeedMarker makes the message of a message feed.
func (b *Builder) FeedMarker(f store.MessageFeed) *plazav1.FeedMarker {
	return &plazav1.FeedMarker{
		FeedId: f.ID, EntityId: f.EntityID, LastSegment: count(f.LastSegment), IsDeleted: f.DeletedAt != nil,
		CreatedAt: ts(f.CreatedAt), UpdatedAt: ts(f.UpdatedAt),
	}
}

// ContentMarker makes the message of how far a message has come.
func (b *Builder) ContentMarker(m store.Message, c store.ContentMark) *plazav1.ContentMarker {
	return &plazav1.ContentMarker{
		ContentId: m.ID, FeedId: m.FeedID, Segment: count(m.Segment), CreatorId: m.CreatorID,
		ReadCount: count(c.Read), DeliveredCount: count(c.Delivered), CreatedAt: ts(m.CreatedAt), UpdatedAt: ts(m.UpdatedAt),
	}
}
