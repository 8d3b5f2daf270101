package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/messaging"
)

func aChannel(home region.Code) messaging.Channel {
	id := region.NewID(home)
	return messaging.Channel{
		ID: id, PublicID: id, Type: "community", DisplayName: "Birds", IsPublic: true, Metadata: []byte(`{}`),
		NotificationMode: "default",
	}
}

func newChannel(t *testing.T, s *store.Store, home region.Code) messaging.Channel {
	t.Helper()
	c := aChannel(home)
	w := s.NewTx(home)
	w.InsertChannel(c, nil, now)
	commit(t, w)
	return c
}

func readChannel(t *testing.T, s *store.Store, id string) *messaging.Channel {
	t.Helper()
	var c *messaging.Channel
	r := s.NewReadBatch()
	r.Channel(id, &c)
	run(t, r)
	return c
}

func TestChannels(t *testing.T) {
	s := openNew(t)
	c := newChannel(t, s, region.SG)
	taken := s.NewTx(region.SG)
	taken.InsertChannel(c, fail.AlreadyExists("taken"), now)
	require.ErrorIs(t, taken.Commit(t.Context()), fail.AlreadyExists("taken"))
	name := "Bees"
	w := s.NewTx(region.SG)
	w.UpdateChannel(c, messaging.ChannelChange{DisplayName: &name}, later(1))
	until := later(60)
	w.MuteChannel(c.ID, &until, later(1))
	commit(t, w)
	changed := readChannel(t, s, c.ID)
	require.Equal(t, name, changed.DisplayName)
	require.True(t, changed.IsMuted(later(59)))
	require.False(t, changed.IsMuted(later(60)))
	require.Equal(t, "default", changed.NotificationMode, "what is not named stays")
	w = s.NewTx(region.SG)
	w.DeleteChannel(c.ID, "anna", later(2))
	commit(t, w)
	require.Equal(t, later(2), readChannel(t, s, c.ID).DeletedAt.UTC())
	for what, write := range map[string]func(w *store.Tx){
		"change": func(w *store.Tx) { w.UpdateChannel(c, messaging.ChannelChange{DisplayName: &name}, now) },
		"mute":   func(w *store.Tx) { w.MuteChannel(c.ID, nil, now) },
		"delete": func(w *store.Tx) { w.DeleteChannel(c.ID, "", now) },
	} {
		w := s.NewTx(region.SG)
		write(w)
		require.ErrorIs(t, w.Commit(t.Context()), fail.NotFound(), what)
	}
}

// TestChannelActivity is written once in five seconds, and never goes back.
func TestChannelActivity(t *testing.T) {
	s := openNew(t)
	c := newChannel(t, s, region.EU)
	for _, step := range []struct {
		at, want time.Time
	}{{later(4), now}, {later(6), later(6)}, {later(11), later(6)}, {later(2), later(6)}, {later(12), later(12)}} {
		w := s.NewTx(region.EU)
		w.UpdateChannelActivity(c.ID, step.at)
		commit(t, w)
		require.Equal(t, step.want, readChannel(t, s, c.ID).LastActivity.UTC(), step.at)
	}
}

// TestChannelUsers: a change that was decided on an older row does nothing, and the counts follow the rows.
func TestChannelUsers(t *testing.T) {
	s := openNew(t)
	c := newChannel(t, s, region.US)
	anna := messaging.ChannelUser{
		ChannelID: c.ID, UserID: region.NewID(region.EU), UserPublicID: "anna", Membership: messaging.ChannelMember,
		Roles: []string{"channel-moderator"},
	}
	ben := messaging.ChannelUser{
		ChannelID: c.ID, UserID: region.NewID(region.SG), UserPublicID: "ben", Membership: messaging.ChannelMember,
		JoinedAt: now,
	}
	change := func(changes ...messaging.ChannelUserChange) error {
		w := s.NewTx(region.US)
		w.ChangeChannelUsers(c.ID, changes, now)
		return w.Commit(t.Context())
	}
	counts := func() (members, moderators int64) {
		all := core.Counts{}
		r := s.NewReadBatch()
		r.CountsOf([]string{c.ID}, all)
		run(t, r)
		return all.Of(c.ID, core.CountMembers), all.Of(c.ID, core.CountModerators)
	}
	require.NoError(t, change(messaging.ChannelUserChange{New: anna}, messaging.ChannelUserChange{New: ben}))
	require.ErrorIs(t, change(messaging.ChannelUserChange{New: anna}), core.ErrConflict, "another request was faster")
	var read *messaging.ChannelUser
	r := s.NewReadBatch()
	r.ChannelUser(c.ID, anna.UserID, &read)
	run(t, r)
	require.True(t, read.IsModerator())
	left := *read
	left.Membership, left.Roles = messaging.ChannelNone, nil
	require.NoError(t, change(messaging.ChannelUserChange{Old: read, New: left}))
	require.ErrorIs(t, change(messaging.ChannelUserChange{Old: read, New: left}), core.ErrConflict)
	members, moderators := counts()
	require.Equal(t, []int64{1, 0}, []int64{members, moderators})
	require.NoError(t, change(messaging.ChannelUserChange{Old: &left, New: left}), "nothing to change")

	var page []messaging.ChannelUser
	r = s.NewReadBatch()
	r.ChannelUsersAfter(c.ID, "", 10, &page)
	run(t, r)
	require.Len(t, page, 1, "members alone")
	require.Equal(t, ben.UserID, page[0].UserID)
}
