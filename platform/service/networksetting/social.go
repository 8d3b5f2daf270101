package networksetting

import (
	"context"

	"github.com/plaza-social/plaza/platform/narrow"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// GetSocialSettings gets the settings of follows, the global feed and stories. All users may call it.
func (s *Service) GetSocialSettings(ctx context.Context, _ *plazav1.GetSocialSettingsRequest) (*plazav1.SocialSettings, error) {
	settings, err := s.load(ctx)
	return social(settings), err
}

// UpdateSocialSettings changes the settings that the request sets.
func (s *Service) UpdateSocialSettings(ctx context.Context, req *plazav1.UpdateSocialSettingsRequest) (*plazav1.SocialSettings, error) {
	settings, err := s.update(ctx, map[string]any{
		"userPrivacySetting":         optional(req.UserPrivacySetting),
		"isFollowWithRequestEnabled": optional(req.IsFollowWithRequestEnabled),
		"showOnlyMyFeed":             optional(req.ShowOnlyMyFeed),
		"showMyPost":                 optional(req.ShowMyPost),
		"showEveryonePost":           optional(req.ShowEveryonePost),
		"showCommunityPost":          optional(req.ShowCommunityPost),
		"showFollowingPost":          optional(req.ShowFollowingPost),
		"maxGlobalPinnedPost":        optional(req.MaxGlobalPinnedPost),
		"storyExpiryTimeMinutes":     optional(req.StoryExpiryTimeMinutes),
		"allowAllUserToCreateStory":  optional(req.AllowAllUserToCreateStory),
		"membershipAcceptance":       optional(req.MembershipAcceptance),

		"isAllowEditPostWhenReviewingEnabled": optional(req.IsAllowEditPostWhenReviewingEnabled),
	})
	return social(settings), err
}

// social returns the social settings.
func social(s store.Settings) *plazav1.SocialSettings {
	global := &plazav1.GlobalFeedSettings{
		ShowOnlyMyFeed: s.ShowOnlyMyFeed, ShowMyPost: s.ShowMyPost, ShowEveryonePost: s.ShowEveryonePost,
		ShowCommunityPost: s.ShowCommunityPost, ShowFollowingPost: s.ShowFollowingPost,
	}
	story := &plazav1.StorySettings{
		AllowAllUserToCreateStory: s.AllowAllUserToCreateStory,
		ExpiryTimeMinutes:         narrow.To[int32](s.StoryExpiryTimeMinutes),
	}
	nested := &plazav1.SocialNetworkSetting{
		Enabled: true, UserPrivacySetting: s.UserPrivacySetting, IsFollowWithRequestEnabled: s.IsFollowWithRequestEnabled, GlobalFeed: global,
		Story: story, MembershipAcceptance: s.MembershipAcceptance,
		IsAllowEditPostWhenReviewingEnabled: s.IsAllowEditPostWhenReviewingEnabled,
	}
	return &plazav1.SocialSettings{
		Enabled: true, UserPrivacySetting: s.UserPrivacySetting, IsFollowWithRequestEnabled: s.IsFollowWithRequestEnabled,
		GlobalFeed: global, SocialNetworkSetting: nested, Story: story, MembershipAcceptance: s.MembershipAcceptance,
		IsAllowEditPostWhenReviewingEnabled: s.IsAllowEditPostWhenReviewingEnabled,
	}
}
