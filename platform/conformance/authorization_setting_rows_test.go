package conformance

import "testing"

func settingRows() []row {
	moderation := func(*testing.T, *fixture) object { return object{"isReportEnabled": true} }
	settings := func(*testing.T, *fixture) object { return object{"flagLimit": 100} }
	return []row{
		{procedure: "AuditService/ListAuditEvents", request: noFields, want: adminsOnly},
		{procedure: "NetworkSettingService/GetModeration", request: noFields, want: everyone},
		{procedure: "NetworkSettingService/UpdateModeration", request: moderation, want: adminsOnly},
		{procedure: "NetworkSettingService/GetNetworkSettings", request: noFields, want: adminsOnly},
		{procedure: "NetworkSettingService/UpdateNetworkSettings", request: settings, want: adminsOnly},
		{procedure: "NetworkSettingService/GetSocialSettings", request: noFields, want: everyone},
		{procedure: "NetworkSettingService/UpdateSocialSettings", request: noFields, want: adminsOnly},
		{procedure: "NetworkSettingService/GetChatSettings", request: noFields, want: everyone},
		{procedure: "NetworkSettingService/UpdateChatSettings", request: noFields, want: adminsOnly},
		{procedure: "NetworkSettingService/GetFeedSettings", request: noFields, want: everyone},
		{procedure: "NetworkSettingService/UpdateFeedSettings", request: noFields, want: adminsOnly},
		{procedure: "NetworkSettingService/GetProductSettings", request: noFields, want: everyone},
		{procedure: "NetworkSettingService/UpdateProductSettings", request: noFields, want: adminsOnly},
		{procedure: "NetworkSettingService/GetDeepLinkSettings", request: noFields, want: everyone},
		{procedure: "NetworkSettingService/UpdateDeepLinkSettings", request: noFields, want: adminsOnly},
		{procedure: "NetworkSettingService/GetUserSettings", request: noFields, want: everyone},
		{procedure: "NetworkSettingService/UpdateUserSettings", request: noFields, want: adminsOnly},
		{procedure: "NetworkSettingService/GetSemanticSearchSettings", request: noFields, want: everyone},
		{procedure: "NetworkSettingService/UpdateSemanticSearchSettings", request: noFields, want: adminsOnly},
		{procedure: "NetworkSettingService/GetVideoStreamingSettings", request: noFields, want: everyone},
		{procedure: "NetworkSettingService/UpdateVideoStreamingSettings", request: noFields, want: adminsOnly},
	}
}
