package view

import (
	"context"
	"encoding/json"
	"maps"
	"slices"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Whom a message mentions.
const (
	MentionUser    = "user"
	MentionChannel = "channel" // everybody in it
)

// MessageMention is a mention of a message, as rows hold it.
type MessageMention struct {
	Type          string   `json:"type"`
	UserIDs       []string `json:"userIds,omitempty"` // internal ids
	UserPublicIDs []string `json:"userPublicIds,omitempty"`
}

// MessageMentionsJSON is the JSON of mentions, as rows hold it.
func MessageMentionsJSON(list []MessageMention) []byte {
	raw, err := json.Marshal(list)
	if err != nil || len(list) == 0 {
		return []byte("[]")
	}
	return raw
}

// MessageMentions reads the mentions of a row.
func MessageMentions(raw []byte) []MessageMention {
	var list []MessageMention
	if len(raw) <= 2 || json.Unmarshal(raw, &list) != nil { // []
		return nil
	}
	return list
}

// MessageFeedPath is where the events of a subchannel are told.
func (b *Builder) MessageFeedPath(channelID, id string) string {
	return b.ChannelPath(channelID) + "/" + id
}

// MessageFeed makes the message of a subchannel; last is its last message that is not deleted, nil without one.
func (b *Builder) MessageFeed(f store.MessageFeed, last *store.Message) *plazav1.MessageFeed {
	m := &plazav1.MessageFeed{
		MessageFeedId:        f.ID,
		ChannelId:            f.EntityID,
		ChannelPublicId:      f.ChannelPublicID,
		ChannelType:          f.ChannelType,
		Name:                 f.Name,
		ChildCount:           count(f.LastSegment),
		CreatorId:            f.CreatorID,
		CreatorPublicId:      f.CreatorPublicID,
		LastMessageTimestamp: ts(f.LastMessageAt),
		IsDeleted:            f.DeletedAt != nil,
		EditedAt:             ts(f.EditedAt),
		Path:                 b.MessageFeedPath(f.EntityID, f.ID),
		CreatedAt:            ts(f.CreatedAt),
		UpdatedAt:            ts(f.UpdatedAt),
	}
	if last != nil {
		m.LastMessageId, m.MessagePreviewId = last.ID, last.ID
	}
	return m
}

// message makes the message of a message. A deleted one keeps its place and loses its content.
func (b *Builder) message(m store.Message, counts store.Counts, mine []store.Reaction) *plazav1.Message {
	out := &plazav1.Message{
		MessageId:       m.ID,
		PublicId:        m.ID,
		ChannelId:       m.ChannelID,
		ChannelPublicId: m.ChannelPublicID,
		ChannelType:     m.ChannelType,
		MessageFeedId:   m.FeedID,
		ParentId:        m.ParentID,
		CreatorId:       m.CreatorID,
		CreatorPublicId: m.CreatorPublicID,
		DataType:        m.DataType,
		Data:            object(m.Data),
		FileId:          m.FileID,
		Segment:         count(m.Segment),
		ChildCount:      count(counts.Of(m.ID, store.CountReplies)),
		MentionedUsers:  messageMentions(m.Mentions),
		ReferenceId:     m.ReferenceID,
		Tags:            m.Tags,
		Metadata:        object(m.Metadata),
		FlagCount:       count(m.FlagCount),
		HashFlag:        HashFlag(m.Flaggers),
		EditedAt:        ts(m.EditedAt),
		IsDeleted:       m.DeletedAt != nil,
		Path:            b.MessageFeedPath(m.ChannelID, m.FeedID) + "/" + m.ID,
		CreatedAt:       ts(m.CreatedAt),
		UpdatedAt:       ts(m.UpdatedAt),
	}
	out.Reactions, out.ReactionCount = reactions(counts, m.ID)
	for _, r := range mine {
		if r.ReferenceID == m.ID {
			out.MyReactions = append(out.MyReactions, r.Name)
		}
	}
	if out.GetIsDeleted() {
		out.Data, out.Metadata, out.FileId, out.Tags, out.MentionedUsers = object(nil), object(nil), "", nil, nil
	}
	return out
}

func messageMentions(raw []byte) []*plazav1.MessageMention {
	list := MessageMentions(raw)
	out := make([]*plazav1.MessageMention, len(list))
	for i, m := range list {
		out[i] = &plazav1.MessageMention{Type: m.Type, UserIds: m.UserIDs, UserPublicIds: m.UserPublicIDs}
	}
	return out
}

// ChatAnswer is what an operation on messages or subchannels has read, and what its answer is about.
type ChatAnswer struct {
	// Feeds and Messages in the order of the answer, each once. An answer about subchannels has no messages: it shows their last ones.
	Feeds    []store.MessageFeed
	Messages []store.Message
	// Viewer is the caller; nil for an administrator.
	Viewer *store.User
}

// chatGathering is one answer about messages or subchannels under way.
type chatGathering struct {
	ChatAnswer
	last   []store.Message // of the subchannels
	counts store.Counts
	mine   []store.Reaction
	users  []store.User
	files  *filesAtHand
}

// Messages reads, in one round trip to each home concerned, what messages refer to, and builds the answer.
func (b *Builder) Messages(ctx context.Context, st *store.Store, a ChatAnswer) (*plazav1.MessageResponse, error) {
	g := newChatGathering(a)
	reads := st.Related()
	g.read(reads, a.Messages)
	reads.LastMessages(g.feedIDs(), &g.last)
	if err := reads.Run(ctx); err != nil {
		return nil, err
	}
	answer := &plazav1.MessageResponse{Messages: g.messages(b, a.Messages), MessageFeeds: g.feeds(b), Users: b.Users(g.users)}
	var err error
	answer.Files, err = b.filesOf(ctx, st, g.files, each(answer.GetMessages()), each(answer.GetUsers()))
	return answer, err
}

// MessageFeeds reads what subchannels refer to, their last messages before all, and builds the answer.
func (b *Builder) MessageFeeds(ctx context.Context, st *store.Store, a ChatAnswer) (*plazav1.MessageFeedResponse, error) {
	g := newChatGathering(a)
	last := st.Related()
	last.LastMessages(g.feedIDs(), &g.last)
	if err := last.Run(ctx); err != nil {
		return nil, err
	}
	reads := st.Related()
	g.read(reads, g.last)
	if err := reads.Run(ctx); err != nil {
		return nil, err
	}
	answer := &plazav1.MessageFeedResponse{MessageFeeds: g.feeds(b), Messages: g.messages(b, g.last), Users: b.Users(g.users)}
	var err error
	answer.Files, err = b.filesOf(ctx, st, g.files, each(answer.GetMessages()), each(answer.GetUsers()))
	return answer, err
}

func newChatGathering(a ChatAnswer) *chatGathering {
	return &chatGathering{ChatAnswer: a, counts: store.Counts{}, files: noFilesAtHand()}
}

// feedIDs are the subchannels whose last messages are told: those of deleted ones are not.
func (g *chatGathering) feedIDs() []string {
	ids := make([]string, 0, len(g.ChatAnswer.Feeds))
	for _, f := range g.ChatAnswer.Feeds {
		if f.DeletedAt == nil {
			ids = append(ids, f.ID)
		}
	}
	return ids
}

// read reads the users, the counts, the viewer's reactions and the files of messages.
func (g *chatGathering) read(reads *store.Reads, messages []store.Message) {
	users, ids, files := newSet(), newSet(), newSet()
	for _, f := range g.ChatAnswer.Feeds {
		users.add(f.CreatorID)
	}
	for _, m := range messages {
		ids.add(m.ID)
		users.add(m.CreatorID)
		if m.DeletedAt != nil {
			continue
		}
		files.add(m.FileID)
		for _, mention := range MessageMentions(m.Mentions) {
			users.add(mention.UserIDs...)
		}
	}
	g.readUsers(reads, users)
	g.files.asked = files
	reads.FilesByID(files.list(), &g.files.files)
	reads.CountsOf(ids.list(), g.counts)
	if g.Viewer != nil {
		reads.MyReactions(ids.list(), g.Viewer.ID, &g.mine)
	}
}

func (g *chatGathering) readUsers(reads *store.Reads, users *set) {
	order := slices.Clone(users.list())
	if g.Viewer != nil && slices.Contains(order, g.Viewer.ID) {
		g.users = append(g.users, *g.Viewer)
		users.remove(g.Viewer.ID)
	}
	var read []store.User
	if ids := users.list(); len(ids) > 0 {
		reads.Users(ids, &read)
		reads.AvatarFiles(ids, &g.files.avatars)
	}
	reads.Then(func() { g.users = append(g.users, read...); store.SortUsers(g.users, order) })
}

func (g *chatGathering) messages(b *Builder, rows []store.Message) []*plazav1.Message {
	out := make([]*plazav1.Message, len(rows))
	for i, m := range rows {
		out[i] = b.message(m, g.counts, g.mine)
	}
	return out
}

func (g *chatGathering) feeds(b *Builder) []*plazav1.MessageFeed {
	out := make([]*plazav1.MessageFeed, len(g.ChatAnswer.Feeds))
	for i, f := range g.ChatAnswer.Feeds {
		out[i] = b.MessageFeed(f, find(g.last, func(m *store.Message) bool { return m.FeedID == f.ID }))
	}
	return out
}

// WithFile is the data of a message that carries a file, with the file's id in it, where some clients look for it.
func WithFile(data *structpb.Struct, fileID string) *structpb.Struct {
	if fileID == "" {
		return data
	}
	fields := map[string]*structpb.Value{}
	maps.Copy(fields, data.GetFields())
	fields["fileId"] = structpb.NewStringValue(fileID)
	return &structpb.Struct{Fields: fields}
}
