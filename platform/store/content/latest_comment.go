package content

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
)

// Posts and stories are shown with their latest three comments, and comments with their latest three replies. To read
// these for a page, a statement would need LATERAL (… LIMIT 3), for which CockroachDB reads every comment. Therefore each
// shard of a count of comments keeps the latest three that it counted, so that the latest three of all are among at most
// 48. A transaction that counts a comment adds it in the same statement. One that removes a comment also removes it from
// the shards that have it, and refills the first shard.
//
// An entry is the time of the comment in microseconds with 16 digits, its id, the id of its author and a semicolon, so
// that the order of the texts is that of the comments. Some entries can be in two shards.

// LatestComment is a comment that is shown with what it belongs to.
type LatestComment struct{ ID, AuthorID string }

// LatestComments are up to three comments, newest first.
type LatestComments []LatestComment

const (
	latestComments  = 3
	entryTimeLength = 16
	entryIDEnd      = entryTimeLength + 24
)

// Scan implements sql.Scanner for the entries of all shards.
func (l *LatestComments) Scan(src any) error {
	*l = nil
	if src == nil {
		return nil
	}
	text, ok := src.(string)
	if !ok {
		return fmt.Errorf("the latest comments are %T instead of text", src)
	}
	entries := strings.FieldsFunc(text, func(r rune) bool { return r == ';' })
	slices.Sort(entries)
	entries = slices.Compact(entries)
	for _, entry := range slices.Backward(entries[max(0, len(entries)-latestComments):]) {
		if len(entry) < entryIDEnd {
			return fmt.Errorf("the entry %q of the latest comments is too short", entry)
		}
		*l = append(*l, LatestComment{ID: entry[entryTimeLength:entryIDEnd], AuthorID: entry[entryIDEnd:]})
	}
	return nil
}

// IDs returns the ids of the comments.
func (l *LatestComments) IDs() []string {
	var ids []string
	for _, c := range *l {
		ids = append(ids, c.ID)
	}
	return ids
}

// Authors returns the ids of the authors, in the order of the comments.
func (l *LatestComments) Authors() []string {
	var ids []string
	for _, c := range *l {
		ids = append(ids, c.AuthorID)
	}
	return ids
}

// latestEntry returns the entry of a comment.
func latestEntry(c Comment) string {
	return fmt.Sprintf("%0*d%s%s;", entryTimeLength, c.CreatedAt.UnixMicro(), c.ID, c.AuthorID)
}

// sqlLatestEntry is latestEntry of a row of comments.
const sqlLatestEntry = `lpad(round(extract(epoch FROM created_at)::numeric * 1000000)::bigint::text, 16, '0') || id || author_id || ';'`

// withLatest wraps a statement that selects columns, including the id, of what can have comments, and adds the latest
// comments of a kind to each row.
func withLatest(kind core.CounterKind, columns, inner, order string) string {
	return `SELECT ` + db.Prefixed("p", columns) + `, latest.entries FROM (` + inner + `) AS p CROSS JOIN LATERAL (
		SELECT string_agg(latest_1 || latest_2 || latest_3, '') AS entries FROM counters WHERE home = $1 AND ref = p.id AND kind = '` +
		string(kind) + `') AS latest` + order
}

// latestAmong is the number of approved comments among which a deletion looks for the latest ones that are not deleted: a post or comment
// shows none if all of them are. A deletion locks the count of the comments while it looks.
const latestAmong = "1000"

// nthLatest selects the entry of a comment of $4, or reply to $5, without those that are newer; empty if there is none.
func nthLatest(newer string) string {
	return `COALESCE((SELECT ` + sqlLatestEntry + ` FROM (SELECT id, author_id, created_at, deleted_at FROM comments WHERE home = $1
			AND reference_id = $4 AND parent_id = $5 AND approval_status = 'approved' ORDER BY created_at DESC, id DESC LIMIT ` +
		latestAmong + `) AS recent
		WHERE deleted_at IS NULL ORDER BY created_at DESC, id DESC LIMIT 1 OFFSET ` + newer + `), '')`
}

// whichLatest says why statements that remove comments from the latest ones do not declare the rows.
const whichLatest = "the transaction locks the first shard, so that only one at a time removes comments"

var (
	sqlCounterAddLatest = db.Register("counters.addComment", `INSERT INTO counters (home, ref, kind, shard, n, latest_1) VALUES ($1, $2, $3,
		$4::bigint, 1, $5)
		ON CONFLICT (home, ref, kind, shard) DO UPDATE SET n = counters.n + 1, latest_1 = greatest(counters.latest_1, excluded.latest_1),
			latest_2 = greatest(counters.latest_2, least(counters.latest_1, excluded.latest_1)),
			latest_3 = greatest(counters.latest_3, least(counters.latest_2, excluded.latest_1))`).UpdatesFirst(core.SharedCounters, 2, 3, 4)
	sqlLatestRemove = db.Register("counters.removeComment", `UPDATE counters SET latest_1 = '', latest_2 = '', latest_3 = ''
		WHERE home = $1 AND ref = $2 AND kind = $3 AND strpos(latest_1 || latest_2 || latest_3, $4) > 0
		AND NOT EXISTS (SELECT 1 FROM comments WHERE home = $1 AND id = $4 AND approval_status = 'approved'
			AND deleted_at IS NULL)`).UpdatesUnlocked(core.SharedCounters, whichLatest)
	sqlLatestRefill = db.Register("counters.refillComments", `INSERT INTO counters (home, ref, kind, shard, n, latest_1, latest_2, latest_3)
		VALUES ($1, $2, $3, 0, 0, `+nthLatest("0")+`, `+nthLatest("1")+`, `+nthLatest("2")+`)
		ON CONFLICT (home, ref, kind, shard) DO UPDATE SET latest_1 = excluded.latest_1, latest_2 = excluded.latest_2,
		latest_3 = excluded.latest_3`).
		UpdatesUnlocked(core.SharedCounters, whichLatest)
	sqlLatestClear = db.Register("counters.clearComments", `UPDATE counters SET latest_1 = '', latest_2 = '', latest_3 = ''
		WHERE home = $1 AND ref = $2 AND kind = 'comments' AND latest_1 <> ''`).UpdatesUnlocked(core.SharedCounters, whichLatest)
)

// shownAt returns what the comment is shown with, and the count that keeps it.
func (c Comment) shownAt() (ref string, kind core.CounterKind) {
	if c.ParentID != "" {
		return c.ParentID, core.CountReplies
	}
	return c.ReferenceID, core.CountComments
}

// refreshLatest corrects the latest comments after a change of the comment's status or its deletion.
func (w Tx) refreshLatest(c Comment) {
	ref, kind := c.shownAt()
	w.LockCounter(ref, kind, 0)
	w.Exec(sqlLatestRemove, ref, string(kind), c.ID)
	w.Exec(sqlLatestRefill, ref, string(kind), c.ReferenceID, c.ParentID)
}
