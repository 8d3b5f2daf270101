//go:build faults

package faults

import (
	"bytes"
	"context"
	"image"
	"image/png"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

// created is a request that creates an object.
type created struct {
	path  string
	body  any
	table string // of the object
	id    string // path of its id, or of another value that identifies it, in the answer
	// by is who creates it; the author when nil.
	by *apptest.Client
}

// file is the body of a request that uploads a file.
type file struct{ name, content string }

// send sends the request with the Idempotency-Key of its name to a region.
func (c created) send(t *testing.T, author *apptest.Client, name string, at region.Code) *apptest.Response {
	t.Helper()
	by := author
	if c.by != nil {
		by = c.by
	}
	by = by.At(at).With("Idempotency-Key", strings.ReplaceAll(name, " ", "-"))
	if f, ok := c.body.(file); ok {
		return by.UploadTo(t, c.path, f.name, []byte(f.content))
	}
	return by.Do(t, http.MethodPost, c.path, c.body)
}

// creations returns a request for every kind of object, of the users of a network.
func creations(t *testing.T, author, other *apptest.Client) map[string]created {
	t.Helper()
	community := author.NewCommunity(t)
	postID := author.NewPost(t, community)
	elsewhere := other.NewCommunity(t)
	author.Join(t, elsewhere)
	reviewed := other.NewCommunity(t, object{"requiresJoinApproval": true})
	channel := post(t, author, "/api/v3/channels", object{"displayName": "chat"}).String(t, "channels.0.channelId")
	poll := post(t, author, "/api/v3/polls", object{"question": "?", "answers": []object{{"data": "a"}, {"data": "b"}}}).String(t,
		"polls.0.pollId")
	post(t, other, "/api/v3/posts/"+postID+"/flag", nil)
	admin, mover := author.Network.Admin(region.EU), author.Network.NewUser(t, region.EU, "mover")
	wall := object{"targetType": "user", "data": object{"text": "a"}}
	return map[string]created{
		"post": {"/api/v4/posts", wall, "posts", "posts.0.postId", nil},
		"post elsewhere": {
			"/api/v4/posts",
			object{"targetType": "community", "targetId": elsewhere, "data": object{"text": "a"}},
			"posts",
			"posts.0.postId", nil,
		},
		"post with poll": {
			"/api/v4/posts",
			object{"targetType": "user", "data": object{"text": "a", "pollId": poll}},
			"posts",
			"posts.0.postId", nil,
		},
		"comment": {
			"/api/v3/comments",
			object{"referenceType": "post", "referenceId": postID, "data": object{"text": "a"}},
			"comments",
			"comments.0.commentId", nil,
		},
		"community": {
			"/api/v3/communities",
			object{"displayName": "c", "isUniqueDisplayName": true},
			"communities",
			"communities.0.communityId", nil,
		},
		"channel":      {"/api/v3/channels", object{"displayName": "c", "channelId": "chosen"}, "channels", "channels.0.channelId", nil},
		"live channel": {"/api/v3/channels", object{"type": "live", "postId": postID}, "channels", "channels.0.channelId", nil},
		"conversation": {
			"/api/v3/channels/conversation",
			object{"userIds": []string{other.UserID}, "isDistinct": false},
			"channels",
			"channels.0.channelId", nil,
		},
		"subchannel": {"/api/v5/message-feeds", object{"channelId": channel, "name": "n"}, "message_feeds", "messageFeeds.0.messageFeedId", nil},
		"message": {
			"/api/v5/messages",
			object{"messageFeedId": channel, "data": object{"text": "a"}},
			"messages", "messages.0.messageId",
			nil,
		},
		"poll": {"/api/v3/polls", object{"question": "?", "answers": []object{{"data": "a"}, {"data": "b"}}}, "polls", "polls.0.pollId", nil},
		"story": {
			"/api/v4/stories",
			object{"targetType": "community", "targetId": community, "dataType": "text", "data": object{"text": "a"}},
			"stories", "stories.0.storyId", nil,
		},
		"room":   {"/api/v1/rooms", object{"title": "t"}, "rooms", "rooms.0.roomId", nil},
		"stream": {"/api/v3/video-streaming", object{"title": "t", "resolution": "SD"}, "video_streams", "videoStreamings.0.streamId", nil},
		"scheduled post": {
			"/api/v1/posts/schedule", object{"scheduledAt": time.Now().Add(time.Hour), "postData": wall}, "scheduled_posts", "data.id", nil,
		},
		"reaction": {
			"/api/v2/reactions",
			object{"referenceType": "post", "referenceId": postID, "reactionName": "like"},
			"reactions",
			"addedId", nil,
		},
		"join request": {"/api/v4/communities/" + reviewed + "/join", nil, "join_requests", "joinRequests.0.joinRequestId", nil},
		"invitation": {
			"/api/v1/invitations",
			object{"type": "communityMemberInvite", "targetType": "community", "targetId": community, "userIds": []string{other.UserID}},
			"invitations", "invitations.0._id", nil,
		},
		"file":     {"/api/v4/files", file{"a.txt", "content"}, "files", "0.fileId", nil},
		"image":    {"/api/v4/images", file{"a.png", picture(t)}, "files", "0.fileId", nil},
		"category": {"/api/v3/community-categories", object{"name": "n"}, "categories", "categories.0.categoryId", admin},
		"product": {
			"/api/v1/products",
			object{"productName": "n", "productUrl": "https://shop.example"},
			"products", "products.0.productId",
			admin,
		},
		"role": {
			"/api/v3/roles",
			object{"roleId": "guide", "displayName": "Guide", "permissions": []string{"EDIT_CHANNEL"}},
			"(SELECT DISTINCT id FROM roles) AS r", "roles.0.roleId", admin,
		},
		"note":   {"/api/v1/moderation/flag-items/" + postID + "/notes", object{"text": "seen"}, "flag_notes", "notes.0.noteId", nil},
		"claim":  {"/api/v1/moderation/flag-items/" + postID + "/claim", nil, "flag_items", "items.0.claimedUntil", nil},
		"export": {"/api/v4/users/" + author.UserID + "/export", nil, "user_exports", "export.requestedAt", nil},
		"move":   {"/api/v4/users/" + mover.UserID + "/move", object{"region": "sg"}, "user_moves", "move.requestedAt", admin},
	}
}

// picture returns a small image.
func picture(t *testing.T) string {
	t.Helper()
	var b bytes.Buffer
	require.NoError(t, png.Encode(&b, image.NewGray(image.Rect(0, 0, 9, 9))))
	return b.String()
}

// refuseAnswers makes the database refuse to store the answers of requests with an Idempotency-Key, as when the server stops
// between the commit of the operation and storing its answer. CockroachDB has no triggers of columns, and wants (NEW).
const refuseAnswers = `CREATE FUNCTION refuse_answer() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'the server has stopped'; END $$;
	CREATE TRIGGER refuse_answers BEFORE UPDATE ON idempotency_keys FOR EACH ROW WHEN ((NEW).answer IS NOT NULL) EXECUTE FUNCTION refuse_answer()`

// TestIdempotencyKeyAfterACrash loses the answers of requests after their commit, and restarts their server. The same keys
// get the same answers at another one, and nothing is created twice.
func TestIdempotencyKeyAfterACrash(t *testing.T) {
	t.Parallel()
	n := startAll(t)
	conn := connect(t, n)
	author, other := n.NewUser(t, region.EU, "author"), n.NewUser(t, region.US, "other")
	all := creations(t, author, other)
	_, err := conn.Exec(t.Context(), refuseAnswers)
	require.NoError(t, err)
	first, counts := map[string]*apptest.Response{}, map[string]int{}
	for name, c := range all {
		first[name] = c.send(t, author, name, region.EU)
		require.Less(t, first[name].Status, 300, "%s: %s", name, first[name].Short())
	}
	for _, c := range all {
		counts[c.table] = len(rows(t, conn, "SELECT 1 FROM "+c.table))
	}
	n.Restart(t, region.EU)
	_,
		err = conn.Exec(t.Context(),
		"DROP TRIGGER refuse_answers ON idempotency_keys; UPDATE idempotency_keys SET locked_until = now() - interval '1 second'")
	require.NoError(t, err)
	for name, c := range all {
		for _, at := range []region.Code{region.SG, region.US} {
			again := c.send(t, author, name, at)
			require.Equal(t, first[name].Status, again.Status, "%s: %s", name, again.Short())
			require.Equal(t, first[name].String(t, c.id), again.String(t, c.id), name)
			require.Equal(t, "true", again.Header.Get("Idempotency-Replayed"), name)
		}
	}
	for table, count := range counts {
		require.Len(t, rows(t, conn, "SELECT 1 FROM "+table), count, table)
	}
}

// TestIdempotencyKeyAfterALostConnection cuts the connections of the server to the database at each of its transactions. A
// repeated request creates the object once, whether or not the first one had.
func TestIdempotencyKeyAfterALostConnection(t *testing.T) {
	t.Parallel()
	var cut cutter
	n := startAll(t, apptest.WithStoreFault(cut.fault))
	conn := connect(t, n)
	author := n.NewUser(t, region.EU, "author")
	for i := range int64(6) {
		key := author.With("Idempotency-Key", string(rune('a'+i)))
		body := object{"targetType": "user", "data": object{"text": "a"}}
		cut.after(i)
		key.Do(t, http.MethodPost, "/api/v4/posts", body)
		cut.after(-1)
		_, err := conn.Exec(context.WithoutCancel(t.Context()), "UPDATE idempotency_keys SET locked_until = now() - interval '1 second'")
		require.NoError(t, err)
		post(t, key.At(region.SG), "/api/v4/posts", body)
		require.Len(t, rows(t, conn, "SELECT 1 FROM posts"), int(i)+1)
	}
}
