package user

import (
	"context"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/flags"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

var errFlagSelf = fail.Forbidden("You cannot flag yourself")

// FlagUser flags another user as the caller.
func (s *Service) FlagUser(ctx context.Context, req *plazav1.FlagUserRequest) (*plazav1.UserResponse, error) {
	var policy flags.Policy
	l, err := s.loadFlagged(ctx, req.GetUserId(), policy.Read(s.Deps))
	if err != nil {
		return nil, err
	}
	change, err := policy.Flag(l.Request, store.FlagUser, l.user.ID, req, s.Now())
	if err != nil {
		return nil, err
	}
	if l.user.ID == l.Caller.UserID {
		return nil, errFlagSelf
	}
	return s.respondFlags(s.changeFlags(ctx, l, change))
}

// UnflagUser removes the caller's flag, if there is one.
func (s *Service) UnflagUser(ctx context.Context, req *plazav1.UnflagUserRequest) (*plazav1.UserResponse, error) {
	l, err := s.loadFlagged(ctx, req.GetUserId(), nil)
	if err != nil {
		return nil, err
	}
	change, err := flags.Unflag(l.Request, l.user.ID)
	if err != nil {
		return nil, err
	}
	return s.respondFlags(s.changeFlags(ctx, l, change))
}

// ClearUserFlags removes all flags of a user. It requires MODERATE_USER.
func (s *Service) ClearUserFlags(ctx context.Context, req *plazav1.ClearUserFlagsRequest) (*plazav1.User, error) {
	l, err := s.loadFlagged(ctx, req.GetUserId(), nil)
	if err != nil {
		return nil, err
	}
	if err := auth.Require(l.Caller, auth.ModerateUser, auth.Scope{}); err != nil {
		return nil, err
	}
	user, err := s.changeFlags(ctx, l, flags.Clear(l.user.ID))
	if err != nil {
		return nil, err
	}
	return s.View.User(*user), nil
}

// IsUserFlaggedByMe reports whether the caller flags the user.
func (s *Service) IsUserFlaggedByMe(ctx context.Context, req *plazav1.IsUserFlaggedByMeRequest) (*plazav1.FlaggedByMeResponse, error) {
	l, err := s.loadFlagged(ctx, req.GetUserId(), nil)
	if err != nil {
		return nil, err
	}
	return l.mine.Response(l.Caller), nil
}

// flagged is a user whose flags an operation reads or changes.
type flagged struct {
	*service.Request
	user store.User
	mine flags.Mine
}

// loadFlagged reads a user by public id, and what the function read, which may be nil, adds to the request. Unknown
// and deleted users are 400400.
func (s *Service) loadFlagged(ctx context.Context, publicID string, read func(*service.Request)) (*flagged, error) {
	userID, err := s.Directory.ResolveOne(ctx, publicID)
	if err != nil {
		return nil, err
	}
	var rows []store.User
	l := &flagged{Request: s.NewRequest(ctx)}
	l.Users([]string{userID}, &rows)
	if l.Caller.UserID != "" {
		l.mine.Read(userID)(l.Request)
	}
	if read != nil {
		read(l.Request)
	}
	if err := l.Run(ctx); err != nil {
		return nil, err
	}
	if len(rows) == 0 || rows[0].DeletedAt != nil {
		return nil, fail.NotFound()
	}
	l.user = rows[0]
	return l, nil
}

// changeFlags writes a change of the user's flags and returns the user.
func (s *Service) changeFlags(ctx context.Context, l *flagged, change flags.Change) (*store.User, error) {
	var updated []store.User
	tx := s.Store.NewTx(service.HomeOf(l.user.ID))
	tx.GuardTarget("user", l.user.ID, fail.NotFound())
	change(tx)
	tx.RecomputeUserFlags(l.user.ID)
	tx.SelectUser(l.user.ID, &updated)
	if err := tx.Commit(ctx); err != nil {
		return nil, err
	}
	return &updated[0], nil
}

func (s *Service) respondFlags(user *store.User, err error) (*plazav1.UserResponse, error) {
	if err != nil {
		return nil, err
	}
	return s.aggregate(*user), nil
}
