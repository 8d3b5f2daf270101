// Package fileref checks references to uploaded files before a row with such a reference is written:
//
//	fileref.Require(r, fileref.Reference{ID: id, Kind: "video", Field: "data.videoFileId.original"})
//
// takes no additional round trip. All users may see all files of the network, regardless of their access type. A
// referenced file must therefore exist and be of the right kind, but need not belong to the caller.
package fileref

import (
	"fmt"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Reference is a reference to a file.
type Reference struct {
	ID string // empty for no reference, which is always valid
	// Kind is image, video or file. A clip counts as a video, and audio as a file.
	Kind string
	// Field is the parameter with the id, such as `attachments[0].fileId`. Errors name it.
	Field string
}

// Check is a check of references.
type Check struct {
	refs []Reference
	rows []store.File
}

// Read is Require for operations that only know after the reads which of the references to check: they call Only and
// Err.
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

// Err returns 400400 if a file does not exist, and a validation error if one is of another kind, or 400300 if that is
// an avatar.
func (c *Check) Err() error {
	for _, r := range c.refs {
		f := service.Find(c.rows, func(f store.File) bool { return f.ID == r.ID })
		switch {
		case f == nil || f.UnusedSince != nil: // being deleted
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

// fits reports whether a file of the type may be referenced.
func (r Reference) fits(fileType string) bool {
	switch fileType {
	case "clip":
		return r.Kind == "video"
	case "audio":
		return r.Kind == "file"
	}
	return r.Kind == fileType
}

// Require adds a check of references to a request.
func Require(r *service.Request, refs ...Reference) { r.Check(Read(r.ReadBatch, refs...).Err) }

const avatarField = "avatarFileId"

var errAvatar = fail.Forbidden("The avatar must be an image")

// Avatar returns a reference to the image of an avatar; nil and empty ids are valid.
func Avatar(id *string) Reference {
	if id == nil {
		return Reference{}
	}
	return Reference{ID: *id, Kind: "image", Field: avatarField}
}

// OfAttachments returns references to the files of attachments.
func OfAttachments(attachments []*plazav1.Attachment) []Reference {
	refs := make([]Reference, len(attachments))
	for i, a := range attachments {
		refs[i] = Reference{ID: a.GetFileId(), Kind: a.GetType(), Field: fmt.Sprintf("attachments[%d].fileId", i)}
	}
	return refs
}

// Only returns a check of other references that uses the files that c read.
func (c *Check) Only(refs []Reference) *Check { return &Check{refs: refs, rows: c.rows} }
