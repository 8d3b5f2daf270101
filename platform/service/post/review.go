package post

import (
	"context"

	"connectrpc.com/connect"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// ApprovePost publishes a post that waits for a moderator.
func (s *Service) ApprovePost(ctx context.Context, req *connect.Request[plazav1.ApprovePostRequest]) (*connect.Response[plazav1.PostResponse], error) {
	return s.review(ctx, req.Msg.GetPostId(), published)
}

// DeclinePost declines a post that waits for a moderator; its author still sees it.
func (s *Service) DeclinePost(ctx context.Context, req *connect.Request[plazav1.DeclinePostRequest]) (*connect.Response[plazav1.PostResponse], error) {
	return s.review(ctx, req.Msg.GetPostId(), declined)
}

// errNotWaiting is for posts that the caller sees: the others are not there.
var errNotWaiting = fail.New(fail.CodeBadRequest, "The post does not wait for a moderator")

func (s *Service) review(ctx context.Context, id, feedType string) (*connect.Response[plazav1.PostResponse], error) {
	l, err := s.load(ctx, id, nil)
	if err != nil {
		return nil, err
	}
	if err := auth.Require(l.First.Caller, auth.ModeratePostAndComment, l.place.Scope("")); err != nil {
		return nil, err
	}
	if l.post.FeedType != reviewing || !l.post.IsParent {
		return nil, errNotWaiting
	}
	var after *store.Post
	w := s.Store.Write(service.HomeOf(id))
	w.GuardPost(*l.post, fail.NotFound())
	w.MovePost(*l.post, feedType, s.Now())
	w.PostAfter(id, &after)
	if err := w.Commit(ctx); err != nil {
		return nil, err
	}
	return s.answer(ctx, l.First.Caller.UserID, l.known(*after))
}
