package conformance

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

// TestRoomRecordings redirects those who see a room to its recordings.
func TestRoomRecordings(t *testing.T) {
	t.Parallel()
	n := mediaNetwork(t)
	host, member, stranger, media := n.NewUser(t, region.EU, "host"), n.NewUser(t, region.US, "member"), n.NewUser(t, region.SG, "stranger"),
		mediaServer(n)
	community := newCommunity(t, host, object{"isPublic": false, "userIds": []string{member.UserID}})
	id := text(newRoom(t, host), "roomId")
	host.Do(t, http.MethodPost, "/api/v4/posts", object{
		"targetType": "community", "targetId": community, "dataType": "room", "data": object{"text": "x", "roomId": id},
	}).OK(t)
	_, key := sendCredentials(t, host, id)
	for _, event := range []string{"started", "stopped"} {
		media.Do(t, http.MethodPost, mediaRoomsPath+id+"/events", roomReport(event, key)).OK(t)
	}
	recordings := []object{{"url": "https://r.test/1.mp4", "thumbnailUrl": "https://r.test/1.jpg"}, {"url": "https://r.test/2.mp4"}}
	media.Do(t, http.MethodPost, mediaRoomsPath+id+"/events", object{"event": "recorded", "recordings": recordings}).OK(t)

	recorded := func(playback string) string { return roomsPath + "/" + id + "/recorded/" + playback }
	for path, want := range map[string]string{
		recorded("1/watch"): "https://r.test/1.mp4", recorded("1/thumbnail"): "https://r.test/1.jpg", recorded("2/watch"): "https://r.test/2.mp4",
	} {
		for _, viewer := range []*apptest.Client{host, member, n.Admin(region.SG)} {
			r := viewer.Do(t, http.MethodGet, path, nil)
			require.Equal(t, http.StatusFound, r.Status)
			require.Equal(t, want, r.Header.Get("Location"))
			require.Equal(t, "no-store", r.Header.Get("Cache-Control"))
		}
	}
	var attempts []attempt
	for _, kind := range []string{"watch", "thumbnail"} {
		attempts = append(attempts,
			attempt{kind + " by a stranger", stranger, http.MethodGet, recorded("1/" + kind), nil, notFound},
			attempt{kind + " anonymously", n.Anonymous(region.EU), http.MethodGet, recorded("1/" + kind), nil, unauthorized},
			attempt{kind + " of recording 0", member, http.MethodGet, recorded("0/" + kind), nil, notFound},
			attempt{kind + " of recording 3", member, http.MethodGet, recorded("3/" + kind), nil, notFound},
			attempt{kind + " of recording 01", member, http.MethodGet, recorded("01/" + kind), nil, notFound},
			attempt{kind + " of another room", member, http.MethodGet, roomsPath + "/" + unknownID + "/recorded/1/" + kind, nil, notFound},
			attempt{kind + " of no room", member, http.MethodGet, roomsPath + "/x/recorded/1/" + kind, nil, notFound},
		)
	}
	requireAttempts(t, append(attempts, attempt{"no thumbnail", member, http.MethodGet, recorded("2/thumbnail"), nil, notFound}))
}
