// Package file holds uploaded files.
//
// A file's life: an upload begins with a row that says that bytes are on their way; when they are whole and understood,
// one transaction makes the file of it. A file does not change after that, but for the text that describes it, until it
// is deleted for good: its row at once, its bytes through the outbox, tried again until they are gone. An upload that ends
// in any other way leaves nothing: its objects are removed at once, or by the sweep once it must have ended.
//
// The row lives where the uploader does, and the bytes in the storage of that home; what an administrator uploads lives
// where it was uploaded.
//
// Access types: `public` is for everybody who has the address. `network` is for the users of the network, by their access
// token, and for whoever one of them hands the signed address to, until that expires. Every user may use every file in
// what they write; to change or delete one takes its uploader or an administrator.
//
// Images (JPEG, PNG, GIF, WebP) are decoded once, when they are uploaded, and kept in smaller sizes too. Videos are kept as
// they are: `original` is what was sent, and there is no other resolution.
package file

import (
	"context"
	"encoding/json"
	"time"

	"golang.org/x/sync/semaphore"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/storage"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Options are what the service is made of beside what every noun has.
type Options struct {
	Storage   *storage.Storage
	Links     *Links
	MaxBytes  int64 // of a file
	MaxPixels int64 // of an image
	StripGPS  bool
	// UploadTimeout ends an upload.
	UploadTimeout time.Duration
}

// Service implements FileService, and the streams of bytes beside it.
type Service struct {
	*service.Deps
	Options
	memory memory
}

// New makes the service, and registers what deletes the bytes of deleted files.
func New(d *service.Deps, o Options) *Service {
	s := &Service{Deps: d, Options: o, memory: memory{semaphore.NewWeighted(o.MaxPixels)}}
	d.Outbox.Handle(topicDeleted, s.deleteBytes)
	return s
}

// memory lets as many pixels be decoded at once as the largest image may have.
type memory struct{ *semaphore.Weighted }

// topicDeleted names the outbox rows that have the bytes of a deleted file deleted; deleted is what they hold.
const topicDeleted = "fileDeleted"

type deleted struct {
	FileID string `json:"fileId"`
}

// deletePatience bounds what a worker of the outbox waits for the storage.
const deletePatience = 10 * time.Second

func (s *Service) deleteBytes(ctx context.Context, row store.OutboxRow) error {
	var m deleted
	if err := json.Unmarshal(row.Payload, &m); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, deletePatience)
	defer cancel()
	return s.Storage.DeleteAll(ctx, m.FileID)
}

// load reads a file beside the caller.
func (s *Service) load(ctx context.Context, id string) (*service.Request, *store.File, error) {
	f := s.NewRequest(ctx)
	var row *store.File
	f.File(id, &row)
	if err := f.Run(ctx); err != nil {
		return nil, nil, err
	}
	if row == nil {
		return nil, nil, fail.NotFound()
	}
	return f, row, nil
}

// loadOwn is load for the uploader and administrators; for everybody else it is 400300.
func (s *Service) loadOwn(ctx context.Context, id string) (*store.File, error) {
	f, row, err := s.load(ctx, id)
	if err != nil {
		return nil, err
	}
	return row, auth.RequireSelf(f.Caller, row.OwnerID)
}

// GetFile gets what is known about a file.
func (s *Service) GetFile(ctx context.Context, req *plazav1.GetFileRequest) (*plazav1.File, error) {
	_, row, err := s.load(ctx, req.GetFileId())
	if err != nil {
		return nil, err
	}
	return s.View.File(*row), nil
}

// UpdateFile changes the text that describes a file.
func (s *Service) UpdateFile(ctx context.Context, req *plazav1.UpdateFileRequest) (*plazav1.File, error) {
	row, err := s.loadOwn(ctx, req.GetFileId())
	if err != nil {
		return nil, err
	}
	if req.AltText != nil {
		tx := s.Store.NewTx(service.HomeOf(row.ID))
		tx.SetAltText(row.ID, req.GetAltText(), s.Now(), fail.NotFound(), &row)
		if err := tx.Commit(ctx); err != nil {
			return nil, err
		}
	}
	return s.View.File(*row), nil
}

// DeleteFile deletes a file for good.
func (s *Service) DeleteFile(ctx context.Context, req *plazav1.DeleteFileRequest) (*plazav1.DeleteFileResponse, error) {
	row, err := s.loadOwn(ctx, req.GetFileId())
	if err != nil {
		return nil, err
	}
	home := service.HomeOf(row.ID)
	tx := s.Store.NewTx(home)
	tx.DeleteFile(row.ID, fail.NotFound())
	bytes := tx.Emit(topicDeleted, deleted{FileID: row.ID}, s.Now(), s.Outbox.FirstTry())
	if err := tx.Commit(ctx); err != nil {
		return nil, err
	}
	s.Outbox.Deliver(ctx, home, bytes)
	return &plazav1.DeleteFileResponse{
		Status: "success", Data: &plazav1.DeletedFile{FileId: row.ID}, Success: true,
	}, nil
}
