package message

import (
	"cmp"
	"context"
	"errors"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/freeform"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/chat"
	"github.com/plaza-social/plaza/platform/service/internal/contact"
	"github.com/plaza-social/plaza/platform/service/internal/fileref"
	"github.com/plaza-social/plaza/platform/service/internal/textrules"
	"github.com/plaza-social/plaza/platform/store/messaging"
	"github.com/plaza-social/plaza/platform/store/network"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// fileKinds maps the types of messages that have a file to the kind of the file.
var fileKinds = map[string]string{"image": "image", "file": "file", "video": "video", "audio": "file"}

// errAlreadyExists is the conflict with a message that the same author created with the same referenceId.
var errAlreadyExists = errors.New("the message already exists")

// draft is a message to create.
type draft struct {
	*plazav1.CreateMessageRequest
	*chat.MessageRequest
	dataType string
	parent   *messaging.Message
	settings network.Settings
}

// CreateMessage creates a message in a subchannel. Calls with the same referenceId are idempotent: they return the
// first message.
func (s *Service) CreateMessage(ctx context.Context, req *plazav1.CreateMessageRequest) (*plazav1.MessageResponse, error) {
	d := &draft{CreateMessageRequest: req, dataType: cmp.Or(req.GetDataType(), "text")}
	if err := d.validate(); err != nil {
		return nil, err
	}
	if err := s.loadDraft(ctx, d); err != nil {
		return nil, err
	}
	mentions, err := s.mentions(ctx, d.GetMentionedUsers(), d.settings)
	if err != nil {
		return nil, err
	}
	return s.insert(ctx, d, s.row(d, mentions))
}

// validate checks the fields of the request that depend on each other.
func (d *draft) validate() error {
	if fileKinds[d.dataType] != "" && d.GetFileId() == "" {
		return fail.Validation("fileId: required for a message of type " + d.dataType)
	}
	return chat.CheckContent(d.dataType, freeform.Of(d.GetData()))
}

// loadDraft reads what the message refers to, and checks that the caller may create it.
func (s *Service) loadDraft(ctx context.Context, d *draft) error {
	d.MessageRequest = chat.NewFeedRequest(ctx, s.Deps, d.GetMessageFeedId())
	r := d.Request
	readSettings(r, d.GetMentionedUsers(), &d.settings)
	r.Check(r.RequireUser)
	r.Check(func() error { return d.Access.CanWrite(d.Caller, s.Now()) })
	if d.GetParentId() != "" {
		r.ReadBatch.Message(d.GetParentId(), &d.parent)
		r.Check(d.requireParent)
		hidden := contact.ReadHidden(r)
		r.AfterRun(func(ctx context.Context) error { return hidden.RequireAnswer(ctx, d.parent.CreatorID) })
	}
	refs := append(fileref.Mentioned(view.ObjectJSON(d.GetData())),
		fileref.Reference{ID: d.GetFileId(), Kind: fileKinds[d.dataType], Field: "fileId"})
	fileref.RequireIn(r, func() bool { return true }, refs...)
	textrules.Require(r, s.HomeOf(d.GetMessageFeedId()), textrules.TextOf(freeform.Of(d.GetData())), textrules.TextOfList(d.GetTags()...))
	r.AfterRun(func(ctx context.Context) error { return s.requireContact(ctx, d) })
	return d.Run(ctx)
}

// requireContact refuses messages in a conversation of two users who block each other.
func (s *Service) requireContact(ctx context.Context, d *draft) error {
	if d.Access.Channel.Type != messaging.ChannelConversation {
		return nil
	}
	var users []messaging.ChannelUser
	r := &service.Request{ReadBatch: s.Store.NewReadBatch(), Deps: s.Deps, Caller: d.Caller}
	r.ChannelUsersAfter(d.Access.Channel.ID, "", 3, &users)
	hidden := contact.ReadHidden(r)
	if err := r.ReadBatch.Run(ctx); err != nil || len(users) > 2 {
		return err
	}
	return hidden.RequireAnswer(ctx, service.Map(users, func(u messaging.ChannelUser) string { return u.UserID })...)
}

// requireParent returns an error unless the parent is a message of the subchannel that is not a reply.
func (d *draft) requireParent() error {
	p := d.parent
	switch {
	case p == nil || p.FeedID != d.Feed.ID || p.DeletedAt != nil:
		return fail.NotFound()
	case p.ParentID != "":
		return fail.Validation("parentId: must not be a reply")
	}
	return nil
}

// row returns the message to store. The transaction assigns its segment.
func (s *Service) row(d *draft, mentions []view.MessageMention) messaging.Message {
	now := s.Now()
	id := s.NewID(s.HomeOf(d.Feed.ID))
	m := messaging.Message{
		ID: id, FeedID: d.Feed.ID, ChannelID: d.Feed.EntityID, ChannelPublicID: d.Access.Channel.PublicID, ChannelType: d.Access.Channel.Type,
		ParentID: d.GetParentId(), CreatorID: d.User().ID, CreatorPublicID: d.User().PublicID, ReferenceID: cmp.Or(d.GetReferenceId(), id),
		DataType: d.dataType, Metadata: view.ObjectJSON(d.GetMetadata()), Tags: d.GetTags(), Mentions: view.MessageMentionsJSON(mentions),
		CreatedAt: now, UpdatedAt: now, EditedAt: now,
	}
	if fileKinds[d.dataType] != "" {
		m.FileID = d.GetFileId()
	}
	m.Data = view.WithFileID(freeform.Of(d.GetData()), m.FileID).Row()
	return m
}

// insert stores the message with the next segment of its subchannel, in a transaction that it may share with others.
func (s *Service) insert(ctx context.Context, d *draft, m messaging.Message) (*plazav1.MessageResponse, error) {
	auth.Created(ctx, "message", m.ID)
	in := &insertion{ctx: ctx, message: m, asMember: d.Access.User.IsMember(), user: d.Caller.UserID, feed: d.Feed}
	var err error
	if s.Store.HasOwnStatements(ctx) {
		s.commitMessages(ctx, in)
		err = in.err
	} else {
		err = s.enqueue(ctx, in)
	}
	if errors.Is(err, errAlreadyExists) {
		return s.respondExisting(ctx, d, m)
	} else if err != nil {
		return nil, err
	}
	d.Feed = in.feed
	return s.respond(ctx, d.MessageRequest, in.message)
}

// respondExisting returns the message that the author created before with the same referenceId.
func (s *Service) respondExisting(ctx context.Context, d *draft, m messaging.Message) (*plazav1.MessageResponse, error) {
	var existing *messaging.Message
	reads := s.Store.NewReadBatch()
	reads.MessageByReference(m.FeedID, m.CreatorID, m.ReferenceID, &existing)
	reads.MessageFeed(m.FeedID, &d.Feed)
	if err := reads.Run(ctx); err != nil {
		return nil, err
	}
	if existing == nil || d.Feed == nil {
		return nil, fail.Conflict() // purged in the meantime
	}
	return s.respond(ctx, d.MessageRequest, *existing)
}
