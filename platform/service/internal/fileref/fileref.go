// Package fileref checks references to uploaded files before a row with such a reference is written:
//
//	fileref.RequireIn(r, isPrivate, fileref.Reference{ID: id, Kind: "video", Field: "data.videoFileId.original"})
//
// takes no additional round trip for most references. A referenced file must exist and be of the right kind, but need
// not belong to the caller: all users may refer to all files, except to restricted ones that they may not read.
// Otherwise a reference would be a way to read them.
//
// A file to which its uploader refers in a private place is restricted: it is from then on readable by those who may
// read what refers to it, whatever its access type, see package fileaccess. It is restricted before the reference is
// written, so that no response contains an address for everyone. Files of other users and of administrators, such as
// stickers, stay as they are: no user can take a file from those who read it elsewhere.
package fileref

import (
	"context"
	"errors"
	"fmt"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/media"
	"github.com/plaza-social/plaza/platform/store/network"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Reference is a reference to a file.
type Reference struct {
	ID string // empty for no reference, which is always valid
	// Kind is image, video, file, clip or audio. A clip counts as a video, and audio as a file. It is empty for what only may be the id
	// of a file, see Mentioned.
	Kind string
	// Field is the parameter with the id, such as `attachments[0].fileId`. Errors name it.
	Field string
}

// Check is a check of references.
type Check struct {
	refs []Reference
	rows []media.File
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
		f := service.Find(c.rows, func(f media.File) bool { return f.ID == r.ID })
		switch {
		case f == nil && r.Kind == "":
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
	if r.Kind == "" {
		return true
	}
	return r.Kind == fileType || fileType == "clip" && r.Kind == "video" || fileType == "audio" && r.Kind == "file"
}

// Require adds a check of references to a request, for objects whose files are not restricted.
func Require(r *service.Request, refs ...Reference) {
	RequireIn(r, func() bool { return false }, refs...)
}

// RequireIn adds a check of references to a request. If it succeeds and private returns true, it restricts those of the
// files that the caller uploaded. private is called when the reads have run.
func RequireIn(r *service.Request, private func() bool, refs ...Reference) {
	c := Read(r.ReadBatch, refs...)
	r.AfterRun(func(ctx context.Context) error { return c.Settle(ctx, r, private()) })
}

// Settle is what a check of RequireIn does, for operations that use Read.
func (c *Check) Settle(ctx context.Context, r *service.Request, private bool) error {
	if err := c.Err(); err != nil {
		return err
	}
	var own []string
	for _, ref := range c.refs {
		f := service.Find(c.rows, func(f media.File) bool { return f.ID == ref.ID })
		switch {
		case f == nil:
		case !f.Restricted && f.OwnerID == r.Caller.UserID:
			own = append(own, f.ID)
		case f.Restricted:
			if err := requireRead(ctx, r, *f); err != nil {
				return err
			}
		}
	}
	if !private {
		return nil
	}
	return Restrict(ctx, r.Deps, r.Caller.UserID, own...)
}

// requireRead returns 400400 if the caller may not read a restricted file.
func requireRead(ctx context.Context, r *service.Request, f media.File) error {
	if f.OwnerID != "" && f.OwnerID == r.Caller.UserID {
		return nil
	}
	err := r.Deps.RequireReadFile(ctx, r.Caller, f)
	if errors.Is(err, fail.NotAllowed()) {
		return fail.NotFound().Because(err)
	}
	return err
}

// Restrict restricts those of the files that a user uploaded. It does not wait for the operation, whose failure leaves
// files restricted that nothing refers to yet.
func Restrict(ctx context.Context, d *service.Deps, ownerID string, ids ...string) error {
	if ownerID == "" {
		return nil
	}
	for home, ids := range d.Store.ByHome(ids) {
		tx := d.Store.NewTx(home)
		tx.RestrictFiles(ids, ownerID)
		if err := tx.Commit(network.WithoutIdempotency(ctx)); err != nil {
			return err
		}
	}
	return nil
}

// Mentioned returns references to what the data of an object names as files, which need not exist.
func Mentioned(data []byte) []Reference {
	var refs []Reference
	for _, id := range core.FileIDs(data) {
		refs = append(refs, Reference{ID: id})
	}
	return refs
}

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
