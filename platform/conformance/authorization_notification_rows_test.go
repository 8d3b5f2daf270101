package conformance

import (
	"testing"

	"github.com/plaza-social/plaza/platform/region"
)

func notificationRows() []row {
	items := func(*testing.T, *fixture) object {
		return object{"trayItems": []object{{"id": region.NewID(region.EU)}}}
	}
	device := func(_ *testing.T, _ *fixture) object { return object{"deviceId": "unknown"} }
	setting := func(*testing.T, *fixture) object { return object{"level": "user"} }
	return []row{
		{procedure: "NotificationService/RegisterDevice", request: func(*testing.T, *fixture) object {
			return object{"platform": "android", "token": region.NewID(region.EU)}
		}, want: usersOnly},
		{procedure: "NotificationService/UnregisterDevice", request: device, want: usersOnly},
		{procedure: "NotificationService/GetNotificationSetting", request: setting, want: usersOnly},
		{procedure: "NotificationService/UpdateNotificationSetting", request: setting, want: usersOnly},
		{procedure: "NotificationService/ListTrayItems", request: noFields, want: usersOnly},
		{procedure: "NotificationService/GetTraySeen", request: noFields, want: usersOnly},
		{procedure: "NotificationService/MarkTraySeen", request: noFields, want: usersOnly},
		{procedure: "NotificationService/MarkTrayItemsSeen", request: items, want: usersOnly},
	}
}
