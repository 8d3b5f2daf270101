package scheduledpost

import (
	"context"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/posting"
	"github.com/plaza-social/plaza/platform/service/internal/textrules"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	"github.com/plaza-social/plaza/platform/store/content"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

var errTarget = fail.New(fail.CodeBadRequest, "The target of a scheduled post cannot be changed")

// load reads a scheduled post. The caller must be its author or manage posts; for others it does not exist.
func (s *Service) load(ctx context.Context, id string) (*content.ScheduledPost, error) {
	var row *content.ScheduledPost
	f := s.NewRequest(ctx)
	f.ScheduledPost(id, &row)
	if err := f.Run(ctx); err != nil {
		return nil, err
	}
	manages := managesAll(f.Caller)
	if row == nil || (row.AuthorID != f.Caller.UserID && !manages) {
		return nil, fail.NotFound()
	}
	return row, nil
}

// managesAll reports whether the caller may see and change the scheduled posts of all users.
func managesAll(caller *auth.Caller) bool {
	return auth.Allowed(caller, auth.ManagePostAndComment, auth.Scope{})
}

// UpdateScheduledPost changes the time or the content of a post that is not published. Absent fields stay unchanged.
func (s *Service) UpdateScheduledPost(
	ctx context.Context, req *plazav1.UpdateScheduledPostRequest,
) (*plazav1.UpdateScheduledPostResponse, error) {
	row, err := s.load(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	if row.Status == content.SchedulePosted {
		return nil, errPosted
	}
	if err := s.change(ctx, row, req); err != nil {
		return nil, err
	}
	row.Status, row.Description, row.UpdatedAt = content.ScheduleWaiting, waits, s.Now()
	tx := s.Store.NewTx(s.HomeOf(row.ID))
	tx.UpdateScheduledPost(*row, errPosted)
	return &plazav1.UpdateScheduledPostResponse{Data: &plazav1.ScheduledPostId{Id: row.ID}}, tx.Commit(ctx)
}

// change applies a request to the row. A failed post needs a new time, because its own has passed.
func (s *Service) change(ctx context.Context, row *content.ScheduledPost, m *plazav1.UpdateScheduledPostRequest) error {
	if m.GetScheduledAt() == nil && m.GetPostData() == nil {
		return fail.BadRequest()
	}
	if m.GetScheduledAt() != nil || row.Status == content.ScheduleFailed {
		at, err := s.timeOf(m.GetScheduledAt())
		if err != nil {
			return err
		}
		row.ScheduledAt = at
	}
	if m.GetPostData() == nil {
		return nil
	}
	d, err := posting.NewDraft(m.GetPostData())
	if err != nil {
		return err
	}
	if m.GetPostData().GetTargetId() == "" {
		d.TargetId = row.TargetPublicID
		if m.GetPostData().GetTargetType() == "" {
			d.TargetType = row.TargetType
		}
	}
	if err := posting.ResolveDraft(ctx, s.Deps, d, row.AuthorPublicID); err != nil {
		return err
	}
	if d.TargetType != row.TargetType || d.TargetID != row.TargetID {
		return errTarget
	}
	r := s.NewRequest(ctx)
	var target visibility.Target
	visibility.ReadTarget(r, d.TargetType, d.TargetID, &target)
	d.RequireFiles(r, &target)
	textrules.Require(r, s.HomeOf(row.ID), d.Text())
	if err := r.Run(ctx); err != nil {
		return err
	}
	return s.fill(row, d, row.PostIDs[0])
}

// CancelScheduledPost deletes a scheduled post that is not published.
func (s *Service) CancelScheduledPost(ctx context.Context, req *plazav1.CancelScheduledPostRequest) (*plazav1.SuccessResponse, error) {
	row, err := s.load(ctx, req.GetId())
	if err != nil {
		return nil, err
	}
	if row.Status == content.SchedulePosted {
		return nil, errPosted
	}
	tx := s.Store.NewTx(s.HomeOf(row.ID))
	tx.DeleteScheduledPost(*row, errPosted)
	return service.Success(), tx.Commit(ctx)
}
