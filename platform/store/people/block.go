package people

import (
	"fmt"
	"math"
	"time"

	"github.com/plaza-social/plaza/platform/defence"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
)

// The statuses of a block. BlockNone is the status after it was lifted.
const (
	BlockBlocked = "blocked"
	BlockNone    = "none"
)

// CountBlocks is the kind of the count of the users that a user blocks.
const CountBlocks core.CounterKind = "blocks"

// Block is a row of blocks, in the blocker's home.
type Block struct {
	BlockerID       string // internal id
	BlockedID       string // internal id
	BlockerPublicID string
	BlockedPublicID string
	Status          string
	Version         int64 // starts at 1 and is incremented by each change
	CreatedAt       time.Time
	UpdatedAt       time.Time
}

// IsActive reports whether the blocker blocks the other user. It is false for a nil Block.
func (b *Block) IsActive() bool { return b != nil && b.Status == BlockBlocked }

var blockColumns = db.Columns[Block]()

// MirroredBlock is a block as stored at the blocked user's home.
type MirroredBlock struct {
	BlockerID string    `json:"blockerId"`
	BlockedID string    `json:"blockedId"`
	Status    string    `json:"status"`
	Version   int64     `json:"version"`
	ChangedAt time.Time `json:"changedAt"`
}

var (
	sqlBlock       = db.Register("blocks.byPair", `SELECT `+blockColumns+` FROM blocks WHERE home = $1 AND blocker_id = $2 AND blocked_id = $3`)
	sqlBlockInsert = db.Register("blocks.insert", `INSERT INTO blocks (home, blocker_id, blocked_id, blocker_public_id, blocked_public_id,
		status, version, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, 1, $7, $8)`)
	sqlBlockUpdate = db.Register("blocks.update", `WITH changed AS (UPDATE blocks SET status = $5, version = version + 1, created_at = $6, updated_at
		= $7
		WHERE home = $1 AND blocker_id = $2 AND blocked_id = $3 AND version = $4::bigint RETURNING blocked_id)
		SELECT 1 / count(*) FROM changed`)
	sqlBlockGuardNone = db.Register("blocks.guardNone", `SELECT 1 / CASE WHEN EXISTS (SELECT 1 FROM blocks
		WHERE home = $1 AND blocker_id = $2 AND blocked_id = $3 AND status = 'blocked') THEN 0 ELSE 1 END`)
	sqlBlockMirror = db.Register("blockedBy.mirror", `INSERT INTO blocked_by (home, blocked_id, blocker_id, status, version, changed_at)
		VALUES ($1, $2, $3, $4, $5::bigint, $6) ON CONFLICT (home, blocked_id, blocker_id)
		DO UPDATE SET status = excluded.status, version = excluded.version, changed_at = excluded.changed_at
		WHERE blocked_by.version < excluded.version`)
	sqlBlockedByPair = db.Register("blockedBy.byPair", `SELECT blocker_id, blocked_id, status, version, changed_at FROM blocked_by
		WHERE home = $1 AND blocked_id = $2 AND blocker_id = $3`)
	sqlBlockedByGuardVersion = db.Register("blockedBy.guardVersion", `SELECT 1 / count(*) FROM blocked_by
		WHERE home = $1 AND blocked_id = $2 AND blocker_id = $3 AND version = $4::bigint`)
	sqlBlockedByGuardNone = db.Register("blockedBy.guardNone", `SELECT 1 / CASE WHEN EXISTS (SELECT 1 FROM blocked_by
		WHERE home = $1 AND blocked_id = $2 AND blocker_id = $3 AND status = 'blocked') THEN 0 ELSE 1 END`)
	// Anyone can add a row of blocked_by about a user, so none of these statements reads all of them.
	sqlHiddenFrom = db.Register("blocks.hidden", fmt.Sprintf(`(SELECT blocked_id FROM blocks WHERE home = $1 AND blocker_id = $2
		AND status = 'blocked' ORDER BY created_at, blocked_id LIMIT %[1]d)
		UNION ALL (SELECT blocker_id FROM blocked_by WHERE home = $1 AND blocked_id = $2 AND status = 'blocked'
			ORDER BY blocker_id LIMIT %[1]d)`, maxHiddenRead()))
	sqlBlockers = db.Register("blocks.blockers", fmt.Sprintf(`SELECT blocker_id FROM blocked_by WHERE home = $1 AND blocked_id = $2
		AND status = 'blocked'
		ORDER BY blocker_id LIMIT %d`, maxHiddenRead()))
	sqlHiddenAmong   = db.Register("blocks.hiddenAmong", selectBlockedAmong+` UNION ALL `+selectBlockersAmong)
	sqlBlockersAmong = db.Register("blocks.blockersAmong", selectBlockersAmong)

	// These read each row by its primary key, see members.byUser.
	selectBlockedAmong = `SELECT b.blocked_id FROM unnest($3::text[]) AS other (id) CROSS JOIN LATERAL (
		SELECT blocked_id FROM blocks WHERE home = $1 AND blocker_id = $2 AND blocked_id = other.id AND status = 'blocked' LIMIT 1) AS b`
	selectBlockersAmong = `SELECT b.blocker_id FROM unnest($3::text[]) AS other (id) CROSS JOIN LATERAL (
		SELECT blocker_id FROM blocked_by WHERE home = $1 AND blocked_id = $2 AND blocker_id = other.id AND status = 'blocked' LIMIT 1) AS b`

	blockLists = core.OrderedBy(core.CreatedOrders, "created_at", core.Source{
		Name: "blocks.list", Columns: blockColumns,
		From: `blocks WHERE home = $1 AND blocker_id = $2 AND status = 'blocked'`, ID: "blocked_id", After: 3,
	}.List)
)

// Block reads a block at the blocker's home; nil if there never was one.
func (r ReadBatch) Block(blockerID, blockedID string, into **Block) {
	r.AddAt(blockerID, sqlBlock, db.Row(into), blockerID, blockedID)
}

// BlockedBy reads a mirrored block at the blocked user's home; nil if there never was one.
func (r ReadBatch) BlockedBy(blockedID, blockerID string, into **MirroredBlock) {
	r.AddAt(blockedID, sqlBlockedByPair, db.Row(into), blockedID, blockerID)
}

// MaxHidden is the maximum number of ids with which a result of HiddenFrom or BlockersOf is complete.
const MaxHidden = 1000

// maxHiddenRead is the maximum number of ids of each direction that a statement reads.
func maxHiddenRead() int {
	if defence.Off(defence.HiddenUsers) {
		return math.MaxInt
	}
	return MaxHidden + 1
}

// HiddenFrom reads the internal ids of the users that a user blocks or is blocked by, in no particular order. If there
// are more than MaxHidden, the result has more than MaxHidden of them, at most 2 × (MaxHidden + 1), and may lack some.
func (r ReadBatch) HiddenFrom(userID string, into *[]string) {
	r.AddAt(userID, sqlHiddenFrom, db.Values(into), userID)
}

// HiddenAmong reads which of some users a user blocks or is blocked by, by internal id.
func (r ReadBatch) HiddenAmong(userID string, ids []string, into *[]string) {
	r.AddAt(userID, sqlHiddenAmong, db.Values(into), userID, db.Others(core.EmptyIfNil(ids)))
}

// BlockersOf reads the internal ids of the users who block a user, in no particular order. If there are more than
// MaxHidden, the result has MaxHidden + 1 of them.
func (r ReadBatch) BlockersOf(userID string, into *[]string) {
	r.AddAt(userID, sqlBlockers, db.Values(into), userID)
}

// BlockersAmong reads which of some users block a user, by internal id.
func (r ReadBatch) BlockersAmong(userID string, ids []string, into *[]string) {
	r.AddAt(userID, sqlBlockersAmong, db.Values(into), userID, db.Others(core.EmptyIfNil(ids)))
}

// BlockList is a page of the users that a user blocks.
type BlockList struct {
	UserID string
	Desc   bool
	// The position that the page starts after.
	After   time.Time
	AfterID string
	Limit   int
}

// ListBlocks reads up to Limit blocks in the order of the list.
func (r ReadBatch) ListBlocks(l BlockList, into *[]Block) {
	r.AddAt(l.UserID, blockLists.In(l.Desc), db.Rows(into), l.UserID, l.After, l.AfterID, l.Limit)
}

// BlockChange is the change of a block from the row that was read.
type BlockChange struct {
	Old *Block // nil if there was no row
	New Block
}

// TopicBlock is the outbox topic of blocks to mirror; the payload is a MirroredBlock.
const TopicBlock = "block"

// ChangeBlock changes a block in the blocker's home and the count of blocked users. The returned outbox row updates the
// mirror in the blocked user's home, where the blocked user's follow of the blocker ends. If the row is not the one
// that was read, the transaction fails with ErrConflict.
func (w Tx) ChangeBlock(c BlockChange, now, firstTry time.Time) core.OutboxRow {
	b := c.New
	b.Version = 1
	if c.Old == nil {
		w.Exec(sqlBlockInsert, b.BlockerID, b.BlockedID, b.BlockerPublicID, b.BlockedPublicID, b.Status, b.CreatedAt, b.UpdatedAt).
			OnConflict("blocks_pkey", core.ErrConflict)
	} else {
		b.Version = c.Old.Version + 1
		w.Guard(sqlBlockUpdate, core.ErrConflict, b.BlockerID, b.BlockedID, c.Old.Version, b.Status, b.CreatedAt, b.UpdatedAt)
	}
	w.CountUnlessZero(b.BlockerID, CountBlocks, core.CountIf(b.IsActive())-core.CountIf(c.Old.IsActive()))
	return w.Emit(TopicBlock, MirroredBlock{b.BlockerID, b.BlockedID, b.Status, b.Version, now}, now, firstTry)
}

// MirrorBlock updates the mirror of a block in the blocked user's home. It fails with ErrConflict if the mirror is
// newer.
func (w Tx) MirrorBlock(b MirroredBlock) {
	w.Exec(sqlBlockMirror, b.BlockedID, b.BlockerID, b.Status, b.Version, b.ChangedAt)
	w.Guard(sqlBlockedByGuardVersion, core.ErrConflict, b.BlockedID, b.BlockerID, b.Version)
}

// GuardNotBlocked makes the transaction fail if one of the users blocks the other according to the rows in this home. A
// block that was just stored in another home arrives later and then ends the follow.
func (w Tx) GuardNotBlocked(userID, otherID string, refusal error) {
	w.Guard(sqlBlockGuardNone, refusal, userID, otherID)
	w.Guard(sqlBlockedByGuardNone, refusal, userID, otherID)
}
