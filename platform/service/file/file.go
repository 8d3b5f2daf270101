// Package file implements uploaded files.
//
// An upload begins with a row that announces objects in the storage. When the content is complete and valid, one
// transaction creates the file. Apart from its alternative text a file never changes, until it is deleted for good:
// its row at once, its objects through the outbox, with retries. An upload that ends in any other way leaves nothing:
// its objects are removed at once, or by the sweep after the upload's deadline.
//
// The row is stored at the home of the uploader, and the objects in the storage of that home. Uploads of
// administrators are stored in the region that received them.
//
// Access types: files of type `public` are readable by everyone who has the address. Files of type `network` are
// readable by users of the network with their access token, and by everyone who has a signed address until it
// expires. Every user may refer to every file; only its uploader and administrators may change or delete it.
//
// Every object that refers to a file has a row of file_uses, which the transaction inserts that changes the object. A
// file that was in use is deleted when nothing refers to it any more: its posts, comments, messages or stories were
// deleted for good, its community or channel was deleted, or another avatar replaced it, see DeleteReleased. A file that
// nothing ever referred to stays, because clients may keep its id where the server does not see it, such as in metadata.
//
// Images (JPEG, PNG, GIF, WebP) are decoded once, on upload, and stored in smaller sizes too. Videos are stored
// unchanged: `original` is the only resolution.
package file

import (
	"context"
	"runtime"
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/picture"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/textrules"
	"github.com/plaza-social/plaza/platform/storage"
	"github.com/plaza-social/plaza/platform/store/media"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Options are the dependencies of the service in addition to service.Deps.
type Options struct {
	Storage   *storage.Storage
	Links     *Links
	MaxBytes  int64 // of a file
	MaxPixels int64 // of an image
	StripGPS  bool
	// UploadTimeout is the maximum duration of an upload.
	UploadTimeout time.Duration
	// SettleTime is longer than any request, including one whose client has given up.
	SettleTime time.Duration
}

// Service implements FileService, and uploads and downloads of content.
type Service struct {
	*service.Deps
	Options
	images    *picture.Queue
	uploading uploading
}

// New returns the service of files, and registers the outbox handlers that delete the objects of deleted files, and
// that release or restrict the files of communities and channels.
func New(d *service.Deps, o Options) *Service {
	s := &Service{Deps: d, Options: o, images: picture.NewQueue(imageLimits(o.MaxPixels))}
	d.RequireReadFile = s.requireRead
	service.HandleOutbox(d, media.TopicFileDeleted, s.deleteBytes)
	service.HandleOutbox(d, media.TopicReleasePlace, s.releasePlace)
	service.HandleOutbox(d, media.TopicRestrictPlace, s.restrictPlace)
	return s
}

// imageLimits returns the limits on images that are decoded and that wait. Those in progress have as many pixels as the
// largest image that is allowed.
func imageLimits(maxPixels int64) picture.QueueLimits {
	return picture.QueueLimits{Pixels: maxPixels, Images: max(2, runtime.GOMAXPROCS(0)), WaitingPerUser: 20, Waiting: 500}
}

func (s *Service) deleteBytes(ctx context.Context, m media.DeletedFile) error {
	ctx, cancel := context.WithTimeout(ctx, s.Store.Limits().DeleteFile)
	defer cancel()
	return s.Storage.DeleteAll(ctx, m.FileID)
}

// request is a request about a file. Run fails with 400400 if the file does not exist.
type request struct {
	*service.Request
	file *media.File
}

func (s *Service) newRequest(ctx context.Context, id string) *request {
	r := &request{Request: s.NewRequest(ctx)}
	r.File(id, &r.file)
	r.CheckFound(func() bool { return r.file != nil })
	return r
}

// loadOwn reads a file for its uploader and administrators; for other callers it is 400300.
func (s *Service) loadOwn(ctx context.Context, id string) (*media.File, error) {
	r := s.newRequest(ctx, id)
	r.Check(func() error { return auth.RequireSelf(r.Caller, r.file.OwnerID) })
	err := r.Run(ctx)
	return r.file, err
}

// GetFile returns the metadata of a file.
func (s *Service) GetFile(ctx context.Context, req *plazav1.GetFileRequest) (*plazav1.File, error) {
	r := s.newRequest(ctx, req.GetFileId())
	r.AfterRun(func(ctx context.Context) error { return s.requireRead(ctx, r.Caller, *r.file) })
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	return s.View.File(ctx, *r.file, view.FileObject{}), nil
}

// UpdateFile changes the alternative text of a file.
func (s *Service) UpdateFile(ctx context.Context, req *plazav1.UpdateFileRequest) (*plazav1.File, error) {
	row, err := s.loadOwn(ctx, req.GetFileId())
	if err != nil {
		return nil, err
	}
	if req.AltText != nil {
		r := s.NewRequest(ctx)
		textrules.Require(r, s.HomeOf(row.ID), textrules.TextOfFields(req.AltText))
		if err := r.Run(ctx); err != nil {
			return nil, err
		}
		tx := s.Store.NewTx(s.HomeOf(row.ID))
		tx.UpdateAltText(row.ID, req.GetAltText(), s.Now(), fail.NotFound(), &row)
		if err := tx.Commit(ctx); err != nil {
			return nil, err
		}
	}
	return s.View.File(ctx, *row, view.FileObject{}), nil
}

// DeleteFile deletes a file for good.
func (s *Service) DeleteFile(ctx context.Context, req *plazav1.DeleteFileRequest) (*plazav1.DeleteFileResponse, error) {
	row, err := s.loadOwn(ctx, req.GetFileId())
	if err != nil {
		return nil, err
	}
	tx := s.Store.NewTx(s.HomeOf(row.ID))
	bytes := tx.DeleteFile(*row, fail.NotFound(), s.Now(), s.Outbox.FirstTry())
	return &plazav1.DeleteFileResponse{
		Status: "success", Data: &plazav1.DeletedFile{FileId: row.ID}, Success: true,
	}, s.Commit(ctx, tx, bytes)
}
