// Package post holds the posts of communities and walls.
//
// A post's life: created as published, or as reviewing where its community asks for approval; a moderator approves it
// (published) or declines it (declined); its author or a moderator edits and deletes it. Flags never hide it, and an edit
// leaves it in its feed: a published post stays published also where the community asks for approval.
package post

import (
	"context"
	"slices"

	"connectrpc.com/connect"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Service implements PostService.
type Service struct{ *service.Deps }

// New makes the service.
func New(d *service.Deps) *Service { return &Service{d} }

// target types of posts.
const (
	onCommunity = "community"
	onWall      = "user"
)

// feed types of posts.
const (
	published = "published"
	reviewing = "reviewing"
	declined  = "declined"
)

// loaded is one post as a request finds it.
type loaded struct {
	*service.First
	post  *store.Post
	place service.Place
}

// load reads a post, where it stands and how the caller stands to that, beside what more adds. A post that is deleted or
// that the caller may not see does not exist.
func (s *Service) load(ctx context.Context, id string, more func(*service.First)) (*loaded, error) {
	l := &loaded{First: s.Begin(ctx)}
	l.Post(id, &l.post)
	l.CommunityOfPost(id, &l.place.Community)
	if l.First.Caller.UserID != "" {
		l.MemberOfPost(id, l.First.Caller.UserID, &l.place.Member)
		l.WallOfPost(id, l.First.Caller.UserID, &l.place.Wall)
	}
	if more != nil {
		more(l.First)
	}
	if err := l.Run(ctx); err != nil {
		return nil, err
	}
	if l.post == nil || l.post.DeletedAt != nil {
		return nil, fail.NotFound()
	}
	l.place = l.place.Outside(l.post.TargetType, l.post.TargetID)
	return l, l.place.RequireSeePost(l.First.Caller, l.post)
}

// known is what the answer starts from.
func (l *loaded) known(posts ...store.Post) view.Known {
	k := view.Known{Posts: posts, Users: l.UserRows()}
	if l.place.Community != nil {
		k.Communities = []store.Community{*l.place.Community}
	}
	if l.place.Member != nil {
		k.Members = []store.Member{*l.place.Member}
	}
	return k
}

func (s *Service) answer(ctx context.Context, callerID string, k view.Known) (*connect.Response[plazav1.PostResponse], error) {
	a, err := s.View.Gather(ctx, s.Store, callerID, k)
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(a.PostAggregate()), nil
}

// GetPost gets one post.
func (s *Service) GetPost(ctx context.Context, req *connect.Request[plazav1.GetPostRequest]) (*connect.Response[plazav1.PostResponse], error) {
	l, err := s.load(ctx, req.Msg.GetPostId(), nil)
	if err != nil {
		return nil, err
	}
	return s.answer(ctx, l.First.Caller.UserID, l.known(*l.post))
}

// BatchGetPosts gets several posts in the order of the request; those that the caller may not see are left out.
func (s *Service) BatchGetPosts(ctx context.Context, req *connect.Request[plazav1.BatchGetPostsRequest]) (*connect.Response[plazav1.PostResponse], error) {
	var posts []store.Post
	f := s.Begin(ctx)
	f.PostsByID(req.Msg.GetPostIds(), &posts)
	if err := f.Run(ctx); err != nil {
		return nil, err
	}
	k, err := s.Visible(ctx, f, posts)
	if err != nil {
		return nil, err
	}
	order := req.Msg.GetPostIds()
	slices.SortFunc(k.Posts, func(a, b store.Post) int { return slices.Index(order, a.ID) - slices.Index(order, b.ID) })
	return s.answer(ctx, f.Caller.UserID, k)
}
