package networksetting

import (
	"context"

	"github.com/plaza-social/plaza/platform/store/network"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// GetUserSettings gets what users may change of their profiles. All users may call it.
func (s *Service) GetUserSettings(ctx context.Context, _ *plazav1.GetUserSettingsRequest) (*plazav1.UserSettings, error) {
	return get(ctx, s, users)
}

// UpdateUserSettings changes the settings that the request sets.
func (s *Service) UpdateUserSettings(ctx context.Context, req *plazav1.UpdateUserSettingsRequest) (*plazav1.UserSettings, error) {
	return set(ctx, s, given(req), users)
}

func users(s network.Settings) *plazav1.UserSettings {
	return filled(&plazav1.UserSettings{}, s)
}
