package feed

import (
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/store"
)

// slack is how many more entries are read than a window has, for posts that were stored after posts with a later
// time.
const slack = 16

// maxWindow is the size of the largest window. The window may have been read with another page size than the cursor's.
const maxWindow = minWindow + 100

// query returns the query for the entries of the cursor's window: older entries from its high end on, or with back
// newer entries from its low end on, which is the high end of the window that was read before.
func (c rankCursor) query(q store.PostFeedQuery) store.PostFeedQuery {
	q.Ranked, q.AsOf, q.Limit = true, c.asOf, maxWindow+1+slack
	q.Desc, q.After, q.AfterID = true, c.high.at, c.high.id
	if c.readsBackward() {
		// The window's last post has the time of its low end, so the scan begins right before that time.
		q.Desc, q.After, q.AfterID = false, c.high.at.Add(-time.Microsecond), "g"
	}
	return q
}

// readsBackward reports whether the window to read is the one that ends at high.
func (c rankCursor) readsBackward() bool { return c.back && c.low.at.IsZero() }

// window is one ranked window of the feed.
type window struct {
	cursor rankCursor // with high and low as they are
	ranked []ranked
	older  bool // whether there are posts below it
}

// window returns the window of the entries that were read for the cursor. stops are where homes stopped: the window ends at the
// first of them unless it is full.
func (c rankCursor) window(entries []store.PostFeedEntry, stops []store.Position) window {
	entries, stop := untilStop(entries, stops, c.readsBackward())
	if c.readsBackward() {
		return c.windowAbove(entries, stop)
	}
	w := window{cursor: c}
	size := windowOf(c.limit)
	var inside []store.PostFeedEntry
	for _, e := range entries {
		at := place{e.CreatedAt, e.ID}
		below := len(inside) >= size
		if !c.low.at.IsZero() {
			below = c.low.newer(at)
		}
		if below {
			w.older = true
			break
		}
		inside = append(inside, e)
	}
	if stop != nil && !w.older {
		w.older = true
		if c.low.at.IsZero() {
			w.cursor.low = *stop
		}
	} else if c.low.at.IsZero() && len(inside) > 0 {
		last := inside[len(inside)-1]
		w.cursor.low = place{last.CreatedAt, last.ID}
	}
	w.ranked = rank(inside, c.asOf)
	return w
}

// untilStop returns the entries up to the first stop in the direction of reading, and the stop; nil if there is none.
func untilStop(entries []store.PostFeedEntry, stops []store.Position, upwards bool) ([]store.PostFeedEntry, *place) {
	if len(stops) == 0 {
		return entries, nil
	}
	first := place{stops[0].Time, stops[0].ID}
	for _, s := range stops[1:] {
		if p := (place{s.Time, s.ID}); p.newer(first) != upwards {
			first = p
		}
	}
	end := slices.IndexFunc(entries, func(e store.PostFeedEntry) bool {
		p := place{e.CreatedAt, e.ID}
		return p != first && p.newer(first) == upwards
	})
	if end >= 0 {
		entries = entries[:end]
	}
	return entries, &first
}

// windowAbove returns the window whose last post is the one at high, of entries that were read towards newer ones.
func (c rankCursor) windowAbove(entries []store.PostFeedEntry, stop *place) window {
	w := window{cursor: c, older: true}
	w.cursor.low, w.cursor.high = c.high, top(c.asOf)
	if stop != nil && w.cursor.high.newer(*stop) {
		w.cursor.high = *stop
	}
	size := windowOf(c.limit)
	var inside []store.PostFeedEntry
	for _, e := range entries {
		at := place{e.CreatedAt, e.ID}
		if c.high.newer(at) || at.newer(top(c.asOf)) {
			continue
		}
		if len(inside) == size {
			w.cursor.high = at
			break
		}
		inside = append(inside, e)
	}
	w.ranked = rank(inside, c.asOf)
	return w
}

// page returns the page at the cursor's position in the window, and the tokens of the next and the previous page.
func (w window) page() (rows []ranked, next, previous string) {
	c := w.cursor
	from, to := w.bounds()
	rows = w.ranked[from:to]
	first := !top(c.asOf).newer(c.high) // there is nothing before the window
	switch {
	case to < len(w.ranked):
		next = c.at(w.ranked[to-1], false).token()
	case w.older:
		next = rankCursor{limit: c.limit, asOf: c.asOf, high: c.low}.token()
	}
	switch {
	case from > 0 && from < len(w.ranked):
		previous = c.at(w.ranked[from], true).token()
	case !first:
		previous = rankCursor{limit: c.limit, asOf: c.asOf, high: c.high, back: true}.token()
	}
	return rows, next, previous
}

// bounds returns the range of the page in the window.
func (w window) bounds() (from, to int) {
	c := w.cursor
	n := len(w.ranked)
	switch {
	case c.back && c.id == "":
		return max(0, n-c.limit), n
	case c.back:
		to = w.count(func(r ranked) bool { return before(r.score, r.ID, c.score, c.id) < 0 })
		return max(0, to-c.limit), to
	case c.id != "":
		from = w.count(func(r ranked) bool { return before(r.score, r.ID, c.score, c.id) <= 0 })
	}
	return from, min(n, from+c.limit)
}

func (w window) count(within func(ranked) bool) int {
	n := 0
	for n < len(w.ranked) && within(w.ranked[n]) {
		n++
	}
	return n
}

// at returns the cursor at a row.
func (c rankCursor) at(r ranked, back bool) rankCursor {
	c.back, c.score, c.id = back, r.score, r.ID
	return c
}
