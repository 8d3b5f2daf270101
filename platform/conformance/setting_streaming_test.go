package conformance

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/region"
)

const streamingSettingPath = settingsPath + "/video-streaming"

// TestVideoStreamingSettings forbids to create streams and rooms, and lets findings of moderation end them.
func TestVideoStreamingSettings(t *testing.T) {
	t.Parallel()
	n := mediaNetwork(t)
	alice, boss, media := n.NewUser(t, region.EU, "alice"), n.Admin(region.EU), mediaServer(n).At(region.EU)
	put := func(body any) string {
		return string(boss.Do(t, http.MethodPut, streamingSettingPath, body).OK(t).Body)
	}
	require.JSONEq(t, `{"enabled":true,"moderation":{"enabled":false,"categories":[]}}`,
		string(alice.Do(t, http.MethodGet, streamingSettingPath, nil).OK(t).Body))
	live, _ := streamInState(t, alice, media, "live")
	room, _ := roomInState(t, alice, media, "live")

	require.JSONEq(t, `{"enabled":false,"moderation":{"enabled":false,"categories":[]}}`, put(object{"enabled": false}))
	put(object{})
	for _, path := range []string{streamsPath, roomsPath} {
		requireFailure(t, forbidden, alice.Do(t, http.MethodPost, path, object{"title": "Live!"}))
	}
	moderation := `{"enabled":true,"categories":[{"category":"violence","flagThreshold":0.5,"terminateThreshold":0.9}]}`
	require.JSONEq(t, `{"enabled":true,"moderation":`+moderation+`}`, put(`{"enabled":true,"moderation":`+moderation+`}`))
	require.JSONEq(t, `{"enabled":true,"moderation":`+moderation+`}`, put(object{}), "absent fields stay")
	newStream(t, alice)

	find := func(path string, threshold float64) {
		body := object{"event": "flagged", "labels": []object{{"category": "violence", "threshold": threshold}}}
		media.Do(t, http.MethodPost, path+"/events", body).OK(t)
	}
	labels := func(kind string) []any {
		r := alice.Do(t, http.MethodGet, streamsPath+"/"+live, nil).OK(t)
		if len(r.List(t, "videoStreamModerations")) == 0 {
			return nil
		}
		return r.List(t, "videoStreamModerations.0."+kind)
	}
	find(mediaStreamsPath+live, 0.4)
	require.Empty(t, labels("flagLabels"), "below the threshold")
	find(mediaStreamsPath+live, 0.5)
	require.Len(t, labels("flagLabels"), 1)
	require.Equal(t, "live", requireStream(t, alice.Do(t, http.MethodGet, streamsPath+"/"+live, nil))["status"])
	find(mediaStreamsPath+live, 0.9)
	require.Len(t, labels("terminateLabels"), 1)
	require.Equal(t, "ended", requireStream(t, alice.Do(t, http.MethodGet, streamsPath+"/"+live, nil))["status"])
	find(mediaRoomsPath+room, 0.9)
	require.Equal(t, "terminated", requireRoom(t, alice.Do(t, http.MethodGet, roomsPath+"/"+room, nil))["status"])

	category := func(name string, flag, terminate float64) object {
		return object{"category": name, "flagThreshold": flag, "terminateThreshold": terminate}
	}
	all := []object{
		category("pornography", 1, 1), category("violence", 0, 0), category("prohibited", 0, 1), category("inappropriate", 0, 1),
		category("profanity", 0, 1),
	}
	attemptOf := func(name string, want failure, categories ...object) attempt {
		return attempt{name, boss, http.MethodPut, streamingSettingPath, object{"moderation": object{"categories": categories}}, want}
	}
	requireAttempts(t, []attempt{
		{"as a user", alice, http.MethodPut, streamingSettingPath, object{}, notAllowed},
		{"read anonymously", n.Anonymous(region.EU), http.MethodGet, streamingSettingPath, nil, unauthorized},
		attemptOf("every category", failure{}, all...),
		attemptOf("one too many", invalid("moderation.categories"), append(all, category("violence", 0, 0))...),
		attemptOf("twice", invalid("moderation.categories"), all[0], all[0]),
		attemptOf("another category", invalid("moderation.categories[0].category"), category("noise", 0, 0)),
		attemptOf("above 1", invalid("moderation.categories[0].flagThreshold"), category("violence", 1.1, 0)),
		attemptOf("below 0", invalid("moderation.categories[0].terminateThreshold"), category("violence", 0, -0.1)),
	})
}
