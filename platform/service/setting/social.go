package setting

import (
	"context"

	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// GetSocialSettings gets the settings of follows, of the global feed and of stories; for every user, as their clients ask for them.
func (s *Service) GetSocialSettings(ctx context.Context, _ *plazav1.GetSocialSettingsRequest) (*plazav1.SocialSettings, error) {
	now, _, err := s.read(ctx)
	if err != nil {
		return nil, err
	}
	return social(now), nil
}

// UpdateSocialSettings changes them; absent fields stay.
func (s *Service) UpdateSocialSettings(ctx context.Context, req *plazav1.UpdateSocialSettingsRequest) (*plazav1.SocialSettings, error) {
	after, err := s.change(ctx, map[string]any{
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
	if err != nil {
		return nil, err
	}
	return social(after), nil
}

func social(s store.Settings) *plazav1.SocialSettings {
	global := &plazav1.GlobalFeedSettings{
		ShowOnlyMyFeed: s.ShowOnlyMyFeed, ShowMyPost: s.ShowMyPost, ShowEveryonePost: s.ShowEveryonePost,
		ShowCommunityPost: s.ShowCommunityPost, ShowFollowingPost: s.ShowFollowingPost,
	}
	story := &plazav1.StorySettings{
		AllowAllUserToCreateStory: s.AllowAllUserToCreateStory,
		ExpiryTimeMinutes:         int32(s.StoryExpiryTimeMinutes), //nolint:gosec // at most 1440
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
