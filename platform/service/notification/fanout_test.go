package notification

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/push"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/servicetest"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/messaging"
	"github.com/plaza-social/plaza/platform/store/notify"
	"github.com/plaza-social/plaza/platform/store/people"
	"github.com/plaza-social/plaza/platform/view"
)

// noProvider is configured, and is not asked by these tests.
type noProvider struct{}

func (noProvider) Send(context.Context, string, push.Message) error { return nil }

// hall is a channel with an author and members, each of whom has a device that is named like the user.
type hall struct {
	*servicetest.World
	service *Service
	id      string
	users   map[string]string // internal ids by name
}

func newHall(t *testing.T, members ...string) *hall {
	t.Helper()
	h := &hall{World: servicetest.NewWorld(t), id: region.NewID(region.EU), users: map[string]string{}}
	h.Deps.Push = map[string]push.Sender{push.FCM: noProvider{}}
	h.service = New(h.Deps)
	now, tx := servicetest.Noon, h.Store.NewTx(region.EU)
	tx.InsertChannel(messaging.Channel{
		ID: h.id, PublicID: h.id, Type: messaging.ChannelCommunity, DisplayName: "Hall", Metadata: []byte(`{}`),
		NotificationMode: "default",
	}, nil, now)
	tx.InsertMessageFeed(messaging.MessageFeed{
		ID: h.id, EntityID: h.id, ChannelPublicID: h.id, ChannelType: messaging.ChannelCommunity,
		CreatedAt: now,
	})
	var changes []messaging.ChannelUserChange
	names := append([]string{"author"}, members...)
	ids := service.Map(names, func(string) string { return region.NewID(region.EU) })
	slices.Sort(ids) // the order in which the devices are stored
	for i, name := range names {
		id, device := ids[i], hex.EncodeToString(fmt.Appendf(nil, "%032d", i))
		h.users[name] = id
		hash, err := hex.DecodeString(device)
		require.NoError(t, err)
		tx.InsertUser(people.User{ID: id, PublicID: name, DisplayName: name}, now)
		tx.InsertSession(people.Session{
			ID: region.NewID(region.EU), UserID: id, DeviceHash: hash, CreatedAt: now,
			ExpiresAt: now.Add(24 * time.Hour),
		})
		tx.PutPushDevice(notify.PushDevice{UserID: id, Device: device, Platform: "android", Provider: push.FCM, Token: name, UpdatedAt: now})
		changes = append(changes,
			messaging.ChannelUserChange{New: messaging.ChannelUser{
				UserID: id, UserPublicID: name, Membership: messaging.ChannelMember,
				JoinedAt: now,
			}})
	}
	tx.ChangeChannelUsers(h.id, changes, now)
	require.NoError(t, tx.Commit(t.Context()))
	return h
}

// say inserts a message of the author and returns it.
func (h *hall) say(t *testing.T, text string, mentions ...view.MessageMention) messaging.Message {
	t.Helper()
	id, tx := region.NewID(region.EU), h.Store.NewTx(region.EU)
	m := messaging.Message{
		ID: id, FeedID: h.id, ChannelID: h.id, ChannelPublicID: h.id, ChannelType: messaging.ChannelCommunity, CreatorID: h.users["author"],
		CreatorPublicID: "author",
		ReferenceID:     id, DataType: "text", Data: fmt.Appendf(nil, `{"text": %q}`, text), Metadata: []byte(`{}`),
		Mentions:  view.MessageMentionsJSON(mentions),
		CreatedAt: servicetest.Noon,
	}
	tx.InsertMessages([]messaging.Message{m}, core.ErrConflict, core.ErrConflict, new([]messaging.Message))
	require.NoError(t, tx.Commit(t.Context()))
	return m
}

// told delivers the notice of a message and returns who is notified of it.
func (h *hall) told(t *testing.T, m messaging.Message) string {
	t.Helper()
	h.Exec(t, `DELETE FROM pushes`)
	require.NoError(t, h.service.fanOut(t.Context(), fanOut{Notice: service.Notice{Event: service.NoticeMessage, ID: m.ID}}))
	return h.Text(t, `SELECT COALESCE(string_agg(d.token, ' ' ORDER BY d.token), '') FROM pushes AS p JOIN push_devices AS d USING (user_id)`)
}

// TestMembersAreToldOfMentions has members who decided that only mentions, or no mentions, are pushed to them.
func TestMembersAreToldOfMentions(t *testing.T) {
	t.Parallel()
	h := newHall(t, "all", "mentions", "noMentions")
	set := func(name, events string) {
		tx := h.Store.NewTx(region.EU)
		tx.PutNotificationSetting(notify.NotificationSetting{
			UserID: h.users[name], Level: levelChannel, TargetID: h.id, Events: []byte(events),
			UpdatedAt: servicetest.Noon,
		})
		require.NoError(t, tx.Commit(t.Context()))
	}
	set("mentions", `{"message.created": {"off": true}, "text-mention-message.created": {}}`)
	set("noMentions", `{"text-mention-message.created": {"off": true}}`)
	require.Equal(t, "all noMentions", h.told(t, h.say(t, "hello")))
	user := func(names ...string) view.MessageMention {
		return view.MessageMention{Type: view.MentionUser, UserIDs: service.Map(names, func(name string) string { return h.users[name] })}
	}
	require.Equal(t, "all mentions noMentions", h.told(t, h.say(t, "you", user("mentions"))))
	require.Equal(t, "all mentions", h.told(t, h.say(t, "both of you", user("mentions", "noMentions"))))
	require.Equal(t, "all mentions", h.told(t, h.say(t, "all of you", view.MessageMention{Type: view.MentionChannel})))
}

// TestMembersAreNotToldOfWhatIsGone has members whom the author blocks or who block the author, and deletes and hides messages before their
// notices are delivered.
func TestMembersAreNotToldOfWhatIsGone(t *testing.T) {
	t.Parallel()
	h := newHall(t, "member", "blocker", "blocked")
	tx := h.Store.NewTx(region.EU)
	tx.ChangeBlock(people.BlockChange{New: people.Block{
		BlockerID: h.users["author"], BlockedID: h.users["blocked"],
		Status: people.BlockBlocked,
	}}, servicetest.Noon, servicetest.Noon)
	tx.MirrorBlock(people.MirroredBlock{BlockerID: h.users["blocker"], BlockedID: h.users["author"], Status: people.BlockBlocked, Version: 1})
	require.NoError(t, tx.Commit(t.Context()))
	first, deleted, hidden := h.say(t, "hello"), h.say(t, "deleted"), h.say(t, "hidden")
	require.Equal(t, "member", h.told(t, first))
	tx = h.Store.NewTx(region.EU)
	tx.DeleteMessage(deleted, servicetest.Noon)
	require.NoError(t, tx.Commit(t.Context()))
	h.Exec(t, `UPDATE messages SET hidden_at = now() WHERE id = '`+hidden.ID+`'`)
	require.Empty(t, h.told(t, deleted))
	require.Empty(t, h.told(t, hidden))
	require.Empty(t, h.told(t, messaging.Message{ID: region.NewID(region.EU)}))
}

// TestMembersAfterAPage has more members than are notified at a time: the others are left to another outbox row.
func TestMembersAfterAPage(t *testing.T) {
	t.Parallel()
	h := newHall(t, "last")
	changes := make([]messaging.ChannelUserChange, membersPerPage)
	for i := range changes {
		id := fmt.Sprintf("%s%022d", h.users["last"][:2], i)
		changes[i] = messaging.ChannelUserChange{New: messaging.ChannelUser{
			UserID: id, UserPublicID: id, Membership: messaging.ChannelMember,
			JoinedAt: servicetest.Noon,
		}}
	}
	tx := h.Store.NewTx(region.EU)
	tx.ChangeChannelUsers(h.id, changes, servicetest.Noon)
	require.NoError(t, tx.Commit(t.Context()))
	m := h.say(t, "hello")
	require.Empty(t, h.told(t, m))
	var next fanOut
	require.NoError(t, json.Unmarshal([]byte(h.Text(t, `SELECT payload::text FROM outbox WHERE topic = '`+service.TopicPush+`'`)), &next))
	require.Equal(t, m.ID, next.ID)
	require.Equal(t, changes[membersPerPage-1].New.UserID, next.After)
	h.Exec(t, `DELETE FROM outbox`)
	require.NoError(t, h.service.fanOut(t.Context(), next))
	require.Equal(t, "last", h.Text(t, `SELECT string_agg(d.token, ' ') FROM pushes AS p JOIN push_devices AS d USING (user_id)`))
	require.Equal(t, "0", h.Text(t, `SELECT count(*)::text FROM outbox`), "no one is left")
}
