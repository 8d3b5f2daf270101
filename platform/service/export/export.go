// Package export implements ExportService, which exports everything that the network knows about a user.
//
// The request inserts a row of user_exports at the user's home. A job of that home then takes the steps in order, see
// steps: each reads one table in one home, a page at a time, and stores the rows of the user as a part in the storage.
// At the end the parts and the content of the user's files become one archive, which is deleted after a week.
package export

import (
	"context"
	"net/url"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/steps"
	"github.com/plaza-social/plaza/platform/storage"
	"github.com/plaza-social/plaza/platform/store/lifecycle"
	"github.com/plaza-social/plaza/platform/store/people"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

const (
	// renewableAfter is the time after which a user can be exported again.
	renewableAfter = 24 * time.Hour
	// keptFor is the time for which an archive is kept.
	keptFor = 7 * 24 * time.Hour
)

var errNoStorage = fail.BadRequest().WithDetails(
	"The user's region has no storage for files (storage-url), so that it cannot store archives")

// Service implements ExportService.
type Service struct {
	*service.Deps
	storage *storage.Storage
}

// New returns the service.
func New(d *service.Deps, s *storage.Storage) *Service { return &Service{d, s} }

// StartExport begins the export of a user, or returns the one that exists, if it is not older than a day.
func (s *Service) StartExport(ctx context.Context, req *plazav1.StartExportRequest) (*plazav1.ExportResponse, error) {
	r := s.newRequest(ctx, req.GetUserId())
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	user := r.users[0]
	if !s.storage.Has(s.HomeOf(user.ID)) {
		return nil, errNoStorage
	}
	now := s.Now()
	var e *lifecycle.Export
	tx := s.Store.NewTx(s.HomeOf(user.ID))
	tx.StartExport(lifecycle.Export{ID: user.ID, PublicID: user.PublicID, RequestedBy: r.Caller.UserID}, now, now.Add(-renewableAfter), &e)
	if err := tx.Commit(ctx); err != nil {
		return nil, err
	}
	return &plazav1.ExportResponse{Export: message(*e)}, nil
}

// GetExport returns the progress of an export.
func (s *Service) GetExport(ctx context.Context, req *plazav1.GetExportRequest) (*plazav1.ExportResponse, error) {
	e, err := s.read(ctx, req.GetUserId())
	if err != nil {
		return nil, err
	}
	return &plazav1.ExportResponse{Export: message(*e)}, nil
}

// read reads the export of a user for those who may have it. It returns fail.NotFound if there is none.
func (s *Service) read(ctx context.Context, publicID string) (*lifecycle.Export, error) {
	r := s.newRequest(ctx, publicID)
	var e *lifecycle.Export
	r.Export(r.userID, &e)
	r.CheckFound(func() bool { return e != nil })
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	return e, nil
}

// request is a request about the export of a user.
type request struct {
	*service.Request
	userID string
	users  []people.User // the row of the user, if there is one
}

// newRequest returns a request about a user. Run fails unless the caller is that user, or appoints administrators and
// has authority over the user.
func (s *Service) newRequest(ctx context.Context, publicID string) *request {
	r := &request{Request: s.NewRequest(ctx)}
	r.userID = r.Resolve(ctx, publicID)
	r.Users([]string{r.userID}, &r.users)
	r.Check(func() error { return s.RequireSelfOrOver(r.Caller, r.userID, auth.ManageAdmin, r.users) })
	r.CheckFound(func() bool { return len(r.users) > 0 && r.users[0].DeletedAt == nil })
	return r
}

func message(e lifecycle.Export) *plazav1.Export {
	m := &plazav1.Export{
		UserId: e.PublicID, State: e.State, RequestedBy: e.RequestedBy, RequestedAt: timestamppb.New(e.RequestedAt),
		UpdatedAt: timestamppb.New(e.UpdatedAt), Step: e.Step, Exported: steps.Counts(e.Exported),
	}
	if e.State == lifecycle.ExportReady {
		m.Step, m.Bytes, m.FinishedAt, m.ExpiresAt = "", float64(e.Bytes), timestamppb.New(*e.FinishedAt), timestamppb.New(e.DueAt)
		m.ArchivePath = "/api/v4/users/" + url.PathEscape(e.PublicID) + "/export/archive"
	}
	return m
}
