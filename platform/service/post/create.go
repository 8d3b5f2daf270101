package post

import (
	"context"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/posting"
	"github.com/plaza-social/plaza/platform/store/content"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// CreatePost creates a post and, for each attachment, a child post. They are stored at the home of their target.
func (s *Service) CreatePost(ctx context.Context, req *plazav1.CreatePostRequest) (*plazav1.PostResponse, error) {
	d, err := posting.NewDraft(req)
	if err != nil {
		return nil, err
	}
	if err := service.RequireAccount(auth.CallerFrom(ctx)); err != nil {
		return nil, err
	}
	t, err := posting.LoadTarget(ctx, s.Deps, d)
	if err != nil {
		return nil, err
	}
	posts := t.Rows(d, s.Now(), func() string { return s.NewID(d.Home) })
	auth.Created(ctx, "post", posts[0].ID)
	tx := s.Store.NewTx(d.Home)
	posting.InsertPosts(tx, posts, d)
	if err := posting.Reserve(ctx, s.Deps, posts[0], d); err != nil {
		return nil, err
	}
	if err := s.CommitChange(ctx, tx, "post.created", s.PostChange(posts[0])); err != nil {
		return nil, err
	}
	k := t.Known(posts[0])
	t.Counts.Add(d.TargetID, content.PostCounter(posts[0].FeedType), +1)
	for _, p := range posts {
		t.Counts[p.ID] = nil // a new post has no counts
	}
	k.Counts, k.NewChildren = t.Counts, posts[1:]
	k.IsNew = true
	return s.respond(ctx, t.Request.Caller.UserID, k)
}
