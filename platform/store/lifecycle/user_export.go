package lifecycle

import (
	"time"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
	"github.com/plaza-social/plaza/platform/store/media"
)

// The states of an export.
const (
	ExportCollecting = "collecting" // the rows of all tables
	ExportPacking    = "packing"    // into the archive, with the content of files
	ExportReady      = "ready"
)

// Export is a row of user_exports: the export of one user and its progress.
type Export struct {
	ID          string // internal id of the user
	PublicID    string
	RequestedBy string // internal id; empty for an administrator
	State       string
	Progress           // DueAt is when the archive is deleted, if it is ready
	Exported    []byte // JSON object: number of rows by kind
	Bytes       int64  // of the archive
	RequestedAt time.Time
	UpdatedAt   time.Time
	FinishedAt  *time.Time
}

var exportColumns = db.Columns[Export]()

var (
	sqlExportByID = db.Register("exports.byID", `SELECT `+exportColumns+` FROM user_exports WHERE home = $1 AND id = $2`)
	sqlExportsDue = db.Register("exports.due", `SELECT `+exportColumns+` FROM user_exports /*@{FORCE_INDEX=user_exports_due}*/
		WHERE home = $1 AND state = $2 AND due_at <= $3::timestamptz ORDER BY due_at, id LIMIT 1`)
	sqlExportUpsert = db.Register("exports.upsert", `INSERT INTO user_exports (home, id, public_id, requested_by, state, due_at, requested_at,
		updated_at)
		VALUES ($1, $2, $3, $4, '`+ExportCollecting+`', $5, $5, $5)
		ON CONFLICT (home, id) DO UPDATE SET requested_by = $4, state = '`+ExportCollecting+
		`', step = '', position = '{}', exported = '{}', bytes = 0,
		version = user_exports.version + 1, attempts = 0, due_at = $5, requested_at = $5, updated_at = $5, finished_at = NULL
		WHERE user_exports.state = '`+ExportReady+`' AND user_exports.requested_at <= $6::timestamptz`)
	sqlExportUpdate = db.Register("exports.update", `WITH changed AS (UPDATE user_exports SET state = $4, step = $5, position = $6::text[],
		exported = $7::jsonb, bytes = $8::bigint, version = version + 1, attempts = $9::bigint, due_at = $10::timestamptz, updated_at = $11,
		finished_at = $12
		WHERE home = $1 AND id = $2 AND version = $3::bigint RETURNING id) SELECT 1 / count(*) FROM changed`)
	sqlExportErase  = db.Register("exports.erase", `DELETE FROM user_exports WHERE home = $1 AND id = $2`)
	sqlExportDelete = db.Register("exports.delete", `DELETE FROM user_exports WHERE home = $1 AND id = $2 AND version = $3::bigint`)
)

// Export reads the export of a user; nil if there is none.
func (r ReadBatch) Export(userID string, into **Export) {
	r.AddAt(userID, sqlExportByID, db.Row(into), userID)
}

// DueExport reads the export of a home and state that has been due for the longest time; nil if none is due.
func (r ReadBatch) DueExport(home region.Code, state string, now time.Time, into **Export) {
	r.Add(home, sqlExportsDue, db.Row(into), state, now)
}

// StartExport inserts an export, or restarts one that is ready and was requested at or before the time renewable. It
// reads the result.
func (w Tx) StartExport(e Export, now, renewable time.Time, into **Export) {
	w.Exec(sqlExportUpsert, e.ID, e.PublicID, e.RequestedBy, now, renewable)
	w.Query(sqlExportByID, db.Row(into), e.ID)
}

// UpdateExport stores the progress of an export. If another server has changed it since it was read, the transaction
// fails with ErrConflict.
func (w Tx) UpdateExport(e Export, now time.Time) {
	w.Guard(sqlExportUpdate, core.ErrConflict, e.ID, e.Version, e.State, e.Step, core.EmptyIfNil(e.Position), e.Exported, e.Bytes, e.Attempts,
		e.DueAt,
		now, e.FinishedAt)
}

// DeleteExport deletes an export unless it has changed. The returned outbox row deletes its objects; workers deliver it
// from firstTry on.
func (w Tx) DeleteExport(e Export, now, firstTry time.Time) core.OutboxRow {
	w.Exec(sqlExportDelete, e.ID, e.Version)
	return w.Emit(media.TopicFileDeleted, media.DeletedFile{FileID: e.ID, OwnerID: e.ID}, now, firstTry)
}

// EraseExport deletes the export of a user, whatever its state. The returned outbox row deletes its objects.
func (w Tx) EraseExport(userID string, now, firstTry time.Time) core.OutboxRow {
	w.Exec(sqlExportErase, userID)
	return w.Emit(media.TopicFileDeleted, media.DeletedFile{FileID: userID, OwnerID: userID}, now, firstTry)
}
