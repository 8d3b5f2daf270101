package event

import (
	"context"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// rsvpList returns the query and the cursor of a list of answers. Run of r fails if its token is invalid.
func rsvpList(r *service.Request, statuses []string, options *plazav1.PageOptions) (content.RsvpList, page.Cursor) {
	cursor := r.PageOf(options, defaultLimit)
	list := content.RsvpList{Statuses: service.SortedSet(statuses), Desc: !cursor.Back, Limit: cursor.Limit + 1}
	list.After, _, list.AfterID = cursor.Start(list.Desc)
	return list, cursor
}

// ListEventRsvps lists the answers to an event.
func (s *Service) ListEventRsvps(ctx context.Context, req *plazav1.ListEventRsvpsRequest) (*plazav1.ListEventRsvpsResponse, error) {
	rows := []content.EventRsvp{}
	l := s.newRequest(ctx, req.GetEventId())
	list, cursor := rsvpList(l.Request, req.GetStatus(), req.GetOptions())
	list.EventID = req.GetEventId()
	l.ListRsvps(list, &rows)
	if err := l.Run(ctx); err != nil {
		return nil, err
	}
	rows, paging := service.Page(cursor, rows, false, list.Desc,
		func(a content.EventRsvp) (t time.Time, key, id string) { return a.RespondedAt, "", a.UserID })
	a, err := l.load(ctx, *l.event, append([]content.EventRsvp{}, rows...))
	return view.Fill(a, &plazav1.ListEventRsvpsResponse{Paging: paging}), err
}

// ListMyEventRsvps lists the answers of the caller to events that the caller may see. Homes that do not answer are left out.
func (s *Service) ListMyEventRsvps(ctx context.Context, req *plazav1.ListMyEventRsvpsRequest) (*plazav1.ListEventRsvpsResponse, error) {
	r := s.NewUserRequest(ctx)
	list, cursor := rsvpList(r, req.GetStatus(), req.GetOptions())
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	list.UserID = r.Caller.UserID
	rsvps, paging, err := service.Merged[content.EventRsvp]{
		Cursor: cursor, Desc: list.Desc, At: func(a content.EventRsvp) (t time.Time, key, id string) { return a.RespondedAt, "", a.EventID },
		Read: func(reads *store.ReadBatch, from page.Cursor, into *[]content.EventRsvp) {
			list.After, _, list.AfterID = from.Start(list.Desc)
			reads.ListRsvps(list, into)
		},
	}.Page(ctx, s.Deps)
	if err != nil {
		return nil, err
	}
	return s.myRsvps(ctx, r, rsvps, paging)
}

// myRsvps answers with a page of answers to events of which the caller may see some.
func (s *Service) myRsvps(ctx context.Context, r *service.Request, rsvps []content.EventRsvp,
	paging *plazav1.Paging,
) (*plazav1.ListEventRsvpsResponse, error) {
	ids := service.Map(rsvps, func(a content.EventRsvp) string { return a.EventID })
	rows, err := service.ReadAvailable(ctx, s.Deps, (*store.ReadBatch).PlannedEvents, ids)
	if err != nil {
		return nil, err
	}
	rows, targets, err := s.visible(ctx, r, rows)
	if err != nil {
		return nil, err
	}
	service.SortByID(rows, ids, func(e content.PlannedEvent) string { return e.ID })
	known := rowsOf(targets, rows...)
	known.Users = r.UserRows()
	known.Rsvps = slices.DeleteFunc(append([]content.EventRsvp{}, rsvps...), func(a content.EventRsvp) bool {
		return service.Find(rows, func(e content.PlannedEvent) bool { return e.ID == a.EventID }) == nil
	})
	a, err := s.View.LoadEvents(ctx, s.Store, r.Caller.UserID, known)
	return view.Fill(a, &plazav1.ListEventRsvpsResponse{Paging: paging}), err
}
