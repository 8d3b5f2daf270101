package people

import (
	"time"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
)

// The statuses of a follow. FollowNone is the status after it ended; a follow that never existed has no row.
const (
	FollowPending  = "pending"
	FollowAccepted = "accepted"
	FollowNone     = "none"
)

// The kinds of counts of a followed user.
const (
	CountFollowers      core.CounterKind = "followers"
	CountFollowRequests core.CounterKind = "followRequests"
)

// Follow is a row of follows, in the follower's home, or of followers, its mirror in the followed user's home.
type Follow struct {
	FollowerID       string    `json:"followerId"` // internal id
	FolloweeID       string    `json:"followeeId"` // internal id
	FollowerPublicID string    `json:"followerPublicId"`
	FolloweePublicID string    `json:"followeePublicId"`
	Status           string    `json:"status"`
	Version          int64     `json:"version"` // starts at 1 and is incremented by each change
	CreatedAt        time.Time `json:"createdAt"`
	UpdatedAt        time.Time `json:"updatedAt"`
}

// Active reports whether the follow is accepted or pending. It is false for a nil Follow.
func (f *Follow) Active() bool { return f != nil && f.Status != FollowNone }

// Accepted reports whether the follow is accepted. It is false for a nil Follow.
func (f *Follow) Accepted() bool { return f != nil && f.Status == FollowAccepted }

// Pending reports whether the follow awaits approval. It is false for a nil Follow.
func (f *Follow) Pending() bool { return f != nil && f.Status == FollowPending }

var followColumns = db.Columns[Follow]()

var (
	sqlFollow       = db.Register("follows.byPair", `SELECT `+followColumns+` FROM follows WHERE home = $1 AND follower_id = $2 AND followee_id = $3`)
	sqlFollowInsert = db.Register("follows.insert", `INSERT INTO follows (home, follower_id, followee_id, follower_public_id, followee_public_id,
		status, version, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, 1, $7, $8)`)
	sqlFollowUpdate = db.Register("follows.update", `WITH changed AS (UPDATE follows SET status = $5, version = version + 1, created_at = $6,
		updated_at = $7
		WHERE home = $1 AND follower_id = $2 AND followee_id = $3 AND version = $4::bigint RETURNING followee_id)
		SELECT 1 / count(*) FROM changed`)
	sqlFollowGuardNone = db.Register("follows.guardNone", `SELECT 1 / CASE WHEN EXISTS (SELECT 1 FROM follows
		WHERE home = $1 AND follower_id = $2 AND followee_id = $3 AND status <> 'none') THEN 0 ELSE 1 END`)
	sqlFollowMirror = db.Register("followers.mirror", `INSERT INTO followers (home, followee_id, follower_id, follower_public_id, followee_public_id,
		status, version, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7::bigint, $8, $9)
		ON CONFLICT (home, followee_id, follower_id) DO UPDATE SET status = excluded.status, version = excluded.version,
		created_at = excluded.created_at, updated_at = excluded.updated_at WHERE followers.version < excluded.version`)
	sqlFollowerUpdateEnded = db.Register("followers.end", `UPDATE followers SET status = 'none' WHERE home = $1 AND followee_id = $2 AND follower_id
		= $3`)
	// The count changes by the difference between the new and the stored status, or not at all if the stored row is not
	// older. It must precede the statement that changes the row.
	sqlFollowerCount = db.Register("followers.count", `INSERT INTO counters (home, ref, kind, shard, n) VALUES ($1, $2, $4, $5::bigint,
		CASE WHEN EXISTS (SELECT 1 FROM followers WHERE home = $1 AND followee_id = $2 AND follower_id = $3 AND version >= $8::bigint) THEN 0
		ELSE CASE WHEN $7::text = $6::text THEN 1 ELSE 0 END
			- (SELECT count(*) FROM followers WHERE home = $1 AND followee_id = $2 AND follower_id = $3 AND status = $6::text) END)
		ON CONFLICT (home, ref, kind, shard) DO UPDATE SET n = counters.n + excluded.n`).UpdatesFirst(core.SharedCounters, 2, 4, 5)
)

// The statements of ListFollows, which lists the follows of one user with one status.
var (
	followsByFollower   = followList("follows", "follower_id", "followee_id")
	followersByFollowee = followList("followers", "followee_id", "follower_id")
)

func followList(table, userColumn, otherColumn string) core.Directions {
	return core.OrderedBy(core.CreatedOrders, "created_at", core.Source{
		Name: table + ".list", Columns: followColumns,
		From: table + ` WHERE home = $1 AND ` + userColumn + ` = $2 AND status = $3`, ID: otherColumn, After: 4,
	}.List)
}

// Follow reads a follow in the follower's home; nil if there never was one.
func (r ReadBatch) Follow(followerID, followeeID string, into **Follow) {
	r.AddAt(followerID, sqlFollow, db.Row(into), followerID, followeeID)
}

// FollowList is a page of one user's followers or followed users.
type FollowList struct {
	UserID    string
	Followers bool
	// Statuses are distinct.
	Statuses []string
	Desc     bool
	// The position that the page starts after.
	After   time.Time
	AfterID string
	Limit   int
}

// ListFollows reads up to Limit follows of each status. The parts are sorted but not merged.
func (r ReadBatch) ListFollows(l FollowList, into *[]Follow) {
	*into = nil
	home := r.HomeOrNone(l.UserID)
	st := core.Pick(l.Followers, followersByFollowee, followsByFollower).In(l.Desc)
	for _, status := range l.Statuses {
		core.AppendRows(r.ReadBatch, home, st, into, l.UserID, status, l.After, l.AfterID, l.Limit)
	}
}

// FollowChange is the change of a follow from the row that was read.
type FollowChange struct {
	Old *Follow // nil if there was no row
	New Follow
}

// TopicFollow is the outbox topic of follows to mirror; the payload is a Follow.
const TopicFollow = "follow"

// ChangeFollow changes a follow in the follower's home and the count of followed users. If the row is not the one that
// was read, the transaction fails with ErrConflict. If the followed user has the same home, the mirror is updated in
// the transaction; otherwise the returned outbox rows update it.
func (w Tx) ChangeFollow(c FollowChange, now, firstTry time.Time) []core.OutboxRow {
	f := c.New
	f.Version = 1
	if c.Old == nil {
		w.Exec(sqlFollowInsert, f.FollowerID, f.FolloweeID, f.FollowerPublicID, f.FolloweePublicID, f.Status, f.CreatedAt, f.UpdatedAt).
			OnConflict("follows_pkey", core.ErrConflict)
	} else {
		f.Version = c.Old.Version + 1
		w.Guard(sqlFollowUpdate, core.ErrConflict, f.FollowerID, f.FolloweeID, c.Old.Version, f.Status, f.CreatedAt, f.UpdatedAt)
	}
	native, err := region.HomeOf(f.FolloweeID)
	if err != nil {
		native = w.Home() // ids of rows are well formed
	}
	w.CountUnlessZero(f.FollowerID, core.CountFollowing(native), core.CountIf(f.Accepted())-core.CountIf(c.Old.Accepted()))
	if w.Elsewhere(f.FolloweeID) {
		return []core.OutboxRow{w.Emit(TopicFollow, f, now, firstTry)}
	}
	w.MirrorFollow(f)
	return nil
}

// GuardNoFollow makes the transaction fail with ErrConflict if one user follows another, or asks to, after the
// preceding statements. It detects a follow that was inserted after the caller read the rows.
func (w Tx) GuardNoFollow(followerID, followeeID string) {
	w.Guard(sqlFollowGuardNone, core.ErrConflict, followerID, followeeID)
}

// MirrorFollow updates the mirror of a follow in the followed user's home and the counts of followers and requests,
// unless the mirror is newer. It is idempotent and independent of the order of calls.
func (w Tx) MirrorFollow(f Follow) {
	w.countFollower(f.FolloweeID, f.FollowerID, f.Status, f.Version)
	w.Exec(sqlFollowMirror, f.FolloweeID, f.FollowerID, f.FollowerPublicID, f.FolloweePublicID, f.Status, f.Version, f.CreatedAt, f.UpdatedAt)
}

// EndFollower ends the mirror of a follow immediately. The follow itself ends later in the follower's home, and its
// mirror is then newer than this one.
func (w Tx) EndFollower(followeeID, followerID string) {
	w.countFollower(followeeID, followerID, FollowNone, anyVersion)
	w.Exec(sqlFollowerUpdateEnded, followeeID, followerID)
}

// anyVersion is greater than every version of a row.
const anyVersion = 1<<63 - 1

func (w Tx) countFollower(followeeID, followerID, status string, version int64) {
	for _, counted := range []struct {
		kind   core.CounterKind
		status string
	}{{CountFollowers, FollowAccepted}, {CountFollowRequests, FollowPending}} {
		w.Exec(sqlFollowerCount, followeeID, followerID, string(counted.kind), db.AnyShard, counted.status, status, version)
	}
}
