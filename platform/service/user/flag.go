package user

import (
	"cmp"
	"context"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

var errFlagSelf = fail.Forbidden("You cannot flag yourself")

// FlagUser flags a user. A caller who flags the user already changes nothing. It fails if reporting is disabled, or
// if the user has as many flags as the network settings allow.
func (s *Service) FlagUser(ctx context.Context, req *plazav1.FlagUserRequest) (*plazav1.UserResponse, error) {
	var settings store.Settings
	l, err := s.loadFlagged(ctx, req.GetUserId(), func(r *service.Request) { r.Settings(s.Region, &settings) })
	if err != nil {
		return nil, err
	}
	if err := l.requireFlag(settings); err != nil {
		return nil, err
	}
	flag := store.Flag{
		TargetType: store.FlagUser, TargetID: l.user.ID, UserID: l.Caller.UserID,
		Reason: cmp.Or(req.GetReason(), service.DefaultFlagReason), Detail: req.GetDetail(), CreatedAt: s.Now(),
	}
	return s.respondFlags(s.changeFlags(ctx, l, func(tx *store.Tx) {
		tx.GuardFlagLimit(flag, settings.FlagLimit, fail.FlagLimit())
		tx.InsertFlag(flag)
	}))
}

// UnflagUser removes the caller's flag, if there is one.
func (s *Service) UnflagUser(ctx context.Context, req *plazav1.UnflagUserRequest) (*plazav1.UserResponse, error) {
	l, err := s.loadFlagged(ctx, req.GetUserId(), nil)
	if err != nil {
		return nil, err
	}
	if err := l.RequireUser(); err != nil {
		return nil, err
	}
	return s.respondFlags(s.changeFlags(ctx, l, func(tx *store.Tx) { tx.DeleteFlag(l.user.ID, l.Caller.UserID) }))
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
	user, err := s.changeFlags(ctx, l, func(tx *store.Tx) { tx.DeleteFlags(l.user.ID) })
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
	mine := l.mine && l.Caller.Kind == auth.User
	return &plazav1.FlaggedByMeResponse{Result: mine, IsFlagByMe: mine}, nil
}

// flagged is a user whose flags an operation reads or changes.
type flagged struct {
	*service.Request
	user store.User
	mine bool // whether the caller flags the user
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
		l.FlaggedBy(userID, l.Caller.UserID, &l.mine)
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

// requireFlag returns an error unless the caller may flag the user.
func (l *flagged) requireFlag(settings store.Settings) error {
	if err := l.RequireUser(); err != nil {
		return err
	}
	switch {
	case !settings.IsReportEnabled:
		return fail.NotAllowed()
	case l.user.ID == l.Caller.UserID:
		return errFlagSelf
	}
	return nil
}

// changeFlags writes a change of the user's flags and returns the user.
func (s *Service) changeFlags(ctx context.Context, l *flagged, change func(*store.Tx)) (*store.User, error) {
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
