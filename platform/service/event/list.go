package event

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

const (
	// defaultLimit is the page size of requests without a limit.
	defaultLimit = 20
	// maxAttended is the maximum number of events that lists of the events of an attendee choose from.
	maxAttended = 200
)

// query is a list of events.
type query struct {
	content.EventList
	cursor     page.Cursor
	originType string   // empty for all
	tags       []string // empty for all
	attendeeID string   // internal id; empty for all events
	none       bool     // whether an id of the request belongs to nothing
}

// queryOf returns the query of a request.
func (s *Service) queryOf(ctx context.Context, m *plazav1.ListEventsRequest, callerID string) (*query, error) {
	cursor, err := page.Parse(m.GetOptions(), defaultLimit)
	if err != nil {
		return nil, err
	}
	q := &query{cursor: cursor, originType: m.GetOriginType(), tags: m.GetTags(), EventList: content.EventList{
		Status: m.GetStatus(), ByCreated: m.GetSortBy() == "createdAt", Desc: (m.GetOrderBy() == "desc") != cursor.Back, Now: s.Now(),
		Limit: cursor.Limit + 1,
	}}
	if m.GetType() != "" {
		q.Types = []string{m.GetType()}
	}
	if q.From, err = timeOf(m.GetStartTimeGte()); err != nil {
		return nil, err
	}
	if q.To, err = timeOf(m.GetStartTimeLte()); err != nil {
		return nil, err
	}
	userID := callerID
	if m.GetUserId() != "" {
		if userID, err = s.Directory.ResolveOne(ctx, m.GetUserId()); err != nil {
			return nil, err
		}
		q.none = userID == ""
	}
	switch {
	case m.GetOnlyAttendee():
		q.attendeeID, q.none = userID, userID == ""
	case m.GetUserId() != "":
		q.CreatorID = userID
	}
	return q, s.setOrigin(ctx, q, m)
}

// setOrigin sets the origin of a query.
func (s *Service) setOrigin(ctx context.Context, q *query, m *plazav1.ListEventsRequest) error {
	q.OriginID = m.GetOriginId()
	if q.OriginID == "" {
		return nil
	}
	q.originType = cmp.Or(q.originType, ofCommunity)
	if q.originType == ofUser {
		var err error
		if q.OriginID, err = s.Directory.ResolveOne(ctx, m.GetOriginId()); err != nil {
			return err
		}
	}
	q.none = q.none || !region.ValidID(q.OriginID)
	return nil
}

// at returns the sort key of an event.
func (q *query) at(e content.PlannedEvent) (t time.Time, key, id string) {
	if q.ByCreated {
		return e.CreatedAt, "", e.ID
	}
	return e.StartTime, "", e.ID
}

// has reports whether an event that was read for the list is in it.
func (q *query) has(e content.PlannedEvent) bool {
	tagged := len(q.tags) == 0 || slices.ContainsFunc(q.tags, func(tag string) bool { return slices.Contains(e.Tags, tag) })
	return tagged && (q.originType == "" || e.OriginType == q.originType) && q.Has(e)
}

// ListEvents lists the events that the caller may see.
func (s *Service) ListEvents(ctx context.Context, req *plazav1.ListEventsRequest) (*plazav1.ListEventsResponse, error) {
	r := s.NewRequest(ctx)
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	q, err := s.queryOf(ctx, req, r.Caller.UserID)
	if err != nil {
		return nil, err
	}
	if err := s.requireOrigin(ctx, r, q); err != nil {
		return nil, err
	}
	rows, paging, err := s.fill(ctx, r, q)
	if err != nil {
		return nil, err
	}
	rows.Users = r.UserRows()
	a, err := s.View.LoadEvents(ctx, s.Store, r.Caller.UserID, rows)
	return view.Fill(a, &plazav1.ListEventsResponse{Paging: paging}), err
}

// maxReads is the maximum number of pages that are read to fill one with events of the list that the caller may see.
const maxReads = 5

// fill reads a page of the events that the caller may see. It may have fewer events than the limit.
func (s *Service) fill(ctx context.Context, r *service.Request, q *query) (view.EventRows, *plazav1.Paging, error) {
	var rows view.EventRows
	var first string // token of the previous page
	for reads := 1; ; reads++ {
		part, paging, err := s.page(ctx, q)
		if err != nil {
			return rows, nil, err
		}
		part = slices.DeleteFunc(part, func(e content.PlannedEvent) bool { return !q.has(e) })
		part, targets, err := s.visible(ctx, r, part)
		if err != nil {
			return rows, nil, err
		}
		rows.Add(rowsOf(targets, part...))
		first = cmp.Or(first, paging.GetPrevious())
		if q.cursor.Back || paging.GetNext() == "" || len(rows.Events) >= q.cursor.Limit || reads == maxReads {
			return rows, q.cut(&rows, paging, first), nil
		}
		if q.cursor, err = page.Parse(&plazav1.PageOptions{Token: paging.GetNext()}, defaultLimit); err != nil {
			return rows, nil, err
		}
	}
}

// cut shortens a page to its limit, and returns its tokens.
func (q *query) cut(rows *view.EventRows, paging *plazav1.Paging, previous string) *plazav1.Paging {
	limit := q.cursor.Limit
	if len(rows.Events) > limit {
		rows.Events = rows.Events[:limit]
		next := page.Cursor{Limit: limit}
		next.Time, next.Key, next.ID = q.at(rows.Events[limit-1])
		paging.Next = next.Token()
	}
	paging.Previous = previous
	return paging
}

// requireOrigin returns an error unless the caller may read what is published at the origin of a list.
func (s *Service) requireOrigin(ctx context.Context, r *service.Request, q *query) error {
	if q.OriginID == "" || q.none {
		return nil
	}
	_, err := visibility.RequireSeeEvent(ctx, s.Deps, r.Caller, &content.PlannedEvent{OriginType: q.originType, OriginID: q.OriginID})
	return err
}

// page reads a page of events.
func (s *Service) page(ctx context.Context, q *query) ([]content.PlannedEvent, *plazav1.Paging, error) {
	switch {
	case q.none:
		return nil, &plazav1.Paging{}, nil
	case q.attendeeID != "":
		return s.attended(ctx, q)
	}
	return service.Merged[content.PlannedEvent]{
		Cursor: q.cursor, Desc: q.Desc, At: q.at,
		Read: func(reads *store.ReadBatch, from page.Cursor, into *[]content.PlannedEvent) {
			list := q.EventList
			list.After, _, list.AfterID = from.Start(list.Desc)
			reads.ListPlannedEvents(list, into)
		},
	}.Page(ctx, s.Deps)
}

// attended reads a page of the events that a user attends.
func (s *Service) attended(ctx context.Context, q *query) ([]content.PlannedEvent, *plazav1.Paging, error) {
	list := content.RsvpList{UserID: q.attendeeID, Statuses: []string{content.RsvpGoing}, Desc: true, Limit: maxAttended}
	list.After, _, list.AfterID = page.Cursor{}.Start(true)
	rsvps, err := service.ReadAvailable(ctx, s.Deps,
		func(r *store.ReadBatch, l content.RsvpList, into *[]content.EventRsvp) { r.ListRsvps(l, into) }, list)
	if err != nil {
		return nil, nil, err
	}
	slices.SortFunc(rsvps, func(a, b content.EventRsvp) int { return b.RespondedAt.Compare(a.RespondedAt) })
	ids := service.Map(rsvps[:min(len(rsvps), maxAttended)], func(a content.EventRsvp) string { return a.EventID })
	rows, err := service.ReadAvailable(ctx, s.Deps, (*store.ReadBatch).PlannedEvents, ids)
	if err != nil {
		return nil, nil, err
	}
	rows = slices.DeleteFunc(rows, func(e content.PlannedEvent) bool { return !q.has(e) })
	rows = service.After(rows, q.cursor, false, q.Desc, q.at)
	rows, paging := service.Page(q.cursor, rows, false, q.Desc, q.at)
	return rows, paging, nil
}

// visible returns the events that the caller may see, with their origins.
func (s *Service) visible(
	ctx context.Context, r *service.Request, rows []content.PlannedEvent,
) ([]content.PlannedEvent, visibility.Targets, error) {
	kinds := map[string]string{}
	for _, e := range rows {
		kinds[e.OriginID] = e.OriginType
	}
	targets, err := visibility.LoadTargets(ctx, s.Deps, r.Caller, kinds)
	if err != nil {
		return nil, nil, err
	}
	return targets.VisibleEvents(r.Caller, rows), targets, nil
}
