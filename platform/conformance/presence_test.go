package conformance

import (
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

const presencePath = "/api/v1/presence"

func watch(t *testing.T, c *apptest.Client, room string) {
	t.Helper()
	r := c.Do(t, http.MethodPost, presencePath+"/rooms/"+room+"/heartbeat", nil)
	require.Equal(t, http.StatusAccepted, r.Status, "%s", r.Short())
	require.JSONEq(t, `{"success":true}`, string(r.Body))
}

// TestRoomViewers has users of all regions watch a room.
func TestRoomViewers(t *testing.T) {
	t.Parallel()
	host := newUser(t, region.EU, "host")
	room := text(newRoom(t, host), "roomId")
	community := newCommunity(t, host)
	newPost(t, host, community, object{"dataType": "room", "data": object{"roomId": room}})
	watchers := []*apptest.Client{newUser(t, region.US, "watcher"), newUser(t, region.SG, "watcher"), host}
	want := userIDs(watchers...)
	slices.Sort(want)
	for _, c := range watchers {
		watch(t, c, room)
		watch(t, c, room)
	}
	blocked := newUser(t, region.EU, "blocked")
	watchers[0].Do(t, http.MethodPost, blocksPath+"/"+blocked.UserID, nil).OK(t)
	viewers := func(c *apptest.Client) []string {
		found := c.Do(t, http.MethodGet, presencePath+"/rooms/"+room+"/users", nil).OK(t).Strings(t, "viewers", "userId")
		slices.Sort(found)
		return found
	}
	for _, code := range region.All() {
		by := host.At(code)
		require.Eventually(t, func() bool { return slices.Equal(want, viewers(by)) }, apptest.Patience, 50*time.Millisecond)
		require.Eventually(t, func() bool {
			return by.Do(t, http.MethodGet, presencePath+"/rooms/"+room+"/users/count", nil).OK(t).Int(t, "count") == 3
		}, apptest.Patience, 50*time.Millisecond)
	}
	r := host.Do(t, http.MethodGet, presencePath+"/rooms/"+room+"/users", nil).OK(t)
	require.Equal(t, []int{200, 3}, []int{r.Int(t, "limit"), r.Int(t, "total")})
	requireResource(t, "viewers", resource{"userId": "s", "joinedAt": "ts"}, r.List(t, "viewers")[0])
	r = host.Do(t, http.MethodGet, presencePath+"/rooms/"+room+"/users/count", nil).OK(t)
	requireResource(t, "count", resource{"count": "i", "referenceTimestamp": "ts"}, r.JSON(t))
	require.NotContains(t, viewers(blocked), watchers[0].UserID, "a user who blocks the caller")
	other := text(newRoom(t, host), "roomId")
	require.Empty(t, host.Do(t, http.MethodGet, presencePath+"/rooms/"+other+"/users", nil).OK(t).List(t, "viewers"))
	secret := text(newRoom(t, host), "roomId")
	newPost(t, host, newCommunity(t, host, object{"isPublic": false, "isDiscoverable": false}),
		object{"dataType": "room", "data": object{"roomId": secret}})
	stranger := newUser(t, region.US, "stranger")
	var attempts []attempt
	for name, op := range map[string][2]string{
		"heartbeat": {http.MethodPost, "heartbeat"}, "users": {http.MethodGet, "users"},
		"count": {http.MethodGet, "users/count"},
	} {
		attempts = append(attempts,
			attempt{name + " of a room in a private community", stranger, op[0], presencePath + "/rooms/" + secret + "/" + op[1], nil, notFound},
			attempt{name + " of an unknown room", host, op[0], presencePath + "/rooms/" + unknownID + "/" + op[1], nil, notFound},
			attempt{
				name + " anonymously", apptest.Shared(t).Anonymous(region.EU), op[0], presencePath + "/rooms/" + room + "/" + op[1], nil,
				unauthorized,
			},
		)
	}
	requireAttempts(t, attempts)
}

// TestPresenceSettings changes the interval of heartbeats.
func TestPresenceSettings(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	alice, admin := n.NewUser(t, region.EU, "alice"), n.Admin(region.EU)
	get := func() object {
		return alice.Do(t, http.MethodGet, presencePath+"/settings", nil).OK(t).JSON(t).(object)
	}
	user := alice.Do(t, http.MethodGet, "/api/v3/users/"+alice.UserID, nil).OK(t)
	require.Equal(t, object{
		"user":    object{"enabled": true, "enabledAt": user.String(t, "users.0.createdAt")},
		"network": object{"heartbeatInterval": 1.0, "presenceSyncInterval": 1.0, "updatedAt": nil},
	}, get())
	require.Equal(t, 5, admin.Do(t, http.MethodPut, settingsPath, object{"presenceHeartbeatMinutes": 5}).OK(t).Int(t,
		"presenceHeartbeatMinutes"))
	network := get()["network"].(object)
	require.Equal(t, []any{5.0, 5.0}, []any{network["heartbeatInterval"], network["presenceSyncInterval"]})
	requireResource(t, "network", resource{"heartbeatInterval": "i", "presenceSyncInterval": "i", "updatedAt": "ts"}, network)
	requireAttempts(t, []attempt{
		{"as a user", alice, http.MethodPut, settingsPath, object{"presenceHeartbeatMinutes": 2}, notAllowed},
		{"0 minutes", admin, http.MethodPut, settingsPath, object{"presenceHeartbeatMinutes": 0}, invalid("presenceHeartbeatMinutes")},
		{"61 minutes", admin, http.MethodPut, settingsPath, object{"presenceHeartbeatMinutes": 61}, invalid("presenceHeartbeatMinutes")},
		{"anonymous", n.Anonymous(region.EU), http.MethodGet, presencePath + "/settings", nil, unauthorized},
	})
}

// TestPresences has users of all regions send heartbeats.
func TestPresences(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	var users []*apptest.Client
	for _, code := range region.All() {
		users = append(users, n.NewUser(t, code, "online"))
	}
	offline, blocked := n.NewUser(t, region.EU, "offline"), n.NewUser(t, region.SG, "blocked")
	users[0].Do(t, http.MethodPost, blocksPath+"/"+blocked.UserID, nil).OK(t)
	list := func(by *apptest.Client, query string) []string {
		found := by.Do(t, http.MethodGet, presencePath+query, nil).OK(t).Strings(t, "presences", "userId")
		slices.Sort(found)
		return found
	}
	require.Empty(t, list(offline, "/network/users"))
	for _, u := range users {
		require.Equal(t, http.StatusAccepted, u.Do(t, http.MethodPost, presencePath+"/heartbeat", nil).Status)
	}
	want := userIDs(users...)
	slices.Sort(want)
	among := "/users/list?userIds[]=absent&userIds[]=" + strings.Join(append(want, offline.UserID), "&userIds[]=")
	require.Eventually(t, func() bool { return slices.Equal(want, list(offline, "/network/users")) }, apptest.Patience, 50*time.Millisecond)
	require.Equal(t, want, list(offline, "/network/users?orderBy=asc"))
	require.Equal(t, want, list(offline, among))
	require.Equal(t, want[:0:0], list(blocked, "/users/list?userIds[]="+users[0].UserID), "who blocks the caller is hidden")
	require.Len(t, list(blocked, "/network/users"), 2)
	require.Eventually(t, func() bool {
		return offline.Do(t, http.MethodGet, presencePath+"/network/users/count", nil).OK(t).Int(t, "count") == 3
	}, apptest.Patience, 50*time.Millisecond)
	requireFailure(t, invalid("userIds"), offline.Do(t, http.MethodGet, presencePath+"/users/list", nil))
	requireFailure(t, invalid("orderBy"), offline.Do(t, http.MethodGet, presencePath+"/network/users?orderBy=x", nil))
}

// TestHiddenPresence hides the presence of a user who is online and watches a room.
func TestHiddenPresence(t *testing.T) {
	t.Parallel()
	alice, bob := newUser(t, region.EU, "alice"), newUser(t, region.US, "bob")
	room := text(newRoom(t, bob), "roomId")
	beat := func() {
		require.Equal(t, http.StatusAccepted, alice.Do(t, http.MethodPost, presencePath+"/heartbeat", nil).Status)
		watch(t, alice, room)
	}
	present := func() []string {
		online := bob.Do(t, http.MethodGet, presencePath+"/users/list?userIds[]="+alice.UserID, nil).OK(t).Strings(t, "presences", "userId")
		return append(online, bob.Do(t, http.MethodGet, presencePath+"/rooms/"+room+"/users", nil).OK(t).Strings(t, "viewers", "userId")...)
	}
	set := func(enabled bool) object {
		return alice.Do(t, http.MethodPut, presencePath+"/settings/user", object{"enabled": enabled}).OK(t).JSON(t).(object)
	}
	setting := func() any { return alice.Do(t, http.MethodGet, presencePath+"/settings", nil).OK(t).Get(t, "user") }
	require.Equal(t, object{"enabled": false, "enabledAt": nil}, set(false))
	beat()
	set(true)
	require.Empty(t, present(), "heartbeats had no effect")
	beat()
	require.Eventually(t, func() bool { return len(present()) == 2 }, apptest.Patience, 50*time.Millisecond)
	require.Equal(t, object{"enabled": false, "enabledAt": nil}, set(false))
	require.Equal(t, object{"enabled": false, "enabledAt": nil}, setting())
	require.Empty(t, present(), "at once")
	nextMillisecond()
	enabled := set(true)
	requireResource(t, "setting", resource{"enabled": "b", "enabledAt": "ts"}, enabled)
	created := alice.Do(t, http.MethodGet, "/api/v3/users/"+alice.UserID, nil).OK(t).String(t, "users.0.createdAt")
	require.Greater(t, text(enabled, "enabledAt"), created, "since it was enabled again")
	require.Equal(t, enabled, set(true), "it has been enabled since then")
	require.Equal(t, enabled, setting())
	requireAttempts(t, []attempt{
		{"nothing", alice, http.MethodPut, presencePath + "/settings/user", object{}, invalid("enabled")},
		{
			"anonymous", apptest.Shared(t).Anonymous(region.EU), http.MethodPut, presencePath + "/settings/user",
			object{"enabled": true},
			unauthorized,
		},
	})
}
