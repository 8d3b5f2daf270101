package importer

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/freeform"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/chat"
	"github.com/plaza-social/plaza/platform/service/internal/fileref"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/messaging"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// messageKind imports the messages of channels and conversations, without files, in their order.
var messageKind = kind{
	name: "message", hasID: true, inChannel: true,
	fields: []string{"channelId", "userIds", "dataType", "data", "parentId", "tags", "metadata"},
	parse:  (*Importer).parseMessage, check: (*Importer).checkMessages, insert: (*Importer).insertMessages,
}

func (i *Importer) parseMessage(r *row) (err error) {
	if r.channelID, err = value[string](r, "channelId", "a string"); err != nil {
		return err
	}
	userIDs, err := value[[]string](r, "userIds", "a list of strings")
	if err != nil {
		return err
	}
	switch {
	case (r.channelID == "") == (len(userIDs) == 0):
		return errors.New("data: must have either channelId or userIds")
	case r.channelID != "" && !chat.AllowsPublicID(r.channelID):
		return errors.New("data.channelId: must be the channelId of a channel")
	case r.channelID == "":
		err = r.takePartners(userIDs)
	}
	if err != nil {
		return err
	}
	return i.parseMessageContent(r)
}

func (i *Importer) parseMessageContent(r *row) error {
	m := &plazav1.CreateMessageRequest{}
	r.data["messageFeedId"] = json.RawMessage(`"import"`) // the request needs one
	if err := r.decode(i, m, "channelId", "userIds"); err != nil {
		return err
	}
	given := cmp.Or(m.GetDataType(), "text")
	switch {
	case given != "text" && given != "custom":
		return errors.New("data.dataType: must be text or custom: files are not imported")
	case len(fileref.Mentioned(view.ObjectJSON(m.GetData()))) > 0:
		return errors.New("data.data: must not refer to files, which are not imported")
	case m.GetParentId() != "" && candidates(m.GetParentId()) == nil:
		return errors.New("data.parentId: must be " + idForm)
	}
	return inData(chat.CheckContent(given, freeform.Of(m.GetData())))
}

// checkMessages finds which messages exist, and whether their order can be kept.
func (i *Importer) checkMessages(ctx context.Context, rows []*row) error {
	found, last, err := i.readMessages(ctx, rows)
	if err != nil {
		return err
	}
	for _, r := range rows {
		r.present = messageIn(found, r.id) != nil
		if r.keep(); r.present || r.err != nil {
			continue
		}
		home, err := i.Store.HomeOf(r.channel.ID)
		if err != nil {
			return err
		}
		if r.internal, r.err = idAt(home, r.id); r.err == nil {
			found = append(found, r.takeOrder(found, last)...)
		}
	}
	return nil
}

// readMessages reads which of the messages and their parents exist, and the times of the last messages of the channels, by
// internal ids.
func (i *Importer) readMessages(ctx context.Context, rows []*row) (found []messaging.Message, last map[string]time.Time, err error) {
	var feeds []messaging.MessageFeed
	reads := i.Store.NewReadBatch()
	reads.MessagesByID(service.SortedSet(slices.Concat(internalIDs(rows), parentIDs(rows))), &found)
	reads.MessageFeeds(slices.Sorted(maps.Keys(byPlace(rows))), &feeds)
	if err := reads.Run(ctx); err != nil {
		return nil, nil, err
	}
	last = map[string]time.Time{}
	for _, f := range feeds {
		last[f.ID] = f.LastMessageAt
	}
	return found, last, nil
}

// parentIDs returns the internal ids that the parents of messages may have.
func parentIDs(rows []*row) []string {
	var ids []string
	for _, r := range rows {
		m, _ := r.request.(*plazav1.CreateMessageRequest)
		ids = append(ids, candidates(m.GetParentId())...)
	}
	return ids
}

// messageIn returns the message with an id in the file; nil if there is none.
func messageIn(found []messaging.Message, id string) *messaging.Message {
	may := candidates(id)
	return service.Find(found, func(m messaging.Message) bool { return slices.Contains(may, m.ID) })
}

// takeOrder refuses a message that does not follow the last one of its channel, or whose parent does not exist. It returns
// the message otherwise.
func (r *row) takeOrder(found []messaging.Message, last map[string]time.Time) []messaging.Message {
	m, _ := r.request.(*plazav1.CreateMessageRequest)
	if r.createdAt.Before(last[r.channel.ID]) {
		r.refusef("createdAt: must not be before the channel and its last message, %s: sort messages by time",
			last[r.channel.ID].UTC().Format(time.RFC3339Nano))
		return nil
	}
	if id := m.GetParentId(); id != "" {
		parent := messageIn(found, id)
		if parent == nil || parent.FeedID != r.channel.ID || parent.DeletedAt != nil || parent.ParentID != "" {
			r.refusef("data.parentId: the parent %q must be a message of the channel that is not a reply: import it first", id)
			return nil
		}
		r.parentID = parent.ID
	}
	last[r.channel.ID] = r.createdAt
	return []messaging.Message{r.messageRow()}
}

func (*Importer) insertMessages(tx *store.Tx, channelID string, rows []*row) {
	var stored []messaging.Message
	tx.GuardChannel(channelID, fail.NotFound())
	tx.InsertMessages(service.Map(rows, (*row).messageRow), fail.NotFound(), core.ErrConflict, &stored)
}

func (r *row) messageRow() messaging.Message {
	m, _ := r.request.(*plazav1.CreateMessageRequest)
	c := r.channel
	return messaging.Message{
		ID: r.internal, FeedID: c.ID, ChannelID: c.ID, ChannelPublicID: c.PublicID, ChannelType: c.Type, ParentID: r.parentID,
		CreatorID: r.user.ID, CreatorPublicID: r.user.PublicID, ReferenceID: r.internal, DataType: cmp.Or(m.GetDataType(), "text"),
		Data: view.ObjectJSON(m.GetData()), Metadata: view.ObjectJSON(m.GetMetadata()), Tags: m.GetTags(),
		Mentions:  view.MessageMentionsJSON(nil),
		CreatedAt: r.createdAt,
	}
}
