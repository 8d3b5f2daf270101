package chat

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/servicetest"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/media"
	"github.com/plaza-social/plaza/platform/store/messaging"
	"github.com/plaza-social/plaza/platform/view"
)

// world is a database with posts that a reader may see and may not see.
type world struct {
	*servicetest.World
	reader       string
	request      context.Context
	caller       *auth.Caller
	seen, unseen string // ids of posts
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{World: servicetest.NewWorld(t)}
	w.Deps.View = &view.Builder{Now: service.Millis, Catalog: &auth.Catalog{}}
	w.reader, w.request = w.AddUser(t)
	w.caller = servicetest.User(t, w.reader)
	seen := servicetest.NewPost("community", w.AddCommunity(t, false, w.reader), "author")
	unseen := servicetest.NewPost("community", w.AddCommunity(t, false), "author")
	w.seen, w.unseen = seen.ID, unseen.ID
	w.Commit(t, func(tx *store.Tx) {
		tx.InsertPost(seen)
		tx.InsertPost(unseen)
	})
	return w
}

// insert inserts a channel, of which the reader may be a member, and returns its id.
func (w *world) insert(t *testing.T, c messaging.Channel, isMember bool) string {
	t.Helper()
	c.ID = region.NewID(region.EU)
	c.PublicID, c.Metadata, c.NotificationMode, c.CreatedAt = c.ID, []byte(`{}`), "default", now
	var users []messaging.ChannelUserChange
	if isMember {
		users = append(users, Join(c.ID, w.reader, w.reader, nil, MemberRoles(), now))
	}
	w.Commit(t, func(tx *store.Tx) { InsertChannel(tx, c, users, core.ErrConflict) })
	return c.ID
}

// insertRoom inserts a room or a stream that is in a post, and returns its live channel.
func (w *world) insertRoom(t *testing.T, postID string) messaging.Channel {
	t.Helper()
	r := media.Room{ID: region.NewID(region.EU), Type: "coHosts", Status: "idle", Metadata: []byte(`{}`), CreatedAt: now}
	w.Commit(t, func(tx *store.Tx) { tx.InsertRoom(r, fail.NotFound()) })
	w.Exec(t, fmt.Sprintf(`UPDATE rooms SET post_id = '%s' WHERE id = '%s'`, postID, r.ID))
	return messaging.Channel{Type: messaging.ChannelLive, RoomID: r.ID}
}

func (w *world) insertStream(t *testing.T, postID string) messaging.Channel {
	t.Helper()
	s := media.VideoStream{ID: region.NewID(region.EU), Status: "idle", Resolution: "SD", Metadata: []byte(`{}`), CreatedAt: now}
	w.Commit(t, func(tx *store.Tx) { tx.InsertVideoStream(s, fail.NotFound()) })
	w.Exec(t, fmt.Sprintf(`UPDATE video_streams SET post_id = '%s' WHERE id = '%s'`, postID, s.ID))
	return messaging.Channel{Type: messaging.ChannelLive, VideoStreamID: s.ID}
}

// TestLoadAccess checks who sees and who reads channels of each kind: live channels as their rooms, streams and posts.
func TestLoadAccess(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	live := func(postID string) messaging.Channel {
		return messaging.Channel{Type: messaging.ChannelLive, PostID: postID}
	}
	for name, test := range map[string]struct {
		channel   messaging.Channel
		member    bool
		see, read fail.Code
	}{
		"member":                   {messaging.Channel{Type: messaging.ChannelCommunity}, true, 0, 0},
		"stranger":                 {messaging.Channel{Type: messaging.ChannelCommunity}, false, fail.CodeNotFound, fail.CodeNotFound},
		"stranger, public channel": {messaging.Channel{Type: messaging.ChannelCommunity, IsPublic: true}, false, 0, fail.CodePermissionDenied},
		"stranger, channel with a post": {
			messaging.Channel{Type: messaging.ChannelCommunity, PostID: w.seen},
			false, fail.CodeNotFound,
			fail.CodeNotFound,
		},
		"live, of nothing":                {live(""), false, 0, fail.CodePermissionDenied},
		"live, of a post":                 {live(w.seen), false, 0, fail.CodePermissionDenied},
		"live, of an unseen post":         {live(w.unseen), false, fail.CodeNotFound, fail.CodeNotFound},
		"live, of an unseen post, member": {live(w.unseen), true, fail.CodeNotFound, fail.CodeNotFound},
		"live, of a post, member":         {live(w.seen), true, 0, 0},
		"live, of a room":                 {w.insertRoom(t, w.seen), false, 0, fail.CodePermissionDenied},
		"live, of an unseen room":         {w.insertRoom(t, w.unseen), false, fail.CodeNotFound, fail.CodeNotFound},
		"live, of an unseen room, member": {w.insertRoom(t, w.unseen), true, fail.CodeNotFound, fail.CodeNotFound},
		"live, of a stream":               {w.insertStream(t, w.seen), false, 0, fail.CodePermissionDenied},
		"live, of an unseen stream":       {w.insertStream(t, w.unseen), false, fail.CodeNotFound, fail.CodeNotFound},
		"live, of a room that does not exist": {
			messaging.Channel{Type: messaging.ChannelLive, RoomID: region.NewID(region.EU)},
			false,
			fail.CodeNotFound, fail.CodeNotFound,
		},
		"live, of a stream that does not exist": {
			messaging.Channel{Type: messaging.ChannelLive, VideoStreamID: region.NewID(region.EU)}, false, fail.CodeNotFound, fail.CodeNotFound,
		},
	} {
		t.Run(name, func(t *testing.T) {
			id := w.insert(t, test.channel, test.member)
			all, err := LoadAccess(t.Context(), w.Deps, w.caller, []string{id, region.NewID(region.EU)})
			require.NoError(t, err)
			require.Len(t, all, 1, "channels that do not exist are missing")
			require.Equal(t, []fail.Code{test.see, test.read}, []fail.Code{codeOf(all[id].CanSee(w.caller)), codeOf(all[id].CanRead(w.caller))})
			require.Equal(t, test.see == 0 && !test.member && test.channel.Type == messaging.ChannelLive || test.channel.IsPublic ||
				test.member && test.see == 0 && test.channel.Type == messaging.ChannelLive, all[id].CanJoin())

			readable, err := ReadableChannels(t.Context(), w.Deps, w.caller, []string{id})
			require.NoError(t, err)
			require.Equal(t, map[string]bool{id: test.read == 0}, readable)

			var one Access
			r := w.Deps.NewRequest(w.request)
			ReadChannel(r, id, &one)
			require.NoError(t, r.Run(w.request))
			require.Equal(t, []fail.Code{test.see, test.read}, []fail.Code{codeOf(one.CanSee(w.caller)), codeOf(one.CanRead(w.caller))})

			require.Equal(t, test.read, codeOf(NewFeedRequest(w.request, w.Deps, id).Run(w.request)), "its subchannel")
		})
	}
}

// TestInsertLiveChannels inserts the live channels of a room and of a stream: each has the id and the post of what it belongs to, and its
// creator as the only member.
func TestInsertLiveChannels(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	room := media.Room{ID: region.NewID(region.EU), Title: "room", CreatorID: w.reader, CreatorPublicID: w.reader, PostID: w.seen}
	stream := media.VideoStream{ID: region.NewID(region.EU), Title: "stream", CreatorID: w.reader, CreatorPublicID: w.reader, PostID: w.unseen}
	w.Commit(t, func(tx *store.Tx) {
		InsertRoomChannel(tx, room, core.ErrConflict, now)
		InsertStreamChannel(tx, stream, core.ErrConflict, now)
	})
	all, err := LoadAccess(t.Context(), w.Deps, w.caller, []string{room.ID, stream.ID})
	require.NoError(t, err)
	for id, want := range map[string][]string{room.ID: {"room", room.ID, "", w.seen}, stream.ID: {"stream", "", stream.ID, w.unseen}} {
		c := all[id].Channel
		require.NotNil(t, c, want[0])
		require.Equal(t, want, []string{c.DisplayName, c.RoomID, c.VideoStreamID, c.PostID})
		require.True(t, all[id].User.IsModerator(), want[0])
	}
	tx := w.Store.NewTx(region.EU)
	InsertRoomChannel(tx, room, fail.BadRequest(), now)
	require.Equal(t, fail.CodeBadRequest, codeOf(tx.Commit(t.Context())), "a second channel of a room")
}

// TestDeletedLiveChannels checks that members see a deleted live channel without its room, and that others do not.
func TestDeletedLiveChannels(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for isMember, want := range map[bool]fail.Code{true: 0, false: fail.CodeNotFound} {
		id := w.insert(t, w.insertRoom(t, w.unseen), isMember)
		w.Exec(t, fmt.Sprintf(`UPDATE channels SET deleted_at = now() WHERE id = '%s'`, id))
		all, err := LoadAccess(t.Context(), w.Deps, w.caller, []string{id})
		require.NoError(t, err)
		require.Equal(t, want, codeOf(all[id].CanSee(w.caller)), "member: %t", isMember)
		require.Equal(t, fail.CodeNotFound, codeOf(all[id].CanRead(w.caller)), "member: %t", isMember)
	}
}

// TestAccessWithoutDatabase checks that access that cannot be read is an error, and not a refusal.
func TestAccessWithoutDatabase(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	id := w.insert(t, w.insertRoom(t, w.seen), true)
	channel, err := service.Read(t.Context(), w.Deps, (*store.ReadBatch).Channel, id)
	require.NoError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for name, c := range map[string]messaging.Channel{
		"room": {Type: messaging.ChannelLive, RoomID: channel.RoomID},
		"post": {Type: messaging.ChannelLive, PostID: w.seen},
	} {
		access, err := (&rows{channel: &c}).resolve(ctx, w.Deps, w.caller)
		require.Equal(t, fail.CodeUnexpected, codeOf(err), name)
		require.Equal(t, Access{}, access, name)
	}
	_, err = LoadAccess(ctx, w.Deps, w.caller, []string{id})
	require.Error(t, err)
	_, err = ReadableChannels(ctx, w.Deps, w.caller, []string{id})
	require.Error(t, err)
	require.Error(t, Access{Channel: channel}.RequireOverAuthor(ctx, w.Deps, w.caller, region.NewID(region.EU)))
}

// TestMessageRequests runs requests about messages: of members about messages of their channels.
func TestMessageRequests(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	send := func(channelID string) string {
		m := messaging.Message{
			ID: region.NewID(region.EU), FeedID: channelID, ChannelID: channelID, ChannelPublicID: channelID,
			ChannelType: messaging.ChannelCommunity,
			CreatorID:   w.reader,
			DataType:    "text", Data: []byte(`{"text":"message"}`), Metadata: []byte(`{}`), Mentions: []byte(`[]`), CreatedAt: now,
		}
		m.ReferenceID = m.ID
		w.Commit(t, func(tx *store.Tx) {
			var inserted []messaging.Message
			tx.InsertMessages([]messaging.Message{m}, fail.NotFound(), core.ErrConflict, &inserted)
		})
		return m.ID
	}
	own, private := w.insert(t, messaging.Channel{Type: messaging.ChannelCommunity}, true),
		w.insert(t, messaging.Channel{Type: messaging.ChannelCommunity}, false)
	kept, deleted, foreign := send(own), send(own), send(private)
	w.Exec(t, fmt.Sprintf(`UPDATE messages SET deleted_at = now() WHERE id = '%s'`, deleted))
	for name, test := range map[string]struct {
		id              string
		any, notDeleted fail.Code
	}{
		"message":                     {kept, 0, 0},
		"deleted message":             {deleted, 0, fail.CodeNotFound},
		"message in another channel":  {foreign, fail.CodeNotFound, fail.CodeNotFound},
		"message that does not exist": {region.NewID(region.EU), fail.CodeNotFound, fail.CodeNotFound},
	} {
		r := NewMessageRequest(w.request, w.Deps, test.id)
		require.Equal(t, test.any, codeOf(r.Run(w.request)), name)
		if test.any == 0 {
			require.Equal(t, []string{test.id, own, own}, []string{r.Message.ID, r.Feed.ID, r.Access.Channel.ID}, name)
		}
		require.Equal(t, test.notDeleted, codeOf(NewExistingMessageRequest(w.request, w.Deps, test.id).Run(w.request)), name)
	}
}

// TestRequireOverAuthor checks the authority that a moderator of a channel needs over the author of a message.
func TestRequireOverAuthor(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	networkModerator, _ := w.AddUser(t, auth.RoleModerator)
	user, _ := w.AddUser(t)
	owner, _ := w.AddUser(t)
	other, _ := w.AddUser(t)
	a := access(messaging.ChannelCommunity, moderator)
	a.Channel = &messaging.Channel{
		ID: w.insert(t, messaging.Channel{Type: messaging.ChannelCommunity}, false), Type: messaging.ChannelCommunity,
		CreatorID: owner,
	}
	w.Commit(t, func(tx *store.Tx) {
		joined := Join(a.Channel.ID, other, other, nil, CreatorRoles(), now)
		tx.ChangeChannelUsers(a.Channel.ID, []messaging.ChannelUserChange{joined}, now)
	})
	asMember := a
	asMember.User = access("", member).User
	for name, test := range map[string]struct {
		author             string
		moderator, members bool
	}{
		"user":                     {user, true, true},
		"another moderator":        {other, true, false},
		"creator of the channel":   {owner, false, false},
		"moderator of the network": {networkModerator, false, false},
	} {
		require.Equal(t, test.moderator, a.RequireOverAuthor(t.Context(), w.Deps, w.caller, test.author) == nil, "a moderator over a %s", name)
		require.Equal(t, test.members, asMember.RequireOverAuthor(t.Context(), w.Deps, w.caller, test.author) == nil, "a member over a %s", name)
	}
	require.NoError(t, a.RequireOverAuthor(t.Context(), nil, admin(), owner), "an administrator")
	require.NoError(t, asMember.RequireOverAuthor(t.Context(), nil, w.caller, w.reader), "the author")
}
