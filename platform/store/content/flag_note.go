package content

import (
	"time"

	"github.com/plaza-social/plaza/platform/store/db"
)

// FlagNote is a row of flag_notes: what a moderator notes about an item of the flag queue.
type FlagNote struct {
	ID        string
	TargetID  string
	AuthorID  string // internal id or FlagAdministrator
	Text      string
	CreatedAt time.Time
}

// MaxFlagNotes is the maximum number of notes about one item.
const MaxFlagNotes = 50

var flagNoteColumns = db.Columns[FlagNote]()

var (
	sqlFlagNotes = db.Register("flagNotes.ofTarget", `SELECT `+flagNoteColumns+` FROM flag_notes WHERE home = $1 AND target_id = $2 ORDER BY id
		LIMIT 50`)
	sqlFlagNoteInsert = db.Register("flagNotes.insert", `INSERT INTO flag_notes (home, `+flagNoteColumns+`) VALUES ($1, $2, $3, $4, $5, $6)`)
	sqlFlagNoteGuard  = db.Register("flagNotes.guardCount", `SELECT 1 / CASE WHEN count(*) < $3::bigint THEN 1 ELSE 0 END FROM flag_notes WHERE home
		= $1 AND target_id = $2`)
	sqlFlagItemGuard  = db.Register("flagItems.guard", `SELECT 1 / count(*) FROM flag_items WHERE home = $1 AND target_id = $2`)
	sqlFlagNotesPurge = db.Register("flagNotes.purge", `DELETE FROM flag_notes WHERE home = $1 AND target_id = ANY($2::text[])`)
)

// FlagNotes reads the notes about an item, in no particular order.
func (r ReadBatch) FlagNotes(targetID string, into *[]FlagNote) {
	r.AddAt(targetID, sqlFlagNotes, db.Rows(into), targetID)
}

// InsertFlagNote inserts a note. The transaction fails with gone if the item does not exist, and with full if it has
// MaxFlagNotes notes. A retry after a lost connection inserts the note once.
func (w Tx) InsertFlagNote(n FlagNote, gone, full error) {
	w.IdempotentBy("flag_notes_pkey")
	w.Guard(sqlFlagItemGuard, gone, n.TargetID)
	w.Guard(sqlFlagNoteGuard, full, n.TargetID, MaxFlagNotes)
	w.Exec(sqlFlagNoteInsert, n.ID, n.TargetID, n.AuthorID, n.Text, n.CreatedAt)
}
