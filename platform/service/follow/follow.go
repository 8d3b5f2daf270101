// Package follow holds who follows whom, and who blocks whom.
//
// A follow's life: asked for (pending) where profiles are private or follows need a request, else accepted at once; accepted
// or declined by the user who is followed; ended (none) by either side: cancelled, unfollowed or removed. What ended can
// begin again. The row that decides lives at the follower's home, whoever acts on it; its mirror at the followed user's home
// follows through the outbox, and with it the counts of followers and requests.
//
// A block ends the follows between the two, both ways, and for as long as it stands:
//   - neither can follow the other (400300),
//   - the blocker's wall, with all posts, comments and reactions on it, does not exist for the blocked user (400400),
//   - neither sees posts of the other in following and global feeds, also not in communities that both are in.
//
// Both still see each other's profile, and what the other writes where they meet: in communities and on other walls.
package follow

import (
	"context"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Service implements FollowService.
type Service struct{ *service.Deps }

// New makes the service.
func New(d *service.Deps) *Service { return &Service{d} }

var (
	errSelfFollow = fail.New(fail.CodeBadRequest, "Users cannot follow themselves")
	errBlocks     = fail.Forbidden("One of the two users blocks the other")
)

// pair is how the caller and another user stand to each other, as a request finds it.
type pair struct {
	*service.Request
	other    *store.User
	settings store.Settings
	mine     *store.Follow // the caller's follow of the other
	theirs   *store.Follow // the other's follow of the caller
	myBlock  *store.Block  // the caller's block of the other
	block    *store.Block  // the other's block of the caller
}

// look reads how the caller and another user stand to each other. There have to be both.
func (s *Service) look(ctx context.Context, publicID string, more func(p *pair, otherID string)) (*pair, error) {
	otherID, err := s.Directory.ResolveOne(ctx, publicID)
	if err != nil {
		return nil, err
	}
	p := &pair{Request: s.NewRequest(ctx)}
	var others []store.User
	caller := p.Caller.UserID
	if region.ValidID(otherID) {
		p.Users([]string{otherID}, &others)
		if caller != "" {
			p.Follow(caller, otherID, &p.mine)
			p.Follow(otherID, caller, &p.theirs)
			p.Block(caller, otherID, &p.myBlock)
			p.Block(otherID, caller, &p.block)
		}
		if more != nil {
			more(p, otherID)
		}
	}
	p.Settings(s.Region, &p.settings)
	if err := p.Run(ctx); err != nil {
		return nil, err
	}
	if len(others) == 0 || others[0].DeletedAt != nil {
		return nil, fail.NotFound()
	}
	p.other = &others[0]
	return p, nil
}

// act looks, decides and changes one follow, again where somebody else got ahead, and answers with it. decide returns the
// status that the follow of follower shall have; the one it has changes nothing.
func (s *Service) act(ctx context.Context, publicID string, decide func(p *pair) (edge, error)) (*plazav1.FollowsResponse, error) {
	var done store.Follow
	err := store.UntilUnchanged(func() error {
		p, err := s.look(ctx, publicID, nil)
		if err != nil {
			return err
		}
		if err := p.RequireUser(); err != nil {
			return err
		}
		e, err := decide(p)
		if err != nil {
			return err
		}
		done = e.changed(s.Now())
		if e.old != nil && e.old.Status == e.status {
			return nil
		}
		return s.store(ctx, store.FollowChange{Old: e.old, New: done})
	})
	if err != nil {
		return nil, err
	}
	return &plazav1.FollowsResponse{Follows: []*plazav1.Follow{s.View.Follow(done)}}, nil
}

// edge is a follow and the status that it shall have.
type edge struct {
	follower, followee *store.User
	old                *store.Follow
	status             string
}

func (e edge) changed(now time.Time) store.Follow {
	f := store.Follow{
		FollowerID: e.follower.ID, FollowerPublicID: e.follower.PublicID, FolloweeID: e.followee.ID, FolloweePublicID: e.followee.PublicID,
		Status: e.status, CreatedAt: now, UpdatedAt: now,
	}
	if e.old == nil {
		return f
	}
	if e.old.Active() || e.status == store.FollowNone {
		f.CreatedAt = e.old.CreatedAt
	}
	if e.old.Status == e.status {
		f.UpdatedAt = e.old.UpdatedAt
	}
	return f
}

// store changes a follow at the follower's home.
func (s *Service) store(ctx context.Context, c store.FollowChange) error {
	home := service.HomeOf(c.New.FollowerID)
	now := s.Now()
	tx := s.Store.NewTx(home)
	if c.New.Active() {
		tx.GuardTarget("user", c.New.FollowerID, fail.NotFound())
		tx.GuardNotBlocked(c.New.FollowerID, c.New.FolloweeID, errBlocks)
	}
	outboxRows := tx.ChangeFollow(c, now, now.Add(events.Grace))
	if err := tx.Commit(ctx); err != nil {
		return err
	}
	s.Outbox.Deliver(ctx, home, outboxRows...)
	return nil
}

// FollowUser makes the caller follow a user, or ask to. Again changes nothing, but that a request is accepted where none is
// needed any more.
func (s *Service) FollowUser(ctx context.Context, req *plazav1.FollowUserRequest) (*plazav1.FollowsResponse, error) {
	return s.act(ctx, req.GetUserId(), func(p *pair) (edge, error) {
		e := edge{follower: p.User(), followee: p.other, old: p.mine, status: store.FollowAccepted}
		switch {
		case p.other.ID == p.User().ID:
			return e, errSelfFollow
		case p.block.Stands() || p.myBlock.Stands():
			return e, errBlocks
		case p.mine.Accepted():
		case p.settings.FollowNeedsRequest():
			e.status = store.FollowPending
		}
		return e, nil
	})
}

// UnfollowUser ends the caller's follow or request; without one it is 400400.
func (s *Service) UnfollowUser(ctx context.Context, req *plazav1.UnfollowUserRequest) (*plazav1.FollowsResponse, error) {
	return s.act(ctx, req.GetUserId(), func(p *pair) (edge, error) {
		return edge{p.User(), p.other, p.mine, store.FollowNone}, requireActive(p.mine)
	})
}

// AcceptFollower accepts a request to follow the caller. Again changes nothing; without one it is 400400.
func (s *Service) AcceptFollower(ctx context.Context, req *plazav1.AcceptFollowerRequest) (*plazav1.FollowsResponse, error) {
	return s.act(ctx, req.GetUserId(), func(p *pair) (edge, error) {
		return edge{p.other, p.User(), p.theirs, store.FollowAccepted}, requireActive(p.theirs)
	})
}

// RemoveFollower declines a request to follow the caller, or ends the follow; without either it is 400400.
func (s *Service) RemoveFollower(ctx context.Context, req *plazav1.RemoveFollowerRequest) (*plazav1.FollowsResponse, error) {
	return s.act(ctx, req.GetUserId(), func(p *pair) (edge, error) {
		return edge{p.other, p.User(), p.theirs, store.FollowNone}, requireActive(p.theirs)
	})
}

func requireActive(f *store.Follow) error {
	if !f.Active() {
		return fail.NotFound()
	}
	return nil
}

// followCounts are the counts that a record of a user shows.
func (s *Service) followCounts(u store.User, counts store.Counts, own bool) *plazav1.FollowCount {
	m := s.View.FollowCount(u, counts)
	if !own {
		m.PendingCount = 0
	}
	return m
}

// GetMyFollowInfo counts the caller's follows.
func (s *Service) GetMyFollowInfo(ctx context.Context, _ *plazav1.GetMyFollowInfoRequest) (*plazav1.FollowInfoResponse, error) {
	counts := store.Counts{}
	r := s.NewRequest(ctx)
	if id := r.Caller.UserID; id != "" {
		r.Counts(service.HomeOf(id), []string{id}, counts)
	}
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	if err := r.RequireUser(); err != nil {
		return nil, err
	}
	return &plazav1.FollowInfoResponse{FollowCounts: []*plazav1.FollowCount{s.followCounts(*r.User(), counts, true)}}, nil
}

// GetFollowInfo counts a user's follows, and tells how the caller stands to the user.
func (s *Service) GetFollowInfo(ctx context.Context, req *plazav1.GetFollowInfoRequest) (*plazav1.FollowInfoResponse, error) {
	counts := store.Counts{}
	p, err := s.look(ctx, req.GetUserId(), func(p *pair, otherID string) {
		p.Counts(service.HomeOf(otherID), []string{otherID}, counts)
	})
	if err != nil {
		return nil, err
	}
	m := &plazav1.FollowInfoResponse{FollowCounts: []*plazav1.FollowCount{s.followCounts(*p.other, counts, p.other.ID == p.Caller.UserID)}}
	switch {
	case p.myBlock.Stands():
		m.Follows = append(m.Follows, s.View.Block(*p.myBlock))
	case p.mine.Active():
		m.Follows = append(m.Follows, s.View.Follow(*p.mine))
	}
	return m, nil
}

// statuses are those that a list shows: of a status, or all.
func statuses(status string) []string {
	if slices.Contains([]string{store.FollowPending, store.FollowAccepted}, status) {
		return []string{status}
	}
	return []string{store.FollowAccepted, store.FollowPending}
}
