package store

import (
	"encoding/json"
	"math/rand/v2"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/plaza-social/plaza/platform/region"
)

// The statuses of a follow. None is that of one which ended; whoever never followed has no row.
const (
	FollowPending  = "pending"
	FollowAccepted = "accepted"
	FollowNone     = "none"
)

// Counts of a user who is followed.
const (
	CountFollowers      CounterKind = "followers"
	CountFollowRequests CounterKind = "followRequests"
)

// CountFollowing is the kind of the count of those whom a user follows at one home. There is one of each home because a
// feed asks the homes that it needs, and each as fits the number.
func CountFollowing(home region.Code) CounterKind { return CounterKind("following:" + home) }

// Following is how many a user follows.
func (c Counts) Following(userID string) int64 {
	var n int64
	for _, home := range region.All() {
		n += c.Of(userID, CountFollowing(home))
	}
	return n
}

// Follow is a row of follows, at the follower's home, or of followers, its mirror at the home of the user who is followed.
type Follow struct {
	FollowerID       string    `json:"followerId"` // internal id
	FolloweeID       string    `json:"followeeId"` // internal id
	FollowerPublicID string    `json:"followerPublicId"`
	FolloweePublicID string    `json:"followeePublicId"`
	Status           string    `json:"status"`
	Version          int64     `json:"version"` // counts the changes of the row, from 1
	CreatedAt        time.Time `json:"createdAt"`
	UpdatedAt        time.Time `json:"updatedAt"`
}

// Active reports whether the follow is accepted or asked for. A nil Follow is not.
func (f *Follow) Active() bool { return f != nil && f.Status != FollowNone }

// Accepted reports whether the one follows the other. A nil Follow does not.
func (f *Follow) Accepted() bool { return f != nil && f.Status == FollowAccepted }

// Pending reports whether the one asks to follow the other. A nil Follow does not.
func (f *Follow) Pending() bool { return f != nil && f.Status == FollowPending }

const followColumns = `follower_id, followee_id, follower_public_id, followee_public_id, status, version, created_at, updated_at`

func scanFollow(rows pgx.Rows) (Follow, error) {
	var f Follow
	err := rows.Scan(&f.FollowerID, &f.FolloweeID, &f.FollowerPublicID, &f.FolloweePublicID, &f.Status, &f.Version, &f.CreatedAt, &f.UpdatedAt)
	return f, err
}

var (
	sqlFollow       = stmt("follows.byPair", `SELECT `+followColumns+` FROM follows WHERE home = $1 AND follower_id = $2 AND followee_id = $3`)
	sqlFollowInsert = stmt("follows.insert", `INSERT INTO follows (home, follower_id, followee_id, follower_public_id, followee_public_id,
		status, version, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, 1, $7, $8)`)
	sqlFollowUpdate = stmt("follows.update", `WITH changed AS (UPDATE follows SET status = $5, version = version + 1, created_at = $6, updated_at = $7
		WHERE home = $1 AND follower_id = $2 AND followee_id = $3 AND version = $4::bigint RETURNING followee_id)
		SELECT 1 / count(*) FROM changed`)
	sqlFollowEnded = stmt("follows.guardNone", `SELECT 1 / CASE WHEN EXISTS (SELECT 1 FROM follows
		WHERE home = $1 AND follower_id = $2 AND followee_id = $3 AND status <> 'none') THEN 0 ELSE 1 END`)
	sqlFollowMirror = stmt("followers.mirror", `INSERT INTO followers (home, followee_id, follower_id, follower_public_id, followee_public_id,
		status, version, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, $7::bigint, $8, $9)
		ON CONFLICT (home, followee_id, follower_id) DO UPDATE SET status = excluded.status, version = excluded.version,
		created_at = excluded.created_at, updated_at = excluded.updated_at WHERE followers.version < excluded.version`)
	sqlFollowerEnd = stmt("followers.end", `UPDATE followers SET status = 'none' WHERE home = $1 AND followee_id = $2 AND follower_id = $3`)
	// The count follows the mirrored row: by what its status will be, less what it is, and by nothing where the row is as
	// new already. It goes before the statement that changes the row.
	sqlFollowerCount = stmt("followers.count", `INSERT INTO counters (home, ref, kind, shard, n) VALUES ($1, $2, $4, $5::bigint,
		CASE WHEN EXISTS (SELECT 1 FROM followers WHERE home = $1 AND followee_id = $2 AND follower_id = $3 AND version >= $8::bigint) THEN 0
		ELSE CASE WHEN $7::text = $6::text THEN 1 ELSE 0 END
			- (SELECT count(*) FROM followers WHERE home = $1 AND followee_id = $2 AND follower_id = $3 AND status = $6::text) END)
		ON CONFLICT (home, ref, kind, shard) DO UPDATE SET n = counters.n + excluded.n`)

	followLists = makeFollowLists()
)

// makeFollowLists makes the statements of ListFollows: of either side, of one status, in both directions.
func makeFollowLists() map[string]*Statement {
	lists := map[string]*Statement{}
	for table, c := range followSides {
		for _, o := range []listOrder{orderCreatedDesc, orderCreatedAsc} {
			name := table + ".list" + o.name
			lists[name] = stmt(name, `SELECT `+followColumns+` FROM `+table+` WHERE home = $1 AND `+c.of+` = $2 AND status = $3
				AND `+o.after("created_at", c.other, "$4::timestamptz", "$5")+` ORDER BY `+o.by("created_at", c.other)+` LIMIT $6::bigint`)
		}
	}
	return lists
}

// followSides are the tables by which follows are listed, with the columns of whose list it is and of who is on it.
var followSides = map[string]struct{ of, other string }{
	"follows":   {"follower_id", "followee_id"},
	"followers": {"followee_id", "follower_id"},
}

// Follow reads how one user follows another, at the follower's home; nil where there never was a follow.
func (r *ReadBatch) Follow(followerID, followeeID string, into **Follow) {
	if home, err := region.HomeOf(followerID); err == nil {
		r.add(home, sqlFollow, scanOne(into, scanFollow), followerID, followeeID)
	}
}

// FollowList is a page of one user's followers, or of those whom the user follows.
type FollowList struct {
	UserID    string
	Followers bool
	// Statuses are those to list, each once.
	Statuses []string
	Desc     bool
	// The position after which the page starts.
	After   time.Time
	AfterID string
	Limit   int
}

// ListFollows reads up to Limit follows of each status. The parts are in order, and not merged.
func (r *ReadBatch) ListFollows(l FollowList, into *[]Follow) {
	*into = nil
	home, err := region.HomeOf(l.UserID)
	if err != nil {
		return
	}
	table := "follows"
	if l.Followers {
		table = "followers"
	}
	st := followLists[table+".list"+pick(l.Desc, orderCreatedDesc, orderCreatedAsc).name]
	for _, status := range l.Statuses {
		part := new([]Follow)
		r.add(home, st, scanAll(part, scanFollow), l.UserID, status, l.After, l.AfterID, l.Limit)
		r.Then(func() { *into = append(*into, *part...) })
	}
}

// FollowChange takes one follow from what was read to what it shall be.
type FollowChange struct {
	Old *Follow // nil where there was no row
	New Follow
}

// TopicFollow is the outbox topic of follows to mirror; the payload is a Follow.
const TopicFollow = "follow"

// ChangeFollow changes a follow at the follower's home, and with it the count of those whom the follower follows. Where
// the row is not what was read any more the transaction fails with ErrChanged. The mirror is kept in the transaction where
// the other user lives here too; otherwise the returned outbox rows carry it.
func (w *Tx) ChangeFollow(c FollowChange, now, firstTry time.Time) []OutboxRow {
	f := c.New
	f.Version = 1
	if c.Old == nil {
		w.exec(sqlFollowInsert, f.FollowerID, f.FolloweeID, f.FollowerPublicID, f.FolloweePublicID, f.Status, f.CreatedAt, f.UpdatedAt).
			conflict("follows_pkey", ErrChanged)
	} else {
		f.Version = c.Old.Version + 1
		w.guard(sqlFollowUpdate, ErrChanged, f.FollowerID, f.FolloweeID, c.Old.Version, f.Status, f.CreatedAt, f.UpdatedAt)
	}
	home, err := region.HomeOf(f.FolloweeID)
	if err != nil {
		home = w.home // ids of rows are well formed
	}
	w.countUnlessZero(f.FollowerID, CountFollowing(home), one(f.Accepted())-one(c.Old.Accepted()))
	if home != w.home {
		return []OutboxRow{w.Emit(TopicFollow, f, now, firstTry)}
	}
	w.MirrorFollow(f)
	return nil
}

// GuardNoFollow fails with ErrChanged where one user follows another, or asks to, once the statements before it have run:
// a follow that began after it was looked for must not slip past what ends it.
func (w *Tx) GuardNoFollow(followerID, followeeID string) {
	w.guard(sqlFollowEnded, ErrChanged, followerID, followeeID)
}

// MirrorFollow keeps what the home of the followed user knows of a follow, and the counts of followers and requests with
// it, unless it knows newer already: any order and any number of times gives the same.
func (w *Tx) MirrorFollow(f Follow) {
	w.countFollower(f.FolloweeID, f.FollowerID, f.Status, f.Version)
	w.exec(sqlFollowMirror, f.FolloweeID, f.FollowerID, f.FollowerPublicID, f.FolloweePublicID, f.Status, f.Version, f.CreatedAt, f.UpdatedAt)
}

// EndFollower takes a follower away from the followed user at once. The follow itself ends at the follower's home, and its
// mirror then is newer than this one.
func (w *Tx) EndFollower(followeeID, followerID string) {
	w.countFollower(followeeID, followerID, FollowNone, anyVersion)
	w.exec(sqlFollowerEnd, followeeID, followerID)
}

// anyVersion is newer than every version of a row.
const anyVersion = 1<<63 - 1

func (w *Tx) countFollower(followeeID, followerID, status string, version int64) {
	for _, counted := range []struct {
		kind   CounterKind
		status string
	}{{CountFollowers, FollowAccepted}, {CountFollowRequests, FollowPending}} {
		shard := rand.Int64N(counterShards) //nolint:gosec // a shard that need not be a secret
		w.exec(sqlFollowerCount, followeeID, followerID, string(counted.kind), shard, counted.status, status, version)
	}
}

// ParseFollow reads the payload of TopicFollow.
func ParseFollow(payload []byte) (Follow, error) {
	var f Follow
	err := json.Unmarshal(payload, &f)
	return f, err
}
