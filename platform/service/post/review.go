package post

import (
	"context"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
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
	l, err := s.load(ctx, id, nil)
	if err != nil {
		return nil, err
	}
	if err := auth.Require(l.Caller, auth.ModeratePostAndComment, l.ref.Target.Scope("")); err != nil {
		return nil, err
	}
	if l.post().FeedType != reviewing || !l.post().IsParent {
		return nil, errNotWaiting
	}
	var after *store.Post
	tx := s.Store.NewTx(service.HomeOf(id))
	tx.GuardPost(*l.post(), fail.NotFound())
	tx.UpdatePostFeedType(*l.post(), feedType, s.Now())
	tx.SelectPost(id, &after)
	if err := tx.Commit(ctx); err != nil {
		return nil, err
	}
	return s.respond(ctx, l.Caller.UserID, l.known(*after))
}
