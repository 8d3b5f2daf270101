package conformance

import (
	"crypto/rand"
	"encoding/hex"
	"log/slog"
	"net/http"
	"net/url"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/directory"
	"github.com/plaza-social/plaza/platform/edge"
	"github.com/plaza-social/plaza/platform/limits"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/importer"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/db"
)

// newImporter returns an importer into the shared network, whose lines without a region belong to eu.
func newImporter(t *testing.T) *importer.Importer {
	t.Helper()
	log := slog.New(slog.DiscardHandler)
	st, err := store.Open(t.Context(), db.Config{
		URLs: map[region.Code]string{"": apptest.Shared(t).DatabaseURL}, PoolSize: 2, StatementTimeout: limits.Lifted, Limits: limits.Lift(),
		Log: log,
	})
	require.NoError(t, err)
	t.Cleanup(st.Close)
	requests, err := edge.NewRequests(importer.Requests()...)
	require.NoError(t, err)
	return importer.New(importer.Options{
		Store: st, Directory: directory.New(st, region.EU, []byte(apptest.DirectoryKey), service.Millis, log),
		Region: region.EU, Now: service.Millis, NewID: region.NewID, Decode: requests.Decode,
	})
}

// importExample imports the example of the documentation with ids that no other test uses: part replaces digits of its ids,
// and follows the names of its users.
func importExample(t *testing.T) (part string) {
	t.Helper()
	text, err := os.ReadFile("../service/importer/testdata/example.jsonl")
	require.NoError(t, err)
	random := make([]byte, 6)
	_, _ = rand.Read(random)
	part = hex.EncodeToString(random)
	lines := strings.NewReplacer("8b0d4a3c6e7f", part, `"ada"`, `"ada`+part+`"`, `"bob"`, `"bob`+part+`"`, `"cleo"`, `"cleo`+part+`"`,
		"granite", "granite"+part, "summit plans", "summit plans "+part).Replace(string(text))
	i, rows := newImporter(t), int64(strings.Count(lines, "\n"))
	at, err := i.Import(t.Context(), "example", strings.NewReader(lines), 1)
	require.NoError(t, err)
	require.Equal(t, importer.Progress{File: "example", Line: rows, Imported: rows}, at)
	at, err = i.Import(t.Context(), "example", strings.NewReader(lines), 1)
	require.NoError(t, err)
	require.Equal(t, importer.Progress{File: "example", Line: rows, Imported: rows, Present: rows}, at, "the second import changes nothing")
	return part
}

// TestImport reads what was imported through the API.
func TestImport(t *testing.T) {
	t.Parallel()
	part := importExample(t)
	n := apptest.Shared(t)
	bob := n.SignIn(t, region.US, "bob"+part)
	community, first, second := "02d2a0f0"+part+"1001", "02d6b3a4"+part+"2001", "02d6b410"+part+"2002"
	get := func(path string) *apptest.Response { return bob.Do(t, http.MethodGet, path, nil).OK(t) }

	profile := get("/api/v3/users/ada" + part)
	requireFields(t, profile, map[string]any{
		"users.0.displayName": "Ada", "users.0.description": "Climbs on Sundays", "users.0.avatarCustomUrl": "https://example.com/ada.png",
		"users.0.createdAt": "2019-03-04T05:06:07.890Z", "users.0.updatedAt": "2020-01-02T03:04:05.000Z",
	})
	require.Equal(t, "02", profile.String(t, "users.0.userInternalId")[:2])
	requireFields(t, get("/api/v3/communities/"+community), map[string]any{
		"communities.0.displayName": "Rock climbing", "communities.0.userId": "ada" + part, "communities.0.createdAt": "2019-05-08T09:10:11.120Z",
		"communities.0.updatedAt": "2021-02-03T04:05:06.000Z",
	})
	require.Equal(t, 3, get("/api/v3/communities/"+community).Int(t, "communities.0.membersCount"))
	require.Equal(t, 2, get("/api/v3/communities/"+community).Int(t, "communities.0.postsCount"))
	members := get("/api/v3/communities/" + community + "/users?sortBy=firstCreated")
	require.Equal(t, []string{"ada" + part, "bob" + part, "cleo" + part}, members.Strings(t, "communityUsers", "userId"))
	require.Equal(t, "2019-05-09T10:11:12.000Z", members.String(t, "communityUsers.1.createdAt"))

	feed := get("/api/v4/posts?targetType=community&targetId=" + community)
	require.Equal(t, []string{second, first}, feed.Strings(t, "posts", "postId"))
	requireFields(t, feed, map[string]any{
		"posts.1.createdAt": "2019-05-11T12:13:14.150Z", "posts.1.editedAt": "2019-05-11T12:20:00.000Z", "posts.1.postedUserId": "bob" + part,
		"posts.1.mentionees.0.userIds.0": "ada" + part, "posts.0.createdAt": "2019-05-12T13:14:15.000Z", "posts.0.data.title": "Ropes",
	})
	require.Equal(t, []string{first}, get(searchPath+"?hashtags=granite"+part).Strings(t, "posts", "postId"))
	require.Len(t, get("/api/v4/posts?targetType=user&targetId=ada"+part).List(t, "posts"), 1)
	requireImportedChat(t, part, bob)
	bob.Do(t, http.MethodPut, "/api/v4/posts/"+first, object{"data": object{"text": "Saturday"}}).OK(t)
	require.Equal(t, "approved", bob.Do(t, http.MethodPost, "/api/v3/comments",
		object{"referenceType": "post", "referenceId": second, "data": object{"text": "a"}}).OK(t).String(t, "comments.0.approvalStatus"))
}

// requireFields compares values of a response by their paths.
func requireFields(t *testing.T, r *apptest.Response, want map[string]any) {
	t.Helper()
	for path, value := range want {
		require.Equal(t, value, r.Get(t, path), path)
	}
}

// requireImportedChat reads the channel and the conversation of the example.
func requireImportedChat(t *testing.T, part string, bob *apptest.Client) {
	t.Helper()
	get := func(path string) *apptest.Response { return bob.Do(t, http.MethodGet, path, nil).OK(t) }
	channel := get("/api/v3/channels/" + url.PathEscape("summit plans "+part))
	requireFields(t, channel, map[string]any{"channels.0.displayName": "Summit plans", "channels.0.createdAt": "2019-06-01T08:00:00.000Z"})
	require.Equal(t, 2, channel.Int(t, "channels.0.memberCount"))
	list := get("/api/v3/messages?channelId=" + url.QueryEscape("summit plans "+part))
	require.Len(t, list.List(t, "messages"), 2)
	requireFields(t, list, map[string]any{
		"messages.1.data.text": "Which peak?", "messages.1.createdAt": "2019-06-01T08:24:32.100Z", "messages.1.creatorPublicId": "ada" + part,
		"messages.0.data.text": "The highest",
	})
	require.Equal(t, []int{2, 1}, []int{list.Int(t, "messages.0.segment"), list.Int(t, "messages.1.segment")})
	conversation := bob.Do(t, http.MethodPost, "/api/v3/channels/conversation", object{"userIds": []string{"cleo" + part}}).OK(t)
	require.Equal(t, "2019-06-02T09:00:00.000Z", conversation.String(t, "channels.0.createdAt"), "it is the imported one")
	said := get("/api/v3/messages?channelId=" + conversation.String(t, "channels.0.channelId"))
	require.Equal(t, "May I borrow a rope?", said.String(t, "messages.0.data.text"))
}
