package user

import (
	"context"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service/internal/live"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/people"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// BanUser bans a user from the whole network: all of the user's calls fail from then on, and their rooms and streams end.
func (s *Service) BanUser(ctx context.Context, req *plazav1.BanUserRequest) (*plazav1.UserResponse, error) {
	return s.setBan(ctx, req.GetUserId(), true)
}

// UnbanUser lifts the ban.
func (s *Service) UnbanUser(ctx context.Context, req *plazav1.UnbanUserRequest) (*plazav1.UserResponse, error) {
	return s.setBan(ctx, req.GetUserId(), false)
}

// setBan bans or unbans a user.
func (s *Service) setBan(ctx context.Context, publicID string, banned bool) (*plazav1.UserResponse, error) {
	var rows []people.User
	var open []communities.OpenBroadcast
	r := s.NewPrivilegedRequest(ctx, auth.BanUser)
	userID := r.Resolve(ctx, publicID)
	r.Users([]string{userID}, &rows)
	r.OpenBroadcasts(s.HomeOf(userID), []string{userID}, &open)
	r.CheckFound(func() bool { return len(rows) > 0 })
	r.Check(func() error { return s.RequireOver(r.Caller, rows[0]) })
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	var user *people.User
	tx := s.Store.NewTx(s.HomeOf(userID))
	tx.GuardTarget("user", userID, fail.NotFound())
	tx.BanUser(userID, banned, s.Now(), &user)
	event := ""
	var ends []core.OutboxRow
	if banned {
		tx.EndBroadcasts(userID, s.Now())
		event, ends = "user.didGlobalBan", live.EmitEnds(ctx, s.Deps, tx, open)
	}
	if err := s.CommitChange(ctx, tx, event, s.UserChange(userID), ends...); err != nil {
		return nil, err
	}
	return s.aggregate(ctx, *user), nil
}
