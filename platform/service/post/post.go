// Package post implements the posts of communities and walls.
//
// A post is created in the feed "published", or in "reviewing" if its community requires approval. A moderator
// approves it ("published") or declines it ("declined"). Its author or a moderator edits and deletes it. Flags never
// hide a post, and an edit never moves it to another feed.
package post

import (
	"context"
	"slices"

	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/posting"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Service implements PostService.
type Service struct{ *service.Deps }

// New returns the service of posts.
func New(d *service.Deps) *Service { return &Service{d} }

// Register registers the outbox handlers of posts.
func Register(d *service.Deps) { posting.RegisterEmbedAttached(d) }

// Target types of posts.
const (
	onCommunity = "community"
	onWall      = "user"
)

// Feed types of posts.
const (
	published = "published"
	reviewing = "reviewing"
	declined  = "declined"
)

// loaded is one post that the caller may see.
type loaded struct {
	*service.Request
	ref *visibility.Reference
}

func (l *loaded) post() *store.Post { return l.ref.Post }

// load reads a post that the caller may see, and whatever more adds to the same round trip. more may be nil.
func (s *Service) load(ctx context.Context, id string, more func(*service.Request)) (*loaded, error) {
	r := s.NewRequest(ctx)
	post := visibility.ReadPost(r, id)
	if more != nil {
		more(r)
	}
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	ref, err := post.Resolve(r.Caller, s.Now())
	return &loaded{Request: r, ref: ref}, err
}

// known returns the rows that were read, for the response.
func (l *loaded) known(post store.Post) view.Rows {
	k := l.ref.Target.Known(l.UserRows())
	k.Posts = []store.Post{post}
	return k
}

func (s *Service) respond(ctx context.Context, callerID string, k view.Rows) (*plazav1.PostResponse, error) {
	a, err := s.View.Load(ctx, s.Store, callerID, k)
	if err != nil {
		return nil, err
	}
	return a.PostAggregate(), nil
}

// GetPost returns one post.
func (s *Service) GetPost(ctx context.Context, req *plazav1.GetPostRequest) (*plazav1.PostResponse, error) {
	l, err := s.load(ctx, req.GetPostId(), nil)
	if err != nil {
		return nil, err
	}
	return s.respond(ctx, l.Caller.UserID, l.known(*l.post()))
}

// BatchGetPosts returns posts in the order of the request, without those that the caller may not see.
func (s *Service) BatchGetPosts(ctx context.Context, req *plazav1.BatchGetPostsRequest) (*plazav1.PostResponse, error) {
	var posts []store.Post
	f := s.NewRequest(ctx)
	f.PostsByID(req.GetPostIds(), &posts)
	if err := f.Run(ctx); err != nil {
		return nil, err
	}
	k, err := visibility.FilterPosts(ctx, s.Deps, f, posts)
	if err != nil {
		return nil, err
	}
	order := req.GetPostIds()
	slices.SortFunc(k.Posts, func(a, b store.Post) int { return slices.Index(order, a.ID) - slices.Index(order, b.ID) })
	return s.respond(ctx, f.Caller.UserID, k)
}
