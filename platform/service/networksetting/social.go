package networksetting

import (
	"context"

	"github.com/plaza-social/plaza/platform/narrow"
	"github.com/plaza-social/plaza/platform/store/network"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// GetSocialSettings gets the settings of follows, the global feed and stories. All users may call it.
func (s *Service) GetSocialSettings(ctx context.Context, _ *plazav1.GetSocialSettingsRequest) (*plazav1.SocialSettings, error) {
	return get(ctx, s, social)
}

// UpdateSocialSettings changes the settings that the request sets.
func (s *Service) UpdateSocialSettings(ctx context.Context, req *plazav1.UpdateSocialSettingsRequest) (*plazav1.SocialSettings, error) {
	return set(ctx, s, given(req), social)
}

// social returns the social settings.
func social(s network.Settings) *plazav1.SocialSettings {
	global := filled(&plazav1.GlobalFeedSettings{}, s)
	story := filled(&plazav1.StorySettings{ExpiryTimeMinutes: narrow.To[int32](s.StoryExpiryTimeMinutes)}, s)
	nested := filled(&plazav1.SocialNetworkSetting{Enabled: true, GlobalFeed: global, Story: story}, s)
	return filled(&plazav1.SocialSettings{Enabled: true, GlobalFeed: global, SocialNetworkSetting: nested, Story: story}, s)
}
