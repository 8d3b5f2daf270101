// Package event implements EventService: events that users attend, and their answers. An event is stored at the home of
// its origin, a community or a user, and its answers with it.
//
// # Status
//
// Nothing changes the row of an event when it starts or ends: its status follows from its times and from whether it was
// cancelled.
//
// # Access
//
// Callers who may read what is published at the origin see an event and its answers. In a community, holders of
// CREATE_EVENT create events; their creators and holders of MANAGE_COMMUNITY_EVENTS change them, and their creators and
// holders of DELETE_EVENT delete them. A user creates events of their own. Members of the community answer, or those who
// see the wall.
//
// # Discussion
//
// An event of a community has a community of type event, private and hidden from others, in which those who attend
// discuss. The creator is its moderator. The answer going makes the caller a member, and every other answer ends that. It
// is at the home of the event, so that one transaction changes both. Events of users have none, because communities do not
// move with users.
package event

import (
	"context"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Service implements EventService.
type Service struct{ *service.Deps }

// New returns the service of events.
func New(d *service.Deps) *Service { return &Service{d} }

// The types of origins.
const (
	ofCommunity = "community"
	ofUser      = "user"
)

// loaded is an event that the caller may see.
type loaded struct {
	*service.Request
	event  *content.PlannedEvent
	origin visibility.Target
}

// newRequest starts a request that reads an event, and fails unless the caller may see it.
func (s *Service) newRequest(ctx context.Context, id string) *loaded {
	l := &loaded{Request: s.NewRequest(ctx)}
	l.PlannedEvent(id, &l.event)
	l.AfterRun(func(ctx context.Context) (err error) {
		l.origin, err = visibility.RequireSeeEvent(ctx, s.Deps, l.Caller, l.event)
		return err
	})
	return l
}

// requireRight adds the check that the caller has a permission for the event.
func (l *loaded) requireRight(p auth.Permission) {
	l.AfterRun(func(ctx context.Context) error {
		if err := auth.Require(l.Caller, p, l.scope()); err != nil {
			return err
		}
		return l.origin.RequireOverAuthor(ctx, l.Deps, l.Caller, l.event.CreatorID)
	})
}

// scope returns the scope of permissions for the event.
func (l *loaded) scope() auth.Scope {
	scope := l.origin.Scope(l.event.CreatorID)
	if scope.Membership == nil {
		scope.Membership = &auth.Membership{}
	}
	return scope
}

// load answers about the event, which may have changed since it was read.
func (l *loaded) load(ctx context.Context, e content.PlannedEvent, rsvps []content.EventRsvp) (*view.EventAggregate, error) {
	rows := rowsOf(visibility.Targets{e.OriginID: l.origin}, e)
	rows.Rsvps, rows.Users = rsvps, l.UserRows()
	return l.Deps.View.LoadEvents(ctx, l.Deps.Store, l.Caller.UserID, rows)
}

// rowsOf returns events with what was read of their origins.
func rowsOf(targets visibility.Targets, list ...content.PlannedEvent) view.EventRows {
	rows := view.EventRows{Events: list}
	added := map[string]bool{}
	for _, e := range list {
		t := targets[e.OriginID]
		rows.IsPrivate = rows.IsPrivate || t.Wall.Private
		if t.Community == nil || added[e.OriginID] {
			continue
		}
		added[e.OriginID] = true
		known := t.Known(nil)
		rows.Communities, rows.Members = append(rows.Communities, known.Communities...), append(rows.Members, known.Members...)
	}
	return rows
}

// GetEvent returns one event.
func (s *Service) GetEvent(ctx context.Context, req *plazav1.GetEventRequest) (*plazav1.EventResponse, error) {
	l := s.newRequest(ctx, req.GetEventId())
	if err := l.Run(ctx); err != nil {
		return nil, err
	}
	a, err := l.load(ctx, *l.event, nil)
	return view.Fill(a, &plazav1.EventResponse{}), err
}

// DeleteEvent deletes an event.
func (s *Service) DeleteEvent(ctx context.Context, req *plazav1.DeleteEventRequest) (*plazav1.SuccessResponse, error) {
	l := s.newRequest(ctx, req.GetEventId())
	l.requireRight(auth.DeleteEvent)
	if err := l.Run(ctx); err != nil {
		return nil, err
	}
	tx := s.Store.NewTx(s.HomeOf(l.event.ID))
	tx.DeletePlannedEvent(l.event.ID, s.Now(), errGone)
	return service.Success(), s.CommitChange(ctx, tx, "event.deleted", s.EventChange(*l.event))
}
