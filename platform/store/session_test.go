package store_test

import (
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/db"
	"github.com/plaza-social/plaza/platform/store/db/dbtest"
	"github.com/plaza-social/plaza/platform/store/people"
)

// TestTrimSessions keeps the newest session of a user, even if its time is not the latest, and the latest others.
func TestTrimSessions(t *testing.T) {
	s := openNew(t)
	user, other := region.NewID(region.EU), region.NewID(region.EU)
	var ids []string
	w := s.NewTx(region.EU)
	for i := range 5 {
		ids = append(ids, region.NewID(region.EU))
		w.InsertSession(people.Session{ID: ids[i], UserID: user, DeviceHash: []byte{1}, CreatedAt: later(i), ExpiresAt: later(60)})
		w.InsertSession(people.Session{
			ID: region.NewID(region.EU), UserID: other, DeviceHash: []byte{1}, CreatedAt: later(i),
			ExpiresAt: later(60),
		})
	}
	w.TrimSessions(user, ids[0], 3)
	commit(t, w)
	read := func(userID string) (left []string) {
		t.Helper()
		r := s.NewReadBatch()
		r.Add(region.EU, &db.Statement{SQL: `SELECT id FROM sessions WHERE home = $1 AND user_id = $2`}, func(rows pgx.Rows) (err error) {
			left, err = pgx.CollectRows(rows, pgx.RowTo[string])
			return err
		}, userID)
		run(t, r)
		return left
	}
	require.ElementsMatch(t, append(ids[:1:1], ids[3:]...), read(user))
	require.Len(t, read(other), 5)
}

// TestRevokedSessions revokes a session, all sessions of a user, and one without a row. The first time remains.
func TestRevokedSessions(t *testing.T) {
	url := dbtest.New(t)
	s, conn := open(t, url), connect(t, url)
	user, guest := region.NewID(region.EU), region.NewID(region.EU)
	ids := []string{region.NewID(region.EU), region.NewID(region.EU), region.NewID(region.EU)}
	slices.Sort(ids)
	w := s.NewTx(region.EU)
	for _, id := range ids {
		w.InsertSession(people.Session{ID: id, UserID: user, DeviceHash: []byte{1}, CreatedAt: now, ExpiresAt: later(60)})
	}
	w.RevokeSession(user, ids[0], later(1))
	w.RevokeSession(user, ids[0], later(2))
	w.InsertRevokedSession(guest, ids[1], later(1), later(60))
	commit(t, w)
	isRevoked := func(userID, id string) (revoked bool) {
		t.Helper()
		r := s.NewReadBatch()
		r.SessionRevoked(userID, id, &revoked)
		run(t, r)
		return revoked
	}
	require.True(t, isRevoked(user, ids[0]))
	require.False(t, isRevoked(user, ids[1]), "the one of the guest")
	require.True(t, isRevoked(guest, ids[1]))
	require.False(t, isRevoked(guest, ids[0]))
	w = s.NewTx(region.EU)
	w.RevokeSessions(user, later(3))
	w.InsertSession(people.Session{ID: ids[1], UserID: user, DeviceHash: []byte{1}, CreatedAt: now, ExpiresAt: later(60)}) // again
	commit(t, w)
	var times []string
	rows,
		err := conn.Query(t.Context(),
		`SELECT to_char(revoked_at AT TIME ZONE 'UTC', 'SS') FROM sessions WHERE home = 'eu' AND user_id = $1 ORDER BY id`, user)
	require.NoError(t, err)
	times, err = pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.Equal(t, []string{"01", "03", "03"}, times)
}
