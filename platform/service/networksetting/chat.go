package networksetting

import (
	"context"

	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// GetChatSettings gets the settings of channels and messages. All users may call it.
func (s *Service) GetChatSettings(ctx context.Context, _ *plazav1.GetChatSettingsRequest) (*plazav1.ChatSettings, error) {
	settings, err := s.load(ctx)
	return chat(settings), err
}

// UpdateChatSettings changes the settings that the request sets.
func (s *Service) UpdateChatSettings(ctx context.Context, req *plazav1.UpdateChatSettingsRequest) (*plazav1.ChatSettings, error) {
	values := map[string]any{
		"isAllowMentionedChannelEnabled":         optional(req.IsAllowMentionedChannelEnabled),
		"allowMemberToUpdateConversationChannel": optional(req.AllowMemberToUpdateConversationChannel),
	}
	if preview := req.GetMessagePreviewSetting(); preview != nil {
		values["messagePreviewEnabled"] = optional(preview.Enabled)
		values["messagePreviewIncludesDeleted"] = optional(preview.IsIncludeDeleted)
	}
	settings, err := s.update(ctx, values)
	return chat(settings), err
}

// chat returns the chat settings.
func chat(s store.Settings) *plazav1.ChatSettings {
	return &plazav1.ChatSettings{
		Enabled:        true,
		Mention:        &plazav1.ChatMentionSettings{IsAllowMentionedChannelEnabled: s.IsAllowMentionedChannelEnabled},
		MessagePreview: &plazav1.MessagePreviewSettings{Enabled: s.MessagePreviewEnabled, IsIncludeDeleted: s.MessagePreviewIncludesDeleted},

		IsAllowAdminViewConversationMessage: true, IsAllowAdminManageConversationMessage: true,
		AllowMemberToUpdateConversationChannel: s.AllowMemberToUpdateConversationChannel,
	}
}
