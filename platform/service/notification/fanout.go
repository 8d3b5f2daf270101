package notification

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"

	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/view"
)

// membersPerPage is the number of members whom one outbox row tells.
const membersPerPage = 500

// fanOut is the payload of service.TopicPush: a notice for the members of a channel or community.
type fanOut struct {
	service.Notice

	After string `json:"after,omitempty"` // the internal id of the last member who was told
}

// fanOut pushes a new message or post to the next members, and leaves the others to another outbox row.
func (s *Service) fanOut(ctx context.Context, f fanOut) error {
	if !s.Pushes() {
		return nil
	}
	switch f.Event {
	case service.NoticeMessage:
		return s.fanOutMessage(ctx, f)
	case "post.created", "post.approved":
		return s.fanOutPost(ctx, f)
	}
	return nil
}

// fanOutMessage pushes a message to the members of its channel.
func (s *Service) fanOutMessage(ctx context.Context, f fanOut) error {
	messages, err := service.Read(ctx, s.Deps, (*store.ReadBatch).MessagesByID, []string{f.ID})
	if err != nil || len(messages) == 0 || messages[0].DeletedAt != nil || messages[0].HiddenAt != nil {
		return err
	}
	m := messages[0]
	a := alert{
		happened: m.ID, names: messageEvents(m), level: levelChannel, targetID: m.ChannelID, actorID: m.CreatorID,
		data: map[string]string{"channelId": m.ChannelPublicID, "messageFeedId": m.FeedID, "messageId": m.ID},
	}
	if err := s.complete(ctx, &a); err != nil {
		return err
	}
	a.inPlace(messageText(m))
	var members []store.ChannelUser
	reads := s.Store.NewReadBatch()
	reads.ChannelUsersAfter(m.ChannelID, f.After, membersPerPage, &members)
	if err := reads.Run(ctx); err != nil {
		return err
	}
	ids := service.Map(members, func(u store.ChannelUser) string { return u.UserID })
	isMentioned, mention := mentionedIn(m), a
	mention.names = append([]string{"text-mention-message.created"}, a.names...)
	if err := s.tell(ctx, ids, a, func(id string) bool { return !isMentioned(id) }); err != nil {
		return err
	}
	if err := s.tell(ctx, ids, mention, isMentioned); err != nil {
		return err
	}
	return s.goOn(ctx, f, ids)
}

// mentionedIn reports whether a message mentions a member of its channel, by internal id, or the channel.
func mentionedIn(m store.Message) func(userID string) bool {
	mentions := view.MessageMentions(m.Mentions)
	return func(userID string) bool {
		return slices.ContainsFunc(mentions, func(mention view.MessageMention) bool {
			return mention.Type == view.MentionChannel || slices.Contains(mention.UserIDs, userID)
		})
	}
}

// messageEvents returns the names of the event of a message.
func messageEvents(m store.Message) []string {
	if m.ChannelType != store.ChannelConversation {
		return []string{"message.created"}
	}
	switch m.DataType {
	case "text", "image", "file":
		return []string{"conversation-" + m.DataType + "-message.created", "conversation-message.created"}
	}
	return []string{"conversation-message.created"}
}

// messageText returns what is pushed of a message.
func messageText(m store.Message) string {
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

// textOf returns the text of the data of a message or a post.
func textOf(data []byte) string {
	var content struct {
		Text string `json:"text"`
	}
	_ = json.Unmarshal(data, &content) // custom data may have another form
	return content.Text
}

// inPlace sets the texts: under the name of the channel or community with the actor's name before the text, or under the actor's name.
func (a *alert) inPlace(text string) {
	actor := cmp.Or(a.title, "Someone")
	a.title, a.body = actor, text
	if a.place != "" {
		a.title, a.body = a.place, actor+": "+text
	}
}

// fanOutPost pushes a published post to the members of its community, its approval to the author, and a post that awaits review to the
// moderators.
func (s *Service) fanOutPost(ctx context.Context, f fanOut) error {
	post, err := service.Read(ctx, s.Deps, (*store.ReadBatch).Post, f.ID)
	if err != nil || post == nil || post.DeletedAt != nil || post.TargetType != levelCommunity || post.ParentID != "" {
		return err
	}
	a := alert{
		happened: post.ID, names: []string{"post.created"}, level: levelCommunity, targetID: post.TargetID, actorID: post.AuthorID,
		data: map[string]string{"targetType": post.TargetType, "targetId": post.TargetPublicID, "postId": post.ID},
	}
	if err := s.complete(ctx, &a); err != nil {
		return err
	}
	a.inPlace(cmp.Or(textOf(post.Data), "posted"))
	switch post.FeedType {
	case "reviewing":
		return s.askModerators(ctx, a)
	case "published":
		return s.fanOutPublished(ctx, f, a, mentioned(post.Mentionees))
	}
	return nil
}

func (s *Service) fanOutPublished(ctx context.Context, f fanOut, a alert, told []string) error {
	if f.Event == "post.approved" && f.After == "" {
		if err := s.tellAuthor(ctx, a); err != nil {
			return err
		}
	}
	var members []store.Member
	reads := s.Store.NewReadBatch()
	reads.MembersAfter(a.targetID, f.After, membersPerPage, &members)
	if err := reads.Run(ctx); err != nil {
		return err
	}
	ids := service.Map(members, func(m store.Member) string { return m.UserID })
	if err := s.tell(ctx, ids, a, func(id string) bool { return !slices.Contains(told, id) }); err != nil {
		return err
	}
	return s.goOn(ctx, f, ids)
}

// tellAuthor pushes the approval of a post to its author.
func (s *Service) tellAuthor(ctx context.Context, a alert) error {
	approved := a
	approved.happened, approved.names, approved.actorID, approved.actorRoles = a.happened+"|approved", []string{"post.approved"}, "", nil
	approved.title, approved.body = cmp.Or(a.place, "Your post"), "Your post was approved"
	return s.pushTo(ctx, []string{a.actorID}, approved)
}

// askModerators pushes a post that awaits review to up to maxModerators moderators.
func (s *Service) askModerators(ctx context.Context, a alert) error {
	a.names, a.happened = []string{"post.need-reviewing"}, a.happened+"|review"
	moderators, err := service.Read(ctx, s.Deps, (*store.ReadBatch).ListMembers, moderatorsOf(a.targetID))
	if err != nil {
		return err
	}
	ids := service.Map(moderators, func(m store.MemberRow) string { return m.UserID })
	return s.tell(ctx, ids, a, func(string) bool { return true })
}

// tell pushes an alert to those of some users who are meant, apart from the actor and users who block the actor or are blocked by the
// actor.
func (s *Service) tell(ctx context.Context, ids []string, a alert, meant func(string) bool) error {
	var hidden []string
	reads := s.Store.NewReadBatch()
	reads.HiddenAmong(a.actorID, ids, &hidden)
	if err := reads.Run(ctx); err != nil {
		return err
	}
	ids = slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return id == a.actorID || slices.Contains(hidden, id) || !meant(id) })
	if len(ids) == 0 {
		return nil
	}
	return s.pushTo(ctx, ids, a)
}

// goOn leaves the members after a full page to another outbox row.
func (s *Service) goOn(ctx context.Context, f fanOut, ids []string) error {
	if len(ids) < membersPerPage {
		return nil
	}
	f.After = ids[len(ids)-1]
	tx := s.Store.NewTx(s.HomeOf(f.ID))
	row := tx.Emit(service.TopicPush, f, s.Now(), s.Outbox.FirstTry())
	return s.CommitSoon(ctx, tx, row)
}
