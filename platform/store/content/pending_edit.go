package content

import (
	"time"

	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
)

// PendingEdit is a row of pending_edits: the edit of an approved post or comment that waits for approval.
type PendingEdit struct {
	ReferenceID   string
	ReferenceType string // post or comment
	TargetID      string // the community
	AuthorID      string // internal id
	Data          []byte // JSON object
	Metadata      []byte // JSON object
	Mentionees    []byte // JSON array
	Attachments   []byte // JSON array of the attachments after the edit
	Tags          []string
	Hashtags      []string
	CreatedAt     time.Time // of the latest edit
	Annotations   []byte    // JSON object
}

var pendingEditColumns = db.Columns[PendingEdit]()

var (
	sqlPendingEditsByID = db.Register("pendingEdits.byReference", `SELECT `+pendingEditColumns+` FROM pending_edits WHERE home = $1 AND reference_id
		= ANY($2::text[])`)
	sqlPendingEditUpsert = db.Register("pendingEdits.put", `INSERT INTO pending_edits (home, `+pendingEditColumns+`)
		VALUES ($1, $2, $3, $4, $5, $6::jsonb, $7::jsonb, $8::jsonb, $9::jsonb, $10::text[], $11::text[], $12, $13::jsonb)
		ON CONFLICT (home, reference_id) DO UPDATE SET author_id = excluded.author_id, data = excluded.data, metadata = excluded.metadata,
			mentionees = excluded.mentionees, attachments = excluded.attachments, tags = excluded.tags, hashtags = excluded.hashtags,
			created_at = excluded.created_at, annotations = excluded.annotations`)
	sqlPendingEditDelete = db.Register("pendingEdits.delete", `DELETE FROM pending_edits WHERE home = $1 AND reference_id = ANY($2::text[])`)
	sqlPendingEditGuard  = db.Register("pendingEdits.guard", `SELECT 1 / count(*) FROM pending_edits
		WHERE home = $1 AND reference_id = $2 AND created_at = $3::timestamptz AND data = $4::jsonb`)
)

// pendingEditsByCreation are the statements of ListPendingEdits.
var pendingEditsByCreation = core.OrderedBy(core.CreatedOrders, "created_at", core.Source{
	Name: "pendingEdits.list", Columns: pendingEditColumns,
	From: `pending_edits WHERE home = $1 AND target_id = $2`, ID: "reference_id", After: 3,
}.List)

// PendingEdits reads the pending edits of posts and comments of any homes, in no particular order.
func (r ReadBatch) PendingEdits(ids []string, into *[]PendingEdit) {
	core.ReadMany(r.ReadBatch, ids, sqlPendingEditsByID, into)
}

// PendingEdit reads the pending edit of a post or comment; nil without one.
func (r ReadBatch) PendingEdit(id string, into **PendingEdit) {
	r.AddAt(id, sqlPendingEditsByID, db.Row(into), []string{id})
}

// PendingEditList is a page of the pending edits in one community.
type PendingEditList struct {
	TargetID string
	Desc     bool
	After    time.Time // the position that the page starts after
	AfterID  string
	Limit    int
}

// ListPendingEdits reads up to Limit pending edits in the order of the list.
func (r ReadBatch) ListPendingEdits(l PendingEditList, into *[]PendingEdit) {
	r.AddAt(l.TargetID, pendingEditsByCreation.In(l.Desc), db.Rows(into), l.TargetID, l.After, l.AfterID, l.Limit)
}

// UpsertPendingEdit stores an edit in place of the present one of the same post or comment.
func (w Tx) UpsertPendingEdit(e PendingEdit) {
	w.Exec(sqlPendingEditUpsert, e.ReferenceID, e.ReferenceType, e.TargetID, e.AuthorID, e.Data, e.Metadata, e.Mentionees, e.Attachments,
		core.EmptyIfNil(e.Tags), core.EmptyIfNil(e.Hashtags), e.CreatedAt, core.ObjectIfNil(e.Annotations))
	use := core.FileUse{ObjectID: e.ReferenceID, Kind: core.UsePendingEdit, AuthorID: e.AuthorID, PlaceID: e.TargetID}
	w.ReplaceFileUses(use, append(core.FileIDs(e.Data), core.AttachedFileIDs(e.Attachments)...))
}

// GuardPendingEdit makes the transaction fail with refusal if the edit was replaced, approved or declined since it was
// read.
func (w Tx) GuardPendingEdit(e PendingEdit, refusal error) {
	w.Guard(sqlPendingEditGuard, refusal, e.ReferenceID, e.CreatedAt, e.Data)
}

// DeletePendingEdits deletes the pending edits of posts and comments.
func (w Tx) DeletePendingEdits(ids ...string) {
	w.ReleaseFilesOf(core.UsePendingEdit, ids)
	w.Exec(sqlPendingEditDelete, ids)
}
