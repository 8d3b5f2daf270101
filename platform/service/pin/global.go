package pin

import (
	"context"

	"connectrpc.com/connect"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// PinGlobalPost pins a post in the global feed. A second time changes nothing.
//
// No transaction spans the homes, so the limit is looked at before and after: of two pins at different homes that get in
// at the same moment, one at least sees the other and takes itself back. There are never more pins than the limit for
// longer than that takes, and never more successes.
func (s *Service) PinGlobalPost(ctx context.Context, req *connect.Request[plazav1.PinGlobalPostRequest]) (*connect.Response[plazav1.PinResponse], error) {
	var settings store.Settings
	var others []store.Pin
	l, err := s.load(ctx, req.Msg.GetPostId(), func(f *service.First) {
		f.Settings(s.Region, &settings)
		s.everywhere(f.Reads, &others)
	})
	if err != nil {
		return nil, err
	}
	if err := l.requireGlobal(); err != nil {
		return nil, err
	}
	limit, id := settings.MaxGlobalPinnedPost, l.post.ID
	there := of(others, id)
	if len(there) == 0 && len(others) >= limit {
		return nil, errLimit(limit)
	}
	after, err := s.add(ctx, l, s.pin(l, s.NetworkID, store.PinGlobal), max(limit, len(others)))
	if err != nil {
		return nil, err
	}
	if len(there) == 0 {
		if err := s.requireStill(ctx, id, limit); err != nil {
			return nil, err
		}
	}
	return s.answer(ctx, l, after, of(after.Pins, id))
}

// requireGlobal returns nil where the caller may pin globally and the post can be.
func (l *loaded) requireGlobal() error {
	if err := auth.Require(l.Caller, auth.CanManageGlobalPinnedPost, auth.Scope{}); err != nil {
		return err
	}
	if err := l.requirePinnable(); err != nil {
		return err
	}
	if l.place.Community == nil || !l.place.Community.IsPublic {
		return errPrivate
	}
	return nil
}

// everywhere reads the global pins of every home, each of which has to answer: nobody can hold a limit otherwise.
func (s *Service) everywhere(r *store.Reads, into *[]store.Pin) {
	for _, home := range region.All() {
		r.PinsAt(home, s.NetworkID, store.PinGlobal, into)
	}
}

// requireStill takes a new pin back where another home's got in beside it and both are too many.
func (s *Service) requireStill(ctx context.Context, postID string, limit int) error {
	var now []store.Pin
	reads := s.Store.Reads()
	s.everywhere(reads, &now)
	err := reads.Run(ctx)
	if err == nil && len(now) <= limit {
		return nil
	}
	if _, undo := s.remove(context.WithoutCancel(ctx), postID, s.NetworkID, store.PinGlobal); undo != nil {
		s.Log.WarnContext(ctx, "global pin over the limit not taken back", "post", postID, "error", undo)
	}
	if err != nil {
		return err
	}
	return errLimit(limit)
}

// UnpinGlobalPost takes a post out of the pins of the global feed; one that is not among them is 400400.
func (s *Service) UnpinGlobalPost(ctx context.Context, req *connect.Request[plazav1.UnpinGlobalPostRequest]) (*connect.Response[plazav1.PinResponse], error) {
	l, err := s.load(ctx, req.Msg.GetPostId(), nil)
	if err != nil {
		return nil, err
	}
	if err := auth.Require(l.Caller, auth.CanManageGlobalPinnedPost, auth.Scope{}); err != nil {
		return nil, err
	}
	after, err := s.remove(ctx, l.post.ID, s.NetworkID, store.PinGlobal)
	if err != nil {
		return nil, err
	}
	return s.answer(ctx, l, after, nil)
}

// UnpinAllGlobalPosts takes every post out of the pins of the global feed, home by home: those whose home does not answer
// stay, and the answer is an error then.
func (s *Service) UnpinAllGlobalPosts(ctx context.Context, _ *connect.Request[plazav1.UnpinAllGlobalPostsRequest]) (*connect.Response[plazav1.PinResponse], error) {
	f := s.Begin(ctx)
	if err := f.Run(ctx); err != nil {
		return nil, err
	}
	if err := auth.Require(f.Caller, auth.CanManageGlobalPinnedPost, auth.Scope{}); err != nil {
		return nil, err
	}
	left := &store.Pins{}
	var failed error
	for _, home := range region.All() {
		part := &store.Pins{}
		w := s.Store.Write(home)
		w.RemovePins(s.NetworkID, store.PinGlobal, s.Now())
		w.PinsAfter(s.NetworkID, store.PinGlobal, part)
		if err := w.Commit(ctx); err != nil {
			failed = fail.From(err)
			continue
		}
		left.Targets = append(left.Targets, part.Targets...)
	}
	if failed != nil {
		return nil, failed
	}
	return connect.NewResponse(&plazav1.PinResponse{PinTargets: s.View.PinTargets(latest(left.Targets))}), nil
}
