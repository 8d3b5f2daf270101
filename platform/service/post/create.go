package post

import (
	"context"

	"connectrpc.com/connect"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// CreatePost makes a post and, for each attachment, a child post. It is stored at the home of its target.
func (s *Service) CreatePost(ctx context.Context, req *connect.Request[plazav1.CreatePostRequest]) (*connect.Response[plazav1.PostResponse], error) {
	d, err := service.NewDraft(req.Msg)
	if err != nil {
		return nil, err
	}
	if err := service.RequireAccount(auth.CallerFrom(ctx)); err != nil {
		return nil, err
	}
	if err := s.Resolve(ctx, d, auth.CallerFrom(ctx).PublicID); err != nil {
		return nil, err
	}
	t, err := s.LoadTarget(ctx, d)
	if err != nil {
		return nil, err
	}
	posts := t.Rows(d, s.Now(), func() string { return s.NewID(d.Home) })
	counts := store.Counts{}
	w := s.Store.Write(d.Home)
	told := s.AddPosts(w, posts, d)
	for _, p := range posts {
		counts[p.ID] = nil // nothing to count of it yet
	}
	w.CountsAfter([]string{d.TargetID}, counts)
	if err := w.Commit(ctx); err != nil {
		return nil, err
	}
	s.Outbox.Deliver(ctx, d.Home, told...)
	k := t.Known(posts[0])
	k.Counts, k.Made = counts, posts[1:]
	return s.answer(ctx, t.First.Caller.UserID, k)
}
