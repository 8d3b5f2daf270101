package conformance

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

const (
	feedSettingPath = settingsPath + "/feed-setting"
	productPath     = settingsPath + "/product"
	deepLinkPath    = settingsPath + "/shareable-deep-links"
)

// TestFeedSettings changes what may be uploaded for posts, messages and stories.
func TestFeedSettings(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	alice, admin := n.NewUser(t, region.EU, "alice"), n.Admin(region.EU)
	content := func(feed string, allowed bool, seconds float64, largest, smallest string) object {
		return object{"feedType": feed, "contentSettings": []any{object{
			"contentType": "video", "allowed": allowed, "maxDurationSeconds": seconds,
			"transcodeConfig": object{"maxResolution": largest, "minResolution": smallest},
		}}}
	}
	get := func(c *apptest.Client) []any {
		return c.Do(t, http.MethodGet, feedSettingPath, nil).OK(t).List(t, "feedSettings")
	}
	require.Equal(t, []any{
		content("post", true, 7200, "1080p", "360p"), content("message", true, 600, "1080p", "360p"), content("story", true, 90, "1080p", "360p"),
	}, get(alice))
	video := func(fields object) object { return object{"video": fields} }
	want := []any{
		content("post", true, 7200, "1080p", "360p"), content("message", false, 600, "1080p", "360p"), content("story", true, 30, "720p", "480p"),
	}
	r := admin.Do(t, http.MethodPut, feedSettingPath, object{
		"message": video(object{"allowed": false}),
		"story":   video(object{"maxDurationSeconds": 30, "transcodeConfig": object{"maxResolution": "720p", "minResolution": "480p"}}),
	}).OK(t)
	require.Equal(t, want, r.List(t, "feedSettings"))
	require.Equal(t, want, get(alice))
	require.Eventually(t, func() bool {
		return get(alice.At(region.SG))[1].(object)["contentSettings"].([]any)[0].(object)["allowed"] == false
	},
		apptest.Patience, 20*time.Millisecond, "settings reach the other regions")
	for _, feed := range []string{"message", "chat"} {
		requireFailure(t, forbidden, alice.Upload(t, "video", "a.mp4", []byte(tinyVideo), "feedType", feed))
	}
	alice.Upload(t, "file", "a.txt", []byte("text"), "feedType", "message").OK(t)
	for _, feed := range []string{"", "post", "story", "clip"} {
		alice.Upload(t, "video", "a.mp4", []byte(tinyVideo), "feedType", feed).OK(t)
	}
	put := func(name string, body object, want failure) attempt {
		return attempt{name, admin, http.MethodPut, feedSettingPath, body, want}
	}
	requireAttempts(t, []attempt{
		{"as a user", alice, http.MethodPut, feedSettingPath, object{}, notAllowed},
		{"read anonymously", n.Anonymous(region.US), http.MethodGet, feedSettingPath, nil, unauthorized},
		put("7200 seconds", object{"post": video(object{"maxDurationSeconds": 7200})}, failure{}),
		put("7201 seconds", object{"post": video(object{"maxDurationSeconds": 7201})}, invalid("post")),
		put("601 seconds in a message", object{"message": video(object{"maxDurationSeconds": 601})}, invalid("message")),
		put("91 seconds in a story", object{"story": video(object{"maxDurationSeconds": 91})}, invalid("story")),
		put("0 seconds", object{"story": video(object{"maxDurationSeconds": 0})}, invalid("story.video.maxDurationSeconds")),
		put("another resolution", object{"post": video(object{"transcodeConfig": object{"maxResolution": "4k"}})},
			invalid("post.video.transcodeConfig.maxResolution")),
		put("below the smallest one", object{"story": video(object{"transcodeConfig": object{"maxResolution": "360p"}})},
			invalid("story.video.transcodeConfig.maxResolution")),
		put("both lower", object{"story": video(object{"transcodeConfig": object{"maxResolution": "360p", "minResolution": "360p"}})}, failure{}),
	})
}

// TestAppSettings changes the settings of product tags and of links to objects.
func TestAppSettings(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	alice, admin := n.NewUser(t, region.EU, "alice"), n.Admin(region.EU)
	body := func(c *apptest.Client, path string) string {
		return string(c.Do(t, http.MethodGet, path, nil).OK(t).Body)
	}
	require.JSONEq(t, `{"product":{"enabled":false}}`, body(alice, productPath))
	require.JSONEq(t, `{"product":{"enabled":true}}`, string(admin.Do(t, http.MethodPut, productPath, object{"enabled": true}).OK(t).Body))
	admin.Do(t, http.MethodPut, productPath, object{}).OK(t)
	require.JSONEq(t, `{"product":{"enabled":true}}`, body(alice, productPath), "absent fields stay")

	require.JSONEq(t, `{"domain":"","patterns":{}}`, body(alice, deepLinkPath))
	links := `{"domain":"app.example.com","patterns":{"post":"/posts/{postId}","user":"/u/{userId}"}}`
	require.JSONEq(t, links, string(admin.Do(t, http.MethodPut, deepLinkPath, links).OK(t).Body))
	require.JSONEq(t, links, body(alice, deepLinkPath))
	admin.Do(t, http.MethodPut, deepLinkPath, `{"patterns":{"post":"/p"}}`).OK(t)
	require.JSONEq(t, `{"domain":"","patterns":{"post":"/p"}}`, body(alice, deepLinkPath), "the settings are replaced")

	many := object{}
	for i := range 21 {
		many[strings.Repeat("x", i+1)] = "/"
	}
	put := func(name string, links object, want failure) attempt {
		return attempt{name, admin, http.MethodPut, deepLinkPath, links, want}
	}
	requireAttempts(t, []attempt{
		{"links as a user", alice, http.MethodPut, deepLinkPath, object{}, notAllowed},
		{"products as a user", alice, http.MethodPut, productPath, object{"enabled": false}, notAllowed},
		{"links anonymously", n.Anonymous(region.US), http.MethodGet, deepLinkPath, nil, unauthorized},
		{"products anonymously", n.Anonymous(region.US), http.MethodGet, productPath, nil, unauthorized},
		put("no domain", object{"domain": "https://example.com/"}, invalid("domain")),
		put("domain of 254", object{"domain": strings.Repeat("a", 254)}, invalid("domain")),
		put("21 patterns", object{"patterns": many}, invalid("patterns")),
		put("pattern of 1001", object{"patterns": object{"post": strings.Repeat("a", 1001)}}, invalid("patterns[\"post\"]")),
		put("nothing", object{}, failure{}),
	})
}
