package core

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/plaza-social/plaza/platform/freeform"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/db"
)

// FileUse is a row of file_uses: an object that refers to a file. It is stored at the home of the object, by the
// transaction that changes the object.
type FileUse struct {
	FileID   string
	ObjectID string
	Kind     string
	AuthorID string // internal id of the user who wrote the object; empty for an administrator
	PlaceID  string // the community, channel or wall that the object belongs to; empty for other objects
}

// The kinds of objects that refer to files.
const (
	UsePost          = "post"
	UsePendingEdit   = "pendingEdit" // of a post or comment, by its id
	UseScheduledPost = "scheduledPost"
	UseComment       = "comment"
	UseStory         = "story"
	UseMessage       = "message"
	UsePoll          = "poll"
	UseRoom          = "room"
	UseStream        = "stream"
	UseEvent         = "event"
	UseUser          = "user"
	UseCommunity     = "community"
	UseCategory      = "category"
	UseChannel       = "channel"
)

var fileUseColumns = db.Columns[FileUse]()

// releasing wraps a statement that deletes rows of file_uses and returns their file ids. It queues the files for
// FileReleasesDue.
func releasing(deletion string) string {
	return `WITH released AS (` + deletion + ` RETURNING file_id, author_id)
		INSERT INTO file_releases (home, file_id, author_id) SELECT DISTINCT $1::text, file_id, author_id FROM released`
}

var (
	sqlFileUsesInsert = db.Register("fileUses.insert", `INSERT INTO file_uses (home, object_id, kind, author_id, place_id, file_id)
		VALUES ($1, $2, $3, $4, $5, $6) ON CONFLICT (home, file_id, object_id, kind) DO NOTHING`)
	sqlFileUsesReplace = db.Register("fileUses.releaseOthers", releasing(`DELETE FROM file_uses
		WHERE home = $1 AND object_id = $2 AND kind = $3 AND NOT file_id = ANY($4::text[])`))
	sqlFileUsesReleaseKind = db.Register("fileUses.releaseKind", releasing(`DELETE FROM file_uses WHERE home = $1 AND object_id = ANY($2::text[])
		AND kind = $3`))
	sqlFileUsesRelease = db.Register("fileUses.release", releasing(`DELETE FROM file_uses WHERE home = $1 AND object_id = ANY($2::text[])`))
	sqlFileUsesOfFile  = db.Register("fileUses.ofFile", `SELECT `+fileUseColumns+` FROM file_uses
		WHERE home = $1 AND file_id = $2 ORDER BY object_id, kind LIMIT $3::bigint`)
	sqlFileUsesInPlace = db.Register("fileUses.inPlace", `SELECT `+fileUseColumns+` FROM file_uses
		WHERE home = $1 AND place_id = $2 AND (file_id, object_id, kind) > ($3, $4, $5) ORDER BY file_id, object_id, kind LIMIT $6::bigint`)
	sqlFileIsUsed = db.Register("fileUses.exists", `SELECT EXISTS (SELECT 1 FROM file_uses WHERE home = $1 AND file_id = $2)`)
)

// FileUses reads up to limit uses of a file from each home.
func (r *ReadBatch) FileUses(fileID string, limit int, into *[]FileUse) {
	*into = nil
	ReadEveryHome(r, sqlFileUsesOfFile, into, fileID, limit)
}

// FileUsesInPlace reads up to limit uses in a community or channel, in the order of file, object and kind. after is the
// last one of the previous page; the zero value starts at the first page.
func (r *ReadBatch) FileUsesInPlace(placeID string, after FileUse, limit int, into *[]FileUse) {
	r.AddAt(placeID, sqlFileUsesInPlace, db.Rows(into), placeID, after.FileID, after.ObjectID, after.Kind, limit)
}

// FileIsUsed reads whether anything refers to a file, at any home.
func (r *ReadBatch) FileIsUsed(fileID string, into *bool) {
	*into = false
	for _, home := range region.All() {
		var used bool
		r.Add(home, sqlFileIsUsed, db.Value(&used), fileID)
		r.Then(func() { *into = *into || used })
	}
}

// InsertFileUses records that a new object refers to files. FileID of use is ignored. What is not an id is left out:
// some texts are only called the id of a file.
func (w *Tx) InsertFileUses(use FileUse, fileIDs []string) {
	for _, id := range validIDs(fileIDs) {
		w.Exec(sqlFileUsesInsert, use.ObjectID, use.Kind, use.AuthorID, use.PlaceID, id)
	}
}

// ReplaceFileUses is InsertFileUses for an object that may refer to other files already, which it releases.
func (w *Tx) ReplaceFileUses(use FileUse, fileIDs []string) {
	w.Exec(sqlFileUsesReplace, use.ObjectID, use.Kind, EmptyIfNil(validIDs(fileIDs)))
	w.InsertFileUses(use, fileIDs)
}

// ReplaceFile is ReplaceFileUses for an object with a single file; nil if it is unchanged.
func (w *Tx) ReplaceFile(use FileUse, fileID *string) {
	if fileID != nil {
		w.ReplaceFileUses(use, []string{*fileID})
	}
}

// ReleaseFiles records that objects do not refer to any files any more. Call it when their rows are deleted or emptied.
func (w *Tx) ReleaseFiles(objectIDs []string) { w.Exec(sqlFileUsesRelease, objectIDs) }

// ReleaseFilesOf is ReleaseFiles for one kind of use.
func (w *Tx) ReleaseFilesOf(kind string, objectIDs []string) {
	w.Exec(sqlFileUsesReleaseKind, objectIDs, kind)
}

// validIDs returns those of ids that have the form of an id, each once.
func validIDs(ids []string) []string {
	var valid []string
	for _, id := range ids {
		if region.ValidID(id) && !slices.Contains(valid, id) {
			valid = append(valid, id)
		}
	}
	return valid
}

// VideoSizes are the fields of videoFileId that clients read.
var VideoSizes = []string{"original", "high", "medium", "low"}

// FileIDs returns the ids of the files in the data of a post, a story or a message: a file, a thumbnail, and a video in
// each size. They need not be the ids of files.
func FileIDs(data []byte) []string {
	if !bytes.Contains(data, []byte(`ileId"`)) {
		return nil
	}
	object := freeform.Object(data)
	values := []string{object.Text("fileId"), object.Text("thumbnailFileId")}
	video := freeform.Object(object.Member("videoFileId"))
	for _, size := range VideoSizes {
		values = append(values, video.Text(size))
	}
	return slices.DeleteFunc(values, func(id string) bool { return id == "" })
}

// AttachedFileIDs returns the ids of the files in a list of attachments.
func AttachedFileIDs(attachments []byte) []string {
	var list []struct {
		FileID string `json:"fileId"`
	}
	_ = json.Unmarshal(attachments, &list) // written by package view
	ids := make([]string, len(list))
	for i, a := range list {
		ids[i] = a.FileID
	}
	return ids
}

// DraftFileIDs returns the ids of the files in the draft of a scheduled post.
func DraftFileIDs(draft []byte) []string {
	var d struct {
		Attachments json.RawMessage `json:"attachments"`
		Data        json.RawMessage `json:"data"`
	}
	_ = json.Unmarshal(draft, &d) // written by package scheduledpost
	return append(AttachedFileIDs(d.Attachments), FileIDs(d.Data)...)
}
