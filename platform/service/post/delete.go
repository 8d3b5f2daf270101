package post

import (
	"context"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// DeletePost deletes a post and its children. The caller must be the author, a moderator or the owner of the wall. A
// permanent deletion also removes the comments, flags and counts.
func (s *Service) DeletePost(ctx context.Context, req *plazav1.DeletePostRequest) (*plazav1.StatusSuccessResponse, error) {
	r := s.newRequest(ctx, req.GetPostId())
	r.CheckRight(auth.DeleteCommunityPost, auth.DeleteUserFeedPost)
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	tx := s.Store.NewTx(r.Home())
	tx.GuardPost(*r.Post, fail.NotFound())
	tx.DeletePost(*r.Post, s.Now())
	if err := s.CommitChange(ctx, tx, "post.deleted", s.PostChange(*r.Post)); err != nil {
		return nil, err
	}
	if req.GetPermanent() {
		if err := s.Purge(ctx, r.Post.ID); err != nil {
			return nil, err
		}
	}
	return service.StatusSuccess(), nil
}

// Purge removes the rows of a deleted post and of all its children, deleted earlier or not. It removes comments
// first, a few hundred at a time, to bound the size of each transaction.
func (s *Service) Purge(ctx context.Context, postID string) error {
	family, err := service.Read(ctx, s.Deps, (*store.ReadBatch).ChildIDs, postID)
	if err != nil {
		return err
	}
	family = append(family, postID)
	for _, id := range family {
		if err := s.purgeComments(ctx, id); err != nil {
			return err
		}
	}
	tx := s.Store.NewTx(s.HomeOf(postID))
	tx.PurgePosts(family)
	return tx.Commit(ctx)
}

func (s *Service) purgeComments(ctx context.Context, postID string) error {
	for {
		ids, err := service.Read(ctx, s.Deps, (*store.ReadBatch).SomeCommentIDs, postID)
		if err != nil || len(ids) == 0 {
			return err
		}
		tx := s.Store.NewTx(s.HomeOf(postID))
		tx.DeleteCommentsOfPost(postID, ids)
		if err := tx.Commit(ctx); err != nil {
			return err
		}
	}
}
