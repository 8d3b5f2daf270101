package conformance

import "testing"

func settingRows() []row {
	moderation := func(*testing.T, *grounds) object { return object{"isReportEnabled": true} }
	settings := func(*testing.T, *grounds) object { return object{"flagLimit": 100} }
	return []row{
		{procedure: "NetworkSettingService/GetModeration", request: nothing, want: everybody},
		{procedure: "NetworkSettingService/UpdateModeration", request: moderation, want: adminsOnly},
		{procedure: "NetworkSettingService/GetNetworkSettings", request: nothing, want: adminsOnly},
		{procedure: "NetworkSettingService/UpdateNetworkSettings", request: settings, want: adminsOnly},
		{procedure: "NetworkSettingService/GetSocialSettings", request: nothing, want: everybody},
		{procedure: "NetworkSettingService/UpdateSocialSettings", request: nothing, want: adminsOnly},
		{procedure: "NetworkSettingService/GetChatSettings", request: nothing, want: everybody},
		{procedure: "NetworkSettingService/UpdateChatSettings", request: nothing, want: adminsOnly},
	}
}
