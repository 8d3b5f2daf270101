package store_test

import (
	"fmt"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/db"
	"github.com/plaza-social/plaza/platform/store/db/dbtest"
	"github.com/plaza-social/plaza/platform/store/notify"
	"github.com/plaza-social/plaza/platform/store/people"
)

// putDevice registers a device of a user at some seconds after now.
func putDevice(t *testing.T, s *store.Store, userID, device, token string, seconds int) {
	t.Helper()
	w := s.NewTx(homeOf(userID))
	w.PutPushDevice(notify.PushDevice{
		UserID: userID, Device: device, Platform: "ios", Provider: "local", Token: token,
		UpdatedAt: later(seconds),
	})
	commit(t, w)
}

// tokensOf reads the tokens of the devices of a user.
func tokensOf(t *testing.T, s *store.Store, userID string) []string {
	t.Helper()
	var tokens []string
	r := s.NewReadBatch()
	r.Add(homeOf(userID), &db.Statement{SQL: `SELECT token FROM push_devices WHERE home = $1 AND user_id = $2 ORDER BY token`},
		func(rows pgx.Rows) (err error) {
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
	for i := range notify.MaxPushDevices {
		putDevice(t, s, user, fmt.Sprintf("%02x", i), fmt.Sprintf("token %02d", i), i)
		want = append(want, fmt.Sprintf("token %02d", i))
	}
	require.Equal(t, want, tokensOf(t, s, user))
	putDevice(t, s, user, "00", "token 00", 50) // again
	putDevice(t, s, user, "ff", "token 99", 49)
	require.Equal(t, append(append([]string{want[0]}, want[2:]...), "token 99"), tokensOf(t, s, user), "the oldest one is removed")
	putDevice(t, s, user, "aa", "token 98", -9)
	require.Contains(t, tokensOf(t, s, user), "token 98", "the one that was just registered, although it is the oldest")
	require.Len(t, tokensOf(t, s, user), notify.MaxPushDevices)
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
	w.TakePushToken(notify.PushTokenHash("token"), owner, later(5))
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
	revoked := people.Session{ID: region.NewID(region.EU), UserID: user, DeviceHash: []byte{0xbb}, CreatedAt: now, ExpiresAt: later(60)}
	w := s.NewTx(region.EU)
	w.InsertSession(people.Session{ID: region.NewID(region.EU), UserID: user, DeviceHash: []byte{0xaa}, CreatedAt: now, ExpiresAt: later(60)})
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

// TestClaimPushes reads the pushes of a provider that are due, the earliest first, with the token of the device if the user has a live
// session there.
func TestClaimPushes(t *testing.T) {
	s := openNew(t)
	user, other := region.NewID(region.EU), region.NewID(region.EU)
	devices := []string{"aa", "bb", "cc", "dd", "ee"} // with a session, revoked, expired, of another user, not registered
	w := s.NewTx(region.EU)
	for i, session := range []people.Session{
		{UserID: user},
		{UserID: user},
		{UserID: user, ExpiresAt: later(10)},
		{UserID: other},
		{UserID: user},
	} {
		session.ID, session.DeviceHash, session.CreatedAt = region.NewID(region.EU), []byte{byte(0xaa + 0x11*i)}, now
		if session.ExpiresAt.IsZero() {
			session.ExpiresAt = later(1000)
		}
		w.InsertSession(session)
		if devices[i] == "bb" {
			w.RevokeSession(user, session.ID, now)
		}
	}
	commit(t, w)
	want := map[string]*string{}
	add := func(name, provider, device string, seconds int) {
		t.Helper()
		p := notify.Push{Provider: provider, UserID: user, Device: device, Title: name, Data: []byte(`{}`), CreatedAt: later(seconds)}
		p.Identify(name)
		w := s.NewTx(region.EU)
		w.AddPush(p)
		commit(t, w)
	}
	for i, device := range devices {
		want[device] = nil
		if device != "ee" {
			putDevice(t, s, user, device, "token "+device, 0)
			putDevice(t, s, other, device, "other "+device, 0)
		}
		add(device, "local", device, i+1)
	}
	token := "token aa"
	want["aa"] = &token
	add("of another provider", "other", "aa", 1)
	add("too early", "local", "aa", 0)
	add("due now", "local", "bb", 10)
	add("later", "local", "aa", 11)
	claim := func(seconds, limit int) (found []notify.DuePush) {
		t.Helper()
		w := s.NewTx(region.EU)
		w.ClaimPushes("local", now, later(seconds), later(seconds+100), limit, &found)
		commit(t, w)
		return found
	}
	first := claim(10, 5)
	got := map[string]*string{}
	for _, p := range first {
		require.Equal(t, int64(1), p.Attempts)
		got[p.Title] = p.Token
	}
	require.Equal(t, want, got, "those that became due first, with their tokens")
	rest := claim(10, 5)
	require.Len(t, rest, 1, "the others are claimed")
	require.Equal(t, "due now", rest[0].Title)
	require.Empty(t, claim(10, 5))
	w = s.NewTx(region.EU)
	for _, p := range first[1:] {
		w.FinishPush(p.Push)
	}
	w.DelayPush(first[0].Push, later(12))
	commit(t, w)
	names := func(found []notify.DuePush) (titles []string) {
		for _, p := range found {
			titles = append(titles, p.Title)
		}
		return titles
	}
	require.ElementsMatch(t, []string{"later", first[0].Title}, names(claim(12, 9)))
}

// TestNotifiedDevices reads the devices of users that have a live session there, with the settings of the users. Users who are banned,
// deleted or have archived the channel get nothing.
func TestNotifiedDevices(t *testing.T) {
	url := dbtest.New(t)
	s, conn := open(t, url), connect(t, url)
	channel := region.NewID(region.EU)
	var ids []string
	users := map[string]string{}
	for _, name := range []string{"plain", "set", "banned", "deleted", "archived", "archived another", "signed out", "expired", "elsewhere"} {
		u := newUser(t, s, region.EU, name)
		ids, users[u.ID] = append(ids, u.ID), name
		session := people.Session{ID: region.NewID(region.EU), UserID: u.ID, DeviceHash: []byte{0xaa}, CreatedAt: now, ExpiresAt: later(11)}
		w := s.NewTx(region.EU)
		switch name {
		case "set":
			on, off := true, false
			w.PutNotificationSetting(notify.NotificationSetting{
				UserID: u.ID, Level: "user", Enabled: &on, Events: []byte(`{"u": 1}`),
				UpdatedAt: now,
			})
			w.PutNotificationSetting(notify.NotificationSetting{
				UserID: u.ID, Level: "channel", TargetID: channel, Enabled: &off,
				Events: []byte(`{"t": 1}`), UpdatedAt: now,
			})
			w.PutNotificationSetting(notify.NotificationSetting{
				UserID: u.ID, Level: "channel", TargetID: "another", Enabled: &on,
				Events: []byte(`{}`), UpdatedAt: now,
			})
		case "archived":
			w.ArchiveChannel(u.ID, channel, refused, now)
		case "archived another":
			w.ArchiveChannel(u.ID, region.NewID(region.EU), refused, now)
		case "expired":
			session.ExpiresAt = later(10)
		case "elsewhere":
			session.DeviceHash = []byte{0xbb}
		}
		w.InsertSession(session)
		if name == "signed out" {
			w.RevokeSession(u.ID, session.ID, now)
		}
		commit(t, w)
		putDevice(t, s, u.ID, "aa", "token", 0)
	}
	_,
		err := conn.Exec(t.Context(),
		`UPDATE users SET is_global_ban = public_id = 'banned', deleted_at = CASE WHEN public_id = 'deleted' THEN now() END`)
	require.NoError(t, err)
	for _, asked := range rotations(ids) {
		var found []notify.NotifiedDevice
		r := s.NewReadBatch()
		r.NotifiedDevices(region.EU, asked, later(10), "channel", channel, &found)
		run(t, r)
		got := map[string]string{}
		for _, d := range found {
			require.Equal(t, []string{"aa", "local"}, []string{d.Device, d.Provider})
			got[users[d.UserID]] = fmt.Sprintf("%t %s %t %s", d.UserEnabled != nil && *d.UserEnabled, d.UserEvents, d.TargetEnabled != nil,
				d.TargetEvents)
		}
		want := map[string]string{"plain": "false  false "}
		if len(asked) > 1 {
			want["set"] = `true {"u": 1} true {"t": 1}`
		}
		if len(asked) > 4 {
			want["archived another"] = want["plain"]
		}
		require.Equal(t, want, got)
		require.Len(t, found, len(want))
	}
}
