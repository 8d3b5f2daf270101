package networksetting

import (
	"context"

	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store/network"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// GetVideoStreamingSettings gets the settings of streams and rooms. All users may call it.
func (s *Service) GetVideoStreamingSettings(
	ctx context.Context, _ *plazav1.GetVideoStreamingSettingsRequest,
) (*plazav1.VideoStreamingSettings, error) {
	return get(ctx, s, streaming)
}

// UpdateVideoStreamingSettings changes the settings that the request sets.
func (s *Service) UpdateVideoStreamingSettings(
	ctx context.Context, req *plazav1.UpdateVideoStreamingSettingsRequest,
) (*plazav1.VideoStreamingSettings, error) {
	values := map[string]any{}
	if req.Enabled != nil {
		values["isVideoStreamingEnabled"] = req.GetEnabled()
	}
	if m := req.GetModeration(); m != nil {
		values["streamModeration"] = network.StreamModeration{
			Enabled: m.GetEnabled(), Categories: service.Map(m.GetCategories(), storedCategory),
		}
	}
	return set(ctx, s, values, streaming)
}

func storedCategory(c *plazav1.StreamModerationCategory) network.StreamModerationCategory {
	return network.StreamModerationCategory{
		Category: c.GetCategory(), FlagThreshold: c.GetFlagThreshold(), TerminateThreshold: c.GetTerminateThreshold(),
	}
}

func streaming(s network.Settings) *plazav1.VideoStreamingSettings {
	return &plazav1.VideoStreamingSettings{
		Enabled: s.IsVideoStreamingEnabled, Moderation: filled(&plazav1.StreamModerationSetting{}, s.StreamModeration),
	}
}
