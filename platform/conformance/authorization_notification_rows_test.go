package conformance

import (
	"testing"

	"github.com/plaza-social/plaza/platform/region"
)

func notificationRows() []row {
	items := func(*testing.T, *fixture) object {
		return object{"trayItems": []object{{"id": region.NewID(region.EU)}}}
	}
	return []row{
		{procedure: "NotificationService/ListTrayItems", request: noFields, want: usersOnly},
		{procedure: "NotificationService/GetTraySeen", request: noFields, want: usersOnly},
		{procedure: "NotificationService/MarkTraySeen", request: noFields, want: usersOnly},
		{procedure: "NotificationService/MarkTrayItemsSeen", request: items, want: usersOnly},
	}
}
