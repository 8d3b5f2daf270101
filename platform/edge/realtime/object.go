package realtime

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"google.golang.org/protobuf/proto"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/freeform"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service/subscription"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/eventlog"
	"github.com/plaza-social/plaza/platform/store/people"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// object is what an event is about, as users who are neither its author nor moderators see it.
type object struct {
	data map[string]json.RawMessage // by collection
	sees audience
}

// audience reports whether a user with this access to the place of an object may read it.
type audience func(*subscription.Access) bool

// objectReader reads what an event in the log of a home is about.
type objectReader func(*Hub, context.Context, region.Code, eventlog.LoggedEvent, events.Change) (proto.Message, audience, error)

// objectReaders holds the function that reads each kind of object.
var objectReaders = map[events.ObjectKind]objectReader{
	events.KindPost:        (*Hub).readPost,
	events.KindLive:        (*Hub).readLiveReactions,
	events.KindComment:     (*Hub).readComment,
	events.KindStory:       (*Hub).readStory,
	events.KindMessage:     (*Hub).readMessage,
	events.KindMessageFeed: (*Hub).readMessageFeed,
	events.KindChannel:     (*Hub).readChannel,
	events.KindCommunity:   (*Hub).readCommunity,
	events.KindUser:        (*Hub).readUser,
	events.KindFollow:      (*Hub).readFollow,
	events.KindRoom:        (*Hub).readRoom,
	events.KindStream:      (*Hub).readStream,
	events.KindStreamBan:   (*Hub).readStreamBan,
	events.KindInvitation:  (*Hub).readInvitation,
	events.KindEvent:       (*Hub).readEvent,
	events.KindEventRsvp:   (*Hub).readEventRsvp,
	events.KindMarkers:     (*Hub).readMarkers,
}

// readObject reads what a change is about.
func (h *Hub) readObject(ctx context.Context, home region.Code, e eventlog.LoggedEvent, c events.Change) (*object, error) {
	read := objectReaders[c.Kind]
	if read == nil {
		return nil, fmt.Errorf("%w: unknown kind of object", events.ErrUndeliverable)
	}
	if isAboutFlags(e.Name) {
		ctx = auth.WithCaller(ctx, &auth.Caller{Kind: auth.User, UserID: e.SenderID})
	}
	message, sees, err := read(h, ctx, home, e, c)
	if errors.Is(err, errGone) && strings.HasSuffix(e.Name, ".deleted") {
		return purged(c)
	}
	if err != nil {
		return nil, err
	}
	text, err := h.Marshal(message)
	if err != nil {
		return nil, err
	}
	o := &object{sees: sees}
	if o.data, err = withoutMine(text); err != nil {
		return nil, err
	}
	if c.ParticipantID != "" {
		o.data["eventActor"] = rawOf(map[string]string{"userInternalId": c.ParticipantID})
	}
	h.addMute(o, e)
	return o, h.addReaction(ctx, o, c)
}

// isAboutFlags reports whether an event is about the flag of a user. Only that user receives it, on all
// devices: reporters are anonymous.
func isAboutFlags(name string) bool {
	_, what, _ := strings.Cut(name, ".")
	return slices.Contains([]string{"flagged", "unflagged", "flagCleared", "flagsCleared"}, what)
}

// withoutMine returns the collections of a response without the reactions of the caller, which an event for several users
// does not have. Clients keep those that they know.
func withoutMine(response []byte) (map[string]json.RawMessage, error) {
	data := map[string]json.RawMessage{}
	if err := json.Unmarshal(response, &data); err != nil {
		return nil, err
	}
	for name, collection := range data {
		if !bytes.Contains(collection, []byte(`"myReactions"`)) {
			continue
		}
		rows := freeform.ListOf(collection)
		for i, row := range rows {
			rows[i] = json.RawMessage(freeform.Object(row).Without("myReactions"))
		}
		if rows != nil {
			data[name] = rawOf(rows)
		}
	}
	delete(data, "paging")
	return data, nil
}

// rawOf returns the JSON of a value of texts, numbers, lists and maps, which has always some.
func rawOf(value any) json.RawMessage {
	raw, _ := json.Marshal(value)
	return raw
}

// addMute adds to the data of an event about muting what clients read at its top: the channel, until when it or the users
// are muted, and who did it.
func (h *Hub) addMute(o *object, e eventlog.LoggedEvent) {
	rows := map[string]string{"channel.setMuted": "channels", "channel.setMutedUsers": "channelUsers"}[e.Name]
	list := freeform.ListOf(o.data[rows])
	if len(list) == 0 {
		return
	}
	row := freeform.Object(list[0])
	o.data["channelId"], o.data["muteTimeout"] = row.Member("channelId"), row.Member("muteTimeout")
	o.data["networkId"], o.data["actor"] = freeform.Quote(h.NetworkID), freeform.Quote(e.SenderID)
	if rows == "channelUsers" {
		o.data["userIds"] = rawOf(fieldOf(list, "userId"))
	}
}

// fieldOf returns a field of each row.
func fieldOf(rows []json.RawMessage, name string) []json.RawMessage {
	values := make([]json.RawMessage, len(rows))
	for i, row := range rows {
		values[i] = freeform.Object(row).Member(name)
	}
	return values
}

// purged returns what is known of an object that was removed for good.
func purged(c events.Change) (*object, error) {
	names, ok := map[events.ObjectKind][2]string{
		events.KindPost: {"posts", "postId"}, events.KindComment: {"comments", "commentId"}, events.KindStory: {"stories", "storyId"},
		events.KindMessage: {"messages", "messageId"}, events.KindMessageFeed: {"messageFeeds", "messageFeedId"},
	}[c.Kind]
	if !ok {
		return nil, errGone
	}
	row := map[string]any{names[1]: c.ID, "path": c.Topics[0], "isDeleted": true}
	return &object{data: map[string]json.RawMessage{names[0]: rawOf([]any{row})}, sees: everyone}, nil
}

// addReaction adds who reacted by what name to the data of an event about a reaction.
func (h *Hub) addReaction(ctx context.Context, o *object, c events.Change) error {
	if c.Reaction == nil {
		return nil
	}
	var users []people.User
	reads := h.Store.NewBestEffortBatch()
	reads.Users([]string{c.Reaction.UserID}, &users)
	if err := reads.Run(ctx); err != nil {
		return err
	}
	actor := map[string]string{"reactionId": c.Reaction.ID, "reactionName": c.Reaction.Name}
	if len(users) > 0 {
		actor["userId"], actor["userPublicId"], actor["userInternalId"] = users[0].PublicID, users[0].PublicID, users[0].ID
	}
	o.data["reactor"], o.data["reactions"] = rawOf(actor), rawOf([]any{actor})
	return nil
}

// everyone permits all who see the place of an object.
func everyone(a *subscription.Access) bool { return a.Sees() }

// errGone means that the object was removed for good before its event was delivered.
var errGone = fmt.Errorf("%w: the object does not exist any more", events.ErrUndeliverable)

func (h *Hub) readPost(ctx context.Context, home region.Code, _ eventlog.LoggedEvent, c events.Change) (proto.Message, audience, error) {
	var rows view.Rows
	reads := h.Store.NewBestEffortBatch()
	reads.PostsByID([]string{c.ID}, &rows.Posts)
	h.readPlace(reads, c.Place, &rows)
	if err := h.run(ctx, reads, home); err != nil || len(rows.Posts) == 0 {
		return nil, nil, cmp.Or(err, errGone)
	}
	post := rows.Posts[0]
	a, err := h.View.Load(ctx, h.Store, "", rows)
	if err != nil {
		return nil, nil, err
	}
	return view.Fill(a, &plazav1.PostResponse{}), func(access *subscription.Access) bool { return access.SeesPost(&post) }, nil
}

func (h *Hub) readComment(ctx context.Context, home region.Code, _ eventlog.LoggedEvent, c events.Change) (proto.Message, audience, error) {
	var rows view.Rows
	var post *content.Post
	reads := h.Store.NewBestEffortBatch()
	reads.CommentsByID([]string{c.ID}, &rows.Comments)
	reads.PostOfComment(c.ID, &post)
	h.readPlace(reads, c.Place, &rows)
	if err := h.run(ctx, reads, home); err != nil || len(rows.Comments) == 0 {
		return nil, nil, cmp.Or(err, errGone)
	}
	comment := rows.Comments[0]
	a, err := h.View.Load(ctx, h.Store, "", rows)
	if err != nil {
		return nil, nil, err
	}
	return view.Fill(a, &plazav1.CommentResponse{}), func(access *subscription.Access) bool {
		return access.SeesComment(&comment) && (post == nil || access.SeesPost(post))
	}, nil
}

func (h *Hub) readStory(ctx context.Context, home region.Code, _ eventlog.LoggedEvent, c events.Change) (proto.Message, audience, error) {
	var rows view.Rows
	reads := h.Store.NewBestEffortBatch()
	reads.StoriesByID([]string{c.ID}, &rows.Stories)
	h.readPlace(reads, c.Place, &rows)
	if err := h.run(ctx, reads, home); err != nil || len(rows.Stories) == 0 {
		return nil, nil, cmp.Or(err, errGone)
	}
	hidden := rows.Stories[0].HiddenAt != nil
	a, err := h.View.Load(ctx, h.Store, "", rows)
	if err != nil {
		return nil, nil, err
	}
	return view.Fill(a, &plazav1.StoryResponse{}), func(access *subscription.Access) bool { return access.Sees() && !hidden }, nil
}

// readPlace adds the read of the community that content is in.
func (h *Hub) readPlace(reads *store.ReadBatch, place events.Place, rows *view.Rows) {
	if place.Kind == events.PlaceCommunity {
		reads.Communities([]string{place.ID}, &rows.Communities)
	}
}

// run runs reads that may leave out rows of other homes than that of the object. If the home of the object does not
// answer, delivery is retried.
func (h *Hub) run(ctx context.Context, reads *store.ReadBatch, home region.Code) error {
	if err := reads.Run(ctx); err != nil {
		return err
	}
	if slices.Contains(reads.Missing(), home) {
		return fail.Unavailable("the home of the event log did not answer", nil)
	}
	return nil
}
