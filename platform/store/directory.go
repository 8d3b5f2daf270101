package store

import (
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/plaza-social/plaza/platform/region"
)

var (
	sqlDirectoryLookup = stmt("directory.lookup", `SELECT user_hash, user_id FROM directory WHERE home = $1 AND user_hash = ANY($2::bytea[])`)
	sqlDirectoryClaim  = stmt("directory.claim", `INSERT INTO directory (home, user_hash, user_id, created_at)
		VALUES ($1, $2::bytea, $3, $4) ON CONFLICT (home, user_hash) DO NOTHING`)
)

// DirectoryEntry says which internal id a client's user id has.
type DirectoryEntry struct {
	Hash   []byte
	UserID string
}

func scanDirectory(rows pgx.Rows) (DirectoryEntry, error) {
	var e DirectoryEntry
	err := rows.Scan(&e.Hash, &e.UserID)
	return e, err
}

// Directory looks hashes up in the directory rows of home.
func (r *ReadBatch) Directory(home region.Code, hashes [][]byte, into *[]DirectoryEntry) {
	r.add(home, sqlDirectoryLookup, scanAll(into, scanDirectory), hashes)
}

// InsertDirectoryEntry makes the entry unless the hash has one, and reads the entry that stands then.
func (w *Tx) InsertDirectoryEntry(e DirectoryEntry, now time.Time, stands *[]DirectoryEntry) {
	w.exec(sqlDirectoryClaim, e.Hash, e.UserID, now)
	w.query(sqlDirectoryLookup, scanAll(stands, scanDirectory), [][]byte{e.Hash})
}

// UpsertDirectoryCopy keeps a copy of an entry at the home of this transaction.
func (w *Tx) UpsertDirectoryCopy(e DirectoryEntry, now time.Time) {
	w.exec(sqlDirectoryClaim, e.Hash, e.UserID, now)
}
