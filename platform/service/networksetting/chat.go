package networksetting

import (
	"context"
	"maps"
	"strings"

	"github.com/plaza-social/plaza/platform/store/network"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// GetChatSettings gets the settings of channels and messages. All users may call it.
func (s *Service) GetChatSettings(ctx context.Context, _ *plazav1.GetChatSettingsRequest) (*plazav1.ChatSettings, error) {
	return get(ctx, s, chat)
}

// previewSettings are the names of the settings of previews, by the names of the fields of a request.
var previewSettings = map[string]string{"enabled": "messagePreviewEnabled", "isIncludeDeleted": "messagePreviewIncludesDeleted"}

// UpdateChatSettings changes the settings that the request sets.
func (s *Service) UpdateChatSettings(ctx context.Context, req *plazav1.UpdateChatSettingsRequest) (*plazav1.ChatSettings, error) {
	values := given(req)
	maps.DeleteFunc(values, func(name string, _ any) bool { return strings.HasPrefix(name, "isAllowAdmin") }) // which cannot change
	for field, value := range given(req.GetMessagePreviewSetting()) {
		values[previewSettings[field]] = value
	}
	return set(ctx, s, values, chat)
}

// chat returns the chat settings.
func chat(s network.Settings) *plazav1.ChatSettings {
	return &plazav1.ChatSettings{
		Enabled:        true,
		Mention:        filled(&plazav1.ChatMentionSettings{}, s),
		MessagePreview: &plazav1.MessagePreviewSettings{Enabled: s.MessagePreviewEnabled, IsIncludeDeleted: s.MessagePreviewIncludesDeleted},

		IsAllowAdminViewConversationMessage: true, IsAllowAdminManageConversationMessage: true,
		AllowMemberToUpdateConversationChannel: s.AllowMemberToUpdateConversationChannel,
	}
}
