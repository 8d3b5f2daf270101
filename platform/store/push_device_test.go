package store_test

import (
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/db"
)

// putDevice registers a device of a user at some seconds after now.
func putDevice(t *testing.T, s *store.Store, userID, device, token string, seconds int) {
	t.Helper()
	w := s.NewTx(homeOf(userID))
	w.PutPushDevice(store.PushDevice{UserID: userID, Device: device, Platform: "ios", Provider: "local", Token: token, UpdatedAt: later(seconds)})
	commit(t, w)
}

// tokensOf reads the tokens of the devices of a user.
func tokensOf(t *testing.T, s *store.Store, userID string) []string {
	t.Helper()
	var tokens []string
	r := s.NewReadBatch()
	r.Add(homeOf(userID), &db.Statement{SQL: `SELECT token FROM push_devices WHERE home = $1 AND user_id = $2 ORDER BY token`}, func(rows pgx.Rows) (err error) {
		tokens, err = pgx.CollectRows(rows, pgx.RowTo[string])
		return err
	}, userID)
	run(t, r)
	return tokens
}

// TestLatestDevices registers more devices of a user than are kept.
func TestLatestDevices(t *testing.T) {
	s := openNew(t)
	user, other := region.NewID(region.EU), region.NewID(region.EU)
	putDevice(t, s, other, "00", "of another user", -1)
	var want []string
	for i := range store.MaxPushDevices {
		putDevice(t, s, user, fmt.Sprintf("%02x", i), fmt.Sprintf("token %02d", i), i)
		want = append(want, fmt.Sprintf("token %02d", i))
	}
	require.Equal(t, want, tokensOf(t, s, user))
	putDevice(t, s, user, "00", "token 00", 50) // again
	putDevice(t, s, user, "ff", "token 99", 49)
	require.Equal(t, append(append([]string{want[0]}, want[2:]...), "token 99"), tokensOf(t, s, user), "the oldest one is removed")
	putDevice(t, s, user, "aa", "token 98", -9)
	require.Contains(t, tokensOf(t, s, user), "token 98", "the one that was just registered, although it is the oldest")
	require.Len(t, tokensOf(t, s, user), store.MaxPushDevices)
	require.Equal(t, []string{"of another user"}, tokensOf(t, s, other))
}

// TestTakePushToken gives a token to the user who registered it last: others have it no more, unless they registered it later.
func TestTakePushToken(t *testing.T) {
	s := openNew(t)
	owner, before, same, after := region.NewID(region.EU), region.NewID(region.EU), region.NewID(region.EU), region.NewID(region.EU)
	for user, seconds := range map[string]int{owner: 5, before: 4, same: 5, after: 6} {
		putDevice(t, s, user, "aa", "token", seconds)
	}
	putDevice(t, s, before, "bb", "another token", 1)
	w := s.NewTx(region.EU)
	w.TakePushToken(store.PushTokenHash("token"), owner, later(5))
	commit(t, w)
	require.Equal(t, []string{"token"}, tokensOf(t, s, owner))
	require.Equal(t, []string{"another token"}, tokensOf(t, s, before))
	require.Empty(t, tokensOf(t, s, same))
	require.Equal(t, []string{"token"}, tokensOf(t, s, after))
}

// TestRemovePushToken removes a device, unless it has got another token.
func TestRemovePushToken(t *testing.T) {
	s := openNew(t)
	user := region.NewID(region.EU)
	putDevice(t, s, user, "aa", "new", 0)
	putDevice(t, s, user, "bb", "other", 0)
	for _, tc := range []struct {
		token string
		left  []string
	}{{"old", []string{"new", "other"}}, {"new", []string{"other"}}} {
		w := s.NewTx(region.EU)
		w.RemovePushToken(user, "aa", tc.token)
		commit(t, w)
		require.Equal(t, tc.left, tokensOf(t, s, user))
	}
}

// TestGuardDeviceSession requires a session of the user on the device that was not revoked and has not expired.
func TestGuardDeviceSession(t *testing.T) {
	s := openNew(t)
	user := region.NewID(region.EU)
	revoked := store.Session{ID: region.NewID(region.EU), UserID: user, DeviceHash: []byte{0xbb}, CreatedAt: now, ExpiresAt: later(60)}
	w := s.NewTx(region.EU)
	w.InsertSession(store.Session{ID: region.NewID(region.EU), UserID: user, DeviceHash: []byte{0xaa}, CreatedAt: now, ExpiresAt: later(60)})
	w.InsertSession(revoked)
	w.RevokeSession(user, revoked.ID, now)
	commit(t, w)
	for name, tc := range map[string]struct {
		user, device string
		seconds      int
		refused      bool
	}{
		"signed in":         {user, "aa", 59, false},
		"expired":           {user, "aa", 60, true},
		"signed out":        {user, "bb", 0, true},
		"on another device": {user, "cc", 0, true},
		"as another user":   {region.NewID(region.EU), "aa", 0, true},
	} {
		w := s.NewTx(region.EU)
		w.GuardDeviceSession(tc.user, tc.device, later(tc.seconds), refused)
		err := w.Commit(t.Context())
		if tc.refused {
			require.ErrorIs(t, err, refused, name)
		} else {
			require.NoError(t, err, name)
		}
	}
}
