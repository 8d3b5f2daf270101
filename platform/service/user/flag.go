package user

import (
	"context"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/flags"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/people"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

var errFlagSelf = fail.Forbidden("You cannot flag yourself")

// FlagUser flags another user as the caller.
func (s *Service) FlagUser(ctx context.Context, req *plazav1.FlagUserRequest) (*plazav1.UserResponse, error) {
	l := s.newFlagRequest(ctx, req.GetUserId())
	change := flags.Add(l.Request, content.FlagUser, req)
	l.Check(func() error {
		if l.userID == l.Caller.UserID {
			return errFlagSelf
		}
		return nil
	})
	return s.changeFlags(ctx, l, change)
}

// UnflagUser removes the caller's flag, if there is one.
func (s *Service) UnflagUser(ctx context.Context, req *plazav1.UnflagUserRequest) (*plazav1.UserResponse, error) {
	l := s.newFlagRequest(ctx, req.GetUserId())
	return s.changeFlags(ctx, l, flags.Remove(l.Request))
}

// ClearUserFlags removes all flags of a user. It requires MODERATE_USER.
func (s *Service) ClearUserFlags(ctx context.Context, req *plazav1.ClearUserFlagsRequest) (*plazav1.User, error) {
	l := s.newFlagRequest(ctx, req.GetUserId())
	l.Check(func() error { return auth.Require(l.Caller, auth.ModerateUser, auth.Scope{}) })
	cleared, err := s.changeFlags(ctx, l, flags.Clear(l.Request))
	if err != nil {
		return nil, err
	}
	return cleared.GetUsers()[0], nil
}

// IsUserFlaggedByMe reports whether the caller flags the user.
func (s *Service) IsUserFlaggedByMe(ctx context.Context, req *plazav1.IsUserFlaggedByMeRequest) (*plazav1.FlaggedByMeResponse, error) {
	l := s.newFlagRequest(ctx, req.GetUserId())
	return flags.Mine(ctx, l.Request, l.userID)
}

// flagRequest is a request about the flags of a user. Unknown and deleted users are 400400.
type flagRequest struct {
	*service.Request
	userID string // internal
	rows   []people.User
}

// newFlagRequest starts a request about the flags of a user, by public id.
func (s *Service) newFlagRequest(ctx context.Context, publicID string) *flagRequest {
	l := &flagRequest{Request: s.NewRequest(ctx)}
	l.userID = l.Resolve(ctx, publicID)
	l.Users([]string{l.userID}, &l.rows)
	l.CheckFound(func() bool { return len(l.rows) > 0 && l.rows[0].DeletedAt == nil })
	return l
}

// changeFlags runs a request, writes a change of the user's flags and returns the user.
func (s *Service) changeFlags(ctx context.Context, l *flagRequest, change flags.Change) (*plazav1.UserResponse, error) {
	if err := l.Run(ctx); err != nil {
		return nil, err
	}
	var updated []people.User
	tx := s.Store.NewTx(s.HomeOf(l.userID))
	tx.GuardTarget("user", l.userID, fail.NotFound())
	change.Apply(tx, flags.OfUser(l.rows[0]), s.Now())
	tx.SelectUser(l.userID, &updated)
	if err := s.CommitChange(ctx, tx, change.Event("user", "flagCleared"), s.UserChange(l.userID)); err != nil {
		return nil, err
	}
	return s.aggregate(ctx, updated...), nil
}
