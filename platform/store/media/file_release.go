package media

import (
	"time"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
)

// FileRelease is a row of file_releases: a file that an object of the home does not refer to any more.
type FileRelease struct {
	ID       string
	FileID   string
	AuthorID string // of the object
}

// MaxFileReleases is the maximum number of rows that FileReleasesDue reads.
const MaxFileReleases = 100

var (
	sqlFileReleasesDue = db.Register("fileReleases.due", `SELECT id::text, file_id, author_id FROM file_releases /*@{FORCE_INDEX=file_releases_due}*/
		WHERE home = $1 AND due_at <= $2::timestamptz ORDER BY file_releases.due_at, file_releases.id LIMIT 100`)
	sqlFileReleaseDelay  = db.Register("fileReleases.delay", `UPDATE file_releases SET due_at = $3 WHERE home = $1 AND id = $2::uuid`)
	sqlFileReleaseDelete = db.Register("fileReleases.delete", `DELETE FROM file_releases WHERE home = $1 AND id = $2::uuid`)
)

// FileReleasesDue reads up to MaxFileReleases due rows of a home.
func (r ReadBatch) FileReleasesDue(home region.Code, now time.Time, into *[]FileRelease) {
	r.Add(home, sqlFileReleasesDue, db.Rows(into), now)
}

// DelayFileRelease sets the time at which a row is due again.
func (w Tx) DelayFileRelease(f FileRelease, until time.Time) {
	w.Exec(sqlFileReleaseDelay, f.ID, until)
}

// DeleteFileRelease deletes a row.
func (w Tx) DeleteFileRelease(f FileRelease) { w.Exec(sqlFileReleaseDelete, f.ID) }

// RestrictFiles restricts those of the files that a user uploaded.
func (w Tx) RestrictFiles(ids []string, ownerID string) { w.Exec(sqlFilesRestrict, ids, ownerID) }

// MarkFileUnused prevents that anything begins to refer to a file. It has no effect on a file whose uses are not
// recorded.
func (w Tx) MarkFileUnused(id string, since time.Time) { w.Exec(sqlFileMarkUnused, id, since) }

// MarkFileUsed undoes MarkFileUnused, and records that an object of the uploader has released the file.
func (w Tx) MarkFileUsed(id string) { w.Exec(sqlFileMarkUsed, id) }

// GuardFileUnused makes the transaction fail with refusal unless the file is marked as unused since f was read, and
// nothing in its home refers to it.
func (w Tx) GuardFileUnused(f File, refusal error) {
	w.Guard(sqlFileGuardUnused, refusal, f.ID, f.UnusedSince)
}

// Topics of the outbox about the files in a community or channel; the payload is a FilePlace.
const (
	TopicReleasePlace  = "filePlaceReleased"
	TopicRestrictPlace = "filePlaceRestricted"
)

// FilePlace is a community or channel.
type FilePlace struct {
	PlaceID string `json:"placeId"`
}

// EmitReleasePlace emits that a community or channel is deleted, so that a worker releases the files in it.
func (w Tx) EmitReleasePlace(id string, now, firstTry time.Time) core.OutboxRow {
	return w.Emit(TopicReleasePlace, FilePlace{id}, now, firstTry)
}

// EmitRestrictPlace emits that a community has become private, so that a worker restricts the files in it.
func (w Tx) EmitRestrictPlace(id string, now, firstTry time.Time) core.OutboxRow {
	return w.Emit(TopicRestrictPlace, FilePlace{id}, now, firstTry)
}
