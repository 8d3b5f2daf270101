//go:build faults

package faults

import (
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

// signIn requests a session of a user in a region.
func signIn(t *testing.T, n *apptest.Network, at region.Code, userID string) *apptest.Response {
	t.Helper()
	return n.Anonymous(at).With("X-API-Key", n.APIKey).Do(t, http.MethodPost, "/api/v5/sessions", object{
		"userId": userID, "deviceId": "faults", "deviceInfo": object{"kind": "node"},
	})
}

// TestConcurrentFirstSignIns signs the same new users in to all regions concurrently. Each becomes one user with one
// home, and every session is valid everywhere.
func TestConcurrentFirstSignIns(t *testing.T) {
	t.Parallel()
	n := startAll(t)
	conn := connect(t, n)
	for i := range 5 {
		userID := fmt.Sprintf("at once %d", i)
		answers := make([]*apptest.Response, 6)
		var all sync.WaitGroup
		for j := range answers {
			all.Go(func() { answers[j] = signIn(t, n, region.All()[j%3], userID) })
		}
		all.Wait()
		internal := map[string]bool{}
		for _, answer := range answers {
			internal[answer.OK(t).String(t, "users.0._id")] = true
			for _, at := range region.All() {
				n.Bearer(at, answer.String(t, "accessToken")).Do(t, http.MethodGet, "/api/v3/sessions", nil).OK(t)
			}
		}
		require.Len(t, internal, 1)
		require.Len(t, rows(t, conn, `SELECT id FROM users WHERE public_id = $1`, userID), 1)
	}
}

// TestInternalIDCannotSignIn signs in with an internal id, which is visible in answers, instead of a public one.
func TestInternalIDCannotSignIn(t *testing.T) {
	t.Parallel()
	n := startAll(t)
	anna := n.NewUser(t, region.EU, "anna")
	before := len(rows(t, connect(t, n), `SELECT id FROM users`))
	for _, at := range region.All() {
		answer := signIn(t, n, at, anna.InternalID)
		code, _ := answer.Error(t)
		require.Equal(t, http.StatusUnprocessableEntity, answer.Status)
		require.Equal(t, 500000, code)
	}
	require.Len(t, rows(t, connect(t, n), `SELECT id FROM users`), before)
}
