package store

import (
	"encoding/json"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/plaza-social/plaza/platform/region"
)

// The statuses of a block. None is that of one which ended.
const (
	BlockBlocked = "blocked"
	BlockNone    = "none"
)

// CountBlocks is the count of those whom a user blocks.
const CountBlocks CounterKind = "blocks"

// Block is a row of blocks, at the blocker's home.
type Block struct {
	BlockerID       string // internal id
	BlockedID       string // internal id
	BlockerPublicID string
	BlockedPublicID string
	Status          string
	Version         int64 // counts the changes of the row, from 1
	CreatedAt       time.Time
	UpdatedAt       time.Time
}

// Stands reports whether the one blocks the other. A nil Block does not.
func (b *Block) Stands() bool { return b != nil && b.Status == BlockBlocked }

const blockColumns = `blocker_id, blocked_id, blocker_public_id, blocked_public_id, status, version, created_at, updated_at`

func scanBlock(rows pgx.Rows) (Block, error) {
	var b Block
	err := rows.Scan(&b.BlockerID, &b.BlockedID, &b.BlockerPublicID, &b.BlockedPublicID, &b.Status, &b.Version, &b.CreatedAt, &b.UpdatedAt)
	return b, err
}

// MirroredBlock is what a blocked user's home knows of a block.
type MirroredBlock struct {
	BlockerID string    `json:"blockerId"`
	BlockedID string    `json:"blockedId"`
	Status    string    `json:"status"`
	Version   int64     `json:"version"`
	ChangedAt time.Time `json:"changedAt"`
}

func scanMirroredBlock(rows pgx.Rows) (MirroredBlock, error) {
	var b MirroredBlock
	err := rows.Scan(&b.BlockerID, &b.BlockedID, &b.Status, &b.Version, &b.ChangedAt)
	return b, err
}

var (
	sqlBlock       = stmt("blocks.byPair", `SELECT `+blockColumns+` FROM blocks WHERE home = $1 AND blocker_id = $2 AND blocked_id = $3`)
	sqlBlockInsert = stmt("blocks.insert", `INSERT INTO blocks (home, blocker_id, blocked_id, blocker_public_id, blocked_public_id,
		status, version, created_at, updated_at) VALUES ($1, $2, $3, $4, $5, $6, 1, $7, $8)`)
	sqlBlockUpdate = stmt("blocks.update", `WITH changed AS (UPDATE blocks SET status = $5, version = version + 1, created_at = $6, updated_at = $7
		WHERE home = $1 AND blocker_id = $2 AND blocked_id = $3 AND version = $4::bigint RETURNING blocked_id)
		SELECT 1 / count(*) FROM changed`)
	sqlBlockFree = stmt("blocks.guardNone", `SELECT 1 / CASE WHEN EXISTS (SELECT 1 FROM blocks
		WHERE home = $1 AND blocker_id = $2 AND blocked_id = $3 AND status = 'blocked') THEN 0 ELSE 1 END`)
	sqlBlockMirror = stmt("blockedBy.mirror", `INSERT INTO blocked_by (home, blocked_id, blocker_id, status, version, changed_at)
		VALUES ($1, $2, $3, $4, $5::bigint, $6) ON CONFLICT (home, blocked_id, blocker_id)
		DO UPDATE SET status = excluded.status, version = excluded.version, changed_at = excluded.changed_at
		WHERE blocked_by.version < excluded.version`)
	sqlBlockedByPair = stmt("blockedBy.byPair", `SELECT blocker_id, blocked_id, status, version, changed_at FROM blocked_by
		WHERE home = $1 AND blocked_id = $2 AND blocker_id = $3`)
	sqlBlockedByIs = stmt("blockedBy.guardVersion", `SELECT 1 / count(*) FROM blocked_by
		WHERE home = $1 AND blocked_id = $2 AND blocker_id = $3 AND version = $4::bigint`)
	sqlBlockedByFree = stmt("blockedBy.guardNone", `SELECT 1 / CASE WHEN EXISTS (SELECT 1 FROM blocked_by
		WHERE home = $1 AND blocked_id = $2 AND blocker_id = $3 AND status = 'blocked') THEN 0 ELSE 1 END`)
	sqlHidden = stmt("blocks.hidden", `SELECT blocked_id FROM blocks WHERE home = $1 AND blocker_id = $2 AND status = 'blocked'
		UNION ALL SELECT blocker_id FROM blocked_by WHERE home = $1 AND blocked_id = $2 AND status = 'blocked'`)

	blockLists = makeBlockLists()
)

func makeBlockLists() map[string]*Statement {
	lists := map[string]*Statement{}
	for _, o := range []listOrder{orderCreatedDesc, orderCreatedAsc} {
		lists[o.name] = stmt("blocks.list"+o.name, `SELECT `+blockColumns+` FROM blocks WHERE home = $1 AND blocker_id = $2
			AND status = 'blocked' AND `+o.after("created_at", "blocked_id", "$3::timestamptz", "$4")+
			` ORDER BY `+o.by("created_at", "blocked_id")+` LIMIT $5::bigint`)
	}
	return lists
}

// Block reads whether one user blocks another, at the blocker's home; nil where there never was a block.
func (r *ReadBatch) Block(blockerID, blockedID string, into **Block) {
	if home, err := region.HomeOf(blockerID); err == nil {
		r.add(home, sqlBlock, scanOne(into, scanBlock), blockerID, blockedID)
	}
}

// BlockedBy reads what the home of a user knows of another's block of the user; nil where it knows of none.
func (r *ReadBatch) BlockedBy(blockedID, blockerID string, into **MirroredBlock) {
	if home, err := region.HomeOf(blockedID); err == nil {
		r.add(home, sqlBlockedByPair, scanOne(into, scanMirroredBlock), blockedID, blockerID)
	}
}

// HiddenFrom reads the internal ids of those whom a user blocks or who block the user, in no order.
func (r *ReadBatch) HiddenFrom(userID string, into *[]string) {
	if home, err := region.HomeOf(userID); err == nil {
		r.add(home, sqlHidden, scanAll(into, scanText), userID)
	}
}

// BlockList is a page of those whom a user blocks.
type BlockList struct {
	UserID string
	Desc   bool
	// The position after which the page starts.
	After   time.Time
	AfterID string
	Limit   int
}

// ListBlocks reads up to Limit blocks in the order of the list.
func (r *ReadBatch) ListBlocks(l BlockList, into *[]Block) {
	if home, err := region.HomeOf(l.UserID); err == nil {
		r.add(home, blockLists[pick(l.Desc, orderCreatedDesc, orderCreatedAsc).name], scanAll(into, scanBlock), l.UserID, l.After, l.AfterID, l.Limit)
	}
}

// BlockChange takes one block from what was read to what it shall be.
type BlockChange struct {
	Old *Block // nil where there was no row
	New Block
}

// TopicBlock is the outbox topic of blocks to mirror; the payload is a MirroredBlock.
const TopicBlock = "block"

// ChangeBlock changes a block at the blocker's home, and the count of those whom the blocker blocks. The returned outbox
// row carries it to the blocked user's home, where the other half of what a block ends lives. Where the row is not what
// was read any more the transaction fails with ErrChanged.
func (w *Tx) ChangeBlock(c BlockChange, now, firstTry time.Time) OutboxRow {
	b := c.New
	b.Version = 1
	if c.Old == nil {
		w.exec(sqlBlockInsert, b.BlockerID, b.BlockedID, b.BlockerPublicID, b.BlockedPublicID, b.Status, b.CreatedAt, b.UpdatedAt).
			conflict("blocks_pkey", ErrChanged)
	} else {
		b.Version = c.Old.Version + 1
		w.guard(sqlBlockUpdate, ErrChanged, b.BlockerID, b.BlockedID, c.Old.Version, b.Status, b.CreatedAt, b.UpdatedAt)
	}
	w.countUnlessZero(b.BlockerID, CountBlocks, one(b.Stands())-one(c.Old.Stands()))
	return w.Emit(TopicBlock, MirroredBlock{b.BlockerID, b.BlockedID, b.Status, b.Version, now}, now, firstTry)
}

// MirrorBlock keeps what a blocked user's home knows of a block. It fails with ErrChanged where that is newer.
func (w *Tx) MirrorBlock(b MirroredBlock) {
	w.exec(sqlBlockMirror, b.BlockedID, b.BlockerID, b.Status, b.Version, b.ChangedAt)
	w.guard(sqlBlockedByIs, ErrChanged, b.BlockedID, b.BlockerID, b.Version)
}

// GuardNotBlocked refuses a transaction at a user's home where the user and another block each other, as far as this home
// knows: what another home has just stored arrives a moment later, and then ends what came before it.
func (w *Tx) GuardNotBlocked(userID, otherID string, refusal error) {
	w.guard(sqlBlockFree, refusal, userID, otherID)
	w.guard(sqlBlockedByFree, refusal, userID, otherID)
}

// ParseBlock reads the payload of TopicBlock.
func ParseBlock(payload []byte) (MirroredBlock, error) {
	var b MirroredBlock
	err := json.Unmarshal(payload, &b)
	return b, err
}
