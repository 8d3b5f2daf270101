package people

import (
	"time"

	"github.com/plaza-social/plaza/platform/store/db"
)

// Handle is a row of handles: who holds a profile handle.
type Handle struct {
	UserID    string
	ClaimID   string // new with every claim
	ClaimedAt time.Time
}

var handleColumns = db.Columns[Handle]()

var (
	sqlHandleByHash = db.Register("handles.byHash", `SELECT `+handleColumns+` FROM handles WHERE home = $1 AND handle_hash = $2::bytea`)
	sqlHandleClaim  = db.Register("handles.claim", `INSERT INTO handles (home, handle_hash, user_id, claim_id, claimed_at) VALUES ($1, $2::bytea, $3,
		$4, $5)
		ON CONFLICT (home, handle_hash) DO UPDATE SET claim_id = excluded.claim_id, claimed_at = excluded.claimed_at
		WHERE handles.user_id = excluded.user_id`)
	sqlHandleTakeOver = db.Register("handles.takeOver", `UPDATE handles SET user_id = $3, claim_id = $4, claimed_at = $5
		WHERE home = $1 AND handle_hash = $2::bytea AND claim_id = $6`)
	sqlHandleRelease = db.Register("handles.release", `DELETE FROM handles WHERE home = $1 AND handle_hash = $2::bytea AND claim_id = $3`)
)

// ClaimHandle gives the handle with a hash to a user unless another user holds it, and reads the stored row.
func (w Tx) ClaimHandle(hash []byte, h Handle, stored *Handle) {
	w.Exec(sqlHandleClaim, hash, h.UserID, h.ClaimID, h.ClaimedAt)
	w.Query(sqlHandleByHash, db.RowOrZero(stored), hash)
}

// TakeOverHandle gives a handle to another user if the claim is still the one with the id, and reads the stored row.
func (w Tx) TakeOverHandle(hash []byte, claimID string, h Handle, stored *Handle) {
	w.Exec(sqlHandleTakeOver, hash, h.UserID, h.ClaimID, h.ClaimedAt, claimID)
	w.Query(sqlHandleByHash, db.RowOrZero(stored), hash)
}

// ReleaseHandle deletes a claim unless the handle was claimed again.
func (w Tx) ReleaseHandle(hash []byte, claimID string) { w.Exec(sqlHandleRelease, hash, claimID) }
