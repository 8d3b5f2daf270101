package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/db"
	"github.com/plaza-social/plaza/platform/store/people"
)

func TestUsers(t *testing.T) {
	s := openNew(t)
	u := newUser(t, s, region.EU, "anna")
	again := u
	again.DisplayName = "Another name"
	w := s.NewTx(region.EU)
	w.InsertUser(again, later(1))
	var after []people.User
	w.SelectUser(u.ID, &after)
	commit(t, w)
	require.Equal(t, "anna", after[0].DisplayName, "the first one stays")
	require.Equal(t, now, after[0].CreatedAt.UTC())

	name, text := "Ánna", "about"
	var changed *people.User
	w = s.NewTx(region.EU)
	w.UpdateUser(u.ID, people.UserChange{DisplayName: &name, Metadata: []byte(`{"a": 1}`)}, later(2), &changed)
	commit(t, w)
	require.Equal(t, name, changed.DisplayName)
	require.Equal(t, later(2), changed.UpdatedAt.UTC())
	w = s.NewTx(region.EU)
	w.UpdateUser(u.ID, people.UserChange{Description: &text}, later(3), &changed)
	commit(t, w)
	require.Equal(t, name, changed.DisplayName, "what is not named stays")
	require.JSONEq(t, `{"a": 1}`, string(changed.Metadata))

	w = s.NewTx(region.EU)
	w.UpdateUser(region.NewID(region.EU), people.UserChange{Description: &text}, now, &changed)
	commit(t, w)
	require.Nil(t, changed, "nobody")
}

func TestCaller(t *testing.T) {
	s := openNew(t)
	u := newUser(t, s, region.SG, "anna")
	session := people.Session{ID: region.NewID(region.SG), UserID: u.ID, DeviceHash: []byte{1}, CreatedAt: now, ExpiresAt: later(60)}
	other := session
	other.ID = region.NewID(region.SG)
	w := s.NewTx(region.SG)
	w.InsertSession(session)
	w.InsertSession(session)
	w.InsertSession(other)
	commit(t, w)
	caller := func(userID, sessionID string) *people.Caller {
		var c *people.Caller
		r := s.NewReadBatch()
		r.Caller(userID, sessionID, &c)
		run(t, r)
		return c
	}
	require.True(t, caller(u.ID, session.ID).SessionLive)
	require.Equal(t, "anna", caller(u.ID, session.ID).PublicID)
	require.False(t, caller(u.ID, region.NewID(region.SG)).SessionLive, "no such session")
	require.Nil(t, caller(region.NewID(region.SG), session.ID), "no such user")

	var banned *people.User
	w = s.NewTx(region.SG)
	w.RevokeSession(u.ID, session.ID, now)
	w.BanUser(u.ID, true, now, &banned)
	commit(t, w)
	require.True(t, banned.IsGlobalBan)
	require.False(t, caller(u.ID, session.ID).SessionLive)
	require.True(t, caller(u.ID, other.ID).SessionLive)
	require.True(t, caller(u.ID, other.ID).IsGlobalBan)

	w = s.NewTx(region.SG)
	w.RevokeSessions(u.ID, now)
	commit(t, w)
	require.False(t, caller(u.ID, other.ID).SessionLive)
}

func TestSweepSessions(t *testing.T) {
	s := openNew(t)
	u := newUser(t, s, region.US, "anna")
	w := s.NewTx(region.US)
	for i := range 3 {
		w.InsertSession(people.Session{ID: region.NewID(region.US), UserID: u.ID, DeviceHash: []byte{1}, CreatedAt: now, ExpiresAt: later(i)})
	}
	w.SweepSessions(later(2), new(int64))
	commit(t, w)
	var left int64
	r := s.NewReadBatch()
	r.Add(region.US, &db.Statement{SQL: `SELECT count(*) FROM sessions WHERE home = $1`}, scanRow(&left))
	run(t, r)
	require.Equal(t, int64(1), left, "the one that has not ended")
}
