package content

import (
	"fmt"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
)

// EventList is a page of the events of all homes, or of one origin or creator.
type EventList struct {
	OriginID  string // internal id of a community or user; empty means all
	CreatorID string // internal id; empty means all
	Status    string // at Now; empty means all
	Types     []string
	// From and To limit the start, both inclusive; nil means no limit.
	From, To  *time.Time
	ByCreated bool // order by creation instead of start
	Desc      bool
	Now       time.Time
	// The position that the page starts after.
	After   time.Time
	AfterID string
	Limit   int
}

// The earliest and the latest time of a list without limits.
var (
	noStart = time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)
	noEnd   = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)
)

// eventLists contains the statements of a list by start, by creation, and of events that are live by start.
type eventLists struct{ start, created, live core.Directions }

var startOrders = [2]db.Order{{Name: "StartDesc", Desc: true}, {Name: "StartAsc"}}

// The statements of ListPlannedEvents.
var (
	allEvents       = plannedEventLists("All", ``)
	eventsOfOrigin  = plannedEventLists("OfOrigin", ` AND origin_id = $6`)
	eventsOfCreator = plannedEventLists("OfCreator", ` AND creator_id = $6`)
)

// plannedEventLists registers the statements of lists of events. $6 is the id in scope, if there is one, and the limits of
// the start follow it.
func plannedEventLists(name, scope string) eventLists {
	first := 6
	if scope != "" {
		first++
	}
	list := func(kind, limits string) core.Source {
		return core.Source{
			Name: "plannedEvents.list" + kind + name, Columns: plannedEventColumns,
			From:   `planned_events WHERE home = $1 AND state = $2` + scope,
			Filter: limits, After: 3,
		}
	}
	between := fmt.Sprintf(` AND start_time >= $%d::timestamptz AND start_time <= $%d::timestamptz`, first, first+1)
	return eventLists{
		start:   core.OrderedBy(startOrders, "start_time", list("", between).List),
		created: core.OrderedBy(core.CreatedOrders, "created_at", list("", "").List),
		live:    core.OrderedBy(startOrders, "start_time", list("Live", between+fmt.Sprintf(` AND end_time > $%d::timestamptz`, first+2)).List),
	}
}

// ListPlannedEvents reads up to Limit events of each home concerned and each state of rows, in no particular order, among
// them those of the list: the caller merges them and leaves out those that the list does not have.
func (r ReadBatch) ListPlannedEvents(l EventList, into *[]PlannedEvent) {
	*into = nil
	states := []string{eventOpen, EventCancelled}
	switch l.Status {
	case EventCancelled:
		states = states[1:]
	case EventScheduled, EventLive, EventEnded:
		states = states[:1]
	}
	homes := region.All()
	if l.OriginID != "" {
		homes = []region.Code{r.HomeOrNone(l.OriginID)}
	}
	for _, home := range homes {
		for _, state := range states {
			r.listPlannedEvents(home, state, l, into)
		}
	}
}

func (r ReadBatch) listPlannedEvents(home region.Code, state string, l EventList, into *[]PlannedEvent) {
	args := []any{state, l.After, l.AfterID, l.Limit}
	lists := allEvents
	switch {
	case l.OriginID != "":
		lists, args = eventsOfOrigin, append(args, l.OriginID)
	case l.CreatorID != "":
		lists, args = eventsOfCreator, append(args, l.CreatorID)
	}
	w := l.window()
	switch {
	case l.ByCreated:
		core.AppendRows(r.ReadBatch, home, lists.created.In(l.Desc), into, args...)
	case l.Status == EventLive:
		core.AppendRows(r.ReadBatch, home, lists.live.In(l.Desc), into, append(args, w.from, w.to, w.endsAfter)...)
	default:
		core.AppendRows(r.ReadBatch, home, lists.start.In(l.Desc), into, append(args, w.from, w.to)...)
	}
}

// eventWindow limits the times of events: the start from and to, both inclusive, and the end after endsAfter.
type eventWindow struct{ from, to, endsAfter time.Time }

// window returns the limits that the status and the request set.
func (l EventList) window() eventWindow {
	w := eventWindow{noStart, noEnd, noStart}
	switch l.Status {
	case EventScheduled:
		w.from = l.Now.Add(time.Microsecond)
	case EventLive:
		w.from, w.to, w.endsAfter = l.Now.Add(-MaxEventDuration), l.Now, l.Now
	case EventEnded:
		w.to = l.Now
	}
	if l.From != nil && l.From.After(w.from) {
		w.from = *l.From
	}
	if l.To != nil && l.To.Before(w.to) {
		w.to = *l.To
	}
	return w
}

// Has reports whether an event that was read for the list is in it.
func (l EventList) Has(e PlannedEvent) bool {
	w := l.window()
	switch {
	case e.DeletedAt != nil, l.Status != "" && e.Status(l.Now) != l.Status, e.StartTime.Before(w.from), e.StartTime.After(w.to):
		return false
	case len(l.Types) > 0 && !slices.Contains(l.Types, e.Type), l.OriginID != "" && e.OriginID != l.OriginID:
		return false
	}
	return l.CreatorID == "" || e.CreatorID == l.CreatorID
}
