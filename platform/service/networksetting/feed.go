package networksetting

import (
	"context"
	"slices"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store/network"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// videoUses are the uses of videos in the order of responses.
var videoUses = []string{"post", "message", "story"}

// GetFeedSettings gets what posts, messages and stories may contain. All users may call it.
func (s *Service) GetFeedSettings(ctx context.Context, _ *plazav1.GetFeedSettingsRequest) (*plazav1.FeedSettings, error) {
	return get(ctx, s, feeds)
}

// UpdateFeedSettings changes the settings that the request sets.
func (s *Service) UpdateFeedSettings(ctx context.Context, req *plazav1.UpdateFeedSettingsRequest) (*plazav1.FeedSettings, error) {
	current, err := s.loadToManage(ctx)
	if err != nil {
		return nil, err
	}
	values := map[string]any{}
	for i, update := range []*plazav1.FeedSettingUpdate{req.GetPost(), req.GetMessage(), req.GetStory()} {
		use, video := videoUses[i], update.GetVideo()
		if err := checkResolutions(use, current.Videos[use], video.GetTranscodeConfig()); err != nil {
			return nil, err
		}
		for rule, value := range given(video, video.GetTranscodeConfig()) {
			values[network.VideoRuleName(use, rule)] = value
		}
	}
	return set(ctx, s, values, feeds)
}

// resolutions are those of videos, the largest one first.
var resolutions = []string{"1080p", "720p", "480p", "360p"}

// checkResolutions returns an error if an update, which may be nil, makes the largest resolution smaller than the smallest one.
func checkResolutions(use string, rules network.VideoRules, update *plazav1.TranscodeConfigUpdate) error {
	if update != nil && update.MaxResolution != nil {
		rules.MaxResolution = update.GetMaxResolution()
	}
	if update != nil && update.MinResolution != nil {
		rules.MinResolution = update.GetMinResolution()
	}
	if slices.Index(resolutions, rules.MaxResolution) > slices.Index(resolutions, rules.MinResolution) {
		return fail.Validation(use + ".video.transcodeConfig.maxResolution: must not be smaller than minResolution")
	}
	return nil
}

// feeds returns the settings of posts, messages and stories.
func feeds(s network.Settings) *plazav1.FeedSettings {
	return &plazav1.FeedSettings{FeedSettings: service.Map(videoUses, func(use string) *plazav1.FeedSetting {
		config := filled(&plazav1.TranscodeConfig{}, s.Videos[use])
		video := filled(&plazav1.ContentSetting{ContentType: "video", TranscodeConfig: config}, s.Videos[use])
		return &plazav1.FeedSetting{FeedType: use, ContentSettings: []*plazav1.ContentSetting{video}}
	})}
}
