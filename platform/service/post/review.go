package post

import (
	"context"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// ApprovePost publishes a post that waits for approval.
func (s *Service) ApprovePost(ctx context.Context, req *plazav1.ApprovePostRequest) (*plazav1.PostResponse, error) {
	return s.review(ctx, req.GetPostId(), published)
}

// DeclinePost declines a post that waits for approval. Its author can still see it.
func (s *Service) DeclinePost(ctx context.Context, req *plazav1.DeclinePostRequest) (*plazav1.PostResponse, error) {
	return s.review(ctx, req.GetPostId(), declined)
}

// errNotWaiting is returned only to callers who may see the post; for others it does not exist.
var errNotWaiting = fail.New(fail.CodeBadRequest, "The post is not waiting for approval")

func (s *Service) review(ctx context.Context, id, feedType string) (*plazav1.PostResponse, error) {
	r := s.newRequest(ctx, id)
	r.Check(r.RequireModerator)
	r.Check(func() error {
		if r.Post.FeedType != reviewing || !r.Post.IsParent {
			return errNotWaiting
		}
		return nil
	})
	return s.change(ctx, r, func(tx *store.Tx) {
		tx.GuardPost(*r.Post, fail.NotFound())
		tx.UpdatePostFeedType(*r.Post, feedType, s.Now())
	})
}
