package store_test

import (
	"time"

	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/media"
	"github.com/plaza-social/plaza/platform/store/messaging"
)

// Of 30,000 channels a third is public, one in 31 has a tag and one in 50 is deleted. A channel of home us has 20,000
// users, of whom one in 20 left, one in 1000 moderates and one in 500 is muted; user 3 belongs to 300 channels.
var _ = planned((*collector).collectChannels,
	`INSERT INTO channels (home, id, public_id, type, creator_id, creator_public_id, display_name, name_key, avatar_file_id, is_distinct,
		is_public, tags,
			notification_mode, auto_delete_enabled, auto_delete_flags, post_id, video_stream_id, room_id, last_activity, created_at, updated_at,
			deleted_at)
		SELECT HOME(n), ID(x, n, n), ID(x, n, n), CASE WHEN n % 9 < 3 THEN 'community' ELSE 'conversation' END, ID(u, n, n), 'user-' || n::text,
		md5(n::text),
			substr(md5(n::text), 1, CASE WHEN n % 9 < 3 THEN 12 ELSE 3 END), '', false, n % 9 < 3,
			CASE WHEN n % 31 = 0 THEN ARRAY['tag'] ELSE ARRAY[]::text[] END, 'default', false, 10, '', '', '', AT(n, 60), AT(n, 60), AT(n, 60),
			CASE WHEN n % 50 = 7 THEN AT(n, 60) END FROM generate_series(1, 30000) AS n`,
	`INSERT INTO channel_users (home, channel_id, user_id, user_public_id, name_key, membership, roles, is_moderator, muted_until, version,
		joined_at,
			created_at, updated_at)
		SELECT 'us', ID(x, 3, 3), ID(u, n, n), 'user-' || n::text, 'use', CASE WHEN n % 20 = 7 THEN 'none' WHEN n % 100 = 8 THEN 'banned'
		ELSE 'member' END,
			CASE WHEN n % 1000 = 3 THEN ARRAY['channel-moderator'] ELSE ARRAY['channel-member'] END, n % 1000 = 3,
			CASE WHEN n % 500 = 4 THEN AT(n, 11) END, 1, AT(n, 11), AT(n, 11), AT(n, 11) FROM generate_series(1, 20000) AS n`,
	`INSERT INTO channel_users (home, channel_id, user_id, user_public_id, name_key, membership, roles, is_moderator, version, joined_at,
		created_at, updated_at)
		SELECT HOME(n), ID(x, n, n), ID(u, 3, 3), 'user-3', 'use', 'member', ARRAY['channel-member'], false, 1, AT(n, 11), AT(n, 11), AT(n, 11)
		FROM generate_series(4, 303) AS n`,
)

func channelID(n int) string { return worldID("x", n, n) }

func (c *collector) collectChannels() {
	c.collectChannelLists()
	c.collectChannelUserLists()
	id := channelID(3)
	var channel *messaging.Channel
	var channels []messaging.Channel
	var user *messaging.ChannelUser
	var users []messaging.ChannelUser
	c.reads(func(r *store.ReadBatch) { r.Channel(id, &channel) })
	c.reads(func(r *store.ReadBatch) { r.Channels([]string{id, channelID(6)}, &channels) })
	c.reads(func(r *store.ReadBatch) { r.ChannelUser(id, userID(3), &user) })
	c.reads(func(r *store.ReadBatch) { r.ChannelUsers(id, []string{userID(3), userID(4)}, &users) })
	c.reads(func(r *store.ReadBatch) { r.ChannelUsersOf(userID(3), []string{id, channelID(6)}, &users) })
	for _, after := range []string{"", "02"} {
		c.reads(func(r *store.ReadBatch) { r.ChannelUsersAfter(id, after, pageRows, &users) })
	}
	c.write(func(w *store.Tx) {
		fresh := messaging.Channel{ID: region.NewID(region.US), Type: "live", Metadata: []byte("{}"), NotificationMode: "default"}
		w.InsertChannel(fresh, nil, worldStart)
		w.UpdateRoomHasChannel(worldID("vr", 6, 6), worldStart, core.ErrConflict)
		w.UpdateVideoStreamHasChannel(worldID("vs", 6, 6), worldStart, core.ErrConflict)
		w.DeleteRoom(media.Room{ID: worldID("vr", 6, 6), HasChannel: true}, "user", worldStart, core.ErrConflict)
	})
	old := messaging.ChannelUser{ChannelID: id, UserID: userID(3), Membership: "member", Roles: []string{"channel-moderator"}, Version: 1}
	left, joined := old, old
	left.Membership, joined.UserID = "none", userID(25_000)
	name := "Names"
	c.write(func(w *store.Tx) {
		w.GuardChannelMember(id, userID(3), core.ErrConflict)
		w.ChangeChannelUsers(id, []messaging.ChannelUserChange{{Old: &old, New: left}, {New: joined}}, worldStart)
		w.UpdateChannel(messaging.Channel{ID: id}, messaging.ChannelChange{DisplayName: &name, Metadata: []byte("{}")}, worldStart)
		w.MuteChannel(id, &worldStart, worldStart)
		w.UpdateChannelActivity(id, worldStart.Add(time.Hour))
		w.SelectChannel(id, &channel)
		w.DeleteChannel(id, "user-3", worldStart)
	})
}

func (c *collector) collectChannelLists() {
	var keys []messaging.ChannelKey
	lists := []messaging.ChannelList{
		{Deleted: core.DeletedNone},
		{Deleted: core.DeletedAny, Tags: []string{"tag"}, Without: []string{"none"}},
		{Deleted: core.DeletedNone, NotMine: true, MemberID: userID(3)},
		{Deleted: core.DeletedOnly},
		{Deleted: core.DeletedAny, Archived: []string{channelID(4), channelID(5)}},
	}
	both(30_000*30, func(desc bool, at time.Time, id string) {
		for _, l := range lists {
			for _, order := range []messaging.ChannelOrder{messaging.ChannelsByActivity, messaging.ChannelsByCreation} {
				for _, public := range []bool{true, false} {
					l.Order, l.Desc, l.AfterTime, l.AfterID, l.Limit = order, desc, at, id, pageRows
					c.reads(func(r *store.ReadBatch) { r.ListChannels(l, public, &keys) })
				}
			}
		}
	})
	for _, desc := range []bool{true, false} {
		_, key, id := page.Cursor{}.Start(desc)
		for _, prefix := range []string{"", "a", "abcd"} {
			for _, public := range []bool{true, false} {
				l := messaging.ChannelList{
					Deleted: core.DeletedNone, Order: messaging.ChannelsByName, Prefix: prefix, Desc: desc, AfterKey: key,
					AfterID: id, Limit: pageRows,
				}
				c.reads(func(r *store.ReadBatch) { r.ListChannels(l, public, &keys) })
			}
		}
	}
	for _, order := range []messaging.ChannelOrder{messaging.ChannelsByActivity, messaging.ChannelsByCreation, messaging.ChannelsByName} {
		l := messaging.ChannelList{Deleted: core.DeletedNone, Order: order, MemberID: userID(3)}
		c.reads(func(r *store.ReadBatch) { r.ChannelsOf(l, &keys) })
		l.OnlyArchived = true
		for n := 4; n <= 12; n++ { // three of each home
			l.Archived = append(l.Archived, channelID(n))
		}
		c.reads(func(r *store.ReadBatch) { r.ChannelsOf(l, &keys) })
	}
}

func (c *collector) collectChannelUserLists() {
	var rows []messaging.ChannelUserRow
	at := worldStart
	lists := []messaging.ChannelUserList{
		{Membership: "member"},
		{Membership: "banned"},
		{Membership: "member", MutedAt: &at},
		{Membership: "member", Roles: []string{"channel-moderator"}},
		{Membership: "member", Roles: []string{"channel-member"}},
	}
	both(20_000*11/2, func(desc bool, at time.Time, id string) {
		for _, l := range lists {
			l.ChannelID, l.Desc, l.AfterTime, l.AfterID, l.Limit = channelID(3), desc, at, id, pageRows
			c.reads(func(r *store.ReadBatch) { r.ListChannelUsers(l, &rows) })
		}
	})
	for _, desc := range []bool{true, false} {
		_, key, id := page.Cursor{}.Start(desc)
		for _, prefix := range []string{"", "u", "user-1"} {
			l := messaging.ChannelUserList{
				ChannelID: channelID(3), Membership: "member", ByName: true, Prefix: prefix, Desc: desc, AfterKey: key,
				AfterID: id, Limit: pageRows,
			}
			c.reads(func(r *store.ReadBatch) { r.ListChannelUsers(l, &rows) })
		}
	}
}
