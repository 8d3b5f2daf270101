package feed

import (
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/core"
)

// slack is how many more entries are read than a window has, for posts that were stored after posts with a later
// time.
const slack = 16

// maxWindow is the size of the largest window. The window may have been read with another page size than the cursor's.
const maxWindow = minWindow + 100

// query returns the query for the entries of the cursor's window: older entries from its high end on, or with back
// newer entries from its low end on, which is the high end of the window that was read before.
func (c rankCursor) query(q content.PostFeedQuery) content.PostFeedQuery {
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
func (c rankCursor) window(entries []content.PostFeedEntry, stops []core.Position) window {
	entries, stop := untilStop(entries, stops, c.readsBackward())
	if c.readsBackward() {
		return c.windowAbove(entries, stop)
	}
	inside := entries[:min(len(entries), windowOf(c.limit))]
	if !c.low.at.IsZero() {
		inside = until(entries, func(e content.PostFeedEntry) bool { return c.low.newer(placeOf(e)) })
	}
	w := window{cursor: c, ranked: rank(inside, c.asOf), older: len(inside) < len(entries) || stop != nil}
	switch {
	case !c.low.at.IsZero():
	case len(inside) == len(entries) && stop != nil:
		w.cursor.low = *stop
	case len(inside) > 0:
		w.cursor.low = placeOf(inside[len(inside)-1])
	}
	return w
}

// until returns the entries before the first one for which end returns true.
func until(entries []content.PostFeedEntry, end func(content.PostFeedEntry) bool) []content.PostFeedEntry {
	if i := slices.IndexFunc(entries, end); i >= 0 {
		return entries[:i]
	}
	return entries
}

// untilStop returns the entries up to the first stop in the direction of reading, and the stop; nil if there is none.
func untilStop(entries []content.PostFeedEntry, stops []core.Position, upwards bool) ([]content.PostFeedEntry, *place) {
	if len(stops) == 0 {
		return entries, nil
	}
	pick := slices.MinFunc[[]place]
	if upwards {
		pick = slices.MaxFunc[[]place]
	}
	first := pick(service.Map(stops, func(p core.Position) place { return place{p.Time, p.ID} }), place.compare)
	beyond := func(e content.PostFeedEntry) bool { return placeOf(e) != first && placeOf(e).newer(first) == upwards }
	return until(entries, beyond), &first
}

// windowAbove returns the window whose last post is the one at high, of entries that were read towards newer ones.
func (c rankCursor) windowAbove(entries []content.PostFeedEntry, stop *place) window {
	w := window{cursor: c, older: true}
	w.cursor.low, w.cursor.high = c.high, top(c.asOf)
	if stop != nil && w.cursor.high.newer(*stop) {
		w.cursor.high = *stop
	}
	inside := slices.DeleteFunc(slices.Clone(entries), func(e content.PostFeedEntry) bool {
		return c.high.newer(placeOf(e)) || placeOf(e).newer(top(c.asOf))
	})
	if size := windowOf(c.limit); len(inside) > size {
		w.cursor.high, inside = placeOf(inside[size]), inside[:size]
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
	c, n := w.cursor, len(w.ranked)
	at, isRow := slices.BinarySearchFunc(w.ranked, c, func(r ranked, c rankCursor) int { return before(r.score, r.ID, c.score, c.id) })
	switch {
	case c.back && c.id == "":
		return max(0, n-c.limit), n
	case c.back:
		return max(0, at-c.limit), at
	case c.id == "":
		at = 0
	case isRow:
		at++
	}
	return at, min(n, at+c.limit)
}

// at returns the cursor at a row.
func (c rankCursor) at(r ranked, back bool) rankCursor {
	c.back, c.score, c.id = back, r.score, r.ID
	return c
}
