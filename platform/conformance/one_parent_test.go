package conformance

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

const parallel = 20

// sendTwenty sends the same request 20 times at once, to all regions, and returns how many answers had each status.
func sendTwenty(t *testing.T, by *apptest.Client, path string, body object) map[int]int {
	t.Helper()
	var requests []*http.Request
	for i := range parallel {
		requests = append(requests, by.At(region.All()[i%3]).Request(t, http.MethodPost, path, body))
	}
	found := map[int]int{}
	for _, status := range sendConcurrently(by.Network, requests) {
		found[status]++
	}
	return found
}

// TestEmbedsArePartOfOnePost makes 20 posts with the same poll, stream or room at once, at the home of the author and
// at another one. One succeeds, the others fail like a second one in sequence.
func TestEmbedsArePartOfOnePost(t *testing.T) {
	t.Parallel()
	author := newUser(t, region.EU, "author")
	there := newCommunity(t, author.At(region.SG))
	for place, target := range map[string]object{"here": {}, "elsewhere": {"targetType": "community", "targetId": there}} {
		for name, data := range map[string]object{
			"poll":   {"dataType": "poll", "data": object{"text": "x", "pollId": newPoll(t, author)}},
			"room":   {"dataType": "room", "data": object{"text": "x", "roomId": text(newRoom(t, author), "roomId")}},
			"stream": {"dataType": "liveStream", "data": object{"text": "x", "streamId": text(newStream(t, author), "streamId")}},
		} {
			t.Run(name+" "+place, func(t *testing.T) {
				post := with(data, target)
				require.Equal(t, map[int]int{http.StatusOK: 1, http.StatusBadRequest: parallel - 1}, sendTwenty(t, author, "/api/v4/posts", post))
				requireFailure(t, failure{status: 400, code: 400000}, author.Do(t, http.MethodPost, "/api/v4/posts", post))
			})
		}
	}
}

// TestReservationEnds reserves polls, streams and rooms for a post of another home. Once the reservation ends, those of a post that was
// not inserted can become part of another one, and those of a post that exists cannot.
func TestReservationEnds(t *testing.T) {
	t.Parallel()
	n := apptest.Shared(t)
	author := newUser(t, region.EU, "author")
	there := newCommunity(t, author.At(region.SG))
	for name, embed := range map[string]func() object{
		"poll": func() object {
			return object{"dataType": "poll", "data": object{"text": "x", "pollId": newPoll(t, author)}}
		},
		"room": func() object {
			return object{"dataType": "room", "data": object{"text": "x", "roomId": text(newRoom(t, author), "roomId")}}
		},
		"stream": func() object {
			return object{"dataType": "liveStream", "data": object{"text": "x", "streamId": text(newStream(t, author), "streamId")}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			reserve := func() (body object, post string) {
				body = with(embed(), object{"targetType": "community", "targetId": there})
				return body, author.Do(t, http.MethodPost, "/api/v4/posts", body).OK(t).String(t, "posts.0.postId")
			}
			lost, lostPost := reserve()
			kept, keptPost := reserve()
			execute(t, n, "DELETE FROM posts WHERE id = $1", lostPost)
			posts := []string{lostPost, keptPost}
			execute(t, n, "UPDATE outbox SET not_before = now() WHERE topic = 'reserved' AND payload->>'postId' = ANY($1::text[])", posts)
			eventually(t, "the reservations end", func() bool {
				return queryText(t, n, "SELECT count(*)::text FROM outbox WHERE topic = 'reserved' AND payload->>'postId' IN ('"+lostPost+"', '"+
					keptPost+"')") == "0"
			})
			author.Do(t, http.MethodPost, "/api/v4/posts", lost).OK(t)
			requireFailure(t, failure{status: 400, code: 400000}, author.Do(t, http.MethodPost, "/api/v4/posts", kept))
		})
	}
}

// TestOneLiveChannel creates the live channel of a post, a room and a stream 20 times at once.
func TestOneLiveChannel(t *testing.T) {
	t.Parallel()
	author := newUser(t, region.EU, "author")
	for name, of := range map[string]object{
		"post": {"postId": newWallPost(t, author)}, "room": {"roomId": text(newRoom(t, author), "roomId")},
		"stream": {"videoStreamId": text(newStream(t, author), "streamId")},
	} {
		t.Run(name, func(t *testing.T) {
			live := with(object{"type": "live"}, of)
			require.Equal(t, map[int]int{http.StatusOK: parallel}, sendTwenty(t, author, channelsPath, live))
			first := author.Do(t, http.MethodPost, channelsPath, live).OK(t).String(t, "channels.0.channelId")
			require.Equal(t, first, author.At(region.SG).Do(t, http.MethodPost, channelsPath, live).OK(t).String(t, "channels.0.channelId"))
			requireFailure(t, invalid("channelId"), author.Do(t, http.MethodPost, channelsPath, with(live, object{"channelId": "mine"})))
		})
	}
}

// TestRoleIDsAreUnique creates roles with ids that different homes decide about 20 times at once, through all regions,
// and again after they were deleted.
func TestRoleIDsAreUnique(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t) // the roles of the shared network are listed by other tests
	for _, id := range []string{"first-role", "second-role", "third-role", "fourth-role"} {
		for range 2 {
			created := sendTwenty(t, n.Admin(region.EU), rolesPath, object{"roleId": id, "permissions": []string{"BAN_USER"}})
			require.Equal(t, 1, created[http.StatusOK], created)
			require.Equal(t, parallel-1, created[exists.status], created)
			for _, code := range region.All() {
				eventually(t, "the role is known everywhere",
					func() bool { return n.Admin(code).Do(t, http.MethodGet, rolesPath+"/"+id, nil).Status == http.StatusOK })
			}
			n.Admin(region.SG).Do(t, http.MethodDelete, rolesPath+"/"+id, nil).OK(t)
			for _, code := range region.All() {
				eventually(t, "the deletion is known everywhere", func() bool {
					return n.Admin(code).Do(t, http.MethodGet, rolesPath+"/"+id, nil).Status == http.StatusNotFound
				})
			}
		}
	}
}
