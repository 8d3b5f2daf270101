package conformance

import (
	"net/http"
	"testing"

	mqtt "github.com/eclipse/paho.mqtt.golang"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	eventlog "github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/region"
)

// TestOnlyUsersListen opens every stream, and connects by MQTT, as every caller who is not a user of the network in force.
func TestOnlyUsersListen(t *testing.T) {
	t.Parallel()
	n := apptest.Shared(t)
	callers := map[string]*apptest.Client{"anonymous": n.Anonymous(region.EU), "administrator": n.Admin(region.EU)}
	for kind := range guestKinds {
		callers[kind], _ = newGuest(t, n, region.EU, kind, "listener")
	}
	for name, end := range map[string]func(*apptest.Client){
		"banned": func(c *apptest.Client) {
			n.Admin(region.EU).Do(t, http.MethodPost, "/api/v2/users/ban", object{"userId": c.UserID}).OK(t)
		},
		"signed out": func(c *apptest.Client) { c.Do(t, http.MethodDelete, "/api/v4/sessions", nil).OK(t) },
		"erased":     func(c *apptest.Client) { c.Do(t, http.MethodDelete, "/api/v4/users/"+c.UserID, nil).OK(t) },
	} {
		callers[name] = newUser(t, region.EU, "listener")
		end(callers[name])
	}
	paths := []string{severalStream, markerStream}
	for _, name := range eventlog.Names() {
		paths = append(paths, "/realtime/"+name)
	}
	for who, c := range callers {
		for _, path := range paths {
			if who == "administrator" && path == addedStream {
				continue // who receives it for the whole network
			}
			r := c.Do(t, http.MethodGet, path, nil)
			require.Contains(t, []int{http.StatusUnauthorized, http.StatusForbidden}, r.Status, "%s opens %s", who, path)
		}
		token := mqtt.NewClient(c.MQTTOptions()).Connect()
		require.True(t, token.WaitTimeout(apptest.Patience))
		require.Error(t, token.Error(), "%s connects by MQTT", who)
	}
}
