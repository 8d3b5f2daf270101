package conformance

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

// This file holds inputs that belong to no noun alone.

// TestMentionsLineUp mentions somebody whom the network does not know between two whom it does: the three lists of a mention are of the
// same users in the same order, and whoever is unknown is in none.
func TestMentionsLineUp(t *testing.T) {
	t.Parallel()
	author, a, b := newUser(t, region.EU, "author"), newUser(t, region.US, "a"), newUser(t, region.SG, "b")
	mentions := []object{
		{"type": "user", "userIds": []string{a.UserID, "nobody-of-this-name", b.UserID}}, {"type": "user", "userIds": []string{"nobody-of-this-name"}},
	}
	want := []any{map[string]any{
		"type": "user", "userIds": []any{a.UserID, b.UserID}, "userPublicIds": []any{a.UserID, b.UserID}, "userInternalIds": []any{a.InternalID, b.InternalID},
	}}
	id := newPost(t, author, newCommunity(t, author), object{"mentionees": mentions})
	require.Equal(t, want, author.Do(t, http.MethodGet, "/api/v3/posts/"+id, nil).OK(t).Get(t, "posts.0.mentionees"))
	comment := newComment(t, author, id, object{"mentionees": mentions})
	require.Equal(t, want, author.Do(t, http.MethodGet, "/api/v3/comments/"+comment, nil).OK(t).Get(t, "comments.0.mentionees"))
}

// TestBlanksAreNoNames: an id or a name has something to see in it.
func TestBlanksAreNoNames(t *testing.T) {
	t.Parallel()
	n := apptest.Shared(t)
	author := newUser(t, region.EU, "author")
	id := newPost(t, author, newCommunity(t, author))
	device := n.Anonymous(region.EU).With("x-api-key", n.APIKey)
	for _, blank := range []string{" ", "   ", "\t\n", "\u00a0\u2003"} {
		requireFailure(t, invalid("userId"), device.Do(t, http.MethodPost, "/api/v5/sessions", object{"userId": blank, "deviceId": "d"}))
		for _, method := range []string{http.MethodPost, http.MethodDelete} {
			body := object{"referenceType": "post", "referenceId": id, "reactionName": blank}
			requireFailure(t, invalid("reactionName"), author.Do(t, method, "/api/v2/reactions", body))
		}
	}
	author.Do(t, http.MethodPost, "/api/v2/reactions", object{"referenceType": "post", "referenceId": id, "reactionName": " like it "}).OK(t)
}

// TestAdministratorsDoNotPost: with a target or without, an administrator hears why.
func TestAdministratorsDoNotPost(t *testing.T) {
	t.Parallel()
	author := newUser(t, region.EU, "author")
	words := object{"data": object{"text": "x"}}
	for name, target := range map[string]object{
		"no target": {}, "a wall": {"targetType": "user", "targetId": author.UserID}, "a community": {"targetType": "community", "targetId": newCommunity(t, author)},
		"content": {"targetType": "content", "targetId": "article"}, "unknown": {"targetType": "community", "targetId": unknownID},
	} {
		t.Run(name, func(t *testing.T) {
			r := admin(t).Do(t, http.MethodPost, "/api/v4/posts", with(words, target))
			requireFailure(t, forbidden, r)
			require.Contains(t, r.Short(), "needs a user")
		})
	}
}

// TestFileIDsAreLimitedAlike: the bytes of a file have the same limit of ids as what is known of it.
func TestFileIDsAreLimitedAlike(t *testing.T) {
	t.Parallel()
	alice := newUser(t, region.EU, "alice")
	for length, want := range map[int]failure{50: notFound, 51: invalid("fileId")} {
		path := filesPath + "/" + strings.Repeat("x", length)
		known, bytes := alice.Do(t, http.MethodGet, path, nil), alice.Do(t, http.MethodGet, path+"/download", nil)
		requireFailure(t, want, known)
		requireFailure(t, want, bytes)
		require.JSONEq(t, string(known.Body), string(bytes.Body))
	}
}

// TestFileNamesHaveNoPath: a name that a client prefers loses its folders, as the name that came with the file does.
func TestFileNamesHaveNoPath(t *testing.T) {
	t.Parallel()
	alice := newUser(t, region.EU, "alice")
	for given, want := range map[string]string{
		"../..//nice.png": "nice.png", "/etc/passwd": "passwd", `C:\folder\nice.png`: "nice.png", "folder/": "folder", "..": "file", "/": "file",
		`..\`: "file", "nice..png": "nice..png",
	} {
		f := upload(t, alice, "file", "own", []byte("x"), "preferredFilename", given)
		require.Equal(t, want, attributesOf(f)["name"], given)
		r := alice.Do(t, http.MethodGet, filesPath+"/"+text(f, "fileId")+"/download", nil).OK(t)
		require.Regexp(t, `filename="?`+want+`"?$`, r.Header.Get("Content-Disposition"), given)
	}
}
