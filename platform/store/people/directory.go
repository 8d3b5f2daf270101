package people

import (
	"time"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/db"
)

var (
	sqlDirectoryLookup = db.Register("directory.lookup", `SELECT user_hash, user_id FROM directory WHERE home = $1 AND user_hash = ANY($2::bytea[])`)
	sqlDirectoryInsert = db.Register("directory.claim", `INSERT INTO directory (home, user_hash, user_id, created_at)
		VALUES ($1, $2::bytea, $3, $4) ON CONFLICT (home, user_hash) DO NOTHING`)
)

// DirectoryEntry maps the hash of a client's user id to the internal id.
type DirectoryEntry struct {
	Hash   []byte
	UserID string
}

// Directory looks up hashes in the directory rows of a home.
func (r ReadBatch) Directory(home region.Code, hashes [][]byte, into *[]DirectoryEntry) {
	r.Add(home, sqlDirectoryLookup, db.Rows(into), hashes)
}

// InsertDirectoryEntry inserts the entry unless the hash exists, and reads the stored entry.
func (w Tx) InsertDirectoryEntry(e DirectoryEntry, now time.Time, stored *[]DirectoryEntry) {
	w.Exec(sqlDirectoryInsert, e.Hash, e.UserID, now)
	w.Query(sqlDirectoryLookup, db.Rows(stored), [][]byte{e.Hash})
}

// UpsertDirectoryCopy stores a copy of an entry in the home of the transaction.
func (w Tx) UpsertDirectoryCopy(e DirectoryEntry, now time.Time) {
	w.Exec(sqlDirectoryInsert, e.Hash, e.UserID, now)
}
