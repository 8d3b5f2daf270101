package conformance

import (
	"bytes"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/db"
)

// erasedID is the public id of the user whom the tests erase, and planted is part of every text that the user writes.
const (
	erasedID = "erase-me@example.com"
	planted  = "planted_secret"
)

// erasureFixture is a network in which one user left traces in every table.
type erasureFixture struct {
	n           *apptest.Network
	conn        *pgx.Conn
	user        *apptest.Client // in eu
	friend      *apptest.Client // in us
	stranger    *apptest.Client // in sg
	community   string          // of the friend
	friendsPost string
	channel     string // the channel of user and friend
	community2  string // of the user
}

func newErasureFixture(t *testing.T) *erasureFixture {
	t.Helper()
	n := apptest.Start(t)
	conn := connectTo(t, n)
	f := &erasureFixture{
		n: n, conn: conn, user: n.SignIn(t, region.EU, erasedID), friend: n.NewUser(t, region.US, "friend"),
		stranger: n.NewUser(t, region.SG, "stranger"),
	}
	f.leaveProfile(t)
	f.leaveContent(t)
	f.leaveRelations(t)
	f.leaveChat(t)
	return f
}

func (f *erasureFixture) do(t *testing.T, c *apptest.Client, method, path string, body any) *apptest.Response {
	t.Helper()
	return c.Do(t, method, path, body).OK(t)
}

func (f *erasureFixture) leaveProfile(t *testing.T) {
	t.Helper()
	avatar := text(upload(t, f.user, "image", planted+".png", pngOf(t, 8, 8)), "fileId")
	upload(t, f.user, "file", planted+".txt", []byte("the content of "+planted))
	f.do(t, f.user, http.MethodPut, "/api/v3/users", object{
		"userId": erasedID, "displayName": planted, "description": planted, "metadata": object{"email": erasedID}, "avatarFileId": avatar,
		"avatarCustomUrl": "https://example.com/" + planted, "profileHandle": planted,
	})
}

func (f *erasureFixture) mention() object {
	mentions := []object{{"type": "user", "userIds": []string{f.friend.UserID, erasedID}}}
	positions := []object{{"type": "user", "index": 0, "length": 3, "userId": erasedID}}
	return object{"mentionees": mentions, "mentionedUsers": mentions, "metadata": object{"mentioned": positions, "kept": "yes"}}
}

func (f *erasureFixture) leaveContent(t *testing.T) {
	t.Helper()
	data := object{"data": object{"text": planted}, "metadata": object{"note": planted}}
	f.community = newCommunity(t, f.friend)
	f.community2 = newCommunity(t, f.user)
	join(t, f.community, f.user, f.stranger)
	f.friendsPost = newPost(t, f.friend, f.community, f.mention())
	newComment(t, f.friend, f.friendsPost, f.mention())
	newWallStory(t, f.friend, f.mention())
	moderated := newPost(t, f.user, f.community, data, object{"tags": []string{planted}, "hashtags": []string{planted}})
	f.do(t, f.n.Admin(region.SG), http.MethodPut, "/api/v4/posts/"+moderated, object{"metadata": object{"note": planted}}) // is audited
	f.do(t, f.n.Admin(region.SG), http.MethodPut, "/api/v3/users", object{"userId": erasedID, "isBrand": true})
	wall := newWallPost(t, f.user, data)
	newComment(t, f.friend, wall)
	mine := newComment(t, f.user, f.friendsPost, data)
	newComment(t, f.friend, f.friendsPost, object{"parentId": mine})
	newStory(t, f.user, f.community2, object{"data": object{"text": planted}, "metadata": object{"note": planted}})
	f.do(t, f.user, http.MethodPost, "/api/v2/reactions",
		object{"referenceType": "post", "referenceId": f.friendsPost, "reactionName": "like"})
	f.do(t, f.user, http.MethodPost, "/api/v3/posts/"+f.friendsPost+"/flag", object{"reason": "Others", "detail": planted})
	f.leaveFlags(t)
	newScheduled(t, f.user, scheduling(timeIn(time.Hour), f.community, planted))
	f.do(t, f.user, http.MethodPost, pollsPath, object{"question": planted, "answers": []object{{"data": planted}, {"data": "that"}}})
	f.do(t, f.user, http.MethodPost, "/api/v3/video-streaming", object{"title": planted, "description": planted})
	newRoom(t, f.user, object{"title": planted, "metadata": object{"note": planted}})
	planned := object{
		"title": planted, "description": planted, "location": planted, "externalUrl": "https://example.com/" + planted,
		"tags": []string{planted},
	}
	newEvent(t, f.user, with(eventIn(f.community2), planned, object{"metadata": object{"note": planted}}))
	rsvp(t, f.friend, http.MethodPost, newEvent(t, f.user, with(eventIn(erasedID), planned, object{"originType": "user"})), "going").OK(t)
	rsvp(t, f.user, http.MethodPost, newEvent(t, f.friend, eventIn(f.community)), "going").OK(t)
}

// leaveFlags has the user write a flag that is cleared and a note about flags, and others write about the user.
func (f *erasureFixture) leaveFlags(t *testing.T) {
	t.Helper()
	cleared, noted := newPost(t, f.friend, f.community), newPost(t, f.user, f.community2)
	f.do(t, f.user, http.MethodPost, "/api/v3/posts/"+cleared+"/flag", object{"reason": "Others", "detail": planted})
	f.do(t, f.friend, http.MethodDelete, "/api/v3/posts/"+cleared+"/flags", nil)
	flag(t, f.stranger, "posts", noted)
	f.do(t, f.user, http.MethodPost, flagItemsPath+"/"+noted+"/notes", object{"text": planted})
	f.do(t, f.stranger, http.MethodPost, myFlagsPath+erasedID, object{"reason": "Others", "detail": planted})
	f.do(t, f.n.Admin(region.SG), http.MethodPost, flagItemsPath+"/"+f.user.InternalID+"/notes", object{"text": planted})
}

func (f *erasureFixture) leaveRelations(t *testing.T) {
	t.Helper()
	follow(t, f.user, f.friend)
	follow(t, f.friend, f.user)
	follow(t, f.stranger, f.user)
	block(t, f.user, f.n.NewUser(t, region.US, "blocked"))
	block(t, f.n.NewUser(t, region.SG, "blocker"), f.user)
	newInvitation(t, f.user, inviteMembers(f.community2, f.stranger))
	newInvitation(t, f.stranger, inviteMembers(newCommunity(t, f.stranger), f.user))
	closed := newCommunity(t, f.friend, object{"requiresJoinApproval": true})
	f.do(t, f.user, http.MethodPost, joinPath(closed), nil)
}

func (f *erasureFixture) leaveChat(t *testing.T) {
	t.Helper()
	f.channel = f.do(t, f.user, http.MethodPost, "/api/v3/channels/conversation",
		object{"type": "conversation", "userIds": []string{f.friend.UserID}, "isDistinct": true}).String(t, "channels.0.channelInternalId")
	f.do(t, f.user, http.MethodPost, archivesPath+"/"+f.channel, nil)
	own := newChannel(t, f.user, object{"type": "community"})
	f.do(t, f.friend, http.MethodPost, channelPath(own)+"/join", nil)
	message := func(c *apptest.Client, more ...object) {
		t.Helper()
		f.do(t, c, http.MethodPost, "/api/v5/messages",
			with(object{"messageFeedId": f.channel, "dataType": "text", "data": object{"text": "hello"}}, more...))
	}
	message(f.user, object{
		"data": object{"text": planted}, "referenceId": planted, "tags": []string{planted},
		"metadata": object{"note": planted},
	})
	message(f.friend, f.mention())
}

// awaitErasure waits until an erasure is done.
func (f *erasureFixture) awaitErasure(t *testing.T, id string) object {
	t.Helper()
	var erasure object
	require.Eventually(t, func() bool {
		erasure = f.do(t, f.n.Admin(region.SG), http.MethodGet, "/api/v1/erasures/"+id, nil).Get(t, "erasure").(object)
		return text(erasure, "state") == "done"
	}, apptest.Patience, 100*time.Millisecond)
	return erasure
}

// traces returns the tables and files that contain a text.
func (f *erasureFixture) traces(t *testing.T, text string) []string {
	t.Helper()
	var found []string
	for _, table := range db.Tables() {
		rows, err := f.conn.Query(t.Context(), fmt.Sprintf("SELECT t::text FROM %s AS t WHERE strpos(t::text, $1) > 0", table), text)
		require.NoError(t, err)
		texts, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err)
		for _, row := range texts {
			found = append(found, table+": "+row)
		}
	}
	require.NoError(t, filepath.WalkDir(f.n.Files, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if bytes.Contains(content, []byte(text)) {
			found = append(found, path)
		}
		return err
	}))
	return found
}

// TestErasure erases a user who left traces in every table. Nothing that the user wrote and nothing with the user's id
// remains, in any region.
func TestErasure(t *testing.T) {
	t.Parallel()
	f := newErasureFixture(t)
	require.NotEmpty(t, f.traces(t, planted))
	r := f.do(t, f.user, http.MethodDelete, "/api/v4/users/"+erasedID, nil)
	require.Equal(t, f.user.InternalID, r.String(t, "erasureId"))
	requireFailure(t, unauthorized, f.user.Do(t, http.MethodGet, "/api/v3/roles", nil))
	require.Equal(t, "DELETED_"+f.user.InternalID,
		f.do(t, f.friend, http.MethodGet, "/api/v3/users/"+f.user.InternalID+"?type=internal", nil).String(t, "users.0.userId"))

	erasure := f.awaitErasure(t, f.user.InternalID)
	require.Empty(t, erasure["step"])
	require.Equal(t, f.user.InternalID, erasure["requestedBy"])
	for _, at := range []string{"requestedAt", "updatedAt", "finishedAt"} {
		require.NotEmpty(t, erasure[at], at)
	}
	for _, kind := range []string{
		"posts", "comments", "stories", "messages", "files", "follows", "community_members", "channel_users",
		"reactions",
	} {
		require.Positive(t, erasure["erased"].(object)[kind], kind)
	}
	require.Empty(t, f.traces(t, planted))
	require.Empty(t, f.traces(t, erasedID))
	f.requireOthersIntact(t)

	again := f.n.SignIn(t, region.US, erasedID)
	require.NotEqual(t, f.user.InternalID, again.InternalID, "the id is free")
	f.do(t, again, http.MethodPut, "/api/v3/users", object{"profileHandle": planted})
}

// requireOthersIntact checks what remains for others.
func (f *erasureFixture) requireOthersIntact(t *testing.T) {
	t.Helper()
	r := f.do(t, f.friend, http.MethodGet, "/api/v3/posts/"+f.friendsPost, nil)
	require.Equal(t, []any{map[string]any{
		"type": "user", "userIds": []any{f.friend.UserID}, "userPublicIds": []any{f.friend.UserID}, "userInternalIds": []any{f.friend.InternalID},
	}}, r.Get(t, "posts.0.mentionees"))
	require.Equal(t, map[string]any{"mentioned": []any{}, "kept": "yes"}, r.Get(t, "posts.0.metadata"))
	require.EqualValues(t, 0, r.Get(t, "posts.0.reactionsCount"))
	community := f.do(t, f.friend, http.MethodGet, communitiesPath+"/"+f.community, nil)
	require.EqualValues(t, 2, community.Get(t, "communities.0.membersCount"))
	requireCounts(t, f.friend, 0, 0, 0)
	requireCounts(t, f.stranger, 0, 0, 0)
	messages := f.do(t, f.friend, http.MethodGet, "/api/v5/messages?messageFeedId="+f.channel+"&options[sortBy]=segmentAsc", nil).List(t,
		"messages")
	require.Len(t, messages, 2, "messages keep their places")
	require.Equal(t, true, messages[0].(object)["isDeleted"])
	require.EqualValues(t, 2, messages[1].(object)["segment"])
	require.EqualValues(t, 1, getChannel(t, f.friend, f.channel)["memberCount"])
}

// TestErasureByAdministrator checks who may erase whom, and that an erasure begins once.
func TestErasureByAdministrator(t *testing.T) {
	t.Parallel()
	f := newErasureFixture(t)
	requireFailure(t, forbidden, f.friend.Do(t, http.MethodDelete, "/api/v4/users/"+erasedID, nil))
	first := f.do(t, f.n.Admin(region.US), http.MethodDelete, "/api/v4/users/"+erasedID+"?deleteAll=true&hardDeletePost=true", nil)
	require.Equal(t, true, first.Get(t, "success"))
	requireFailure(t, notFound, f.n.Admin(region.US).Do(t, http.MethodDelete, "/api/v4/users/"+erasedID, nil))
	requireFailure(t, forbidden, f.friend.Do(t, http.MethodGet, "/api/v1/erasures/"+f.user.InternalID, nil))
	requireFailure(t, notFound, f.n.Admin(region.US).Do(t, http.MethodGet, "/api/v1/erasures/"+unknownID, nil))
	require.Empty(t, f.awaitErasure(t, f.user.InternalID)["requestedBy"])
	require.Empty(t, f.traces(t, planted))
}
