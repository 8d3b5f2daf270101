package message

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"unicode/utf8"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/chat"
	"github.com/plaza-social/plaza/platform/service/internal/fileref"
	"github.com/plaza-social/plaza/platform/service/internal/textrules"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Limits of a message.
const (
	maxText   = 20_000     // characters, of a text and of a caption
	maxCustom = 100 * 1024 // bytes of JSON without spaces, of custom content and of metadata
)

// fileKinds are the types of messages that carry a file, and the kind of file that they carry.
var fileKinds = map[string]string{"image": "image", "file": "file", "video": "video", "audio": "file"}

// errThere says that the author sent the message before.
var errThere = errors.New("the message is there already")

// draft is a request to write a message, as it is found.
type draft struct {
	*plazav1.CreateMessageRequest
	*chat.MessageRequest
	dataType string
	parent   *store.Message
	settings store.Settings
	files    *fileref.Check
	rules    *textrules.Rules
}

// CreateMessage writes a message to a subchannel. The same one again answers with the one that is there.
func (s *Service) CreateMessage(ctx context.Context, req *plazav1.CreateMessageRequest) (*answer, error) {
	d := &draft{CreateMessageRequest: req, dataType: cmp.Or(req.GetDataType(), "text")}
	if err := d.check(); err != nil {
		return nil, err
	}
	if err := s.loadDraft(ctx, d); err != nil {
		return nil, err
	}
	mentions, err := s.mentions(ctx, d.GetMentionedUsers(), d.settings)
	if err != nil {
		return nil, err
	}
	return s.write(ctx, d, s.row(d, mentions))
}

// check decides what a request says by itself.
func (d *draft) check() error {
	if fileKinds[d.dataType] != "" && d.GetFileId() == "" {
		return fail.Validation("fileId: a message of type " + d.dataType + " carries a file")
	}
	if err := checkContent(d.dataType, d.GetData()); err != nil {
		return err
	}
	return checkMetadata(d.GetMetadata())
}

// checkContent holds the data of a message of a type against the limits.
func checkContent(dataType string, data *structpb.Struct) error {
	switch dataType {
	case "custom":
		return checkSize("data", data)
	case "text":
		if data.GetFields()["text"].GetStringValue() == "" {
			return fail.Validation("data.text: a text message needs text")
		}
	}
	for _, field := range []string{"text", "caption"} {
		v, present := data.GetFields()[field]
		if _, isText := v.GetKind().(*structpb.Value_StringValue); present && !isText {
			return fail.Validation(fmt.Sprintf("data.%s: must be a string", field))
		}
		if utf8.RuneCountInString(v.GetStringValue()) > maxText {
			return fail.Validation(fmt.Sprintf("data.%s: must be at most %d characters", field, maxText))
		}
	}
	return checkSizeBeside(data)
}

// checkSizeBeside bounds what data holds beside its text: a text of 20,000 characters may be more bytes than custom content.
func checkSizeBeside(data *structpb.Struct) error {
	beside := &structpb.Struct{Fields: map[string]*structpb.Value{}}
	for name, v := range data.GetFields() {
		if name != "text" && name != "caption" {
			beside.Fields[name] = v
		}
	}
	return checkSize("data", beside)
}

func checkMetadata(metadata *structpb.Struct) error { return checkSize("metadata", metadata) }

// checkSize bounds an object by the bytes of its JSON without spaces between its parts, in UTF-8.
func checkSize(field string, object *structpb.Struct) error {
	var compact bytes.Buffer
	if err := json.Compact(&compact, view.ObjectJSON(object)); err != nil || compact.Len() > maxCustom {
		return fail.Validation(fmt.Sprintf("%s: must be at most %d bytes of JSON", field, maxCustom))
	}
	return nil
}

// loadDraft reads what the message goes to, and decides whether the caller may write it.
func (s *Service) loadDraft(ctx context.Context, d *draft) error {
	d.MessageRequest = chat.NewFeedRequest(ctx, s.Deps, d.GetMessageFeedId())
	if d.GetParentId() != "" {
		d.Request.ReadBatch.Message(d.GetParentId(), &d.parent)
	}
	d.files = fileref.Read(d.Request.ReadBatch, fileref.Reference{ID: d.GetFileId(), Kind: fileKinds[d.dataType], Field: "fileId"})
	d.rules = textrules.Read(s.Deps, d.Request.ReadBatch, service.HomeOf(d.GetMessageFeedId()))
	readSettings(s.Deps, d.Request, d.GetMentionedUsers(), &d.settings)
	if err := d.RequireRead(ctx); err != nil {
		return err
	}
	if err := d.RequireUser(); err != nil {
		return err
	}
	if err := d.Access.CanWrite(d.Caller, s.Now()); err != nil {
		return err
	}
	if p := d.parent; d.GetParentId() != "" {
		if p == nil || p.FeedID != d.Feed.ID || p.DeletedAt != nil {
			return fail.NotFound()
		}
		if p.ParentID != "" {
			return fail.Validation("parentId: a reply has no replies")
		}
	}
	if err := d.files.Err(); err != nil {
		return err
	}
	return d.rules.Require(ctx, d.Caller, textrules.TextOf(d.GetData()))
}

// row is the message without its segment, which the transaction gives.
func (s *Service) row(d *draft, mentions []view.MessageMention) store.Message {
	now := s.Now()
	id := s.NewID(service.HomeOf(d.Feed.ID))
	m := store.Message{
		ID: id, FeedID: d.Feed.ID, ChannelID: d.Feed.EntityID, ChannelPublicID: d.Access.Channel.PublicID, ChannelType: d.Access.Channel.Type,
		ParentID: d.GetParentId(), CreatorID: d.User().ID, CreatorPublicID: d.User().PublicID, ReferenceID: cmp.Or(d.GetReferenceId(), id),
		DataType: d.dataType, Metadata: view.ObjectJSON(d.GetMetadata()), Tags: d.GetTags(), Mentions: view.MessageMentionsJSON(mentions),
		CreatedAt: now, UpdatedAt: now, EditedAt: now,
	}
	if fileKinds[d.dataType] != "" {
		m.FileID = d.GetFileId()
	}
	m.Data = view.ObjectJSON(view.WithFile(d.GetData(), m.FileID))
	return m
}

// write stores the message with the next segment of its subchannel, and leaves what moves the markers of the channel's members.
func (s *Service) write(ctx context.Context, d *draft, m store.Message) (*answer, error) {
	var stored *store.Message
	tx := s.Store.NewTx(service.HomeOf(m.ID))
	// Where the answer of an earlier run got lost, the row is there, and it is the run that finds it so which answers.
	tx.SelectMessage(m.ID, &stored)
	tx.GuardChannel(m.ChannelID, fail.NotFound())
	if d.Access.User.IsMember() {
		tx.GuardChannelMember(m.ChannelID, m.CreatorID, fail.NotChannelMember())
	}
	if m.ParentID != "" {
		tx.GuardMessage(m.ParentID, fail.NotFound())
	}
	tx.InsertMessage(m, fail.NotFound(), errThere)
	tx.ChannelActive(m.ChannelID, m.CreatedAt)
	var outboxRows []store.OutboxRow
	if m.ChannelType != store.ChannelLive { // nobody is told what they have not read of what went by
		outboxRows = events.MessageAdded(tx, events.NewMessage{ChannelID: m.ChannelID, FeedID: m.FeedID, MessageID: m.ID}, m.CreatedAt)
	}
	tx.SelectMessageFeed(m.FeedID, &d.Feed)
	tx.SelectMessage(m.ID, &stored)
	if err := tx.Commit(ctx); errors.Is(err, errThere) {
		return s.again(ctx, d, m)
	} else if err != nil {
		return nil, err
	}
	s.Outbox.DeliverSoon(ctx, tx.Home(), outboxRows...)
	return s.answer(ctx, d.MessageRequest, *stored)
}

// again answers with the message that the author sent before under the same name.
func (s *Service) again(ctx context.Context, d *draft, m store.Message) (*answer, error) {
	var there *store.Message
	reads := s.Store.NewReadBatch()
	reads.MessageByReference(m.FeedID, m.CreatorID, m.ReferenceID, &there)
	reads.MessageFeed(m.FeedID, &d.Feed)
	if err := reads.Run(ctx); err != nil {
		return nil, err
	}
	if there == nil || d.Feed == nil {
		return nil, fail.Conflict() // removed for good meanwhile
	}
	return s.answer(ctx, d.MessageRequest, *there)
}
