package store

import (
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/plaza-social/plaza/platform/region"
)

// StoryList is a page of the stories of one target. Deleted stories are in none.
type StoryList struct {
	TargetID string
	DataType string // all when empty
	// Ended lists the stories that ended before Now, otherwise those that last.
	Ended bool
	Now   time.Time
	Desc  bool
	// The position after which the page starts.
	After   time.Time
	AfterID string
	Limit   int
}

var (
	storyLists      = makeStoryLists()
	storyTargetList = makeStoryTargetLists()

	sqlStoryTargets = stmt("storyTargets.byID", `SELECT `+storyTargetColumns+` FROM story_targets AS t LEFT JOIN LATERAL (
		SELECT seen_expires_at FROM story_seen WHERE home = $1 AND user_id = $3 AND target_id = t.target_id LIMIT 1) AS s ON true
		WHERE t.home = $1 AND t.target_id = ANY($2::text[])`)
	sqlStorySeen = stmt("storySeen.put", `INSERT INTO story_seen (home, user_id, target_id, seen_expires_at) VALUES ($1, $2, $3, $4)
		ON CONFLICT (home, user_id, target_id) DO UPDATE SET seen_expires_at = excluded.seen_expires_at
		WHERE story_seen.seen_expires_at < excluded.seen_expires_at`)
)

// makeStoryLists: those that last were made within the longest life of a story, so that a list of them reads no further.
func makeStoryLists() map[string]*Statement {
	lists := map[string]*Statement{}
	scopes := map[string]string{
		"Live":  ` AND expires_at > $6::timestamptz AND created_at > $7::timestamptz`,
		"Ended": ` AND expires_at <= $6::timestamptz AND created_at > $7::timestamptz`,
	}
	for scope, where := range scopes {
		for _, o := range []listOrder{orderCreatedDesc, orderCreatedAsc} {
			name := "stories.list" + scope + o.name
			lists[name] = stmt(name, withLatestComments(storyColumns, `SELECT `+storyColumns+` FROM stories WHERE home = $1 AND target_id = $2
				AND deleted_at IS NULL`+where+` AND ($8::text = '' OR data_type = $8::text) AND `+o.after("created_at", "id", "$3::timestamptz", "$4")+
				` ORDER BY `+o.by("created_at", "id")+` LIMIT $5::bigint`, ` ORDER BY `+o.by("p.created_at", "p.id")))
		}
	}
	return lists
}

// ListStories reads up to Limit stories in the order of the list.
func (r *ReadBatch) ListStories(l StoryList, into *[]Story) {
	home, err := region.HomeOf(l.TargetID)
	if err != nil {
		return
	}
	scope, from := "Live", l.Now.Add(-MaxStoryLife-time.Minute)
	if l.Ended {
		scope, from = "Ended", time.Time{}
	}
	st := storyLists["stories.list"+scope+pick(l.Desc, orderCreatedDesc, orderCreatedAsc).name]
	r.add(home, st, scanAll(into, scanStory), l.TargetID, l.After, l.AfterID, l.Limit, l.Now, from, l.DataType)
}

// StoryTarget is a row of story_targets, with how far a user has seen its stories.
type StoryTarget struct {
	TargetID       string // internal id
	TargetType     string // community or user
	TargetPublicID string
	UpdatedAt      time.Time
	LastExpiresAt  time.Time  // of the stories that are not deleted; long ago without any
	SeenExpiresAt  *time.Time // nil where the user saw none
}

const storyTargetColumns = `t.target_id, t.target_type, t.target_public_id, t.updated_at, t.last_expires_at, s.seen_expires_at`

func scanStoryTarget(rows pgx.Rows) (StoryTarget, error) {
	var t StoryTarget
	err := rows.Scan(&t.TargetID, &t.TargetType, &t.TargetPublicID, &t.UpdatedAt, &t.LastExpiresAt, &t.SeenExpiresAt)
	return t, err
}

// StoryTargets reads targets of any homes as a user has seen them, empty for nobody; their order is not defined. Targets that
// never had a story are not among them.
func (r *ReadBatch) StoryTargets(ids []string, userID string, into *[]StoryTarget) {
	*into = nil
	for home, ids := range byHome(ids) {
		part := new([]StoryTarget)
		r.add(home, sqlStoryTargets, scanAll(part, scanStoryTarget), ids, userID)
		r.Then(func() { *into = append(*into, *part...) })
	}
}

// SeeStories keeps that a user viewed a story of a target that ends at expires.
func (w *Tx) SeeStories(userID, targetID string, expires time.Time) {
	w.exec(sqlStorySeen, userID, targetID, expires)
}

// StoryTargetList is a page of those of a reader's targets that have live stories: communities, users that the reader
// follows, and the reader. The target whose last story ends last comes first.
type StoryTargetList struct {
	ReaderID    string
	Communities []string
	Hidden      []string // users who are left out
	SeenState   string   // all, seen or unseen
	Now         time.Time
	Desc        bool
	// The position after which the page starts.
	After   time.Time
	AfterID string
	Limit   int
}

// makeStoryTargetLists: each home finds whom the reader follows in its own mirror of follows, as the feeds do, and looks at
// each target once.
func makeStoryTargetLists() map[listOrder]*Statement {
	lists := map[listOrder]*Statement{}
	for _, o := range []listOrder{orderCreatedDesc, orderCreatedAsc} {
		lists[o] = stmt("feeds.storyTargets"+o.name, `WITH wanted AS (
			SELECT followee_id AS target_id FROM followers WHERE home = $1 AND follower_id = $2 AND status = 'accepted'
			UNION ALL SELECT $2::text
			UNION ALL SELECT id FROM communities WHERE home = $1 AND id = ANY($6::text[]) AND deleted_at IS NULL)
			SELECT `+storyTargetColumns+` FROM wanted AS w CROSS JOIN LATERAL (
				SELECT target_id, target_type, target_public_id, updated_at, last_expires_at FROM story_targets
				WHERE home = $1 AND target_id = w.target_id AND last_expires_at > $7::timestamptz
				AND `+o.after("last_expires_at", "target_id", "$3::timestamptz", "$4")+` LIMIT 1) AS t
			LEFT JOIN LATERAL (SELECT seen_expires_at FROM story_seen WHERE home = $1 AND user_id = $2 AND target_id = w.target_id LIMIT 1) AS s ON true
			WHERE w.target_id <> ALL($8::text[])
			AND ($9::text = 'all' OR ($9::text = 'seen') = COALESCE(s.seen_expires_at >= t.last_expires_at, false))
			ORDER BY `+o.by("t.last_expires_at", "t.target_id")+` LIMIT $5::bigint`)
	}
	return lists
}

// ListStoryTargets reads up to Limit targets of each home; together they hold the page.
func (r *ReadBatch) ListStoryTargets(l StoryTargetList, into *[]StoryTarget) {
	*into = nil
	communities := byHome(l.Communities)
	for _, home := range region.All() {
		part := new([]StoryTarget)
		r.add(home, storyTargetList[pick(l.Desc, orderCreatedDesc, orderCreatedAsc)], scanAll(part, scanStoryTarget), l.ReaderID, l.After, l.AfterID,
			l.Limit, emptyIfNil(communities[home]), l.Now, emptyIfNil(l.Hidden), l.SeenState)
		r.Then(func() { *into = append(*into, *part...) })
	}
}
