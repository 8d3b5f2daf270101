package realtime

import (
	"context"
	"errors"
	"slices"

	"github.com/plaza-social/plaza/platform/groupcommit"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/eventlog"
)

const (
	// maxAppended is the number of events per transaction; more only if they were added together.
	maxAppended = 100
	// maxWaiting is the maximum number of lists of events that wait. The outbox keeps the others and tries again.
	maxWaiting = 10_000
)

// newLogs returns the queue of events that are appended to the logs of homes. Transactions on a log are serialized, so that events that
// arrive during one are appended together. After an error they may or may not be in the log; adding them again is safe.
func newLogs(h *Hub) *groupcommit.Queue[region.Code, []eventlog.Event] {
	return &groupcommit.Queue[region.Code, []eventlog.Event]{
		Max: maxAppended, MaxWaiting: maxWaiting, Size: func(list []eventlog.Event) int { return len(list) },
		Commit: func(ctx context.Context, home region.Code, lists [][]eventlog.Event) []error {
			err := h.append(ctx, home, distinct(slices.Concat(lists...)))
			if err == nil {
				h.tails[home].nudge()
			}
			return groupcommit.Each(err, len(lists))
		},
	}
}

// append appends events to the log of a home.
func (h *Hub) append(ctx context.Context, home region.Code, all []eventlog.Event) error {
	w := h.Store.NewTx(home)
	w.InsertEvents(all, h.Now())
	err := w.Commit(ctx)
	if errors.Is(err, eventlog.ErrEventExists) { // of a delivery whose success was not recorded
		w = h.Store.NewTx(home)
		w.InsertMissingEvents(all, h.Now())
		err = w.Commit(ctx)
	}
	return err
}

// distinct returns events without those that occur again. An event is added again if a delivery of it ended before it was appended.
func distinct(all []eventlog.Event) []eventlog.Event {
	seen := make(map[string]bool, len(all))
	return slices.DeleteFunc(all, func(e eventlog.Event) bool {
		again := seen[e.ID]
		seen[e.ID] = true
		return again
	})
}
