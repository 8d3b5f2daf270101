package subscription

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/service/internal/servicetest"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/messaging"
)

func profile(id string) events.Place { return events.Place{Kind: events.PlaceProfile, ID: id} }

// TestKeptAccess checks how long access is kept, and that what was read before it was forgotten is not.
func TestKeptAccess(t *testing.T) {
	t.Parallel()
	a, b, now := profile("a"), profile("b"), servicetest.Noon
	access := &Access{until: now.Add(Lifetime)}
	r := NewReader(auth.Claims{})
	r.keeper(a)(access)
	require.Same(t, access, r.kept(a, now.Add(Lifetime-time.Nanosecond)))
	require.Nil(t, r.kept(a, now.Add(Lifetime)))
	require.Nil(t, r.kept(b, now), "another place")

	r.keeper(b)(access)
	r.ForgetPlace(a)
	require.Nil(t, r.kept(a, now))
	require.Same(t, access, r.kept(b, now))
	for name, forget := range map[string]func(){"one place": func() { r.ForgetPlace(a) }, "all places": r.Forget} {
		keep := r.keeper(a)
		forget()
		keep(access)
		require.Nil(t, r.kept(a, now), name)
	}
	require.Nil(t, r.kept(b, now), "all places were forgotten")
}

func TestLimitOfKeptAccess(t *testing.T) {
	t.Parallel()
	now := servicetest.Noon
	access := &Access{until: now.Add(Lifetime)}
	r := NewReader(auth.Claims{})
	for i := range maxPlaces {
		r.keeper(profile(strconv.Itoa(i)))(access)
	}
	require.Same(t, access, r.kept(profile("0"), now))
	r.keeper(profile("last"))(access)
	require.Same(t, access, r.kept(profile("last"), now))
	require.Nil(t, r.kept(profile("0"), now))
}

// TestAccessToObjects checks which comments and messages a user who sees a place receives events about.
func TestAccessToObjects(t *testing.T) {
	t.Parallel()
	a := &Access{caller: servicetest.User(t, "alice"), sees: true}
	unseen := &Access{caller: a.caller}
	pending, hidden := "reviewing", servicetest.Noon
	for _, tc := range []struct {
		authorID string
		want     bool
	}{{"alice", true}, {"bob", false}} {
		require.Equal(t, tc.want, a.SeesComment(&content.Comment{AuthorID: tc.authorID, ApprovalStatus: pending}), tc.authorID)
		require.Equal(t, tc.want, a.SeesMessage(&messaging.Message{CreatorID: tc.authorID, HiddenAt: &hidden}), tc.authorID)
		require.True(t, a.SeesComment(&content.Comment{AuthorID: tc.authorID, ApprovalStatus: content.Approved}))
		require.True(t, a.SeesMessage(&messaging.Message{CreatorID: tc.authorID}))
		require.False(t, unseen.SeesComment(&content.Comment{AuthorID: tc.authorID, ApprovalStatus: content.Approved}))
		require.False(t, unseen.SeesMessage(&messaging.Message{CreatorID: tc.authorID}))
	}
}
