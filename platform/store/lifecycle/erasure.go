package lifecycle

import (
	"time"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
	"github.com/plaza-social/plaza/platform/store/people"
)

// The states of an erasure.
const (
	ErasureRunning   = "running"   // the first pass
	ErasureVerifying = "verifying" // the second pass
	ErasureDone      = "done"
)

// Erasure is a row of erasures: the erasure of one user and its progress.
type Erasure struct {
	ID          string // internal id of the user
	PublicID    string // empty if the erasure is done
	RequestedBy string // internal id; empty for an administrator
	State       string
	Progress
	Erased      []byte // JSON object: number of rows by table
	Homes       []byte // JSON object: progress of the pass by home
	RequestedAt time.Time
	UpdatedAt   time.Time
	FinishedAt  *time.Time
}

var erasureColumns = db.Columns[Erasure]()

var (
	sqlErasureByID = db.Register("erasures.byID", `SELECT `+erasureColumns+` FROM erasures WHERE home = $1 AND id = $2`)
	sqlErasuresDue = db.Register("erasures.due", `SELECT `+erasureColumns+` FROM erasures /*@{FORCE_INDEX=erasures_due}*/
		WHERE home = $1 AND state = $2 AND due_at <= $3::timestamptz ORDER BY due_at, id LIMIT 1`)
	sqlErasureInsert = db.Register("erasures.insert", `INSERT INTO erasures (home, id, public_id, requested_by, state, due_at, requested_at,
		updated_at)
		VALUES ($1, $2, $3, $4, '`+ErasureRunning+`', $5, $5, $5) ON CONFLICT (home, id) DO NOTHING`)
	sqlErasureUpdate = db.Register("erasures.update", `WITH changed AS (UPDATE erasures SET public_id = $4, state = $5, step = $6,
		position = $7::text[],
		erased = $8::jsonb, version = version + 1, attempts = $9::bigint, due_at = $10::timestamptz, updated_at = $11, finished_at = $12,
		homes = $13::jsonb
		WHERE home = $1 AND id = $2 AND version = $3::bigint RETURNING id) SELECT 1 / count(*) FROM changed`)

	sqlUserErase = db.Register("users.erase", `UPDATE users SET public_id = 'DELETED_' || id, display_name = '', name_key = '', profile_handle = '',
		handle_key = '', handle_claim = '',
		description = '', avatar_file_id = '', avatar_custom_url = '', roles = '{}', metadata = '{}', is_brand = false, updated_at = $3,
		deleted_at = $3
		WHERE home = $1 AND id = $2 AND deleted_at IS NULL`).Updates(core.SharedUsers, 2)
	sqlDirectoryDelete = db.Register("directory.delete", `DELETE FROM directory WHERE home = $1 AND user_hash = $2::bytea AND user_id = $3`)
)

// Erasure reads the erasure of a user; nil if there is none.
func (r ReadBatch) Erasure(id string, into **Erasure) {
	r.AddAt(id, sqlErasureByID, db.Row(into), id)
}

// DueErasure reads the erasure of a home and state that has been due for the longest time; nil if none is due.
func (r ReadBatch) DueErasure(home region.Code, state string, now time.Time, into **Erasure) {
	r.Add(home, sqlErasuresDue, db.Row(into), state, now)
}

// InsertErasure inserts an erasure unless the user has one already. The job starts it at once.
func (w Tx) InsertErasure(e Erasure, now time.Time) {
	w.Exec(sqlErasureInsert, e.ID, e.PublicID, e.RequestedBy, now)
}

// UpdateErasure stores the progress of an erasure. If another server has changed it since it was read, the transaction
// fails with ErrConflict.
func (w Tx) UpdateErasure(e Erasure, now time.Time) {
	w.Guard(sqlErasureUpdate, core.ErrConflict, e.ID, e.Version, e.PublicID, e.State, e.Step, core.EmptyIfNil(e.Position), e.Erased,
		e.Attempts,
		e.DueAt, now, e.FinishedAt, e.Homes)
}

// EraseUser empties the row of a user and marks it as deleted. It has no effect on a deleted user.
func (w Tx) EraseUser(id string, now time.Time) {
	w.Exec(sqlUserErase, id, now)
	w.ReleaseFiles([]string{id})
}

// DeleteDirectoryEntry deletes an entry in the home of the transaction, unless the hash belongs to another user.
func (w Tx) DeleteDirectoryEntry(e people.DirectoryEntry) {
	w.Exec(sqlDirectoryDelete, e.Hash, e.UserID)
}
