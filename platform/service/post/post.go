// Package post holds the posts of communities and walls.
//
// A post's life: created as published, or as reviewing where its community asks for approval; a moderator approves it
// (published) or declines it (declined); its author or a moderator deletes it. Flags never hide it.
package post

import (
	"context"
	"slices"

	"connectrpc.com/connect"

	"github.com/plaza-social/plaza/platform/auth"
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
	if l.post.TargetType == onWall {
		l.place.WallOwnerID = l.post.TargetID
	}
	return l, l.requireSee()
}

// requireSee is place.RequireSee, and keeps posts that wait for a moderator to their authors and to moderators.
func (l *loaded) requireSee() error {
	if err := l.place.RequireSee(l.First.Caller); err != nil {
		return err
	}
	mine := l.post.AuthorID == l.First.Caller.UserID
	if l.post.FeedType != published && !mine && !l.place.Moderates(l.First.Caller) {
		return fail.NotFound()
	}
	return nil
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

func (s *Service) answer(ctx context.Context, callerID string, k view.Known) (*connect.Response[plazav1.PostAggregate], error) {
	a, err := s.View.Gather(ctx, s.Store, callerID, k)
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(a.PostAggregate()), nil
}

// GetPost gets one post.
func (s *Service) GetPost(ctx context.Context, req *connect.Request[plazav1.GetPostRequest]) (*connect.Response[plazav1.PostAggregate], error) {
	l, err := s.load(ctx, req.Msg.GetPostId(), nil)
	if err != nil {
		return nil, err
	}
	return s.answer(ctx, l.First.Caller.UserID, l.known(*l.post))
}

// BatchGetPosts gets several posts in the order of the request; those that the caller may not see are left out.
func (s *Service) BatchGetPosts(ctx context.Context, req *connect.Request[plazav1.BatchGetPostsRequest]) (*connect.Response[plazav1.PostAggregate], error) {
	var posts []store.Post
	f := s.Begin(ctx)
	f.PostsByID(req.Msg.GetPostIds(), &posts)
	if err := f.Run(ctx); err != nil {
		return nil, err
	}
	k, err := s.visible(ctx, f, posts)
	if err != nil {
		return nil, err
	}
	order := req.Msg.GetPostIds()
	slices.SortFunc(k.Posts, func(a, b store.Post) int { return slices.Index(order, a.ID) - slices.Index(order, b.ID) })
	return s.answer(ctx, f.Caller.UserID, k)
}

// visible keeps the posts that the caller may see, and what was read to know it.
func (s *Service) visible(ctx context.Context, f *service.First, posts []store.Post) (view.Known, error) {
	k := view.Known{Users: f.UserRows()}
	places, err := s.places(ctx, f.Caller, posts)
	if err != nil {
		return k, err
	}
	for _, p := range posts {
		l := &loaded{First: f, post: &p, place: places[p.TargetID]}
		if p.DeletedAt == nil && l.requireSee() == nil {
			k.Posts = append(k.Posts, p)
		}
	}
	for _, place := range places {
		if place.Community != nil && slices.ContainsFunc(k.Posts, func(p store.Post) bool { return p.TargetID == place.Community.ID }) {
			k.Communities = append(k.Communities, *place.Community)
		}
		if place.Member != nil {
			k.Members = append(k.Members, *place.Member)
		}
	}
	return k, nil
}

// places reads where posts stand, by target.
func (s *Service) places(ctx context.Context, caller *auth.Caller, posts []store.Post) (map[string]service.Place, error) {
	places := map[string]service.Place{}
	walls := map[string]*store.Wall{}
	var ids []string
	for _, p := range posts {
		if p.TargetType == onWall {
			walls[p.TargetID] = &store.Wall{Blocked: caller.UserID != ""} // until its home says otherwise
		} else if !slices.Contains(ids, p.TargetID) {
			ids = append(ids, p.TargetID)
		}
	}
	var communities []store.Community
	members := make([]*store.Member, len(ids))
	reads := s.Store.Related()
	reads.Communities(ids, &communities)
	for ownerID, wall := range walls {
		if caller.UserID != "" {
			reads.Wall(ownerID, caller.UserID, wall)
		}
	}
	for i, id := range ids {
		if caller.UserID != "" {
			reads.Member(id, caller.UserID, &members[i])
		}
	}
	if err := reads.Run(ctx); err != nil {
		return nil, err
	}
	for ownerID, wall := range walls {
		places[ownerID] = service.Place{WallOwnerID: ownerID, Wall: *wall}
	}
	for i := range communities {
		id := communities[i].ID
		places[id] = service.Place{Community: &communities[i], Member: members[slices.Index(ids, id)]}
	}
	return places, nil
}
