package conformance

import (
	"net/http"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

// postsOf returns the number of posts on the wall of a user.
func postsOf(t *testing.T, c *apptest.Client) int {
	t.Helper()
	return len(c.Do(t, http.MethodGet, "/api/v4/posts?targetType=user&targetId="+c.UserID, nil).OK(t).List(t, "posts"))
}

func textPost(text string) object { return object{"data": object{"text": text}} }

// TestIdempotencyKey checks that a repeated request has the same answer at every server and creates nothing.
func TestIdempotencyKey(t *testing.T) {
	t.Parallel()
	alice, bob := newUser(t, region.EU, "alice"), newUser(t, region.EU, "bob")
	keyed := alice.With("Idempotency-Key", "key 1")
	require.Equal(t, http.StatusUnprocessableEntity, keyed.Do(t, http.MethodPost, postsPath, textPost("a")).Status, "a space")
	keyed = alice.With("Idempotency-Key", "key-1")
	first := keyed.Do(t, http.MethodPost, postsPath, textPost("a")).OK(t)
	require.Empty(t, first.Header.Get("Idempotency-Replayed"))
	for _, code := range region.All() {
		again := keyed.At(code).Do(t, http.MethodPost, postsPath, textPost("a")).OK(t)
		require.JSONEq(t, string(first.Body), string(again.Body))
		require.Equal(t, "true", again.Header.Get("Idempotency-Replayed"))
	}
	rpc := keyed.Do(t, http.MethodPost, "/plaza.v1.PostService/CreatePost", textPost("a"))
	require.Equal(t, first.String(t, "posts.0.postId"), rpc.OK(t).String(t, "posts.0.postId"))
	require.Equal(t, 1, postsOf(t, alice))
	for _, other := range []*apptest.Response{
		keyed.Do(t, http.MethodPost, postsPath, textPost("b")),
		keyed.Do(t, http.MethodPost, "/api/v3/communities", object{"displayName": "c"}),
	} {
		require.Equal(t, http.StatusUnprocessableEntity, other.Status)
		require.Equal(t, "Idempotency-Key: was used for a different request", other.String(t, "data.detail.0"))
	}
	bob.With("Idempotency-Key", "key-1").Do(t, http.MethodPost, postsPath, textPost("a")).OK(t)
	require.Equal(t, 1, postsOf(t, bob), "the key of another caller")
	alice.With("Idempotency-Key", "key-2").Do(t, http.MethodPost, postsPath, textPost("a")).OK(t)
	require.Equal(t, 2, postsOf(t, alice))
}

func TestIdempotencyKeyOfAdministrators(t *testing.T) {
	t.Parallel()
	n, key := apptest.Shared(t), apptest.UserID("key")
	admin := n.Admin(region.EU).With("Idempotency-Key", key)
	body := object{"name": apptest.UserID("category")}
	first := admin.Do(t, http.MethodPost, "/api/v3/community-categories", body).OK(t)
	again := admin.At(region.SG).Do(t, http.MethodPost, "/api/v3/community-categories", body).OK(t)
	require.JSONEq(t, string(first.Body), string(again.Body))
	other := n.Bearer(region.EU, n.MintAdmin(t, "another", time.Now(), time.Hour)).With("Idempotency-Key", key)
	require.NotEqual(t, first.Body, other.Do(t, http.MethodPost, "/api/v3/community-categories", body).OK(t).Body,
		"the key of another administrator")
}

// TestIdempotencyKeyWithoutCaller signs users in, one after the other, with the same key or a wrong one: it has no effect.
func TestIdempotencyKeyWithoutCaller(t *testing.T) {
	t.Parallel()
	n := apptest.Shared(t)
	for _, key := range []string{apptest.UserID("key"), "wrong key"} {
		a, b := apptest.UserID("a"), apptest.UserID("b")
		for _, id := range []string{a, a, b, b} {
			r := device(n, region.EU).With("Idempotency-Key", key).Do(t, http.MethodPost, "/api/v5/sessions", session(id)).OK(t)
			require.Empty(t, r.Header.Get("Idempotency-Replayed"))
			require.Equal(t, id, r.String(t, "users.0.userId"))
		}
	}
}

func TestIdempotencyKeyIsBounded(t *testing.T) {
	t.Parallel()
	alice := newUser(t, region.EU, "alice")
	for key, status := range map[string]int{
		strings.Repeat("k", 255): http.StatusOK, strings.Repeat("k", 256): http.StatusUnprocessableEntity, "~!": http.StatusOK,
		"a\tb": http.StatusUnprocessableEntity, "é": http.StatusUnprocessableEntity,
	} {
		require.Equal(t, status, alice.With("Idempotency-Key", key).Do(t, http.MethodPost, postsPath, textPost("a")).Status, key)
	}
}

// TestIdempotencyKeyAfterARefusal checks that a request that changed nothing does not use up its key.
func TestIdempotencyKeyAfterARefusal(t *testing.T) {
	t.Parallel()
	alice := newUser(t, region.EU, "alice").With("Idempotency-Key", "key")
	missing := object{"data": object{"text": "a"}, "targetType": "community", "targetId": "0000000000000000000000ff"}
	require.GreaterOrEqual(t, alice.Do(t, http.MethodPost, postsPath, missing).Status, 400)
	alice.Do(t, http.MethodPost, postsPath, textPost("a")).OK(t)
}

// TestIdempotencyKeyConcurrently checks that of concurrent requests one creates, and the others wait or get its answer.
func TestIdempotencyKeyConcurrently(t *testing.T) {
	t.Parallel()
	alice := newUser(t, region.EU, "alice")
	var g sync.WaitGroup
	for i := range 12 {
		g.Go(func() {
			answer := alice.At(region.All()[i%3]).With("Idempotency-Key", "key").Do(t, http.MethodPost, postsPath, textPost("a"))
			if answer.Status != http.StatusOK && answer.Status != http.StatusConflict {
				t.Error(answer.Short())
			}
			if answer.Status == http.StatusConflict && answer.Header.Get("Retry-After") == "" {
				t.Error("no Retry-After")
			}
		})
	}
	g.Wait()
	require.Equal(t, 1, postsOf(t, alice))
}

// TestIdempotencyKeyAfterACrash removes the answer, as when the server stops between the commit and storing it: a retry
// at another server gets the post and creates nothing.
func TestIdempotencyKeyAfterACrash(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	alice := n.NewUser(t, region.EU, "alice")
	community := n.NewUser(t, region.US, "owner").NewCommunity(t)
	alice.Join(t, community)
	alice = alice.With("Idempotency-Key", "key")
	conn := connectTo(t, n)
	body := object{"data": object{"text": "a"}, "targetType": "community", "targetId": community}
	first := alice.Do(t, http.MethodPost, postsPath, body).OK(t)
	_, err := conn.Exec(t.Context(), "UPDATE idempotency_keys SET answer = NULL, locked_until = now() - interval '1 second'")
	require.NoError(t, err)
	again := alice.At(region.SG).Do(t, http.MethodPost, postsPath, body).OK(t)
	require.Equal(t, first.String(t, "posts.0.postId"), again.String(t, "posts.0.postId"))
	posts := alice.Do(t, http.MethodGet, postsPath+"?targetType=community&targetId="+community, nil).OK(t)
	require.Len(t, posts.List(t, "posts"), 1)
}

// TestIdempotencyKeyOfInvitationsAfterACrash removes the answer with the invitations of two users: a retry gets both of them, and
// creates none.
func TestIdempotencyKeyOfInvitationsAfterACrash(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	boss, bob, carol := n.NewUser(t, region.EU, "boss"), n.NewUser(t, region.US, "bob"), n.NewUser(t, region.SG, "carol")
	body := inviteMembers(newCommunity(t, boss), bob, carol)
	boss = boss.With("Idempotency-Key", "key")
	first := requireInvitations(t, boss.Do(t, http.MethodPost, invitationsPath, body))
	execute(t, n, "UPDATE idempotency_keys SET answer = NULL, locked_until = now() - interval '1 second'")
	again := requireInvitations(t, boss.At(region.SG).Do(t, http.MethodPost, invitationsPath, body))
	require.Len(t, first.lists["invitations"], 2)
	require.ElementsMatch(t, first.lists["invitations"], again.lists["invitations"])
}

// TestIdempotencyKeyOfLargeAnswers repeats requests whose answers are too large to be stored: one that creates a post, and one that
// flags it.
func TestIdempotencyKeyOfLargeAnswers(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	alice, bob := n.NewUser(t, region.EU, "alice").With("Idempotency-Key", "key"),
		n.NewUser(t, region.EU, "bob").With("Idempotency-Key", "key")
	body := object{"dataType": "my.type", "data": jsonOf(t, 9<<10)}
	first := alice.Do(t, http.MethodPost, postsPath, body).OK(t)
	again := alice.At(region.SG).Do(t, http.MethodPost, postsPath, body).OK(t)
	require.JSONEq(t, string(first.Body), string(again.Body))
	require.Equal(t, 1, postsOf(t, alice))
	flagPath := "/api/v3/posts/" + first.String(t, "posts.0.postId") + "/flag"
	flagged := bob.Do(t, http.MethodPost, flagPath, nil).OK(t)
	require.JSONEq(t, string(flagged.Body), string(bob.Do(t, http.MethodPost, flagPath, nil).OK(t).Body))
	require.Equal(t, "0", queryText(t, n, "SELECT COALESCE(sum(length(answer)), 0)::text FROM idempotency_keys"))
}

// TestIdempotencyKeysStoreLittle has a user receive more answers than are stored: one past the limit is read again.
func TestIdempotencyKeysStoreLittle(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	alice := n.NewUser(t, region.EU, "alice")
	body := object{"dataType": "my.type", "data": jsonOf(t, 5<<10)}
	const most = 1 << 20 // bytes
	stored := func() int {
		bytes, err := strconv.Atoi(queryText(t, n, "SELECT COALESCE(sum(length(answer)), 0)::text FROM idempotency_keys"))
		require.NoError(t, err)
		return bytes
	}
	var first *apptest.Response
	before, key := -1, ""
	for now := 0; now > before; now = stored() { // until an answer was not stored
		before, key = now, strconv.Itoa(now)
		first = alice.With("Idempotency-Key", key).Do(t, http.MethodPost, postsPath, body).OK(t)
	}
	require.LessOrEqual(t, before, most)
	require.Greater(t, before, most/2)
	again := alice.With("Idempotency-Key", key).Do(t, http.MethodPost, postsPath, body).OK(t)
	require.JSONEq(t, string(first.Body), string(again.Body))
	require.Equal(t, before, stored())
	n.NewUser(t, region.EU, "bob").With("Idempotency-Key", key).Do(t, http.MethodPost, postsPath, body).OK(t)
	require.Greater(t, stored(), before, "another user has a limit of their own")
}

// TestIdempotencyKeyOfUploads repeats an upload through another region, with another form, and with other content.
func TestIdempotencyKeyOfUploads(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	alice := n.NewUser(t, region.EU, "alice").With("Idempotency-Key", "key")
	first := alice.Upload(t, "file", "a.txt", []byte("content"), "altText", "x").OK(t)
	again := alice.At(region.SG).Upload(t, "file", "a.txt", []byte("content"), "altText", "x").OK(t)
	require.Equal(t, first.String(t, "0.fileId"), again.String(t, "0.fileId"))
	require.Equal(t, "true", again.Header.Get("Idempotency-Replayed"))
	require.Empty(t, first.Header.Get("Idempotency-Replayed"))
	for name, r := range map[string]*apptest.Response{
		"content": alice.Upload(t, "file", "a.txt", []byte("Content"), "altText", "x"),
		"name":    alice.Upload(t, "file", "b.txt", []byte("content"), "altText", "x"),
		"field":   alice.Upload(t, "file", "a.txt", []byte("content"), "altText", "y"),
		"kind":    alice.UploadTo(t, "/api/v3/files", "a.txt", []byte("content"), "altText", "x"),
	} {
		require.Equal(t, http.StatusUnprocessableEntity, r.Status, name)
		require.Equal(t, "Idempotency-Key: was used for a different request", r.String(t, "data.detail.0"), name)
	}
	require.Equal(t, "1", queryText(t, n, "SELECT count(*)::text FROM files"))
	require.Empty(t, queryText(t, n, "SELECT COALESCE(string_agg(id, ' '), '') FROM uploads"), "what was not needed is removed")
	alice.With("Idempotency-Key", "another").Upload(t, "file", "a.txt", []byte("content"), "altText", "x").OK(t)
	require.Equal(t, "2", queryText(t, n, "SELECT count(*)::text FROM files"))
	require.Equal(t, http.StatusUnprocessableEntity, alice.With("Idempotency-Key", "a b").Upload(t, "file", "a.txt", []byte("content")).Status)
}
