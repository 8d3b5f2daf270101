package conformance

import (
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

const (
	moderationPath = "/api/v3/network-settings/moderation"
	settingsPath   = "/api/v3/network-settings"
)

func TestModerationConfiguration(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	alice := n.NewUser(t, region.EU, "alice")
	require.JSONEq(t, `{"isWhitelistEnabled":false,"isReportEnabled":true}`,
		string(alice.Do(t, http.MethodGet, moderationPath, nil).OK(t).Body), "flagging is on from the start")
	for _, c := range []struct{ body, want string }{
		{`{"isWhitelistEnabled":true,"isReportEnabled":false}`, `{"isWhitelistEnabled":true,"isReportEnabled":false}`},
		{`{"isReportEnabled":true}`, `{"isWhitelistEnabled":true,"isReportEnabled":true}`},
		{`{"isWhitelistEnabled":false}`, `{"isWhitelistEnabled":false,"isReportEnabled":true}`},
		{`{"isWhitelistEnabled":false,"isReportEnabled":true,"other":1}`, `{"isWhitelistEnabled":false,"isReportEnabled":true}`},
	} {
		require.JSONEq(t, c.want, string(n.Admin(region.EU).Do(t, http.MethodPut, moderationPath, c.body).OK(t).Body), c.body)
		require.JSONEq(t, c.want, string(alice.Do(t, http.MethodGet, moderationPath, nil).OK(t).Body), c.body)
	}
	var attempts []attempt
	for _, wrong := range []string{
		`{}`, ``, `{"isReportEnabled":"yes"}`, `{"isReportEnabled":1}`, `{"isWhitelistEnabled":[]}`, `[]`, `{`,
		`null`,
	} {
		attempts = append(attempts, attempt{"wrong " + wrong, n.Admin(region.US), http.MethodPut, moderationPath, wrong, badRequest})
	}
	requireAttempts(t, append(attempts,
		attempt{"as a user", alice, http.MethodPut, moderationPath, `{"isReportEnabled":true}`, notAllowed},
		attempt{"anonymous", n.Anonymous(region.US), http.MethodPut, moderationPath, `{"isReportEnabled":true}`, unauthorized},
		attempt{"read anonymously", n.Anonymous(region.US), http.MethodGet, moderationPath, nil, unauthorized},
		attempt{"read as an admin", n.Admin(region.US), http.MethodGet, moderationPath, nil, failure{}},
	))
}

func TestNetworkSettings(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	alice := n.NewUser(t, region.EU, "alice")
	get := func(t *testing.T) object {
		t.Helper()
		o, ok := n.Admin(region.EU).Do(t, http.MethodGet, settingsPath, nil).OK(t).JSON(t).(map[string]any)
		require.True(t, ok)
		return o
	}
	start := object{
		"isWhitelistEnabled": false, "isReportEnabled": true, "flagLimit": 100.0, "isSecureModeEnabled": false,
		"userPrivacySetting": "public", "isFollowWithRequestEnabled": false, "maxGlobalPinnedPost": 1.0,
	}
	require.Subset(t, get(t), start)
	n.Admin(region.EU).Do(t, http.MethodPut, settingsPath, object{"flagLimit": 7}).OK(t)
	require.Subset(t, get(t), with(start, object{"flagLimit": 7.0}), "absent fields stay")
	requireAttempts(t, []attempt{
		{"flagLimit of 1", n.Admin(region.EU), http.MethodPut, settingsPath, object{"flagLimit": 1}, failure{}},
		{"flagLimit of 1000", n.Admin(region.EU), http.MethodPut, settingsPath, object{"flagLimit": 1000}, failure{}},
		{"flagLimit of 0", n.Admin(region.EU), http.MethodPut, settingsPath, object{"flagLimit": 0}, invalid("flagLimit")},
		{"flagLimit of 1001", n.Admin(region.EU), http.MethodPut, settingsPath, object{"flagLimit": 1001}, invalid("flagLimit")},
		{"generation of 0", n.Admin(region.EU), http.MethodPut, settingsPath, object{"generation": 0}, failure{}},
		{"generation below 0", n.Admin(region.EU), http.MethodPut, settingsPath, object{"generation": -1}, invalid("generation")},
		{"generation too large", n.Admin(region.EU), http.MethodPut, settingsPath, object{"generation": 1 << 31}, invalid("generation")},
		{
			"one of two is wrong", n.Admin(region.EU), http.MethodPut, settingsPath,
			object{"isWhitelistEnabled": true, "flagLimit": 0},
			invalid("flagLimit"),
		},
		{"as a user", alice, http.MethodPut, settingsPath, object{"flagLimit": 7}, notAllowed},
		{"read as a user", alice, http.MethodGet, settingsPath, nil, notAllowed},
		{"read anonymously", n.Anonymous(region.EU), http.MethodGet, settingsPath, nil, unauthorized},
	})
	require.InDelta(t, 1000.0, get(t)["flagLimit"], 0)
	require.Equal(t, false, get(t)["isWhitelistEnabled"], "all of a change or nothing")
}

// TestSettingsPropagate changes a setting in each region: it applies there immediately and in the others soon.
func TestSettingsPropagate(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	flagLimitAt := func(code region.Code) int {
		var settings struct{ FlagLimit int }
		if err := json.Unmarshal(n.Admin(code).Do(t, http.MethodGet, settingsPath, nil).OK(t).Body, &settings); err != nil {
			return -1
		}
		return settings.FlagLimit
	}
	for i, at := range region.All() {
		want := 10 + i
		r := n.Admin(at).Do(t, http.MethodPut, settingsPath, object{"flagLimit": want}).OK(t)
		require.Equal(t, want, r.Int(t, "flagLimit"))
		require.Equal(t, want, flagLimitAt(at), "at once where it was changed")
		for _, code := range region.All() {
			require.Eventually(t, func() bool { return flagLimitAt(code) == want }, apptest.Patience, time.Millisecond,
				"%s does not hear of the change at %s", code, at)
		}
	}
}

// TestSecureMode makes authTokens mandatory and optional again.
func TestSecureMode(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	secure := func(on bool) {
		n.Admin(region.EU).Do(t, http.MethodPut, settingsPath, object{"isSecureModeEnabled": on}).OK(t)
	}
	alice := n.SignIn(t, region.EU, "alice")
	secure(true)
	for _, body := range []object{session("alice"), session("bob")} {
		requireFailure(t, unauthorized, device(n, region.EU).Do(t, http.MethodPost, "/api/v5/sessions", body))
	}
	requireFailure(t, unauthorized, device(n, region.EU).Do(t, http.MethodPost, "/api/v5/sessions",
		session("bob", object{"authToken": authToken(t, n, region.EU, "alice")})))
	for _, id := range []string{"alice", "bob"} {
		device(n, region.EU).Do(t, http.MethodPost, "/api/v5/sessions", session(id, object{"authToken": authToken(t, n, region.US, id)})).OK(t)
	}
	alice.Do(t, http.MethodGet, verifyPath, nil).OK(t)
	secure(false)
	device(n, region.EU).Do(t, http.MethodPost, "/api/v5/sessions", session("carol")).OK(t)
}
