// Package pin holds the pinned posts of communities and of the global feed.
//
// A pin lives where its post does. Those of the global feed belong to the whole network: lists merge the homes, and the
// limit counts all of them. A pin ends when it is taken back, when its post is deleted, and when its community is.
package pin

import (
	"context"
	"fmt"

	"connectrpc.com/connect"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Service implements PinService.
type Service struct{ *service.Deps }

// New makes the service.
func New(d *service.Deps) *Service { return &Service{d} }

// maxPins is how many posts a community can pin at each placement.
const maxPins = 20

// The sentences of refusals.
var (
	errChild      = fail.New(fail.CodeBadRequest, "A child post cannot be pinned: pin its parent")
	errUnapproved = fail.New(fail.CodeBadRequest, "A post that is not approved cannot be pinned")
	errPrivate    = fail.Forbidden("Only posts of public communities can be pinned globally")
)

func errLimit(limit int) *fail.Error {
	return fail.Forbidden(fmt.Sprintf("The limit of pinned posts is reached: %d", limit))
}

// loaded is a post as a request finds it.
type loaded struct {
	*service.First
	post  *store.Post
	place service.Place
}

// load reads a post and where it stands, beside what more adds. What is deleted, or stands where the caller may not look,
// does not exist.
func (s *Service) load(ctx context.Context, postID string, more func(*service.First)) (*loaded, error) {
	l := &loaded{First: s.Begin(ctx)}
	l.Post(postID, &l.post)
	l.CommunityOfPost(postID, &l.place.Community)
	if caller := l.Caller.UserID; caller != "" {
		l.MemberOfPost(postID, caller, &l.place.Member)
		l.WallOfPost(postID, caller, &l.place.Wall)
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
	return l, l.place.RequireSee(l.Caller)
}

// requirePinnable refuses posts that cannot stand alone and those that wait for a moderator.
func (l *loaded) requirePinnable() error {
	switch {
	case !l.post.IsParent:
		return errChild
	case l.post.FeedType != "published":
		return errUnapproved
	}
	return nil
}

// pin is the caller's pin of the post.
func (s *Service) pin(l *loaded, targetID, placement string) store.Pin {
	p := store.Pin{
		TargetID: targetID, Placement: placement, PostID: l.post.ID, CommunityID: l.post.TargetID,
		PinnedBy: l.Caller.Name, PinnedAt: s.Now(), PostCreatedAt: l.post.CreatedAt,
	}
	if u := l.User(); u != nil {
		p.PinnedBy, p.PinnedByID = u.PublicID, u.ID
	}
	return p
}

// add stores a pin and returns the target's pins as they stand then.
func (s *Service) add(ctx context.Context, l *loaded, p store.Pin, limit int) (*store.Pins, error) {
	after := &store.Pins{}
	w := s.Store.Write(service.HomeOf(l.post.ID))
	w.GuardPost(*l.post, fail.NotFound())
	if p.Placement == store.PinGlobal {
		w.GuardPublic(p.CommunityID, errPrivate)
	}
	w.GuardPinLimit(p, limit, errLimit(limit))
	w.AddPin(p)
	w.PinsAfter(p.TargetID, p.Placement, after)
	return after, w.Commit(ctx)
}

// remove takes a pin back and returns when the target's pins changed.
func (s *Service) remove(ctx context.Context, postID, targetID, placement string) (*store.Pins, error) {
	after := &store.Pins{}
	w := s.Store.Write(service.HomeOf(postID))
	w.RemovePin(store.Pin{TargetID: targetID, Placement: placement, PostID: postID}, fail.NotFound(), s.Now())
	w.PinsAfter(targetID, placement, after)
	return after, w.Commit(ctx)
}

// answer is about one post: with its pin, or with none where that was taken back.
func (s *Service) answer(ctx context.Context, l *loaded, after *store.Pins, pins []store.Pin) (*connect.Response[plazav1.PinResponse], error) {
	k := view.Known{Posts: []store.Post{*l.post}, Users: l.UserRows(), UserIDs: pinners(pins)}
	if l.place.Community != nil {
		k.Communities = []store.Community{*l.place.Community}
	}
	if l.place.Member != nil {
		k.Members = []store.Member{*l.place.Member}
	}
	a, err := s.View.Gather(ctx, s.Store, l.Caller.UserID, k)
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(s.View.Pins(a, latest(after.Targets), pins)), nil
}

// pinners are the users who pinned.
func pinners(pins []store.Pin) []string {
	var ids []string
	for _, p := range pins {
		ids = append(ids, p.PinnedByID)
	}
	return ids
}

// of keeps the pin of one post.
func of(pins []store.Pin, postID string) []store.Pin {
	for _, p := range pins {
		if p.PostID == postID {
			return []store.Pin{p}
		}
	}
	return nil
}

// latest puts together what the homes say about one target.
func latest(targets []store.PinTarget) []store.PinTarget {
	if len(targets) == 0 {
		return nil
	}
	newest := targets[0]
	for _, t := range targets[1:] {
		if t.ChangedAt.After(newest.ChangedAt) {
			newest = t
		}
	}
	return []store.PinTarget{newest}
}
