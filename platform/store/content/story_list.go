package content

import (
	"time"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
)

// StoryList is a page of the stories of one target, without deleted ones.
type StoryList struct {
	TargetID string
	DataType string // empty means all
	ViewerID string // lists the hidden stories of this author; empty lists all
	// Ended lists the stories that expired before Now, otherwise the live ones.
	Ended bool
	Now   time.Time
	Desc  bool
	// The position that the page starts after.
	After   time.Time
	AfterID string
	Limit   int
}

var (
	sqlStoryTargets = db.Register("storyTargets.byID", `SELECT `+storyTargetColumns+` FROM story_targets AS t LEFT JOIN LATERAL (
		SELECT seen_expires_at FROM story_seen WHERE home = $1 AND user_id = $3 AND target_id = t.target_id LIMIT 1) AS s ON true
		WHERE t.home = $1 AND t.target_id = ANY($2::text[])`)
	sqlStorySeenUpsert = db.Register("storySeen.put", `INSERT INTO story_seen (home, user_id, target_id, seen_expires_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (home, user_id, target_id) DO UPDATE SET seen_expires_at = excluded.seen_expires_at
		WHERE story_seen.seen_expires_at < excluded.seen_expires_at`)
)

// The statements of ListStories, and those of their windows. Live stories were created within the longest life of a story,
// which bounds the part of the index that is read.
var (
	liveStories, liveStoryWindows   = storyLists("Live", ` AND expires_at > $6::timestamptz`)
	endedStories, endedStoryWindows = storyLists("Ended", ` AND expires_at <= $6::timestamptz`)
)

func storyLists(name, condition string) (lists, windows core.Directions) {
	stories := core.Source{
		Name: "stories.list" + name, Columns: storyColumns, Zeros: db.Zeros[Story]("latest_comments"),
		From:   `stories WHERE home = $1 AND target_id = $2 AND NOT is_deleted AND created_at > $7::timestamptz`,
		Filter: condition + ` AND ($8::text = '' OR data_type = $8::text) AND (hidden_at IS NULL OR $9::text IN ('', author_id))`,
		After:  3, Args: 9,
		Wrap: func(inner, order string) string { return withLatest(core.CountComments, storyColumns, inner, order) },
	}
	return core.OrderedBy(core.CreatedOrders, "created_at", stories.Page), core.OrderedBy(core.CreatedOrders, "created_at", stories.Window)
}

// ListStories reads up to Limit stories in the order of the list.
func (r ReadBatch) ListStories(l StoryList, into *[]Story) {
	home := r.HomeOrNone(l.TargetID)
	*into = nil
	lists, windowed, createdAfter := liveStories, liveStoryWindows, l.Now.Add(-MaxStoryLifetime-time.Minute)
	if l.Ended {
		lists, windowed, createdAfter = endedStories, endedStoryWindows, time.Time{}
	}
	at := func(s Story) core.Position { return core.Position{Time: s.CreatedAt, ID: s.ID} }
	core.ReadPage(r.ReadBatch, lists.In(l.Desc), l.Desc, at, core.Windows[Story]{
		Home: home, After: core.Position{Time: l.After, ID: l.AfterID}, Limit: l.Limit, Statement: windowed.In(l.Desc),
		Args: func(after core.Position, limit int) []any {
			return []any{l.TargetID, after.Time, after.ID, limit, l.Now, createdAfter, l.DataType, l.ViewerID}
		},
		Rows: core.RowsAt(r.ReadBatch, r.StoriesByID, func(s Story, _ map[string]core.Position) (Story, bool) { return s, s.DeletedAt == nil }),
	}, into)
}

// StoryTarget is a row of story_targets, with how far a user has seen its stories.
type StoryTarget struct {
	TargetID       string // internal id
	TargetType     string // community or user
	TargetPublicID string
	UpdatedAt      time.Time
	LastExpiresAt  time.Time  // of the stories that are not deleted; a time long ago if there is none
	SeenExpiresAt  *time.Time // nil if the user has seen none
}

const storyTargetColumns = `t.target_id, t.target_type, t.target_public_id, t.updated_at, t.last_expires_at, s.seen_expires_at`

// StoryTargets reads targets of any homes as seen by a user, in no particular order. Targets that never had a story
// have no row. userID may be empty.
func (r ReadBatch) StoryTargets(ids []string, userID string, into *[]StoryTarget) {
	core.ReadMany(r.ReadBatch, ids, sqlStoryTargets, into, userID)
}

// UpsertStorySeen records that a user has viewed a story of a target with this expiry.
func (w Tx) UpsertStorySeen(userID, targetID string, expires time.Time) {
	w.Exec(sqlStorySeenUpsert, userID, targetID, expires)
}

// StoryTargetList is a page of a reader's targets with live stories: communities, followed users and the reader,
// ordered by the expiry of their last story.
type StoryTargetList struct {
	ReaderID    string
	Communities []string
	Hidden      []string // excluded users
	SeenState   string   // all, seen or unseen
	Now         time.Time
	Desc        bool
	// The position that the page starts after.
	After   time.Time
	AfterID string
	Limit   int
}

// storyTargetLists are the statements of ListStoryTargets. Each home finds the followed users in its own mirror of
// follows, like the feeds, and reads each target once.
var storyTargetLists = core.InBoth(core.CreatedOrders, func(o db.Order) *db.Statement {
	return db.Register("feeds.storyTargets"+o.Name, `WITH wanted AS (
			SELECT followee_id AS target_id FROM followers WHERE home = $1 AND follower_id = $2 AND status = 'accepted'
			UNION ALL SELECT $2::text
			UNION ALL SELECT id FROM communities WHERE home = $1 AND id = ANY($6::text[]) AND deleted_at IS NULL)
			SELECT `+storyTargetColumns+` FROM wanted AS w CROSS JOIN LATERAL (
				SELECT target_id, target_type, target_public_id, updated_at, last_expires_at FROM story_targets
				WHERE home = $1 AND target_id = w.target_id AND last_expires_at > $7::timestamptz
				AND `+o.After("last_expires_at", "target_id", "$3::timestamptz", "$4")+` LIMIT 1) AS t
			LEFT JOIN LATERAL (SELECT seen_expires_at FROM story_seen WHERE home = $1 AND user_id = $2 AND target_id = w.target_id LIMIT 1) AS s
			ON true
			WHERE w.target_id <> ALL($8::text[])
			AND ($9::text = 'all' OR ($9::text = 'seen') = COALESCE(s.seen_expires_at >= t.last_expires_at, false))
			ORDER BY `+o.By("t.last_expires_at", "t.target_id")+` LIMIT $5::bigint`)
})

// ListStoryTargets reads up to Limit targets of each home.
func (r ReadBatch) ListStoryTargets(l StoryTargetList, into *[]StoryTarget) {
	*into = nil
	communities := r.ByHome(l.Communities)
	for _, home := range region.All() {
		core.AppendRows(r.ReadBatch, home, storyTargetLists.In(l.Desc), into, l.ReaderID, l.After, l.AfterID,
			l.Limit, core.EmptyIfNil(communities[home]), l.Now, core.EmptyIfNil(l.Hidden), l.SeenState)
	}
}
