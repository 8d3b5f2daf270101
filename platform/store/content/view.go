package content

import (
	"time"

	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
)

// The kinds of counts of views of a post or story.
const (
	CountImpressions core.CounterKind = "impressions" // views
	CountReach       core.CounterKind = "reach"       // users who viewed it
)

// newViews counts the distinct times in $4 that are after the last counted view.
const newViews = `(SELECT count(DISTINCT t.at) FROM unnest($4::timestamptz[]) AS t (at)
	WHERE t.at > COALESCE((SELECT last_at FROM views WHERE home = $1 AND reference_id = $2 AND user_id = $3), '0001-01-01'::timestamptz))`

var (
	sqlViewImpressions = db.Register("views.countImpressions",
		`INSERT INTO counters (home, ref, kind, shard, n) VALUES ($1, $2, $5, $6::bigint, `+newViews+`)
		ON CONFLICT (home, ref, kind, shard) DO UPDATE SET n = counters.n + excluded.n`).UpdatesFirst(core.SharedCounters, 2, 5, 6)
	sqlViewReach = db.Register("views.countReach", `INSERT INTO counters (home, ref, kind, shard, n) VALUES ($1, $2, $4, $5::bigint,
		CASE WHEN EXISTS (SELECT 1 FROM views WHERE home = $1 AND reference_id = $2 AND user_id = $3) THEN 0 ELSE 1 END)
		ON CONFLICT (home, ref, kind, shard) DO UPDATE SET n = counters.n + excluded.n`).UpdatesFirst(core.SharedCounters, 2, 4, 5)
	sqlViewUpsert = db.Register("views.put", `INSERT INTO views (home, reference_id, user_id, reference_type, n, first_at, last_at)
		VALUES ($1, $2, $3, $5, `+newViews+`, $6, $7) ON CONFLICT (home, reference_id, user_id)
		DO UPDATE SET n = views.n + excluded.n, last_at = GREATEST(views.last_at, excluded.last_at)`)
	sqlViewsPurge = db.Register("views.purge", `DELETE FROM views WHERE home = $1 AND reference_id = ANY($2::text[])`)

	viewsByCreation = core.OrderedBy(core.CreatedOrders, "first_at", core.Source{
		Name: "views.list", Columns: db.Columns[View](), From: `views WHERE home = $1 AND reference_id = $2`, ID: "user_id", After: 3,
	}.List)
)

// View is a row of views: how often a user viewed a post or story.
type View struct {
	ReferenceType string // post or story
	ReferenceID   string
	UserID        string // internal id
	FirstAt       time.Time
}

// InsertViews records and counts a user's views at the given times, which must be sorted and distinct. Times that are
// not after the last counted view are ignored, so that the call is idempotent.
func (w Tx) InsertViews(v View, times []time.Time) {
	w.Exec(sqlViewImpressions, v.ReferenceID, v.UserID, times, string(CountImpressions), db.AnyShard)
	w.Exec(sqlViewReach, v.ReferenceID, v.UserID, string(CountReach), db.AnyShard)
	w.Exec(sqlViewUpsert, v.ReferenceID, v.UserID, times, v.ReferenceType, times[0], times[len(times)-1])
}

// ViewList is a page of the users who viewed a post or story, ordered by their first view.
type ViewList struct {
	ReferenceID string
	Desc        bool
	// The position that the page starts after.
	After   time.Time
	AfterID string
	Limit   int
}

// ListViews reads up to Limit views in the order of the list.
func (r ReadBatch) ListViews(l ViewList, into *[]View) {
	r.AddAt(l.ReferenceID, viewsByCreation.In(l.Desc), db.Rows(into), l.ReferenceID, l.After, l.AfterID, l.Limit)
}
