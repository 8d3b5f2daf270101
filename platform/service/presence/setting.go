package presence

import (
	"context"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/people"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// UpdateUserPresenceSetting shows or hides the presence of the caller.
func (s *Service) UpdateUserPresenceSetting(
	ctx context.Context, req *plazav1.UpdateUserPresenceSettingRequest,
) (*plazav1.UserPresenceSetting, error) {
	r := s.NewUserRequest(ctx)
	var changed *people.User
	err := r.Write(ctx, r.Caller.UserID, func(tx *store.Tx) { tx.HidePresence(r.Caller.UserID, !req.GetEnabled(), s.Now(), &changed) })
	if err != nil {
		return nil, err
	}
	if changed == nil {
		return nil, fail.NotFound()
	}
	return settingOf(*changed), nil
}

// settingOf returns the setting of a user. It is enabled from the creation of the user on.
func settingOf(u people.User) *plazav1.UserPresenceSetting {
	switch {
	case u.IsPresenceHidden:
		return &plazav1.UserPresenceSetting{}
	case u.PresenceChangedAt != nil:
		return &plazav1.UserPresenceSetting{Enabled: true, EnabledAt: timestamppb.New(*u.PresenceChangedAt)}
	}
	return &plazav1.UserPresenceSetting{Enabled: true, EnabledAt: timestamppb.New(u.CreatedAt)}
}
