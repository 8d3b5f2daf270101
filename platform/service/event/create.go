package event

import (
	"cmp"
	"context"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/fileref"
	"github.com/plaza-social/plaza/platform/service/internal/membership"
	"github.com/plaza-social/plaza/platform/service/internal/textrules"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/network"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Refusals of new and changed events.
var (
	errGone     = fail.NotFound()
	errStart    = fail.Validation("startTime: must be in the future")
	errEnd      = fail.Validation("endTime: must be in the future, after startTime and at most 31 days after it")
	errTime     = fail.Validation("startTime, endTime: must be times of the years 1 to 9999")
	errLocation = fail.Validation("location: an event of type in_person needs one")
)

// defaultDuration is the duration of events whose end is not given.
const defaultDuration = 24 * time.Hour

// CreateEvent creates an event.
func (s *Service) CreateEvent(ctx context.Context, req *plazav1.CreateEventRequest) (*plazav1.EventResponse, error) {
	now := s.Now()
	row, err := rowOf(req, now)
	if err != nil {
		return nil, err
	}
	l, err := s.loadOrigin(ctx, req)
	if err != nil {
		return nil, err
	}
	creator := l.User()
	row.CreatorID, row.CreatorPublicID = creator.ID, creator.PublicID
	row.OriginID, row.OriginPublicID = l.originID(), req.GetOriginId()
	home := s.HomeOf(row.OriginID)
	row.ID = s.NewID(home)
	if row.OriginType == ofCommunity {
		if err := s.RequireQuota(ctx, creator.ID, network.UsageCommunities); err != nil {
			return nil, err
		}
		row.DiscussionCommunityID = s.NewID(home)
	}
	auth.Created(ctx, "event", row.ID)
	tx := s.Store.NewTx(home)
	tx.GuardTarget(row.OriginType, row.OriginID, fail.NotFound())
	tx.InsertPlannedEvent(row)
	told := s.EmitChange(ctx, tx, "event.created", s.EventChange(row))
	if err := s.commitWithDiscussion(ctx, tx, row, told); err != nil {
		return nil, err
	}
	l.event = &row
	a, err := l.load(ctx, row, []content.EventRsvp{})
	return view.Fill(a, &plazav1.EventResponse{}), err
}

// commitWithDiscussion commits the transaction of a new event with its discussion community, if it has one.
func (s *Service) commitWithDiscussion(ctx context.Context, tx *store.Tx, e content.PlannedEvent, told []core.OutboxRow) error {
	if e.DiscussionCommunityID == "" {
		return s.CommitSoon(ctx, tx, told...)
	}
	c := discussionOf(e)
	tx.InsertCommunity(c, nil, e.CreatedAt)
	first := membership.Join(c.ID, c.CreatorID, c.CreatorPublicID, nil, membership.CreatorRoles(), e.CreatedAt)
	update := membership.NewUpdate(tx, c.ID, []communities.MemberChange{first}, e.CreatedAt)
	return update.Commit(ctx, s.Deps, c.CreatorID, c.CreatorID, told...)
}

// discussionName is the name of discussion communities. It has nothing of the title, which an erasure of the creator removes.
const discussionName = "Event discussion"

// discussionOf returns the discussion community of a new event.
func discussionOf(e content.PlannedEvent) communities.Community {
	return communities.Community{
		ID: e.DiscussionCommunityID, DisplayName: discussionName, CreatorID: e.CreatorID, CreatorPublicID: e.CreatorPublicID, JoinApproval: true,
		StoryComments: true, NotificationMode: "default", Type: "event", Metadata: view.ObjectJSON(nil), CreatedAt: e.CreatedAt,
		UpdatedAt: e.CreatedAt,
	}
}

// rowOf returns the event that a request describes, without its ids and its origin.
func rowOf(m *plazav1.CreateEventRequest, now time.Time) (content.PlannedEvent, error) {
	e := content.PlannedEvent{
		Title: m.GetTitle(), Description: m.GetDescription(), Type: m.GetType(), Location: m.GetLocation(), ExternalURL: m.GetExternalUrl(),
		CoverImageFileID: m.GetCoverImageFileId(), OriginType: cmp.Or(m.GetOriginType(), ofCommunity), Tags: service.Distinct(m.GetTags()),
		Metadata: view.ObjectJSON(m.GetMetadata()), CreatedAt: now, UpdatedAt: now,
	}
	start, err := timeOf(m.GetStartTime())
	if err != nil {
		return e, err
	}
	e.StartTime, e.EndTime = *start, start.Add(defaultDuration)
	if end, err := timeOf(m.GetEndTime()); err != nil {
		return e, err
	} else if end != nil {
		e.EndTime = *end
	}
	if !e.StartTime.After(now) {
		return e, errStart
	}
	return e, check(e, now)
}

// check returns an error unless the times and the place of an event that has not ended are valid.
func check(e content.PlannedEvent, now time.Time) error {
	switch {
	case !e.EndTime.After(e.StartTime) || !e.EndTime.After(now) || e.EndTime.Sub(e.StartTime) > content.MaxEventDuration:
		return errEnd
	case e.Type == "in_person" && e.Location == "":
		return errLocation
	}
	return nil
}

// timeOf returns a time of a request; nil if it is absent.
func timeOf(stamp *timestamppb.Timestamp) (*time.Time, error) {
	if stamp == nil {
		return nil, nil // absent
	}
	if stamp.CheckValid() != nil {
		return nil, errTime
	}
	t := stamp.AsTime().Truncate(time.Millisecond)
	return &t, nil
}

// loadOrigin reads the origin of a new event, and checks that the caller may create it there.
func (s *Service) loadOrigin(ctx context.Context, m *plazav1.CreateEventRequest) (*loaded, error) {
	l := &loaded{Request: s.NewUserRequest(ctx)}
	home := s.HomeOf(l.Caller.UserID)
	if m.GetOriginType() == ofUser {
		visibility.ReadTarget(l.Request, ofUser, l.Caller.UserID, &l.origin)
		l.CheckThat(func() bool { return l.User().PublicID == m.GetOriginId() }, fail.NotAllowed())
	} else {
		home = s.HomeOf(m.GetOriginId())
		visibility.ReadTarget(l.Request, ofCommunity, m.GetOriginId(), &l.origin)
		l.Check(l.requireCreate)
	}
	fileref.RequireIn(l.Request, func() bool { return l.origin.IsPrivate() }, coverOf(m.GetCoverImageFileId()))
	textrules.Require(l.Request, home, textsOf(m), textrules.LinkOfField(&m.ExternalUrl))
	return l, l.Run(ctx)
}

// originID returns the internal id of the origin.
func (l *loaded) originID() string {
	if l.origin.Community != nil {
		return l.origin.Community.ID
	}
	return l.origin.WallOwnerID
}

// requireCreate returns nil if the caller may create an event in the community.
func (l *loaded) requireCreate() error {
	if err := l.origin.RequireSee(l.Caller); err != nil {
		return err
	}
	if err := auth.RequireMember(l.Caller, l.origin.Scope("")); err != nil {
		return err
	}
	scope := l.origin.Scope("")
	scope.Creating = true
	return auth.Require(l.Caller, auth.CreateEvent, scope)
}

func coverOf(id string) fileref.Reference {
	return fileref.Reference{ID: id, Kind: "image", Field: "coverImageFileId"}
}

// textsOf returns the user-written texts of a new event.
func textsOf(m *plazav1.CreateEventRequest) textrules.UserText {
	return textrules.TextOfList(append([]string{m.GetTitle(), m.GetDescription(), m.GetLocation()}, m.GetTags()...)...)
}
