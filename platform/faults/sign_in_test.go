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

// signIn asks for a session of a user at a region.
func signIn(t *testing.T, n *apptest.Network, at region.Code, userID string) *apptest.Response {
	t.Helper()
	return n.Anonymous(at).With("X-API-Key", n.APIKey).Do(t, http.MethodPost, "/api/v5/sessions", object{
		"userId": userID, "deviceId": "faults", "deviceInfo": object{"kind": "node"},
	})
}

// TestFirstSignInsAtOnce signs the same new people in at all regions at the same time: each is one user, who lives at one
// of the regions, and every session holds everywhere.
func TestFirstSignInsAtOnce(t *testing.T) {
	n := apptest.Start(t)
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

// TestNobodySignsInAsSomebodyElse takes an internal id, which anybody can read in an answer, for a public one.
func TestNobodySignsInAsSomebodyElse(t *testing.T) {
	n := apptest.Start(t)
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
