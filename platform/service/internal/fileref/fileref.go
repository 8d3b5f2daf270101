package fileref

import (
	"context"
	"fmt"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// This file is how other nouns use uploaded files: before a row refers to a file, Check says whether it may.
//
//	check := Read(first.Reads, Reference{ID: id, Kind: "video", Field: "data.videoFileId.original"})
//	if err := first.Run(ctx); err != nil { … }
//	if err := check.Err(); err != nil { … }
//
// costs no round trip of its own; Deps.Require does the same in one. Whoever may call at all may see every file of the
// network, whatever its access type, so a file has to exist and to be of the right kind, and may be somebody else's.

// Reference is a reference that a request makes to a file.
type Reference struct {
	ID string // empty stands for no reference: always right
	// Kind is image, video or file. A clip is a video, and audio is a file.
	Kind string
	// Field is the parameter that holds the id, such as `attachments[0].fileId`, for the error.
	Field string
}

// Check is a check under way.
type Check struct {
	refs []Reference
	rows []store.File
}

// Read adds to reads what the check of references needs. Err answers once reads has run.
func Read(reads *store.ReadBatch, refs ...Reference) *Check {
	c := &Check{}
	var ids []string
	for _, r := range refs {
		if r.ID != "" {
			c.refs, ids = append(c.refs, r), append(ids, r.ID)
		}
	}
	if len(ids) > 0 {
		reads.FilesByID(ids, &c.rows)
	}
	return c
}

// Err is nil where every reference is right: 400400 where a file does not exist, a validation error where one is of
// another kind, and 400300 where that is an avatar.
func (c *Check) Err() error {
	for _, r := range c.refs {
		f := c.find(r.ID)
		switch {
		case f == nil:
			return fail.NotFound()
		case r.fits(f.Type):
		case r.Field == avatarField:
			return errAvatar
		default:
			return fail.Validation(fmt.Sprintf("%s: must be a file of type %s", r.Field, r.Kind))
		}
	}
	return nil
}

func (c *Check) find(id string) *store.File {
	for i := range c.rows {
		if c.rows[i].ID == id {
			return &c.rows[i]
		}
	}
	return nil
}

func (r Reference) fits(fileType string) bool {
	switch fileType {
	case "clip":
		return r.Kind == "video"
	case "audio":
		return r.Kind == "file"
	}
	return r.Kind == fileType
}

// Require checks references in a round trip of its own; without any there is none.
func Require(ctx context.Context, d *service.Deps, refs ...Reference) error {
	reads := d.Store.NewReadBatch()
	check := Read(reads, refs...)
	if err := reads.Run(ctx); err != nil {
		return err
	}
	return check.Err()
}

const avatarField = "avatarFileId"

var errAvatar = fail.Forbidden("The file of an avatar must be an image")

// Avatar refers to the image of an avatar; nil and empty stand for none.
func Avatar(id *string) Reference {
	if id == nil {
		return Reference{}
	}
	return Reference{ID: *id, Kind: "image", Field: avatarField}
}

// OfAttachments refer to the files of attachments.
func OfAttachments(attachments []*plazav1.Attachment) []Reference {
	refs := make([]Reference, len(attachments))
	for i, a := range attachments {
		refs[i] = Reference{ID: a.GetFileId(), Kind: a.GetType(), Field: fmt.Sprintf("attachments[%d].fileId", i)}
	}
	return refs
}

// Only checks other references to the files that were read.
func (c *Check) Only(refs []Reference) *Check { return &Check{refs: refs, rows: c.rows} }
