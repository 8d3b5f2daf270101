package event

import (
	"context"
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/fileref"
	"github.com/plaza-social/plaza/platform/service/internal/textrules"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

var errOver = fail.New(fail.CodeBadRequest, "The event has ended or is cancelled")

// UpdateEvent changes an event.
func (s *Service) UpdateEvent(ctx context.Context, req *plazav1.UpdateEventRequest) (*plazav1.EventResponse, error) {
	return service.RetryOnConflict(ctx, func() (*plazav1.EventResponse, error) { return s.tryUpdate(ctx, req) })
}

// tryUpdate is one attempt of UpdateEvent. It returns service.ErrConflict if the event changed concurrently.
func (s *Service) tryUpdate(ctx context.Context, req *plazav1.UpdateEventRequest) (*plazav1.EventResponse, error) {
	now := s.Now()
	l := s.newRequest(ctx, req.GetEventId())
	l.requireRight(auth.ManageCommunityEvents)
	fileref.RequireIn(l.Request, func() bool { return l.origin.IsPrivate() }, coverOf(req.GetCoverImageFileId()))
	textrules.Require(l.Request, s.HomeOf(req.GetEventId()), textrules.TextOfFields(req.Title, req.Description, req.Location),
		textrules.TextOfList(req.GetTags()...), textrules.LinkOfField(req.ExternalUrl))
	if err := l.Run(ctx); err != nil {
		return nil, err
	}
	changed, err := change(*l.event, req, now)
	if err != nil {
		return nil, err
	}
	var after *content.PlannedEvent
	tx := s.Store.NewTx(s.HomeOf(l.event.ID))
	tx.UpdatePlannedEvent(*l.event, changed, l.Caller.UserID, now, service.ErrConflict)
	tx.SelectPlannedEvent(l.event.ID, &after)
	if err := s.CommitChange(ctx, tx, "event.updated", s.EventChange(changed)); err != nil {
		return nil, err
	}
	a, err := l.load(ctx, *after, nil)
	return view.Fill(a, &plazav1.EventResponse{}), err
}

// change returns an event with the changes of a request. Only an event that has not ended can change.
func change(e content.PlannedEvent, m *plazav1.UpdateEventRequest, now time.Time) (content.PlannedEvent, error) {
	if status := e.Status(now); status == content.EventEnded || status == content.EventCancelled {
		return e, errOver
	}
	for field, value := range map[*string]*string{
		&e.Title: m.Title, &e.Description: m.Description, &e.Type: m.Type, &e.Location: m.Location, &e.ExternalURL: m.ExternalUrl,
		&e.CoverImageFileID: m.CoverImageFileId,
	} {
		if value != nil {
			*field = *value
		}
	}
	if len(m.GetTags()) > 0 {
		e.Tags = service.Distinct(m.GetTags())
	}
	if m.GetMetadata() != nil {
		e.Metadata = view.ObjectJSON(m.GetMetadata())
	}
	if m.GetStatus() == content.EventCancelled {
		e.CancelledAt = &now
	}
	return reschedule(e, m, now)
}

// reschedule returns an event with the times of a request.
func reschedule(e content.PlannedEvent, m *plazav1.UpdateEventRequest, now time.Time) (content.PlannedEvent, error) {
	start, err := timeOf(m.GetStartTime())
	if err != nil {
		return e, err
	}
	end, err := timeOf(m.GetEndTime())
	if err != nil {
		return e, err
	}
	if start != nil && !start.Equal(e.StartTime) {
		if !start.After(now) {
			return e, errStart
		}
		e.StartTime = *start
	}
	if end != nil {
		e.EndTime = *end
	}
	return e, check(e, now)
}
