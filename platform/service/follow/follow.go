// Package follow implements FollowService: which users follow and block each other.
//
// A follow is pending if profiles are private or follows require a request, and accepted otherwise. The followed user
// accepts or declines a pending follow. Either user can end it (none), by cancelling, unfollowing or removing, and it
// can start again. The authoritative row is stored at the follower's home. The outbox copies it to the followed
// user's home, which counts followers and requests.
//
// A block ends the follows between the two users in both directions. While it exists:
//   - neither can follow the other (400300),
//   - the blocker's wall, with all posts, comments and reactions on it, is 400400 for the blocked user,
//   - neither sees posts of the other in following and global feeds, not even posts in a community of both,
//   - neither adds, invites, mentions, answers or reacts to the other (package contact),
//   - the blocker's profile is 400400 for the blocked user.
//
// Both still see the other's posts and comments in communities and on other walls, and the blocker sees the profile of
// the blocked user.
package follow

import (
	"context"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/contact"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/network"
	"github.com/plaza-social/plaza/platform/store/people"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Service implements FollowService.
type Service struct{ *service.Deps }

// New returns the service.
func New(d *service.Deps) *Service { return &Service{d} }

var errSelfFollow = fail.New(fail.CodeBadRequest, "You cannot follow yourself")

// pair is the caller and another user with the follows and blocks between them.
type pair struct {
	*service.Request
	otherID    string       // empty if there is no such user
	other      *people.User // set by Run
	settings   network.Settings
	mine       *people.Follow // the caller's follow of the other user
	theirs     *people.Follow // the other user's follow of the caller
	myBlock    *people.Block  // the caller's block of the other user
	theirBlock *people.Block  // the other user's block of the caller
}

// newPair starts a request about a pair. An unknown or deleted user is 400400.
func (s *Service) newPair(ctx context.Context, publicID string) *pair {
	p := &pair{Request: s.NewRequest(ctx)}
	p.otherID = p.Resolve(ctx, publicID)
	var others []people.User
	caller, otherID := p.Caller.UserID, p.otherID
	p.Users([]string{otherID}, &others)
	p.Follow(caller, otherID, &p.mine)
	p.Follow(otherID, caller, &p.theirs)
	p.Block(caller, otherID, &p.myBlock)
	p.Block(otherID, caller, &p.theirBlock)
	p.Settings(s.Region, &p.settings)
	p.Check(func() error {
		if len(others) == 0 || others[0].DeletedAt != nil {
			return fail.NotFound()
		}
		p.other = &others[0]
		return nil
	})
	return p
}

// update changes and returns a follow between the caller and another user as decide decides.
func (s *Service) update(ctx context.Context, publicID string, decide func(p *pair) (transition, error)) (*plazav1.FollowResponse, error) {
	follow, err := service.RetryOnConflict(ctx, func() (people.Follow, error) {
		p := s.newPair(ctx, publicID)
		p.Check(p.RequireUser)
		if err := p.Run(ctx); err != nil {
			return people.Follow{}, err
		}
		t, err := decide(p)
		if err != nil {
			return people.Follow{}, err
		}
		follow := t.apply(s.Now())
		if t.old != nil && t.old.Status == t.status {
			return follow, nil
		}
		return follow, s.store(ctx, people.FollowChange{Old: t.old, New: follow})
	})
	if err != nil {
		return nil, err
	}
	return &plazav1.FollowResponse{Follows: []*plazav1.Follow{s.View.Follow(follow)}}, nil
}

// transition is a change of the status of a follow.
type transition struct {
	follower, followee *people.User
	old                *people.Follow // nil if there is none
	status             string         // the new status
}

// apply returns the follow after the transition.
func (t transition) apply(now time.Time) people.Follow {
	f := people.Follow{
		FollowerID: t.follower.ID, FollowerPublicID: t.follower.PublicID, FolloweeID: t.followee.ID, FolloweePublicID: t.followee.PublicID,
		Status: t.status, CreatedAt: now, UpdatedAt: now,
	}
	if t.old == nil {
		return f
	}
	if t.old.Active() || t.status == people.FollowNone {
		f.CreatedAt = t.old.CreatedAt
	}
	if t.old.Status == t.status {
		f.UpdatedAt = t.old.UpdatedAt
	}
	return f
}

// store writes a follow at the follower's home.
func (s *Service) store(ctx context.Context, c people.FollowChange) error {
	now := s.Now()
	tx := s.Store.NewTx(s.HomeOf(c.New.FollowerID))
	if c.New.Active() {
		tx.GuardTarget("user", c.New.FollowerID, fail.NotFound())
		tx.GuardNotBlocked(c.New.FollowerID, c.New.FolloweeID, contact.ErrBlocked)
	}
	outboxRows := tx.ChangeFollow(c, now, now.Add(events.Grace))
	event := s.EmitChange(ctx, tx, followEvent(auth.CallerFrom(ctx).UserID, c), s.FollowChange(c.New))
	return s.CommitRows(ctx, tx, outboxRows, event)
}

// followEvent returns the name of the event about a change by the caller.
func followEvent(callerID string, c people.FollowChange) string {
	byFollower, pending := callerID == c.New.FollowerID, c.Old != nil && c.Old.Status == people.FollowPending
	switch {
	case c.New.Status == people.FollowPending:
		return "follow.requested"
	case c.New.Status == people.FollowAccepted && byFollower:
		return "follow.created"
	case c.New.Status == people.FollowAccepted:
		return "follow.accepted"
	case byFollower && pending:
		return "follow.requestCanceled"
	case byFollower:
		return "follow.unfollowed"
	case pending:
		return "follow.requestDeclined"
	}
	return "follow.followerDeleted"
}

// FollowUser makes the caller follow a user, or request it. A pending request is accepted if requests are no longer
// required.
func (s *Service) FollowUser(ctx context.Context, req *plazav1.FollowUserRequest) (*plazav1.FollowResponse, error) {
	return s.update(ctx, req.GetUserId(), func(p *pair) (transition, error) {
		t := transition{follower: p.User(), followee: p.other, old: p.mine, status: people.FollowAccepted}
		switch {
		case p.other.ID == p.User().ID:
			return t, errSelfFollow
		case p.theirBlock.IsActive() || p.myBlock.IsActive():
			return t, contact.ErrBlocked
		case p.mine.Accepted():
		case p.settings.FollowNeedsRequest():
			t.status = people.FollowPending
		}
		return t, nil
	})
}

// UnfollowUser ends the caller's follow or request. Without one it is 400400.
func (s *Service) UnfollowUser(ctx context.Context, req *plazav1.UnfollowUserRequest) (*plazav1.FollowResponse, error) {
	return s.update(ctx, req.GetUserId(), func(p *pair) (transition, error) {
		return transition{p.User(), p.other, p.mine, people.FollowNone}, requireActive(p.mine)
	})
}

// AcceptFollower accepts a request to follow the caller. Without one it is 400400.
func (s *Service) AcceptFollower(ctx context.Context, req *plazav1.AcceptFollowerRequest) (*plazav1.FollowResponse, error) {
	return s.update(ctx, req.GetUserId(), func(p *pair) (transition, error) {
		return transition{p.other, p.User(), p.theirs, people.FollowAccepted}, requireActive(p.theirs)
	})
}

// RemoveFollower declines a request to follow the caller, or ends a follow of the caller. Without either it is 400400.
func (s *Service) RemoveFollower(ctx context.Context, req *plazav1.RemoveFollowerRequest) (*plazav1.FollowResponse, error) {
	return s.update(ctx, req.GetUserId(), func(p *pair) (transition, error) {
		return transition{p.other, p.User(), p.theirs, people.FollowNone}, requireActive(p.theirs)
	})
}

func requireActive(f *people.Follow) error {
	if !f.Active() {
		return fail.NotFound()
	}
	return nil
}

// followCounts returns the follow counts of a user. Only the user sees the number of pending requests.
func (s *Service) followCounts(u people.User, counts core.Counts, own bool) *plazav1.FollowCount {
	m := s.View.FollowCount(u, counts)
	if !own {
		m.PendingCount = 0
	}
	return m
}

// GetMyFollowInfo gets the caller's follow counts.
func (s *Service) GetMyFollowInfo(ctx context.Context, _ *plazav1.GetMyFollowInfoRequest) (*plazav1.FollowInfoResponse, error) {
	counts := core.Counts{}
	r := s.NewUserRequest(ctx)
	r.CountsOf([]string{r.Caller.UserID}, counts)
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	return &plazav1.FollowInfoResponse{FollowCounts: []*plazav1.FollowCount{s.followCounts(*r.User(), counts, true)}}, nil
}

// GetFollowInfo gets a user's follow counts, and the caller's follow or block of the user.
func (s *Service) GetFollowInfo(ctx context.Context, req *plazav1.GetFollowInfoRequest) (*plazav1.FollowInfoResponse, error) {
	counts := core.Counts{}
	p := s.newPair(ctx, req.GetUserId())
	p.CountsOf([]string{p.otherID}, counts)
	if err := p.Run(ctx); err != nil {
		return nil, err
	}
	m := &plazav1.FollowInfoResponse{FollowCounts: []*plazav1.FollowCount{s.followCounts(*p.other, counts, p.other.ID == p.Caller.UserID)}}
	switch {
	case p.myBlock.IsActive():
		m.Follows = append(m.Follows, s.View.Block(*p.myBlock))
	case p.mine.Active():
		m.Follows = append(m.Follows, s.View.Follow(*p.mine))
	}
	return m, nil
}

// statuses returns the statuses that a list with the status parameter contains.
func statuses(status string) []string {
	if slices.Contains([]string{people.FollowPending, people.FollowAccepted}, status) {
		return []string{status}
	}
	return []string{people.FollowAccepted, people.FollowPending}
}
