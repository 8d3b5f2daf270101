package lifecycle

import (
	"strconv"
	"time"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
)

// The kinds of ids that move with a user.
const (
	MovedUser = "user"
	MovedFile = "file"
)

// MoveSource finds the ids of one kind that move with a user. Its pages follow an index, so that it reads only rows of the user.
type MoveSource struct {
	Kind  string
	start []string // precedes every key
	page  *db.Statement
}

// MoveRow is a row that was visited by a MoveSource.
type MoveRow struct {
	Key []string
	IDs []string // that move; empty if the row stays
}

// moveSource returns a source that reads the rows of a table that have the user in the column owner, in the order of their
// ids. ids is the list of ids of a row.
func moveSource(kind, table, owner, ids string) *MoveSource {
	return &MoveSource{Kind: kind, start: []string{""}, page: db.Register("moves.ids."+table, `SELECT ARRAY[id], `+ids+
		` FROM `+table+` WHERE home = $1 AND `+owner+` = $2 AND id > $4 ORDER BY id LIMIT $3::bigint`)}
}

// moveStories returns a source that reads the stories of the user which are deleted or not.
func moveStories(kind, deleted string) *MoveSource {
	return &MoveSource{Kind: kind, start: []string{"0001-01-01", ""}, page: db.Register("moves.ids."+kind, `SELECT ARRAY[created_at::text, id],
		ARRAY[id]
		FROM stories WHERE home = $1 AND is_deleted = `+deleted+` AND target_id = $2 AND (created_at, id) > ($4::timestamptz, $5)
		ORDER BY created_at, id LIMIT $3::bigint`)}
}

// moveSourceOf returns a source that reads the rows which belong to moving ids, m.id in the statement rows.
func moveSourceOf(kind string, start []string, columns, rows, order string) *MoveSource {
	return &MoveSource{Kind: kind, start: start, page: db.Register("moves.ids.of."+kind, columns+` FROM moved_ids AS m CROSS JOIN LATERAL (`+rows+
		` LIMIT $3::bigint) AS r WHERE m.home = $1 AND m.user_id = $2 AND m.id >= $4 ORDER BY `+order+` LIMIT $3::bigint`)}
}

// MoveSources find all ids that move with a user, apart from the user's own one. Later ones depend on earlier ones.
var MoveSources = []*MoveSource{
	{Kind: "post", start: []string{"", "false", "0001-01-01", ""}, page: db.Register("moves.ids.posts", `SELECT ARRAY[feed_type, is_parent::text,
		created_at::text, id], ARRAY[id]
		FROM posts WHERE home = $1 AND target_id = $2 AND (feed_type, is_parent, created_at, id) > ($4, $5::boolean, $6::timestamptz, $7)
		ORDER BY feed_type, is_parent, created_at, id LIMIT $3::bigint`)},
	moveStories("story", "false"), moveStories("deletedStory", "true"),
	moveSourceOf("comment", []string{"", "0001-01-01", ""}, `SELECT ARRAY[r.reference_id, r.created_at::text, r.id], ARRAY[r.id]`,
		`SELECT reference_id, created_at, id FROM comments WHERE home = $1 AND reference_id = m.id
			AND (reference_id, created_at, id) > ($4, $5::timestamptz, $6) ORDER BY created_at, id`, `r.reference_id, r.created_at, r.id`),
	// The ids of the posts that a scheduled post becomes are fixed in advance.
	moveSource("scheduledPost", "scheduled_posts", "target_id", `ARRAY[id] || post_ids`),
	moveSource("event", "planned_events", "origin_id", `ARRAY[id]`),
	moveSource("poll", "polls", "creator_id", `ARRAY[id]`),
	moveSource("stream", "video_streams", "creator_id", `ARRAY[id]`),
	moveSource("room", "rooms", "creator_id", `ARRAY[id]`),
	// The channel of a stream or room has its id.
	moveSourceOf("messageFeed", []string{"", ""}, `SELECT ARRAY[r.entity_id, r.id], ARRAY[r.id]`,
		`SELECT entity_id, id FROM message_feeds WHERE home = $1 AND entity_id = m.id AND (entity_id, id) > ($4, $5) ORDER BY id`,
		`r.entity_id, r.id`),
	moveSourceOf("message", []string{"", "0"}, `SELECT ARRAY[r.feed_id, r.segment::text], ARRAY[r.id]`,
		`SELECT feed_id, segment, id FROM messages WHERE home = $1 AND feed_id = m.id AND (feed_id, segment) > ($4, $5::bigint) ORDER BY segment`,
		`r.feed_id, r.segment`),
	moveSourceOf("invitation", []string{"", "0001-01-01", ""}, `SELECT ARRAY[r.target_id, r.created_at::text, r.id], ARRAY[r.id]`,
		`SELECT target_id, created_at, id FROM invitations WHERE home = $1 AND target_id = m.id
			AND (target_id, created_at, id) > ($4, $5::timestamptz, $6) ORDER BY created_at, id`, `r.target_id, r.created_at, r.id`),
	moveSource(MovedFile, "files", "owner_id", `ARRAY[id]`),
}

// MoveTable is a table whose rows move with the ids in one of its columns.
type MoveTable struct {
	Name string
	// PageRows is the maximum number of rows that one transaction moves.
	PageRows int
	move     *db.Statement
}

// The usual number of rows that one transaction moves, and the one for tables in which a plan for more would read all rows.
const (
	movePage      = 500
	shortMovePage = 50
)

// newMoveTable registers the statement of a table, which moves rows a page at a time. The query for the keys of the next rows is
// materialized because PostgreSQL would run it once for each row of a table about which it has no statistics yet.
func newMoveTable(t table) *MoveTable {
	size, page := movePage, `SELECT `+t.key+` FROM `+t.name+` WHERE home = $1 AND `+t.movedBy()+` = ANY($2::text[]) LIMIT $4::bigint`
	if t.short {
		limit := strconv.Itoa(shortMovePage)
		size, page = shortMovePage, `SELECT `+t.key+` FROM unnest($2::text[]) AS i (id)
			CROSS JOIN LATERAL (SELECT `+t.key+` FROM `+t.name+`
				WHERE home = $1 AND `+t.movedBy()+` = i.id ORDER BY `+t.key+` LIMIT `+limit+`) AS r LIMIT `+limit
	}
	st := db.Register("moves.rows."+t.name, `WITH page AS MATERIALIZED (`+page+`)
		UPDATE `+t.name+` SET home = $3 WHERE home = $1 AND (`+t.key+`) IN (SELECT `+t.key+` FROM page) RETURNING 1`)
	if t := core.Shared[t.name]; t != nil {
		st = st.UpdatesUnlocked(t, whileMoving)
	}
	return &MoveTable{Name: t.name, PageRows: size, move: st}
}

// whileMoving is why the rows that move are not locked before.
const whileMoving = "nothing else writes rows while they move"

// MoveTables are the tables whose rows move with a user.
var MoveTables = selectTables(func(t table) bool { return t.stays == "" }, newMoveTable)

var (
	sqlMoveFlagItems = db.Register("moves.rows.flag_items", `UPDATE flag_items SET home = $3 WHERE home = $1 AND target_id = ANY($2::text[])
		RETURNING 1`)
	// The counts of a place move with it, so that only those of the home change.
	sqlMoveFlagCountersFrom = db.Register("moves.flagCountersFrom", `UPDATE counters SET n = counters.n - i.n FROM (SELECT 'flags-' || state AS kind,
		shard, count(*) AS n
			FROM flag_items WHERE home = $1 AND target_id = ANY($2::text[]) GROUP BY state, shard) AS i
		WHERE counters.home = $1 AND counters.ref = $3 AND counters.kind = i.kind AND counters.shard = i.shard`).UpdatesUnlocked(core.SharedCounters,
		core.CountsOfItems)
	sqlMoveFlagCounters = db.Register("moves.flagCounters", `INSERT INTO counters (home, ref, kind, shard, n)
		SELECT $3, $4, 'flags-' || state, shard, count(*) FROM flag_items WHERE home = $1 AND target_id = ANY($2::text[]) GROUP BY state, shard
		ON CONFLICT (home, ref, kind, shard) DO UPDATE SET n = counters.n + excluded.n`).UpdatesUnlocked(core.SharedCounters, core.CountsOfItems)
	// The rows move last, because no index has those of a target. The new home may have newer ones.
	sqlMoveSeen = db.Register("moves.rows.story_seen", `INSERT INTO story_seen (home, user_id, target_id, seen_expires_at)
		SELECT $4, user_id, target_id, seen_expires_at FROM story_seen WHERE home = $1 AND target_id = $2 AND user_id = ANY($3::text[])
		ON CONFLICT (home, user_id, target_id) DO UPDATE SET seen_expires_at = GREATEST(story_seen.seen_expires_at, excluded.seen_expires_at)`)
	sqlMoveSeenDelete = db.Register("moves.deleted.story_seen", `DELETE FROM story_seen WHERE home = $1 AND target_id = $2
		AND user_id = ANY($3::text[]) RETURNING 1`)
	sqlSeenPage = db.Register("moves.page.story_seen", `SELECT ARRAY[user_id, target_id], CASE WHEN target_id = $2 THEN ARRAY[user_id]
		ELSE '{}'::text[] END
		FROM story_seen WHERE home = $1 AND (user_id, target_id) > ($4, $5) ORDER BY user_id, target_id LIMIT $3::bigint`)
	sqlExportRestart = db.Register("moves.restartExport",
		`UPDATE user_exports SET state = '`+ExportCollecting+`', step = '', position = '{}', exported = '{}', bytes = 0,
		version = version + 1, attempts = 0, due_at = $3 WHERE home = $1 AND id = $2 AND state <> '`+ExportReady+`'`)
)

// MoveRows reads up to limit rows of a source after a position, which is empty at the start.
func (r ReadBatch) MoveRows(s *MoveSource, home region.Code, userID string, after []string, limit int, into *[]MoveRow) {
	if len(after) == 0 {
		after = s.start
	}
	r.Add(home, s.page, db.Rows(into), append([]any{userID, limit}, anys(after)...)...)
}

// MoveTable moves up to t.PageRows rows of a table whose ids are given from the home of the transaction to another one, and
// reads their number.
func (w Tx) MoveTable(t *MoveTable, ids []string, to region.Code, moved *int64) {
	args := []any{ids, string(to)}
	if t.PageRows == movePage {
		args = append(args, movePage)
	}
	w.Query(t.move, db.Count(moved), args...)
}

// MoveFlagItems moves the items of the flag queue of targets, and their counts.
func (w Tx) MoveFlagItems(ids []string, to region.Code, moved *int64) {
	w.Exec(sqlMoveFlagCountersFrom, ids, content.FlagsRef(w.Home()))
	w.Exec(sqlMoveFlagCounters, ids, string(to), content.FlagsRef(to))
	w.Query(sqlMoveFlagItems, db.Count(moved), ids, string(to))
}

// StorySeenRows reads how far users have seen the stories of a target, as the rows of a source: the ids are users.
func (r ReadBatch) StorySeenRows(home region.Code, targetID string, after []string, limit int, into *[]MoveRow) {
	if len(after) == 0 {
		after = []string{"", ""}
	}
	r.Add(home, sqlSeenPage, db.Rows(into), append([]any{targetID, limit}, anys(after)...)...)
}

// MoveStorySeen moves how far users have seen the stories of a target.
func (w Tx) MoveStorySeen(targetID string, userIDs []string, to region.Code, moved *int64) {
	w.Exec(sqlMoveSeen, targetID, userIDs, string(to))
	w.Query(sqlMoveSeenDelete, db.Count(moved), targetID, userIDs)
}

// RestartExport begins an export that is not ready from the start.
func (w Tx) RestartExport(userID string, dueAt time.Time) { w.Exec(sqlExportRestart, userID, dueAt) }
