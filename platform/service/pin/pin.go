// Package pin implements the pinned posts of communities and of the global feed.
//
// A pin is stored at the home of its post. The pins of the global feed belong to the whole network: lists merge those
// of all homes, and the limit counts them together. A pin ends when it is removed, when its post is deleted, and when
// its community is deleted.
package pin

import (
	"context"
	"fmt"
	"slices"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	"github.com/plaza-social/plaza/platform/store/content"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Service implements PinService.
type Service struct{ *service.Deps }

// New returns the service of pins.
func New(d *service.Deps) *Service { return &Service{d} }

// maxPins is the maximum number of pinned posts of a community at each placement.
const maxPins = 20

// Refusals of pins.
var (
	errChild      = fail.New(fail.CodeBadRequest, "A child post cannot be pinned; pin its parent")
	errUnapproved = fail.New(fail.CodeBadRequest, "A post that is not approved cannot be pinned")
	errPrivate    = fail.Forbidden("Only posts of public communities can be pinned globally")
)

func errLimit(limit int) *fail.Error {
	return fail.Forbidden(fmt.Sprintf("There can be at most %d pinned posts", limit))
}

func (s *Service) newRequest(ctx context.Context, postID string) *visibility.Request {
	return visibility.NewPostRequest(ctx, s.Deps, postID)
}

// requirePinnable returns nil for a published parent post.
func requirePinnable(p *content.Post) error {
	switch {
	case !p.IsParent:
		return errChild
	case p.FeedType != "published":
		return errUnapproved
	}
	return nil
}

// pin returns a pin of the post by the caller.
func (s *Service) pin(r *visibility.Request, targetID, placement string) content.Pin {
	p := content.Pin{
		TargetID: targetID, Placement: placement, PostID: r.Post.ID, CommunityID: r.Post.TargetID,
		PinnedBy: r.Caller.Name, PinnedAt: s.Now(), PostCreatedAt: r.Post.CreatedAt,
	}
	if u := r.User(); u != nil {
		p.PinnedBy, p.PinnedByID = u.PublicID, u.ID
	}
	return p
}

// add inserts a pin and returns the target's pins as they are then.
func (s *Service) add(ctx context.Context, r *visibility.Request, p content.Pin, limit int) (*content.Pins, error) {
	after := &content.Pins{}
	tx := s.Store.NewTx(s.HomeOf(r.Post.ID))
	tx.GuardPost(*r.Post, fail.NotFound())
	if p.Placement == content.PinGlobal {
		tx.GuardPublicCommunity(p.CommunityID, errPrivate)
	}
	tx.GuardPinLimit(p, limit, errLimit(limit))
	tx.InsertPin(p)
	tx.SelectPins(p.TargetID, p.Placement, after)
	return after, tx.Commit(ctx)
}

// remove deletes a pin and returns the target's pins as they are then.
func (s *Service) remove(ctx context.Context, postID, targetID, placement string) (*content.Pins, error) {
	after := &content.Pins{}
	tx := s.Store.NewTx(s.HomeOf(postID))
	tx.DeletePin(content.Pin{TargetID: targetID, Placement: placement, PostID: postID}, fail.NotFound(), s.Now())
	tx.SelectPins(targetID, placement, after)
	return after, tx.Commit(ctx)
}

// respond answers with a post and its pin, if any.
func (s *Service) respond(
	ctx context.Context, r *visibility.Request, after *content.Pins, pins []content.Pin,
) (*plazav1.PinResponse, error) {
	k := r.Known()
	k.Posts, k.UserIDs = []content.Post{*r.Post}, pinners(pins)
	a, err := s.View.Load(ctx, s.Store, r.Caller.UserID, k)
	return s.View.Pins(a, latest(after.Targets), pins), err
}

// pinners returns the users who added the pins.
func pinners(pins []content.Pin) []string {
	return service.Map(pins, func(p content.Pin) string { return p.PinnedByID })
}

// of returns the pin of one post.
func of(pins []content.Pin, postID string) []content.Pin {
	if p := service.Find(pins, func(p content.Pin) bool { return p.PostID == postID }); p != nil {
		return []content.Pin{*p}
	}
	return nil
}

// latest merges the rows that the homes have about one target.
func latest(targets []content.PinTarget) []content.PinTarget {
	if len(targets) == 0 {
		return nil
	}
	return []content.PinTarget{slices.MaxFunc(targets, func(a, b content.PinTarget) int { return a.ChangedAt.Compare(b.ChangedAt) })}
}
