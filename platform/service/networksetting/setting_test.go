package networksetting

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store/network"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

func TestGiven(t *testing.T) {
	no, zero, empty := false, int32(0), ""
	require.Empty(t, given(&plazav1.UpdateNetworkSettingsRequest{}, (*plazav1.UpdateChatSettingsRequest)(nil)))
	require.Equal(t, map[string]any{"isReportEnabled": false, "flagHideLimit": int32(0), "rateLimit": ""},
		given(&plazav1.UpdateNetworkSettingsRequest{
			IsReportEnabled: &no, FlagHideLimit: &zero, RateLimit: &empty,
		}), "false, 0 and empty texts are values")
}

func TestRows(t *testing.T) {
	now := time.Date(2026, 11, 20, 0, 0, 0, 1000, time.UTC)
	s := &Service{Deps: &service.Deps{Region: region.SG}, clock: func() time.Time { return now }}
	require.Empty(t, s.rows(nil))
	for value, want := range map[any]string{true: "true", false: "false", int32(0): "0", "public": `"public"`} {
		require.Equal(t, []network.SettingRow{{Name: "x", Value: []byte(want), ChangedAt: now, Origin: "sg"}}, s.rows(map[string]any{"x": value}))
	}
}

func TestResponses(t *testing.T) {
	s := network.Settings{
		IsWhitelistEnabled: true, FlagLimit: 7, MaxGlobalPinnedPost: 3, UserPrivacySetting: "private", ShowMyPost: true,
		StoryExpiryTimeMinutes: 60, MembershipAcceptance: "invitation", MessagePreviewEnabled: true,
	}
	require.True(t, moderation(s).GetIsWhitelistEnabled())
	require.False(t, moderation(s).GetIsReportEnabled())
	require.Equal(t, []int32{7, 3}, []int32{all(s).GetFlagLimit(), all(s).GetMaxGlobalPinnedPost()})
	require.True(t, chat(s).GetMessagePreview().GetEnabled())
	social := social(s)
	require.Equal(t, "private", social.GetUserPrivacySetting())
	require.Equal(t, social.GetUserPrivacySetting(), social.GetSocialNetworkSetting().GetUserPrivacySetting(), "clients read either place")
	require.True(t, social.GetGlobalFeed().GetShowMyPost() && social.GetSocialNetworkSetting().GetGlobalFeed().GetShowMyPost())
	require.EqualValues(t, 60, social.GetStory().GetExpiryTimeMinutes())
	require.Equal(t, "invitation", social.GetMembershipAcceptance())
}
