package view

import (
	"context"
	"slices"

	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/people"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// OriginPath returns the path of the community or user that an event is of, on whose topic clients receive its changes.
func (b *Builder) OriginPath(e content.PlannedEvent) string {
	if e.OriginType == "user" {
		return b.UserPath(e.OriginID)
	}
	return b.CommunityPath(e.OriginID)
}

// EventPath returns an event's path.
func (b *Builder) EventPath(e content.PlannedEvent) string {
	return b.TargetPath(e.OriginType, e.OriginID) + "/event/" + e.ID
}

// Event converts an event. A deleted one has its ids and times only.
func (b *Builder) Event(e content.PlannedEvent, counts core.Counts, public bool) *plazav1.Event {
	m := &plazav1.Event{
		EventId:        e.ID,
		PublicId:       e.ID,
		UserId:         e.CreatorPublicID,
		UserPublicId:   e.CreatorPublicID,
		UserInternalId: e.CreatorID,
		Type:           e.Type,
		Status:         e.Status(b.now()),
		StartTime:      ts(e.StartTime),
		EndTime:        ts(e.EndTime),
		OriginType:     e.OriginType,
		OriginId:       e.OriginPublicID,
		IsOriginPublic: public,
		IsDeleted:      e.DeletedAt != nil,
		Path:           b.EventPath(e),
		CreatedAt:      ts(e.CreatedAt),
		UpdatedAt:      ts(e.UpdatedAt),
		Metadata:       object(nil),
	}
	if m.GetIsDeleted() {
		return m
	}
	m.Title, m.Description, m.Location, m.ExternalUrl = e.Title, e.Description, e.Location, e.ExternalURL
	m.CoverImageFileId, m.Tags, m.Metadata = e.CoverImageFileID, e.Tags, object(e.Metadata)
	m.DiscussionCommunityId, m.PostId = e.DiscussionCommunityID, e.PostID
	m.RsvpCount, m.InterestedCount = count(counts.Of(e.ID, content.CountRsvps(content.RsvpGoing))),
		count(counts.Of(e.ID, content.CountRsvps(content.RsvpInterested)))
	return m
}

// EventRows are the rows that an operation on events has read.
type EventRows struct {
	// Events are the events of the response, in its order.
	Events []content.PlannedEvent
	// Communities are the communities of events, and Members the viewer's memberships in them.
	Communities []communities.Community
	Members     []communities.Member
	// IsPrivate reports whether walls are visible to accepted followers only.
	IsPrivate bool
	// Rsvps are the answers of the response; nil means those of the viewer to the events.
	Rsvps []content.EventRsvp
	// Users are known users.
	Users []people.User
}

// Add adds events and what was read of their origins, each once.
func (r *EventRows) Add(more EventRows) {
	r.Events, r.IsPrivate = append(r.Events, more.Events...), r.IsPrivate || more.IsPrivate
	r.Communities = unique(append(r.Communities, more.Communities...), func(c communities.Community) string { return c.ID })
	r.Members = unique(append(r.Members, more.Members...), func(m communities.Member) string { return m.CommunityID })
}

// EventAggregate holds the collections of a response about events.
type EventAggregate struct {
	Events         []*plazav1.Event
	EventResponses []*plazav1.EventRsvp
	Users          []*plazav1.User
	Communities    []*plazav1.Community
}

// LoadEvents reads the rows that events and answers refer to, in one round trip to each home concerned, and converts all of
// them. viewerID is the internal id of the caller, empty for administrators.
func (b *Builder) LoadEvents(ctx context.Context, st *store.Store, viewerID string, rows EventRows) (*EventAggregate, error) {
	wanted, counts := newIDSet(), core.Counts{}
	ids := mapList(rows.Events, func(e content.PlannedEvent) string { return e.ID })
	batch := st.NewBestEffortBatch()
	for _, r := range rows.Rsvps {
		wanted.add(r.UserID)
	}
	if rows.Rsvps == nil && viewerID != "" {
		wanted.add(viewerID)
		batch.RsvpsOf(ids, viewerID, &rows.Rsvps)
	}
	for _, e := range rows.Events {
		wanted.add(e.CreatorID)
	}
	readMissingUsers(batch, wanted, &rows.Users)
	batch.CountsOf(append(ids, mapList(rows.Communities, func(c communities.Community) string { return c.ID })...), counts)
	if err := batch.Run(ctx); err != nil {
		return nil, err
	}
	return &EventAggregate{
		Events:         mapList(rows.Events, func(e content.PlannedEvent) *plazav1.Event { return b.Event(e, counts, rows.isPublic(e)) }),
		EventResponses: rows.rsvps(), Users: b.usersIn(ctx, wanted, rows.Users),
		Communities: mapList(rows.Communities,
			func(c communities.Community) *plazav1.Community { return b.Community(c, counts, rows.membership(c.ID)) }),
	}, nil
}

func (r *EventRows) isPublic(e content.PlannedEvent) bool {
	if e.OriginType == "user" {
		return !r.IsPrivate
	}
	return slices.ContainsFunc(r.Communities, func(c communities.Community) bool { return c.ID == e.OriginID && c.IsPublic })
}

func (r *EventRows) membership(communityID string) *communities.Member {
	return find(r.Members, func(m *communities.Member) bool { return m.CommunityID == communityID })
}

// rsvps converts the answers of users who are known.
func (r *EventRows) rsvps() []*plazav1.EventRsvp {
	var rsvps []*plazav1.EventRsvp
	for _, a := range r.Rsvps {
		if u := find(r.Users, func(u *people.User) bool { return u.ID == a.UserID }); u != nil {
			rsvps = append(rsvps, eventRsvp(a, u.PublicID))
		}
	}
	return rsvps
}

func eventRsvp(a content.EventRsvp, publicID string) *plazav1.EventRsvp {
	return &plazav1.EventRsvp{
		EventId: a.EventID, UserId: publicID, UserPublicId: publicID, UserInternalId: a.UserID, Status: a.Status,
		RespondedAt: ts(a.RespondedAt), CreatedAt: ts(a.CreatedAt), UpdatedAt: ts(a.RespondedAt),
	}
}
