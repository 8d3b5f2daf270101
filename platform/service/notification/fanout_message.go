package notification

import (
	"context"
	"slices"

	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/messaging"
	"github.com/plaza-social/plaza/platform/view"
)

// fanOutMessage pushes a message to a page of the members of its channel: to those whom it mentions, as a mention.
func (s *Service) fanOutMessage(ctx context.Context, f fanOut) error {
	messages, err := service.Read(ctx, s.Deps, (*store.ReadBatch).MessagesByID, []string{f.ID})
	if err != nil || len(messages) == 0 || messages[0].DeletedAt != nil || messages[0].HiddenAt != nil {
		return err
	}
	m := messages[0]
	a, err := s.messageAlert(ctx, m)
	if err != nil {
		return err
	}
	page, err := s.channelMembersAfter(ctx, m.ChannelID, f.After)
	if err != nil {
		return err
	}
	isMentioned := mentionedIn(m)
	if err := s.pushToOthers(ctx, without(page, isMentioned), a); err != nil {
		return err
	}
	mention := a
	mention.names = append([]string{"text-mention-message.created"}, a.names...)
	mentioned := without(page, func(id string) bool { return !isMentioned(id) })
	if err := s.pushToOthers(ctx, mentioned, mention); err != nil {
		return err
	}
	return s.leaveNextPage(ctx, f, page)
}

// messageAlert returns the alert of a message.
func (s *Service) messageAlert(ctx context.Context, m messaging.Message) (alert, error) {
	a := alert{
		happened: m.ID, names: messageEvents(m), level: levelChannel, targetID: m.ChannelID, actorID: m.CreatorID,
		data: map[string]string{"channelId": m.ChannelPublicID, "messageFeedId": m.FeedID, "messageId": m.ID},
	}
	err := s.complete(ctx, &a)
	a.inPlace(messageText(m))
	return a, err
}

// channelMembersAfter reads a page of the internal ids of the members of a channel.
func (s *Service) channelMembersAfter(ctx context.Context, channelID, after string) ([]string, error) {
	var members []messaging.ChannelUser
	reads := s.Store.NewReadBatch()
	reads.ChannelUsersAfter(channelID, after, membersPerPage, &members)
	err := reads.Run(ctx)
	return service.Map(members, func(u messaging.ChannelUser) string { return u.UserID }), err
}

// mentionedIn reports whether a message mentions a member of its channel, by internal id, or the channel.
func mentionedIn(m messaging.Message) func(userID string) bool {
	mentions := view.MessageMentions(m.Mentions)
	return func(userID string) bool {
		return slices.ContainsFunc(mentions, func(mention view.MessageMention) bool {
			return mention.Type == view.MentionChannel || slices.Contains(mention.UserIDs, userID)
		})
	}
}

// messageEvents returns the names of the event of a message.
func messageEvents(m messaging.Message) []string {
	if m.ChannelType != messaging.ChannelConversation {
		return []string{"message.created"}
	}
	switch m.DataType {
	case "text", "image", "file":
		return []string{"conversation-" + m.DataType + "-message.created", "conversation-message.created"}
	}
	return []string{"conversation-message.created"}
}

// messageText returns what is pushed of a message.
func messageText(m messaging.Message) string {
	switch text := textOf(m.Data); {
	case text != "":
		return text
	case m.DataType == "image" || m.DataType == "audio":
		return "Sent an " + m.DataType
	case m.DataType == "video" || m.DataType == "file":
		return "Sent a " + m.DataType
	}
	return "Sent a message"
}
