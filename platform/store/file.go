package store

import (
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/plaza-social/plaza/platform/region"
)

// File is a row of files.
type File struct {
	ID            string
	OwnerID       string // internal id; empty where an administrator uploaded it
	OwnerPublicID string
	Type          string // file, image, video, clip or audio
	AccessType    string // public or network
	FeedType      string // what a video is for; may be empty
	AltText       string
	Name          string
	Extension     string // without the dot
	MimeType      string // from the content
	Size          int64  // bytes
	Width         int64  // pixels, as shown; 0 for what is no image
	Height        int64
	Exif          []byte   // JSON object
	GPS           []byte   // JSON object
	Sizes         []string // the smaller images that are kept: small, medium, large
	SizesMimeType string   // of the smaller images
	CreatedAt     time.Time
	UpdatedAt     time.Time
}

// The access types of a file.
const (
	AccessPublic  = "public"  // for everybody who has the address
	AccessNetwork = "network" // for users of the network, and whoever they hand a signed address to
)

const fileColumns = `id, owner_id, owner_public_id, type, access_type, feed_type, alt_text, name, extension, mime_type, size, width, height,
	exif, gps, sizes, sizes_mime_type, created_at, updated_at`

func scanFile(rows pgx.Rows) (File, error) {
	var f File
	err := rows.Scan(&f.ID, &f.OwnerID, &f.OwnerPublicID, &f.Type, &f.AccessType, &f.FeedType, &f.AltText, &f.Name, &f.Extension, &f.MimeType,
		&f.Size, &f.Width, &f.Height, &f.Exif, &f.GPS, &f.Sizes, &f.SizesMimeType, &f.CreatedAt, &f.UpdatedAt)
	return f, err
}

var (
	sqlFilesByID    = stmt("files.byID", `SELECT `+fileColumns+` FROM files WHERE home = $1 AND id = ANY($2::text[])`)
	sqlFilesOfUsers = stmt("files.ofUsers", `SELECT `+fileColumns+` FROM files WHERE home = $1 AND id IN
		(SELECT avatar_file_id FROM users WHERE home = $1 AND users.id = ANY($2::text[]) AND avatar_file_id <> '')`)
	sqlFileInsert = stmt("files.insert", `INSERT INTO files (home, `+fileColumns+`)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12::bigint, $13::bigint, $14::bigint, $15::jsonb, $16::jsonb, $17::text[], $18, $19, $20)`)
	sqlFileLive    = stmt("files.guardLive", `SELECT 1 / count(*) FROM files WHERE home = $1 AND id = $2`)
	sqlFileAltText = stmt("files.altText", `UPDATE files SET alt_text = $3, updated_at = $4 WHERE home = $1 AND id = $2`)
	sqlFileDelete  = stmt("files.delete", `DELETE FROM files WHERE home = $1 AND id = $2`)

	sqlUploadInsert = stmt("uploads.insert", `INSERT INTO uploads (home, id, expires_at, created_at) VALUES ($1, $2, $3, $4)`)
	sqlUploadOpen   = stmt("uploads.guardOpen", `SELECT 1 / count(*) FROM uploads WHERE home = $1 AND id = $2 AND NOT abandoned`)
	sqlUploadDelete = stmt("uploads.delete", `DELETE FROM uploads WHERE home = $1 AND id = $2`)
	sqlUploadDue    = stmt("uploads.due", `SELECT id FROM uploads WHERE home = $1 AND expires_at <= $2::timestamptz ORDER BY expires_at, id LIMIT 100`)
	sqlUploadLeave  = stmt("uploads.abandon", `UPDATE uploads SET abandoned = true WHERE home = $1 AND id = ANY($2::text[])`)
)

// FilesByID reads files of any homes; those that are not there are left out, and the order is not defined.
func (r *ReadBatch) FilesByID(ids []string, into *[]File) {
	*into = nil
	for home, ids := range byHome(ids) {
		part := new([]File)
		r.add(home, sqlFilesByID, scanAll(part, scanFile), ids)
		r.Then(func() { *into = append(*into, *part...) })
	}
}

// AvatarFiles reads the avatars of users, as far as they are files of the users' own homes, as those are that a user
// uploads at home. It saves a round trip where the users themselves are not read yet.
func (r *ReadBatch) AvatarFiles(userIDs []string, into *[]File) {
	*into = nil
	for home, ids := range byHome(userIDs) {
		part := new([]File)
		r.add(home, sqlFilesOfUsers, scanAll(part, scanFile), ids)
		r.Then(func() { *into = append(*into, *part...) })
	}
}

// File reads one file; nil where there is none.
func (r *ReadBatch) File(id string, into **File) {
	if home, err := region.HomeOf(id); err == nil {
		r.add(home, sqlFilesByID, scanOne(into, scanFile), []string{id})
	}
}

// UploadsDue reads up to 100 uploads of a home that should have ended by now.
func (r *ReadBatch) UploadsDue(home region.Code, now time.Time, into *[]string) {
	r.add(home, sqlUploadDue, scanAll(into, func(rows pgx.Rows) (string, error) {
		var id string
		err := rows.Scan(&id)
		return id, err
	}), now)
}

// InsertUpload notes that bytes of a file to be are going to be stored.
func (w *Tx) InsertUpload(id string, expiresAt, now time.Time) {
	w.once = "uploads_pkey"
	w.exec(sqlUploadInsert, id, expiresAt, now)
}

// InsertFile makes a file of its upload; abandoned answers where that was given up meanwhile.
func (w *Tx) InsertFile(f File, abandoned error) {
	w.once = "files_pkey"
	// Before the guard: a run that is repeated after its answer got lost has to fail here, where it shows that the first one did it.
	w.exec(sqlFileInsert, f.ID, f.OwnerID, f.OwnerPublicID, f.Type, f.AccessType, f.FeedType, f.AltText, f.Name, f.Extension, f.MimeType,
		f.Size, f.Width, f.Height, f.Exif, f.GPS, texts(f.Sizes), f.SizesMimeType, f.CreatedAt, f.UpdatedAt)
	w.guard(sqlUploadOpen, abandoned, f.ID)
	w.exec(sqlUploadDelete, f.ID)
}

// AbandonUploads keeps uploads from ever becoming files. Their objects are to be deleted next, and then EndUpload.
func (w *Tx) AbandonUploads(ids []string) { w.exec(sqlUploadLeave, ids) }

// EndUpload forgets an upload of which no object is left.
func (w *Tx) EndUpload(id string) { w.exec(sqlUploadDelete, id) }

// SetAltText changes the text that describes a file, and reads the row as it is then; gone answers where there is none.
func (w *Tx) SetAltText(id, text string, now time.Time, gone error, into **File) {
	w.guard(sqlFileLive, gone, id)
	w.exec(sqlFileAltText, id, text, now)
	w.query(sqlFilesByID, scanOne(into, scanFile), []string{id})
}

// DeleteFile removes a file's row; gone answers where there is none. Its objects are to be deleted next.
func (w *Tx) DeleteFile(id string, gone error) {
	w.guard(sqlFileLive, gone, id)
	w.exec(sqlFileDelete, id)
}
