package store

import (
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/plaza-social/plaza/platform/region"
)

// Counts of a post or story that is viewed.
const (
	CountImpressions CounterKind = "impressions" // views
	CountReach       CounterKind = "reach"       // users who viewed it
)

// newViews counts those of the times $4 that are after the last view that was counted.
const newViews = `(SELECT count(DISTINCT t.at) FROM unnest($4::timestamptz[]) AS t (at)
	WHERE t.at > COALESCE((SELECT last_at FROM views WHERE home = $1 AND reference_id = $2 AND user_id = $3), '0001-01-01'::timestamptz))`

var (
	sqlViewImpressions = stmt("views.countImpressions", `INSERT INTO counters (home, ref, kind, shard, n) VALUES ($1, $2, $5, $6::bigint, `+newViews+`)
		ON CONFLICT (home, ref, kind, shard) DO UPDATE SET n = counters.n + excluded.n`)
	sqlViewReach = stmt("views.countReach", `INSERT INTO counters (home, ref, kind, shard, n) VALUES ($1, $2, $4, $5::bigint,
		CASE WHEN EXISTS (SELECT 1 FROM views WHERE home = $1 AND reference_id = $2 AND user_id = $3) THEN 0 ELSE 1 END)
		ON CONFLICT (home, ref, kind, shard) DO UPDATE SET n = counters.n + excluded.n`)
	sqlViewPut = stmt("views.put", `INSERT INTO views (home, reference_id, user_id, reference_type, n, first_at, last_at)
		VALUES ($1, $2, $3, $5, `+newViews+`, $6, $7) ON CONFLICT (home, reference_id, user_id)
		DO UPDATE SET n = views.n + excluded.n, last_at = GREATEST(views.last_at, excluded.last_at)`)
	sqlViewsPurge = stmt("views.purge", `DELETE FROM views WHERE home = $1 AND reference_id = ANY($2::text[])`)

	viewLists = makeViewLists()
)

// View is a row of views: how often a user viewed a post or story.
type View struct {
	ReferenceType string // post or story
	ReferenceID   string
	UserID        string // internal id
	FirstAt       time.Time
}

func scanView(rows pgx.Rows) (View, error) {
	var v View
	err := rows.Scan(&v.ReferenceType, &v.ReferenceID, &v.UserID, &v.FirstAt)
	return v, err
}

func makeViewLists() map[listOrder]*Statement {
	lists := map[listOrder]*Statement{}
	for _, o := range []listOrder{orderCreatedDesc, orderCreatedAsc} {
		lists[o] = stmt("views.list"+o.name, `SELECT reference_type, reference_id, user_id, first_at FROM views WHERE home = $1 AND reference_id = $2
			AND `+o.after("first_at", "user_id", "$3::timestamptz", "$4")+` ORDER BY `+o.by("first_at", "user_id")+` LIMIT $5::bigint`)
	}
	return lists
}

// InsertViews keeps and counts that a user viewed something at some times, in order and each once. Views that are not later
// than one which was counted already are passed over, so that what is told twice counts once.
func (w *Tx) InsertViews(v View, times []time.Time) {
	shard := rand.Int64N(counterShards) //nolint:gosec // a shard that need not be a secret
	w.exec(sqlViewImpressions, v.ReferenceID, v.UserID, times, string(CountImpressions), shard)
	w.exec(sqlViewReach, v.ReferenceID, v.UserID, string(CountReach), shard)
	w.exec(sqlViewPut, v.ReferenceID, v.UserID, times, v.ReferenceType, times[0], times[len(times)-1])
}

// ViewList is a page of those who viewed something, by when they did first.
type ViewList struct {
	ReferenceID string
	Desc        bool
	// The position after which the page starts.
	After   time.Time
	AfterID string
	Limit   int
}

// ListViews reads up to Limit views in the order of the list.
func (r *ReadBatch) ListViews(l ViewList, into *[]View) {
	if home, err := region.HomeOf(l.ReferenceID); err == nil {
		r.add(home, viewLists[pick(l.Desc, orderCreatedDesc, orderCreatedAsc)], scanAll(into, scanView), l.ReferenceID, l.After, l.AfterID, l.Limit)
	}
}
