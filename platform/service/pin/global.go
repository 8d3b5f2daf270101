package pin

import (
	"context"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/network"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// PinGlobalPost pins a post in the global feed. Pinning it again changes nothing.
//
// No transaction spans homes, so the limit is checked before and after: if two pins at different homes are added
// concurrently, at least one of the requests sees the other's pin and undoes its own. So the limit is exceeded only
// for that moment, and never by pins of requests that succeeded.
func (s *Service) PinGlobalPost(ctx context.Context, req *plazav1.PinGlobalPostRequest) (*plazav1.PinResponse, error) {
	var settings network.Settings
	var others []content.Pin
	r := s.newRequest(ctx, req.GetPostId())
	r.Settings(s.Region, &settings)
	s.readAll(r.ReadBatch, &others)
	r.Check(func() error { return requireGlobal(r) })
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	limit, id := settings.MaxGlobalPinnedPost, r.Post.ID
	pinned := of(others, id)
	if len(pinned) == 0 && len(others) >= limit {
		return nil, errLimit(limit)
	}
	after, err := s.add(ctx, r, s.pin(r, s.NetworkID, content.PinGlobal), max(limit, len(others)))
	if err != nil {
		return nil, err
	}
	if len(pinned) == 0 {
		if err := s.requireWithinLimit(ctx, id, limit); err != nil {
			return nil, err
		}
	}
	return s.respond(ctx, r, after, of(after.Pins, id))
}

// requireGlobal returns nil if the caller may pin globally and the post can be pinned.
func requireGlobal(r *visibility.Request) error {
	if err := requireManageGlobal(r.Request); err != nil {
		return err
	}
	if err := requirePinnable(r.Post); err != nil {
		return err
	}
	if r.Target.Community == nil || !r.Target.Community.IsPublic {
		return errPrivate
	}
	return nil
}

// requireManageGlobal returns nil if the caller may pin and unpin in the global feed.
func requireManageGlobal(r *service.Request) error {
	return auth.Require(r.Caller, auth.CanManageGlobalPinnedPost, auth.Scope{})
}

// readAll adds the reads of the global pins of every home. Every home must answer, because the limit cannot be
// enforced otherwise.
func (s *Service) readAll(r *store.ReadBatch, into *[]content.Pin) {
	for _, home := range region.All() {
		r.PinsAt(home, s.NetworkID, content.PinGlobal, into)
	}
}

// requireWithinLimit undoes a new pin if pins that were added concurrently at other homes exceed the limit together
// with it.
func (s *Service) requireWithinLimit(ctx context.Context, postID string, limit int) error {
	var now []content.Pin
	reads := s.Store.NewReadBatch()
	s.readAll(reads, &now)
	err := reads.Run(ctx)
	if err == nil && len(now) <= limit {
		return nil
	}
	if _, undo := s.remove(context.WithoutCancel(ctx), postID, s.NetworkID, content.PinGlobal); undo != nil {
		s.Log.WarnContext(ctx, "global pin over the limit was not undone", "post", postID, "error", undo)
	}
	if err != nil {
		return err
	}
	return errLimit(limit)
}

// UnpinGlobalPost unpins a post from the global feed. It is 400400 if the post is not pinned.
func (s *Service) UnpinGlobalPost(ctx context.Context, req *plazav1.UnpinGlobalPostRequest) (*plazav1.PinResponse, error) {
	r := s.newRequest(ctx, req.GetPostId())
	r.Check(func() error { return requireManageGlobal(r.Request) })
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	after, err := s.remove(ctx, r.Post.ID, s.NetworkID, content.PinGlobal)
	if err != nil {
		return nil, err
	}
	return s.respond(ctx, r, after, nil)
}

// UnpinAllGlobalPosts unpins every post from the global feed, home by home. If a home does not answer, its pins stay
// and the request fails.
func (s *Service) UnpinAllGlobalPosts(ctx context.Context, _ *plazav1.UnpinAllGlobalPostsRequest) (*plazav1.PinResponse, error) {
	if err := s.NewPrivilegedRequest(ctx, auth.CanManageGlobalPinnedPost).Run(ctx); err != nil {
		return nil, err
	}
	left := &content.Pins{}
	var failed error
	for _, home := range region.All() {
		part := &content.Pins{}
		tx := s.Store.NewTx(home)
		tx.DeletePins(s.NetworkID, content.PinGlobal, s.Now())
		tx.SelectPins(s.NetworkID, content.PinGlobal, part)
		if err := tx.Commit(ctx); err != nil {
			failed = fail.From(err)
			continue
		}
		left.Targets = append(left.Targets, part.Targets...)
	}
	if failed != nil {
		return nil, failed
	}
	return &plazav1.PinResponse{PinTargets: s.View.PinTargets(latest(left.Targets))}, nil
}
