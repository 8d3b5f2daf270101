package store_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db/dbtest"
	"github.com/plaza-social/plaza/platform/store/media"
	"github.com/plaza-social/plaza/platform/store/messaging"
	"github.com/plaza-social/plaza/platform/store/people"
)

// listSeconds are the times of the rows of a list in the order of their ids: two rows have the same time.
var listSeconds = [...]int{2, 1, 1, 3}

// listIDs returns the ids of the rows of a list in their order.
func listIDs(home region.Code) []string {
	ids := make([]string, len(listSeconds))
	for i := range ids {
		ids[i] = region.NewID(home)
	}
	slices.Sort(ids)
	return ids
}

// requirePages reads the rows of a list with the times of listSeconds in pages of two, in both directions.
func requirePages(t *testing.T, ids []string, page func(after core.Position, desc bool) []core.Position) {
	t.Helper()
	for _, desc := range []bool{false, true} {
		want, after := []string{ids[1], ids[2], ids[0], ids[3]}, core.Position{}
		if desc {
			slices.Reverse(want)
			after.Time, after.Key = later(1000), "~"
		}
		var got []string
		for range want {
			rows := page(after, desc)
			if len(rows) == 0 {
				break
			}
			require.LessOrEqual(t, len(rows), 2, "the limit, descending: %t", desc)
			for _, p := range rows {
				got = append(got, p.ID)
			}
			after = rows[len(rows)-1]
		}
		require.Equal(t, want, got, "descending: %t", desc)
	}
}

// positions returns the positions of rows.
func positions[T any](rows []T, at func(T) (time.Time, string)) []core.Position {
	found := make([]core.Position, len(rows))
	for i, row := range rows {
		found[i].Time, found[i].ID = at(row)
	}
	return found
}

// TestPagesOfBlocks lists the users that a user blocks now, without those of other users.
func TestPagesOfBlocks(t *testing.T) {
	s := openNew(t)
	user, other, ids := region.NewID(region.EU), region.NewID(region.EU), listIDs(region.EU)
	for i, id := range ids {
		putBlock(t, s, user, id, people.BlockBlocked, later(listSeconds[i]))
		putBlock(t, s, other, id, people.BlockBlocked, later(2))
	}
	putBlock(t, s, other, region.NewID(region.EU), people.BlockBlocked, later(2))
	putBlock(t, s, user, region.NewID(region.EU), people.BlockNone, later(2))
	requirePages(t, ids, func(after core.Position, desc bool) []core.Position {
		var rows []people.Block
		r := s.NewReadBatch()
		r.ListBlocks(people.BlockList{UserID: user, Desc: desc, After: after.Time, AfterID: after.ID, Limit: 2}, &rows)
		run(t, r)
		return positions(rows, func(b people.Block) (time.Time, string) {
			require.Equal(t, user, b.BlockerID)
			return b.CreatedAt, b.BlockedID
		})
	})
}

// TestPagesOfRsvps lists the users who answered an event in one way, and the events that a user answered so.
func TestPagesOfRsvps(t *testing.T) {
	url := dbtest.New(t)
	s, conn := open(t, url), connect(t, url)
	event, user, other, ids := region.NewID(region.EU), region.NewID(region.EU), region.NewID(region.EU), listIDs(region.EU)
	answer := func(eventID, userID, status string, seconds int) {
		t.Helper()
		_,
			err := conn.Exec(t.Context(),
			`INSERT INTO event_rsvps (home, event_id, user_id, status, responded_at, created_at) VALUES ('eu', $1, $2, $3, $4, $5)`,
			eventID, userID, status, later(seconds), later(9-seconds))
		require.NoError(t, err)
	}
	for i, id := range ids {
		answer(event, id, content.RsvpGoing, listSeconds[i])
		answer(id, user, content.RsvpGoing, listSeconds[i])
	}
	answer(event, user, content.RsvpInterested, 2)
	answer(event, other, content.RsvpNotGoing, 2)
	answer(region.NewID(region.EU), other, content.RsvpGoing, 2)
	for _, l := range []content.RsvpList{{EventID: event}, {UserID: user}} {
		requirePages(t, ids, func(after core.Position, desc bool) []core.Position {
			l.Statuses, l.Desc, l.After, l.AfterID, l.Limit = []string{content.RsvpGoing}, desc, after.Time, after.ID, 2
			var rows []content.EventRsvp
			r := s.NewReadBatch()
			r.ListRsvps(l, &rows)
			run(t, r)
			return positions(rows, func(a content.EventRsvp) (time.Time, string) {
				if l.EventID != "" {
					return a.RespondedAt, a.UserID
				}
				return a.RespondedAt, a.EventID
			})
		})
	}
	requireAnswers := func(statuses []string, want ...string) {
		t.Helper()
		var rows []content.EventRsvp
		r := s.NewReadBatch()
		r.ListRsvps(content.RsvpList{EventID: event, Statuses: statuses, Limit: 9}, &rows)
		run(t, r)
		users := make([]string, len(rows))
		for i, a := range rows {
			users[i] = a.UserID
		}
		require.ElementsMatch(t, want, users, "%v", statuses)
	}
	requireAnswers([]string{content.RsvpInterested, content.RsvpNotGoing}, user, other)
	requireAnswers(nil, append(slices.Clone(ids), user, other)...)
}

// TestPagesOfScheduledPosts lists the scheduled posts of an author, and leaves out the published ones on demand.
func TestPagesOfScheduledPosts(t *testing.T) {
	s := openNew(t)
	author, ids := region.NewID(region.EU), listIDs(region.EU)
	put := func(id, authorID, status string, seconds int) content.ScheduledPost {
		t.Helper()
		p := aScheduledPost(id, authorID, later(seconds))
		p.Status = status
		w := s.NewTx(region.EU)
		w.InsertScheduledPost(p)
		commit(t, w)
		return p
	}
	for i, id := range ids {
		put(id, author, []string{content.ScheduleWaiting, content.ScheduleFailed}[i%2], listSeconds[i])
	}
	posted := put(region.NewID(region.EU), author, content.SchedulePosted, 2)
	other := put(region.NewID(region.EU), region.NewID(region.EU), content.ScheduleWaiting, 2)
	list := func(l content.ScheduledPostList) (found []string, rows []content.ScheduledPost) {
		t.Helper()
		r := s.NewReadBatch()
		r.ListScheduledPosts(l, &rows)
		run(t, r)
		for _, p := range rows {
			found = append(found, p.ID)
		}
		return found, rows
	}
	for _, byUpdate := range []bool{false, true} {
		requirePages(t, ids, func(after core.Position, desc bool) []core.Position {
			l := content.ScheduledPostList{
				AuthorID: author, NotPosted: true, ByUpdate: byUpdate, Desc: desc, After: after.Time, AfterID: after.ID,
				Limit: 2,
			}
			_, rows := list(l)
			return positions(rows, func(p content.ScheduledPost) (time.Time, string) { return l.Key(p), p.ID })
		})
	}
	found, _ := list(content.ScheduledPostList{AuthorID: author, Limit: 9})
	require.ElementsMatch(t, append(slices.Clone(ids), posted.ID), found, "also the published ones")
	found, _ = list(content.ScheduledPostList{NotPosted: true, Limit: 9})
	require.ElementsMatch(t, append(slices.Clone(ids), other.ID), found, "of every author")
}

// TestPagesOfStreams lists the streams of a creator with some statuses, without deleted ones.
func TestPagesOfStreams(t *testing.T) {
	url := dbtest.New(t)
	s, conn := open(t, url), connect(t, url)
	creator, ids := region.NewID(region.EU), listIDs(region.EU)
	put := func(id, creatorID, status string, seconds int) {
		t.Helper()
		w := s.NewTx(region.EU)
		w.InsertVideoStream(media.VideoStream{
			ID: id, CreatorID: creatorID, Status: status, Resolution: "SD", Metadata: []byte(`{}`),
			CreatedAt: later(seconds),
		}, refused)
		commit(t, w)
	}
	for i, id := range ids {
		put(id, creator, []string{"live", "ended"}[i%2], listSeconds[i])
	}
	deleted := region.NewID(region.EU)
	put(deleted, creator, "live", 2)
	put(region.NewID(region.EU), creator, "recorded", 2)
	put(region.NewID(region.EU), region.NewID(region.EU), "live", 2)
	_, err := conn.Exec(t.Context(), `UPDATE video_streams SET deleted_at = now() WHERE id = $1`, deleted)
	require.NoError(t, err)
	requirePages(t, ids, func(after core.Position, desc bool) []core.Position {
		var rows []media.VideoStream
		r := s.NewReadBatch()
		r.ListVideoStreams(media.StreamList{
			Creators: []string{creator}, Statuses: []string{"live", "ended"}, Desc: desc, After: after.Time, AfterID: after.ID, Limit: 2,
		}, &rows)
		run(t, r)
		return positions(rows, func(v media.VideoStream) (time.Time, string) { return v.CreatedAt, v.ID })
	})
}

// TestPagesOfUsersByName lists the users whose name begins with some letters, either the deleted ones or the others.
func TestPagesOfUsersByName(t *testing.T) {
	url := dbtest.New(t)
	s, conn := open(t, url), connect(t, url)
	live, deleted := listIDs(region.EU), listIDs(region.EU)
	put := func(id, name string) {
		t.Helper()
		w := s.NewTx(region.EU)
		w.InsertUser(people.User{ID: id, PublicID: id, DisplayName: name}, now)
		commit(t, w)
	}
	for i, n := range listSeconds {
		for _, ids := range [][]string{live, deleted} {
			put(ids[i], fmt.Sprint("An", n))
		}
	}
	for _, name := range []string{"Am9", "Ao1", "A", "Ben An2"} {
		put(region.NewID(region.EU), name)
	}
	_, err := conn.Exec(t.Context(), `UPDATE users SET deleted_at = now() WHERE id = ANY($1)`, deleted)
	require.NoError(t, err)
	requirePages(t, live, func(after core.Position, desc bool) []core.Position {
		var rows []people.UserListRow
		r := s.NewReadBatch()
		r.ListUsers(people.UserList{ByName: true, Prefix: "aN", Desc: desc, AfterKey: after.Key, AfterID: after.ID, Limit: 2}, &rows)
		run(t, r)
		found := make([]core.Position, len(rows))
		for i, row := range rows {
			found[i] = core.Position{Key: row.Key, ID: row.ID}
		}
		return found
	})
	for prefix, want := range map[string]int{"an": 4, "an1": 2, "a": 0} {
		for isDeleted, ids := range map[bool][]string{false: live, true: deleted} {
			var rows []people.UserListRow
			r := s.NewReadBatch()
			r.ListUsers(people.UserList{ByName: true, Prefix: prefix, Exact: prefix == "a", Deleted: isDeleted, Limit: 9}, &rows)
			run(t, r)
			if prefix == "a" && !isDeleted {
				require.Len(t, rows, 1, "the whole name")
				continue
			}
			require.Len(t, rows, want, "%q, deleted: %t", prefix, isDeleted)
			for _, row := range rows {
				require.Contains(t, ids, row.ID)
			}
		}
	}
}

// TestPagesOfChannelUsers lists the users of a channel by their creation or name, all of them or those with a role or a mute.
func TestPagesOfChannelUsers(t *testing.T) {
	s := openNew(t)
	moderator, other, at, until := []string{"channel-moderator"}, []string{"other"}, later(10), later(11)
	for _, tc := range map[string]struct {
		list    messaging.ChannelUserList
		another messaging.ChannelUser // whom the list does not have
	}{
		"all":              {messaging.ChannelUserList{}, messaging.ChannelUser{Membership: messaging.ChannelBanned}},
		"moderators":       {messaging.ChannelUserList{Roles: moderator}, messaging.ChannelUser{Roles: other, MutedUntil: &until}},
		"another role":     {messaging.ChannelUserList{Roles: other}, messaging.ChannelUser{Roles: moderator, MutedUntil: &until}},
		"muted":            {messaging.ChannelUserList{MutedAt: &at}, messaging.ChannelUser{Roles: moderator, MutedUntil: &at}},
		"muted moderators": {messaging.ChannelUserList{MutedAt: &at, Roles: moderator}, messaging.ChannelUser{Roles: moderator}},
		"by name":          {messaging.ChannelUserList{ByName: true, Prefix: "AN"}, messaging.ChannelUser{UserPublicID: "ao1"}},
		"moderators by name": {
			messaging.ChannelUserList{ByName: true, Prefix: "AN", Roles: moderator},
			messaging.ChannelUser{Roles: other, MutedUntil: &until},
		},
		"muted by name": {
			messaging.ChannelUserList{ByName: true, Prefix: "AN", MutedAt: &at},
			messaging.ChannelUser{Roles: moderator, MutedUntil: &at},
		},
	} {
		channel, ids := newChannel(t, s, region.EU), listIDs(region.EU)
		put := func(channelID, id string, u messaging.ChannelUser, seconds int) {
			t.Helper()
			u.UserID, u.UserPublicID, u.Membership = id, cmp.Or(u.UserPublicID, fmt.Sprint("An", seconds)), cmp.Or(u.Membership,
				messaging.ChannelMember)
			w := s.NewTx(region.EU)
			w.ChangeChannelUsers(channelID, []messaging.ChannelUserChange{{New: u}}, later(seconds))
			commit(t, w)
		}
		both := messaging.ChannelUser{Roles: append(slices.Clone(moderator), other...), MutedUntil: &until}
		for i, id := range ids {
			put(channel.ID, id, both, listSeconds[i])
		}
		banned := both
		banned.Membership = messaging.ChannelBanned
		put(channel.ID, region.NewID(region.EU), tc.another, 2)
		put(channel.ID, region.NewID(region.EU), banned, 2)
		put(newChannel(t, s, region.EU).ID, region.NewID(region.EU), both, 2)
		requirePages(t, ids, func(after core.Position, desc bool) []core.Position {
			l := tc.list
			l.ChannelID, l.Membership, l.Desc, l.AfterTime, l.AfterKey, l.AfterID, l.Limit = channel.ID, messaging.ChannelMember, desc, after.Time,
				after.Key, after.ID, 2
			var rows []messaging.ChannelUserRow
			r := s.NewReadBatch()
			r.ListChannelUsers(l, &rows)
			run(t, r)
			found := make([]core.Position, len(rows))
			for i, row := range rows {
				found[i] = core.Position{Time: row.CreatedAt, ID: row.UserID}
				if l.ByName {
					found[i] = core.Position{Key: row.NameKey, ID: row.UserID}
				}
			}
			slices.SortFunc(found, func(a, b core.Position) int { // callers sort a page
				order := cmp.Or(a.Time.Compare(b.Time), cmp.Compare(a.Key, b.Key), cmp.Compare(a.ID, b.ID))
				if desc {
					return -order
				}
				return order
			})
			return found
		})
	}
}
