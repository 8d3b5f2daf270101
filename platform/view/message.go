package view

import (
	"context"

	"github.com/plaza-social/plaza/platform/freeform"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/messaging"
	"github.com/plaza-social/plaza/platform/store/people"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Types of mentions in messages.
const (
	MentionUser    = "user"
	MentionChannel = "channel" // all members
)

// MessageMention is a mention in a message, as rows store it.
type MessageMention struct {
	Type          string   `json:"type"`
	UserIDs       []string `json:"userIds,omitempty"` // internal ids
	UserPublicIDs []string `json:"userPublicIds,omitempty"`
}

// MessageMentionsJSON encodes mentions for a row.
func MessageMentionsJSON(list []MessageMention) []byte { return listJSON(list) }

// MessageMentions decodes the mentions of a row.
func MessageMentions(raw []byte) []MessageMention { return listOf[MessageMention](raw) }

// MessagePath returns the path of a message.
func (b *Builder) MessagePath(m messaging.Message) string {
	return b.MessageFeedPath(m.ChannelID, m.FeedID) + "/" + m.ID
}

// MessageFeedPath returns a subchannel's path.
func (b *Builder) MessageFeedPath(channelID, id string) string {
	return b.ChannelPath(channelID) + "/" + id
}

// MessageFeed converts a subchannel. last is its last message that is not deleted; nil without one.
func (b *Builder) MessageFeed(f messaging.MessageFeed, last *messaging.Message) *plazav1.MessageFeed {
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

// message converts a message. mine are the viewer's reactions. Deleted messages are returned without content.
func (b *Builder) message(m messaging.Message, counts core.Counts, mine []content.Reaction) *plazav1.Message {
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
		ChildCount:      count(counts.Of(m.ID, core.CountReplies)),
		MentionedUsers:  messageMentions(m.Mentions),
		ReferenceId:     m.ReferenceID,
		Tags:            m.Tags,
		Metadata:        object(m.Metadata),
		FlagCount:       count(m.FlagCount),
		HashFlag:        HashFlag(m.Flaggers),
		EditedAt:        ts(m.EditedAt),
		IsDeleted:       m.DeletedAt != nil,
		Path:            b.MessagePath(m),
		CreatedAt:       ts(m.CreatedAt),
		UpdatedAt:       ts(m.UpdatedAt),
	}
	out.Reactions, out.ReactionCount = reactions(counts, m.ID)
	out.MyReactions = reactionsTo(m.ID, mine)
	if out.GetIsDeleted() {
		out.Data, out.Metadata, out.FileId, out.Tags, out.MentionedUsers = object(nil), object(nil), "", nil, nil
	}
	return out
}

func messageMentions(raw []byte) []*plazav1.MessageMention {
	return mapList(MessageMentions(raw), func(m MessageMention) *plazav1.MessageMention {
		return &plazav1.MessageMention{Type: m.Type, UserIds: m.UserIDs, UserPublicIds: m.UserPublicIDs}
	})
}

// MessageRows are the rows that an operation on messages or subchannels has read.
type MessageRows struct {
	// Feeds and Messages are the primary rows, unique, in the order of the response. Messages must be empty in a
	// response about subchannels, which shows their last messages.
	Feeds    []messaging.MessageFeed
	Messages []messaging.Message
	// Viewer is the caller; nil for administrators.
	Viewer *people.User
	// Moderated are the channels, by internal id, in which the caller sees who flagged messages.
	Moderated map[string]bool
}

// messageLoader builds one response about messages or subchannels.
type messageLoader struct {
	MessageRows
	last   []messaging.Message // of each subchannel
	counts core.Counts
	mine   []content.Reaction // by the viewer
	users  []people.User
	files  *prefetchedFiles
}

// LoadMessages reads the rows that messages refer to, in one round trip to each home concerned, and converts all of
// them.
func (b *Builder) LoadMessages(ctx context.Context, st *store.Store, rows MessageRows) (*plazav1.MessageResponse, error) {
	rows.Messages = viewerOf(ctx).hideMessages(rows.Messages, rows.Moderated)
	l := newMessageLoader(rows)
	batch := st.NewBestEffortBatch()
	l.read(batch, rows.Messages)
	batch.LastMessages(l.feedIDs(), &l.last)
	if err := batch.Run(ctx); err != nil {
		return nil, err
	}
	a := &plazav1.MessageResponse{Messages: l.messages(ctx, b, rows.Messages), MessageFeeds: l.feeds(b), Users: b.Users(ctx, l.users)}
	return a, b.fillFiles(ctx, st, a, l.files)
}

// LoadMessageFeeds reads the last messages of subchannels and then the rows that both refer to, and converts all of
// them.
func (b *Builder) LoadMessageFeeds(ctx context.Context, st *store.Store, rows MessageRows) (*plazav1.MessageFeedResponse, error) {
	l := newMessageLoader(rows)
	last := st.NewBestEffortBatch()
	last.LastMessages(l.feedIDs(), &l.last)
	if err := last.Run(ctx); err != nil {
		return nil, err
	}
	batch := st.NewBestEffortBatch()
	l.read(batch, l.last)
	if err := batch.Run(ctx); err != nil {
		return nil, err
	}
	a := &plazav1.MessageFeedResponse{MessageFeeds: l.feeds(b), Messages: l.messages(ctx, b, l.last), Users: b.Users(ctx, l.users)}
	return a, b.fillFiles(ctx, st, a, l.files)
}

func newMessageLoader(rows MessageRows) *messageLoader {
	l := &messageLoader{MessageRows: rows, counts: core.Counts{}, files: noPrefetchedFiles()}
	if rows.Viewer != nil {
		l.users = []people.User{*rows.Viewer}
	}
	return l
}

// feedIDs returns the ids of the subchannels that are not deleted: the others show no last message.
func (l *messageLoader) feedIDs() []string {
	ids := make([]string, 0, len(l.Feeds))
	for _, f := range l.Feeds {
		if f.DeletedAt == nil {
			ids = append(ids, f.ID)
		}
	}
	return ids
}

// read reads the users, the counts, the viewer's reactions and the files that messages refer to.
func (l *messageLoader) read(batch *store.ReadBatch, messages []messaging.Message) {
	users, ids, files := newIDSet(), newIDSet(), newIDSet()
	for _, f := range l.Feeds {
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
	readUsers(batch, users, &l.users, l.files)
	l.files.requested = files
	batch.FilesByID(files.list(), &l.files.files)
	batch.CountsOf(ids.list(), l.counts)
	if l.Viewer != nil {
		batch.UserReactions(ids.list(), l.Viewer.ID, &l.mine)
	}
}

func (l *messageLoader) messages(ctx context.Context, b *Builder, rows []messaging.Message) []*plazav1.Message {
	rows = viewerOf(ctx).messages(rows, l.Moderated)
	return mapList(rows, func(m messaging.Message) *plazav1.Message { return b.message(m, l.counts, l.mine) })
}

func (l *messageLoader) feeds(b *Builder) []*plazav1.MessageFeed {
	return mapList(l.Feeds, func(f messaging.MessageFeed) *plazav1.MessageFeed {
		return b.MessageFeed(f, find(l.last, func(m *messaging.Message) bool { return m.FeedID == f.ID }))
	})
}

// WithFileID returns the data of a message with the id of its file added as `fileId`, where some clients read it.
func WithFileID(data freeform.Object, fileID string) freeform.Object {
	if fileID == "" {
		return data
	}
	return data.With("fileId", freeform.Quote(fileID))
}
