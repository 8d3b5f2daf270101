package post

import (
	"context"
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/flags"
	"github.com/plaza-social/plaza/platform/service/internal/posting"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/content"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// ApprovePost publishes a post that waits for approval, or makes its pending edit.
func (s *Service) ApprovePost(ctx context.Context, req *plazav1.ApprovePostRequest) (*plazav1.PostResponse, error) {
	return s.review(ctx, req.GetPostId(), published)
}

// DeclinePost declines a post that waits for approval, which its author can still see, or drops its pending edit.
func (s *Service) DeclinePost(ctx context.Context, req *plazav1.DeclinePostRequest) (*plazav1.PostResponse, error) {
	return s.review(ctx, req.GetPostId(), declined)
}

// errNotWaiting is returned only to callers who may see the post; for others it does not exist.
var errNotWaiting = fail.New(fail.CodeBadRequest, "The post is not waiting for approval")

func (s *Service) review(ctx context.Context, id, feedType string) (*plazav1.PostResponse, error) {
	return service.RetryOnConflict(ctx, func() (*plazav1.PostResponse, error) { return s.tryReview(ctx, id, feedType) })
}

// tryReview is one attempt of review. It returns service.ErrConflict if the post was edited concurrently.
func (s *Service) tryReview(ctx context.Context, id, feedType string) (*plazav1.PostResponse, error) {
	var pending *content.PendingEdit
	var item *content.FlagItem
	var children []content.Post
	var edit *posting.Edit
	r := s.newRequest(ctx, id)
	r.PendingEdit(id, &pending)
	r.FlagItem(id, &item)
	r.ChildrenOf([]string{id}, &children)
	r.Check(r.RequireModerator)
	r.Check(func() (err error) {
		if pending != nil && r.Post.FeedType == published {
			edit, err = posting.NewEdit(approval(*pending), r.Post, children, pending)
			return err
		}
		if r.Post.FeedType != reviewing || !r.Post.IsParent {
			return errNotWaiting
		}
		return nil
	})
	return s.change(ctx, r, func(tx *store.Tx) string {
		if edit != nil {
			return s.settleEdit(tx, r, edit, *pending, feedType == published)
		}
		tx.GuardPost(*r.Post, fail.NotFound())
		tx.UpdatePostFeedType(*r.Post, feedType, s.Now())
		flags.Review(tx, r.Request, item, feedType == published)
		tx.RecomputePostFlags(*r.Post)
		tx.SelectCommunity(r.Target.Community)
		return reviewEvents[feedType]
	})
}

// approval returns the request that makes a pending edit.
func approval(e content.PendingEdit) *plazav1.UpdatePostRequest {
	return &plazav1.UpdatePostRequest{PostId: e.ReferenceID}
}

// reviewEvents names the event of a review by the feed into which it moves the post.
var reviewEvents = map[string]string{published: "post.approved", declined: "post.declined"}

// settleEdit makes or drops a pending edit, and returns the event.
func (s *Service) settleEdit(tx *store.Tx, r *visibility.Request, edit *posting.Edit, pending content.PendingEdit,
	approved bool,
) (event string) {
	tx.GuardPostUnchanged(*r.Post, service.ErrConflict)
	tx.GuardPendingEdit(pending, service.ErrConflict)
	if approved {
		now := s.Now()
		parent, added, dropped := edit.Rows(approval(pending), nil, now, func() string { return s.NewID(r.Home()) })
		tx.UpdatePost(parent, added, dropped, now, false)
		event = "post.updated"
	}
	tx.DeletePendingEdits(r.Post.ID)
	tx.SelectCommunity(r.Target.Community)
	return event
}

// ListPendingEdits lists the pending edits of the posts and comments of a community.
func (s *Service) ListPendingEdits(ctx context.Context, req *plazav1.ListPendingEditsRequest) (*plazav1.ListPendingEditsResponse, error) {
	r := s.NewRequest(ctx)
	cursor := r.Page(req.GetOptions())
	list := content.PendingEditList{TargetID: req.GetCommunityId(), Desc: !cursor.Back, Limit: cursor.Limit + 1}
	list.After, _, list.AfterID = cursor.Start(list.Desc)
	var target visibility.Target
	var rows []content.PendingEdit
	visibility.ReadTarget(r, "community", req.GetCommunityId(), &target)
	r.ListPendingEdits(list, &rows)
	r.Check(func() error { return target.RequireSee(r.Caller) })
	r.Check(func() error { return auth.Require(r.Caller, auth.ModeratePostAndComment, target.Scope("")) })
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	rows, paging := page.Window(cursor, rows, func(e content.PendingEdit) (time.Time, string, string) {
		return e.CreatedAt, "",
			e.ReferenceID
	})
	return &plazav1.ListPendingEditsResponse{PendingEdits: service.Map(rows, s.View.PendingEdit), Paging: paging}, nil
}
