package importer

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/chat"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// channels are the channels that users find by an id, with their creators as first members.
var channels = kind{
	name:   "channel",
	fields: []string{"channelId", "type", "displayName", "isPublic", "notificationMode", "messageAutoDeleteEnabled", "autoDeleteMessageByFlagLimit", "tags", "metadata"},
	parse:  (*Importer).parseChannel, check: (*Importer).checkChannels, write: (*Importer).writeChannels,
}

// conversations are the conversations of users, who find them by who they are.
var conversations = kind{
	name: "conversation", fields: []string{"userIds", "displayName", "tags", "metadata"},
	parse: (*Importer).parseConversation, check: (*Importer).checkConversations, write: (*Importer).writeChannels,
}

func (i *Importer) parseChannel(r *row) error {
	m := &plazav1.CreateChannelRequest{}
	if err := r.decode(i, m); err != nil {
		return err
	}
	switch r.channelID = m.GetChannelId(); {
	case r.channelID == "" || !chat.AllowsPublicID(r.channelID):
		return errors.New("data.channelId: must not be empty, nor have the form of an internal id")
	case m.GetType() == store.ChannelLive:
		return errors.New("data.type: must be community or broadcast")
	case m.GetType() == store.ChannelBroadcast && m.IsPublic != nil:
		return errors.New("data.isPublic: only allowed for type community")
	}
	return nil
}

func (i *Importer) parseConversation(r *row) error {
	m := &plazav1.CreateConversationRequest{}
	if err := r.decode(i, m); err != nil {
		return err
	}
	return r.takePartners(m.GetUserIds())
}

// takePartners sets the users of a conversation, of whom the user of the row is one.
func (r *row) takePartners(userIDs []string) error {
	r.partners = service.SortedSet(append(slices.Clone(userIDs), r.userID))
	if others := len(r.partners) - 1; others < 1 || others > chat.MaxOthers {
		return fmt.Errorf("data.userIds: must have 1 to %d users besides userId", chat.MaxOthers)
	}
	return nil
}

// list returns a list of texts of the data.
func (r *row) list(field string) (list []string, err error) {
	if raw := r.data[field]; raw != nil && json.Unmarshal(raw, &list) != nil {
		return nil, fmt.Errorf("data.%s: must be a list of strings", field)
	}
	return list, nil
}

func (i *Importer) checkChannels(ctx context.Context, rows []*row) error {
	if err := i.takeUsers(ctx, rows); err != nil {
		return err
	}
	for _, r := range rows {
		r.internal = i.Directory.ChannelID(r.channelID)
	}
	return i.markChannels(ctx, rows)
}

func (i *Importer) checkConversations(ctx context.Context, rows []*row) error {
	if err := i.takeConversations(ctx, rows); err != nil {
		return err
	}
	return i.markChannels(ctx, rows)
}

// takeConversations sets the users of conversations and the internal ids of the conversations, which follow from those of the
// users.
func (i *Importer) takeConversations(ctx context.Context, rows []*row) error {
	users, err := i.findUsers(ctx, slices.Concat(service.Map(rows, func(r *row) []string { return append([]string{r.userID}, r.partners...) })...))
	for _, r := range rows {
		r.user = users[r.userID]
		r.requireUser("userId", r.userID, r.user)
		r.users = nil
		for _, publicID := range r.partners {
			r.requireUser("data.userIds", publicID, users[publicID])
			r.users = append(r.users, users[publicID])
		}
		known := !slices.ContainsFunc(r.users, func(u store.User) bool { return u.ID == "" })
		if known && len(r.partners) > 0 { // a conversation that exists is kept if one of them was deleted
			r.internal = i.Directory.ConversationID(service.Map(r.users, func(u store.User) string { return u.ID }))
		}
	}
	return err
}

// findChannels sets the channels of rows by their internal ids.
func (i *Importer) findChannels(ctx context.Context, rows []*row) error {
	var found []store.Channel
	reads := i.Store.NewReadBatch()
	reads.Channels(service.SortedSet(service.Map(rows, func(r *row) string { return r.internal })), &found)
	if err := reads.Run(ctx); err != nil {
		return err
	}
	for _, r := range rows {
		r.channel = service.Find(found, func(c store.Channel) bool { return c.ID == r.internal })
	}
	return nil
}

// markChannels notes which of the channels exist.
func (i *Importer) markChannels(ctx context.Context, rows []*row) error {
	err := i.findChannels(ctx, rows)
	for _, r := range rows {
		r.present = r.channel != nil
		r.keep()
	}
	return err
}

func (i *Importer) writeChannels(ctx context.Context, rows []*row) error {
	txs := i.newTxs()
	for _, r := range rows {
		if r.present {
			continue
		}
		tx, err := txs.at(r.internal)
		if err != nil {
			return err
		}
		chat.InsertChannel(tx, r.channelRow(), nil, store.ErrConflict)
		tx.ChangeChannelUsers(r.internal, i.firstUsers(r), i.Now())
	}
	return txs.commit(ctx)
}

// channelRow returns the row of a channel or conversation.
func (r *row) channelRow() store.Channel {
	if m, ok := r.request.(*plazav1.CreateConversationRequest); ok {
		return chat.NewConversation(m, r.internal, r.user, true, r.createdAt)
	}
	m, _ := r.request.(*plazav1.CreateChannelRequest)
	c := chat.NewChannel(m, r.internal, r.createdAt)
	c.PublicID, c.CreatorID, c.CreatorPublicID = r.channelID, r.user.ID, r.user.PublicID
	return c
}

// firstUsers returns the changes that add the creator of a channel or the users of a conversation. Users have read what was
// written before they joined. They therefore join when they are imported, so that imported messages are not unread.
func (i *Importer) firstUsers(r *row) []store.ChannelUserChange {
	if len(r.users) == 0 {
		return []store.ChannelUserChange{chat.Join(r.internal, r.user.ID, r.user.PublicID, nil, chat.CreatorRoles(), i.Now())}
	}
	return service.Map(r.users, func(u store.User) store.ChannelUserChange {
		return chat.Join(r.internal, u.ID, u.PublicID, nil, chat.MemberRoles(), i.Now())
	})
}

// place returns what tells the channel of a row apart.
func (r *row) place() string { return r.channelID + "\x00" + strings.Join(r.partners, "\x00") }
