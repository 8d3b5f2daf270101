package importer

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/chat"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/messaging"
	"github.com/plaza-social/plaza/platform/store/people"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// channelKind imports the channels that users find by an id, with their creators as first members.
var channelKind = kind{
	name: "channel",
	fields: []string{
		"channelId", "type", "displayName", "isPublic", "notificationMode", "messageAutoDeleteEnabled",
		"autoDeleteMessageByFlagLimit", "tags", "metadata",
	},
	parse: (*Importer).parseChannel, check: (*Importer).checkChannels, insert: (*Importer).insertChannels,
}

// conversationKind imports the conversations of users, who find them by who they are.
var conversationKind = kind{
	name: "conversation", fields: []string{"userIds", "displayName", "tags", "metadata"},
	parse: (*Importer).parseConversation, check: (*Importer).checkChannels, insert: (*Importer).insertChannels,
}

func (i *Importer) parseChannel(r *row) error {
	m := &plazav1.CreateChannelRequest{}
	if err := r.decode(i, m); err != nil {
		return err
	}
	switch r.channelID = m.GetChannelId(); {
	case r.channelID == "" || !chat.AllowsPublicID(r.channelID):
		return errors.New("data.channelId: must not be empty, nor have the form of an internal id")
	case m.GetType() == messaging.ChannelLive:
		return errors.New("data.type: must be community or broadcast")
	case m.GetType() == messaging.ChannelBroadcast && m.IsPublic != nil:
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

// checkChannels notes which of the channels and conversations exist.
func (*Importer) checkChannels(_ context.Context, rows []*row) error {
	for _, r := range rows {
		r.present = r.channel != nil
		r.keep()
	}
	return nil
}

func (i *Importer) insertChannels(tx *store.Tx, _ string, rows []*row) {
	for _, r := range rows {
		chat.InsertChannel(tx, r.channelRow(), nil, core.ErrConflict)
		tx.ChangeChannelUsers(r.internal, i.firstUsers(r), i.Now())
	}
}

// channelRow returns the row of a channel or conversation.
func (r *row) channelRow() messaging.Channel {
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
func (i *Importer) firstUsers(r *row) []messaging.ChannelUserChange {
	if len(r.users) == 0 {
		return []messaging.ChannelUserChange{chat.Join(r.internal, r.user.ID, r.user.PublicID, nil, chat.CreatorRoles(), i.Now())}
	}
	return service.Map(r.users, func(u people.User) messaging.ChannelUserChange {
		return chat.Join(r.internal, u.ID, u.PublicID, nil, chat.MemberRoles(), i.Now())
	})
}
