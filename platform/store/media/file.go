package media

import (
	"time"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
)

// File is a row of files.
type File struct {
	ID            string
	OwnerID       string // internal id; empty for an administrator
	OwnerPublicID string
	Type          string // file, image, video, clip or audio
	AccessType    string // public or network
	FeedType      string // the purpose of a video; may be empty
	AltText       string
	Name          string
	Extension     string // without the dot
	MimeType      string // detected from the content
	Size          int64  // bytes
	Width         int64  // pixels, after rotation; 0 for other types than images
	Height        int64
	Exif          []byte   // JSON object
	GPS           []byte   // JSON object
	Sizes         []string // the stored sizes of an image: small, medium, large
	SizesMimeType string   // of the smaller images
	CreatedAt     time.Time
	UpdatedAt     time.Time
	UsesRecorded  bool       // whether file_uses has every use of the file; false for files of earlier versions
	Restricted    bool       // only who may read what refers to the file may read it, regardless of AccessType
	UnusedSince   *time.Time // nothing may begin to refer to the file while this is set
	Released      bool       // an object of the uploader referred to the file and does so no more
}

// The access types of a file.
const (
	AccessPublic  = "public"  // anyone with the URL
	AccessNetwork = "network" // users of the network, and anyone with a signed URL
)

var fileColumns = db.Columns[File]()

var (
	sqlFilesByID    = db.Register("files.byID", `SELECT `+fileColumns+` FROM files WHERE home = $1 AND id = ANY($2::text[])`)
	sqlFilesOfUsers = db.Register("files.ofUsers", `SELECT `+fileColumns+` FROM files WHERE home = $1 AND id IN
		(SELECT avatar_file_id FROM users WHERE home = $1 AND users.id = ANY($2::text[]) AND avatar_file_id <> '')`)
	sqlFileInsert = db.Register("files.insert", `INSERT INTO files (home, `+fileColumns+`)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12::bigint, $13::bigint, $14::bigint, $15::jsonb, $16::jsonb, $17::text[], $18,
		$19, $20, true, false, NULL, false)`)
	sqlFileGuard     = db.Register("files.guardLive", `SELECT 1 / count(*) FROM files WHERE home = $1 AND id = $2`)
	sqlFileAltText   = db.Register("files.altText", `UPDATE files SET alt_text = $3, updated_at = $4 WHERE home = $1 AND id = $2`)
	sqlFilesRestrict = db.Register("files.restrict", `UPDATE files SET restricted = true
		WHERE home = $1 AND id = ANY($2::text[]) AND owner_id = $3 AND uses_recorded AND NOT restricted`)
	sqlFileMarkUnused = db.Register("files.markUnused", `UPDATE files SET unused_since = $3 WHERE home = $1 AND id = $2 AND uses_recorded
		AND unused_since IS NULL`)
	sqlFileMarkUsed    = db.Register("files.markUsed", `UPDATE files SET unused_since = NULL, released = true WHERE home = $1 AND id = $2`)
	sqlFileGuardUnused = db.Register("files.guardUnused", `SELECT 1 / count(*) FROM files WHERE home = $1 AND id = $2
		AND unused_since = $3::timestamptz
		AND NOT EXISTS (SELECT 1 FROM file_uses WHERE home = $1 AND file_id = $2)`)
	sqlFileDelete = db.Register("files.delete", `DELETE FROM files WHERE home = $1 AND id = $2`)

	sqlUploadInsert    = db.Register("uploads.insert", `INSERT INTO uploads (home, id, expires_at, created_at) VALUES ($1, $2, $3, $4)`)
	sqlUploadGuardOpen = db.Register("uploads.guardOpen", `SELECT 1 / count(*) FROM uploads WHERE home = $1 AND id = $2 AND NOT abandoned`)
	sqlUploadDelete    = db.Register("uploads.delete", `DELETE FROM uploads WHERE home = $1 AND id = $2`)
	sqlUploadDue       = db.Register("uploads.due", `SELECT id FROM uploads /*@{FORCE_INDEX=uploads_by_expiry}*/ WHERE home = $1
		AND expires_at <= $2::timestamptz ORDER BY expires_at, id LIMIT 100`)
	sqlUploadAbandon = db.Register("uploads.abandon", `UPDATE uploads SET abandoned = true WHERE home = $1 AND id = ANY($2::text[]) RETURNING id`)
)

// FilesByID reads files of any homes in no particular order.
func (r ReadBatch) FilesByID(ids []string, into *[]File) {
	core.ReadMany(r.ReadBatch, ids, sqlFilesByID, into)
}

// AvatarFiles reads the avatars of users that are stored in the users' homes, which is where users upload them. It
// saves a round trip if the users have not been read yet.
func (r ReadBatch) AvatarFiles(userIDs []string, into *[]File) {
	core.ReadMany(r.ReadBatch, userIDs, sqlFilesOfUsers, into)
}

// File reads one file; nil if there is none.
func (r ReadBatch) File(id string, into **File) {
	r.AddAt(id, sqlFilesByID, db.Row(into), []string{id})
}

// UploadsDue reads the ids of up to 100 expired uploads of a home.
func (r ReadBatch) UploadsDue(home region.Code, now time.Time, into *[]string) {
	r.Add(home, sqlUploadDue, db.Values(into), now)
}

// InsertUpload records an upload before its objects are stored.
func (w Tx) InsertUpload(id string, expiresAt, now time.Time) {
	w.IdempotentBy("uploads_pkey")
	w.Exec(sqlUploadInsert, id, expiresAt, now)
}

// InsertFile inserts the file of an upload. The transaction fails with abandoned if the upload was abandoned.
func (w Tx) InsertFile(f File, abandoned error) {
	w.IdempotentBy("files_pkey")
	// Before the guard, so that a retry of a committed transaction fails at the primary key.
	w.Exec(sqlFileInsert, f.ID, f.OwnerID, f.OwnerPublicID, f.Type, f.AccessType, f.FeedType, f.AltText, f.Name, f.Extension, f.MimeType,
		f.Size, f.Width, f.Height, f.Exif, f.GPS, core.EmptyIfNil(f.Sizes), f.SizesMimeType, f.CreatedAt, f.UpdatedAt)
	w.Guard(sqlUploadGuardOpen, abandoned, f.ID)
	w.Exec(sqlUploadDelete, f.ID)
}

// AbandonUploads prevents uploads from becoming files, and reads the ids of those that have not become one. The caller deletes the
// objects of these next and then calls DeleteUpload.
func (w Tx) AbandonUploads(ids []string, abandoned *[]string) {
	w.Query(sqlUploadAbandon, db.Values(abandoned), ids)
}

// DeleteUpload deletes an upload whose objects are deleted.
func (w Tx) DeleteUpload(id string) { w.Exec(sqlUploadDelete, id) }

// UpdateAltText changes the alternative text of a file and reads it back. The transaction fails with gone if there is
// no such file.
func (w Tx) UpdateAltText(id, text string, now time.Time, gone error, into **File) {
	w.Guard(sqlFileGuard, gone, id)
	w.Exec(sqlFileAltText, id, text, now)
	w.Query(sqlFilesByID, db.Row(into), []string{id})
}

// TopicFileDeleted is the outbox topic of deleted files, whose objects the receiver deletes; the payload is a
// DeletedFile.
const TopicFileDeleted = "fileDeleted"

// DeletedFile is a file whose row is deleted.
type DeletedFile struct {
	FileID  string `json:"fileId"`
	OwnerID string `json:"ownerId"`
}

// DeleteFile deletes the row of a file. The transaction fails with gone if there is none. The returned outbox row
// deletes its objects; workers deliver it from firstTry on.
func (w Tx) DeleteFile(f File, gone error, now, firstTry time.Time) core.OutboxRow {
	w.Guard(sqlFileGuard, gone, f.ID)
	w.Exec(sqlFileDelete, f.ID)
	return w.Emit(TopicFileDeleted, DeletedFile{f.ID, f.OwnerID}, now, firstTry)
}
