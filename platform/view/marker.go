package view

import (
	"cmp"

	"github.com/plaza-social/plaza/platform/store/messaging"
	"github.com/plaza-social/plaza/platform/store/people"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Markers are the rows of a user's read state.
type Markers struct {
	Feeds    []messaging.FeedMarker
	Entities []messaging.EntityMarker
	User     *messaging.UserMarker // nil leaves out the marker of the user
}

// Markers converts a user's markers, which have the internal id of the user: clients look them up by it. Without a row the marker of the
// user has the time at which the user was created.
func (b *Builder) Markers(u people.User, m Markers) *plazav1.MarkerResponse {
	a := &plazav1.MarkerResponse{Paging: &plazav1.Paging{}}
	if m.User != nil {
		a.UserMarkers = append(a.UserMarkers, &plazav1.UserMarker{
			UserId:      u.ID,
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
			UserId: u.ID, EntityId: e.EntityID, UnreadCount: count(e.Unread), IsDeleted: e.IsDeleted,
			IsMentioned: e.IsMentioned, CreatedAt: ts(e.CreatedAt), UpdatedAt: ts(e.UpdatedAt),
		})
	}
	return a
}

func userFeedMarker(u people.User, f messaging.FeedMarker) *plazav1.UserFeedMarker {
	return &plazav1.UserFeedMarker{
		UserId:             u.ID,
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

// feedMarkerOf returns the message feed's marker from a user's marker of that feed.
func feedMarkerOf(f messaging.FeedMarker) *plazav1.FeedMarker {
	return &plazav1.FeedMarker{
		FeedId: f.FeedID, EntityId: f.EntityID, LastSegment: count(f.LastSegment), IsDeleted: f.IsDeleted,
		CreatedAt: ts(f.CreatedAt), UpdatedAt: ts(f.UpdatedAt),
	}
}

// FeedMarker converts the marker of a message feed.
func (b *Builder) FeedMarker(f messaging.MessageFeed) *plazav1.FeedMarker {
	return &plazav1.FeedMarker{
		FeedId: f.ID, EntityId: f.EntityID, LastSegment: count(f.LastSegment), IsDeleted: f.DeletedAt != nil,
		CreatedAt: ts(f.CreatedAt), UpdatedAt: ts(f.UpdatedAt),
	}
}

// ContentMarker returns how many users a message was delivered to and read by.
func (b *Builder) ContentMarker(m messaging.Message, c messaging.ContentMarker) *plazav1.ContentMarker {
	return &plazav1.ContentMarker{
		ContentId: m.ID, FeedId: m.FeedID, Segment: count(m.Segment), CreatorId: m.CreatorID,
		ReadCount: count(c.Read), DeliveredCount: count(c.Delivered), CreatedAt: ts(m.CreatedAt), UpdatedAt: ts(m.UpdatedAt),
	}
}
