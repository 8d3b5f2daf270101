package networksetting

import (
	"context"

	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// GetVideoStreamingSettings gets the settings of streams and rooms. All users may call it.
func (s *Service) GetVideoStreamingSettings(
	ctx context.Context, _ *plazav1.GetVideoStreamingSettingsRequest,
) (*plazav1.VideoStreamingSettings, error) {
	settings, err := s.load(ctx)
	return streaming(settings), err
}

// UpdateVideoStreamingSettings changes the settings that the request sets.
func (s *Service) UpdateVideoStreamingSettings(
	ctx context.Context, req *plazav1.UpdateVideoStreamingSettingsRequest,
) (*plazav1.VideoStreamingSettings, error) {
	values := map[string]any{"isVideoStreamingEnabled": optional(req.Enabled)}
	if m := req.GetModeration(); m != nil {
		values["streamModeration"] = store.StreamModeration{
			Enabled: m.GetEnabled(), Categories: service.Map(m.GetCategories(), storedCategory),
		}
	}
	settings, err := s.update(ctx, values)
	return streaming(settings), err
}

func storedCategory(c *plazav1.StreamModerationCategory) store.StreamModerationCategory {
	return store.StreamModerationCategory{
		Category: c.GetCategory(), FlagThreshold: c.GetFlagThreshold(), TerminateThreshold: c.GetTerminateThreshold(),
	}
}

func streaming(s store.Settings) *plazav1.VideoStreamingSettings {
	m := &plazav1.StreamModerationSetting{Enabled: s.StreamModeration.Enabled}
	for _, c := range s.StreamModeration.Categories {
		m.Categories = append(m.Categories, &plazav1.StreamModerationCategory{
			Category: c.Category, FlagThreshold: c.FlagThreshold, TerminateThreshold: c.TerminateThreshold,
		})
	}
	return &plazav1.VideoStreamingSettings{Enabled: s.IsVideoStreamingEnabled, Moderation: m}
}
