// Package post implements the posts of communities and walls.
//
// A post is created in the feed "published", or in "reviewing" if its community requires approval. A moderator
// approves it ("published") or declines it ("declined"). Its author or a moderator edits and deletes it. Flags never
// hide a post, and an edit never moves it to another feed.
//
// In a community with approval, an edit of a published post by its author waits as its pending edit, while the published
// version stays: a moderator's approval makes the edit, and declining drops it. There is at most one; editing again
// replaces it, and an edit by a moderator or the deletion of the post ends it.
package post

import (
	"context"

	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/posting"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Service implements PostService.
type Service struct{ *service.Deps }

// New returns the service of posts.
func New(d *service.Deps) *Service { return &Service{d} }

// Register registers the outbox handlers of posts.
func Register(d *service.Deps) { posting.RegisterEmbed(d) }

// Feed types of posts.
const (
	published = "published"
	reviewing = "reviewing"
	declined  = "declined"
)

func (s *Service) newRequest(ctx context.Context, id string) *visibility.Request {
	return visibility.NewPostRequest(ctx, s.Deps, id)
}

func (s *Service) respond(ctx context.Context, callerID string, k view.Rows) (*plazav1.PostResponse, error) {
	a, err := s.View.Load(ctx, s.Store, callerID, k)
	return view.Fill(a, &plazav1.PostResponse{}), err
}

// respondOne returns a post that was loaded or changed.
func (s *Service) respondOne(ctx context.Context, r *visibility.Request, post content.Post) (*plazav1.PostResponse, error) {
	k := r.Known()
	k.Posts = []content.Post{post}
	return s.respond(ctx, r.Caller.UserID, k)
}

// change runs a request, commits a change of the post with the event that change names, and returns the post as it is
// then.
func (s *Service) change(ctx context.Context, r *visibility.Request, change func(*store.Tx) (event string)) (*plazav1.PostResponse, error) {
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	var after *content.Post
	tx := s.Store.NewTx(r.Home())
	event := change(tx)
	tx.SelectPost(r.Post.ID, &after)
	if err := s.CommitChange(ctx, tx, event, s.PostChange(*r.Post)); err != nil {
		return nil, err
	}
	return s.respondOne(ctx, r, *after)
}

// GetPost returns one post.
func (s *Service) GetPost(ctx context.Context, req *plazav1.GetPostRequest) (*plazav1.PostResponse, error) {
	r := s.newRequest(ctx, req.GetPostId())
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	return s.respondOne(ctx, r, *r.Post)
}

// BatchGetPosts returns posts in the order of the request, without those that the caller may not see.
func (s *Service) BatchGetPosts(ctx context.Context, req *plazav1.BatchGetPostsRequest) (*plazav1.PostResponse, error) {
	var heads []content.Post
	f := s.NewRequest(ctx)
	f.PostHeads(req.GetPostIds(), &heads)
	if err := f.Run(ctx); err != nil {
		return nil, err
	}
	k, err := visibility.FilterPosts(ctx, f, heads)
	if err != nil {
		return nil, err
	}
	k.Posts, err = service.ReadAvailable(ctx, s.Deps, (*store.ReadBatch).PostsByID,
		service.Map(k.Posts, func(p content.Post) string { return p.ID }))
	if err != nil {
		return nil, err
	}
	service.SortByID(k.Posts, req.GetPostIds(), func(p content.Post) string { return p.ID })
	return s.respond(ctx, f.Caller.UserID, k)
}
