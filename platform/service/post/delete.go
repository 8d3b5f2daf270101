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
	l, err := s.load(ctx, req.GetPostId(), nil)
	if err != nil {
		return nil, err
	}
	if err := auth.Require(l.Caller, deleteRight(l.post()), l.ref.Target.Scope(l.post().AuthorID)); err != nil {
		return nil, err
	}
	tx := s.Store.NewTx(service.HomeOf(l.post().ID))
	tx.GuardPost(*l.post(), fail.NotFound())
	tx.DeletePost(*l.post(), s.Now())
	if err := tx.Commit(ctx); err != nil {
		return nil, err
	}
	if req.GetPermanent() {
		if err := s.purge(ctx, l.post().ID); err != nil {
			return nil, err
		}
	}
	return service.StatusSuccess(), nil
}

func deleteRight(p *store.Post) auth.Permission {
	if p.TargetType != onCommunity {
		return auth.DeleteUserFeedPost
	}
	return auth.DeleteCommunityPost
}

// purge removes the rows of a deleted post and of all its children, deleted earlier or not. It removes comments
// first, a few hundred at a time, to bound the size of each transaction.
func (s *Service) purge(ctx context.Context, postID string) error {
	var family []string
	reads := s.Store.NewReadBatch()
	reads.ChildIDs(postID, &family)
	if err := reads.Run(ctx); err != nil {
		return err
	}
	family = append(family, postID)
	for _, id := range family {
		if err := s.purgeComments(ctx, id); err != nil {
			return err
		}
	}
	tx := s.Store.NewTx(service.HomeOf(postID))
	tx.PurgePosts(family)
	return tx.Commit(ctx)
}

func (s *Service) purgeComments(ctx context.Context, postID string) error {
	for {
		var ids []string
		reads := s.Store.NewReadBatch()
		reads.SomeCommentIDs(postID, &ids)
		if err := reads.Run(ctx); err != nil || len(ids) == 0 {
			return err
		}
		tx := s.Store.NewTx(service.HomeOf(postID))
		tx.DeleteCommentsOfPost(postID, ids)
		if err := tx.Commit(ctx); err != nil {
			return err
		}
	}
}
