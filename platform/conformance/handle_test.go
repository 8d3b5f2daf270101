package conformance

import (
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

var handleTaken = failure{
	status: http.StatusConflict, code: 400900,
	message: "Another user has this profile handle or one that looks like it",
}

const usersPath3 = "/api/v3/users"

// claim sets a user's profile handle.
func claim(t *testing.T, c *apptest.Client, handle string) *apptest.Response {
	t.Helper()
	return c.Do(t, http.MethodPut, usersPath3, object{"profileHandle": handle})
}

// TestUserIDsAreUnambiguous checks that a new user's id cannot look like another one because of characters that are not
// visible.
func TestUserIDsAreUnambiguous(t *testing.T) {
	t.Parallel()
	n := apptest.Shared(t)
	for _, bad := range []string{
		"admin ", " admin", "ad\u200bmin", "admin\u202e", "\u2066admin", "ad\u00admin", "admin\ufe0f", "ad\tmin", "ad\u00a0min", "ad\u3164min",
		"adm\u2800in", "re\u0301sume\u0301", "admin\u2028", "\ufeffadmin", "admin\U000E0041",
	} {
		r := device(n, region.EU).Do(t, http.MethodPost, "/api/v5/sessions", session(bad))
		requireFailure(t, invalid("userId"), r)
		require.Contains(t, string(r.Body), "userId: must ", "%q", bad)
		signed := device(n, region.EU).Do(t, http.MethodPost, "/api/v5/sessions", session(bad, object{"authToken": n.AuthToken(t, bad)}))
		requireFailure(t, invalid("userId"), signed)
		requireFailure(t, invalid("profileHandle"), claim(t, newUser(t, region.EU, "any"), bad))
	}
	for _, good := range []string{"a b", "日本語", "résumé", "😀", "a+b@example.com", "who/ever", "ADMIN", "ascWebSdk#1", "עברית"} {
		device(n, region.EU).Do(t, http.MethodPost, "/api/v5/sessions", session(apptest.UserID(good))).OK(t)
	}
}

// TestExistingAmbiguousUserIDs checks that users whose id was accepted by an earlier version can sign in, be read and
// changed, and that such ids do not become handles of others.
func TestExistingAmbiguousUserIDs(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	user := n.SignIn(t, region.EU, "legacy")
	twin := n.SignIn(t, region.US, "twin")
	conn := connectTo(t, n)
	const id = "legacy\u200b "
	_,
		err := conn.Exec(t.Context(),
		`UPDATE users SET public_id = $1, profile_handle = 'old one ', handle_key = 'old' WHERE public_id = 'legacy'`, id)
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), `UPDATE users SET profile_handle = 'OLD one ', handle_key = 'old' WHERE public_id = 'twin'`)
	require.NoError(t, err)
	for _, c := range []*apptest.Client{user, twin} {
		handle := c.Do(t, http.MethodGet, usersPath3+"/"+c.InternalID+"?type=internal", nil).OK(t).String(t, "users.0.profileHandle")
		r := c.Do(t, http.MethodPut, usersPath3, object{"description": "still here", "profileHandle": handle, "displayName": "New"}).OK(t)
		require.Equal(t, handle, r.String(t, "users.0.profileHandle"))
		require.Equal(t, "New", r.String(t, "users.0.displayName"))
	}
	mac := hmac.New(sha256.New, []byte(apptest.DirectoryKey))
	mac.Write([]byte(id))
	_, err = conn.Exec(t.Context(), `INSERT INTO directory (home, user_hash, user_id, created_at)
		SELECT home, $1, $2, now() FROM (VALUES ('us'), ('eu'), ('sg')) AS h (home)`, mac.Sum(nil), user.InternalID)
	require.NoError(t, err)
	for _, code := range region.All() {
		again := n.SignIn(t, code, id)
		require.Equal(t, user.InternalID, again.InternalID)
		again.Do(t, http.MethodPut, usersPath3, object{"userId": id, "displayName": "Newer"}).OK(t)
		twin.At(code).Do(t, http.MethodGet, usersPath3+"/"+url.PathEscape(id), nil).OK(t)
	}
}

// TestHandlesAreUnique checks that a handle has one holder, also if it is written with other characters that look alike,
// and that it can be taken by another user when its holder has changed it.
func TestHandlesAreUnique(t *testing.T) {
	t.Parallel()
	for i, home := range region.All() {
		owner, other := newUser(t, home, "owner"), newUser(t, region.All()[(i+1)%3], "other")
		base := strings.ReplaceAll(apptest.UserID("Panda Ace"), "-", "_")
		claim(t, owner, base).OK(t)
		for _, similar := range []string{
			base, strings.ToUpper(base), strings.ToLower(base), strings.Replace(base, "a", "а", 1), strings.Replace(base, "c", "ⅽ", 1),
			strings.Replace(base, "P", "Ｐ", 1), strings.Replace(base, "P", "𝐏", 1),
		} {
			requireFailure(t, handleTaken, claim(t, other, similar))
			fresh := device(apptest.Shared(t), home).Do(t, http.MethodPost, "/api/v5/sessions",
				session(apptest.UserID("new"), object{"profileHandle": similar}))
			requireFailure(t, handleTaken, fresh)
		}
		claim(t, owner, strings.ToUpper(base)).OK(t) // the holder can change how it is written
		claim(t, owner, base+"x").OK(t)
		require.Equal(t, base, claim(t, other, base).OK(t).String(t, "users.0.profileHandle"))
		requireFailure(t, handleTaken, claim(t, owner, base))
		claim(t, other, "").OK(t)
		claim(t, owner, base).OK(t)
	}
}

// TestOneOfSixteenGetsAHandle claims a handle in three regions at once, half of the times by signing in.
func TestOneOfSixteenGetsAHandle(t *testing.T) {
	t.Parallel()
	n := apptest.Shared(t)
	for round := range 6 {
		handle := apptest.UserID("wanted")
		var claimers [16]*apptest.Client
		for i := range claimers {
			claimers[i] = newUser(t, region.All()[i%3], "claimer")
		}
		var answers [16]*apptest.Response
		var all sync.WaitGroup
		for i, c := range claimers {
			all.Go(func() {
				if (round+i)%2 == 0 {
					answers[i] = c.Do(t, http.MethodPut, usersPath3, object{"profileHandle": strings.ToUpper(handle)})
					return
				}
				answers[i] = device(n, c.Region).Do(t, http.MethodPost, "/api/v5/sessions",
					session(fmt.Sprint(c.UserID, "b"), object{"profileHandle": handle}))
			})
		}
		all.Wait()
		won := 0
		for _, r := range answers {
			if r.Status == http.StatusOK {
				won++
				continue
			}
			requireFailure(t, handleTaken, r)
		}
		require.Equal(t, 1, won)
	}
}
