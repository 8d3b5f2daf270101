package networksetting

import (
	"context"
	"slices"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/narrow"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// videoUses are the uses of videos in the order of responses.
var videoUses = []string{"post", "message", "story"}

// GetFeedSettings gets what posts, messages and stories may contain. All users may call it.
func (s *Service) GetFeedSettings(ctx context.Context, _ *plazav1.GetFeedSettingsRequest) (*plazav1.FeedSettings, error) {
	settings, err := s.load(ctx)
	return feeds(settings), err
}

// UpdateFeedSettings changes the settings that the request sets.
func (s *Service) UpdateFeedSettings(ctx context.Context, req *plazav1.UpdateFeedSettingsRequest) (*plazav1.FeedSettings, error) {
	current, err := s.loadToManage(ctx)
	if err != nil {
		return nil, err
	}
	values := map[string]any{}
	for i, update := range []*plazav1.FeedSettingUpdate{req.GetPost(), req.GetMessage(), req.GetStory()} {
		use := videoUses[i]
		if err := checkResolutions(use, current.Videos[use], update.GetVideo().GetTranscodeConfig()); err != nil {
			return nil, err
		}
		setVideo(values, use, update.GetVideo())
	}
	settings, err := s.update(ctx, values)
	return feeds(settings), err
}

// setVideo adds the settings of one use of videos that an update, which may be nil, sets.
func setVideo(values map[string]any, use string, update *plazav1.VideoSettingUpdate) {
	if update == nil {
		return
	}
	values[store.VideoRuleName(use, "allowed")] = optional(update.Allowed)
	values[store.VideoRuleName(use, "maxDurationSeconds")] = optional(update.MaxDurationSeconds)
	if config := update.GetTranscodeConfig(); config != nil {
		values[store.VideoRuleName(use, "maxResolution")] = optional(config.MaxResolution)
		values[store.VideoRuleName(use, "minResolution")] = optional(config.MinResolution)
	}
}

// resolutions are those of videos, the largest one first.
var resolutions = []string{"1080p", "720p", "480p", "360p"}

// checkResolutions returns an error if an update, which may be nil, makes the largest resolution smaller than the smallest one.
func checkResolutions(use string, rules store.VideoRules, update *plazav1.TranscodeConfigUpdate) error {
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
func feeds(s store.Settings) *plazav1.FeedSettings {
	all := &plazav1.FeedSettings{}
	for _, use := range videoUses {
		rules := s.Videos[use]
		all.FeedSettings = append(all.FeedSettings, &plazav1.FeedSetting{FeedType: use, ContentSettings: []*plazav1.ContentSetting{{
			ContentType: "video", Allowed: rules.Allowed,
			MaxDurationSeconds: narrow.To[int32](rules.MaxDurationSeconds),
			TranscodeConfig:    &plazav1.TranscodeConfig{MaxResolution: rules.MaxResolution, MinResolution: rules.MinResolution},
		}}})
	}
	return all
}
