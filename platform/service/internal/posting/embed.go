package posting

import (
	"context"
	"time"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/textrules"
	"github.com/plaza-social/plaza/platform/store"
)

// Embed is the poll, stream or room that a draft embeds, as it was read. A field is nil if the draft has none or it
// does not exist.
type Embed struct {
	Poll   *store.Poll
	Stream *store.VideoStream
	Room   *store.Room
}

// Read adds the reads of what a draft embeds.
func (c *Embed) Read(d *Draft, reads *store.ReadBatch) {
	if d.PollID != "" {
		reads.Poll(d.PollID, &c.Poll)
	}
	if d.StreamID != "" {
		reads.VideoStream(d.StreamID, &c.Stream)
	}
	if d.RoomID != "" {
		reads.Room(d.RoomID, &c.Room)
	}
}

// Text returns the user-written text of what is embedded, which may have been written under older rules.
func (c *Embed) Text() textrules.UserText {
	var w textrules.UserText
	if c.Poll != nil {
		w = textrules.TextOfPoll(*c.Poll)
	}
	if c.Stream != nil {
		w.Texts = append(w.Texts, c.Stream.Title, c.Stream.Description)
	}
	if c.Room != nil {
		w.Texts = append(w.Texts, c.Room.Title, c.Room.Description)
	}
	return w
}

// fileIDs returns the ids of the images of what is embedded.
func (c *Embed) fileIDs() []string {
	var ids []string
	if c.Poll != nil {
		for _, a := range c.Poll.Answers {
			ids = append(ids, a.FileID)
		}
	}
	if c.Stream != nil {
		ids = append(ids, c.Stream.ThumbnailFileID)
	}
	if c.Room != nil {
		ids = append(ids, c.Room.ThumbnailFileID)
	}
	return ids
}

// Refusals of what belongs to other users or is already part of a post.
var (
	errPoll   = fail.New(fail.CodeBadRequest, "The poll must be one of your own and must not be part of another post")
	errStream = fail.New(fail.CodeBadRequest, "The stream must be one of your own and must not be part of another post")
	errRoom   = fail.New(fail.CodeBadRequest, "The room must be one of your own and must not be part of another post")
)

// RequireEmbed returns nil if what was read for the draft may become part of the post. What is part of that very post
// already, because an earlier attempt to publish it failed, may.
func (p *PostContext) RequireEmbed(d *Draft, c Embed) error {
	poll, stream, room := c.Poll, c.Stream, c.Room
	free := func(creatorID, postID string, deletedAt *time.Time) bool {
		return deletedAt == nil && creatorID == p.AuthorID && (postID == "" || postID == d.PostID)
	}
	switch {
	case d.PollID != "" && (poll == nil || !free(poll.CreatorID, poll.PostID, poll.DeletedAt)):
		return errPoll
	case d.StreamID != "" && (stream == nil || !free(stream.CreatorID, stream.PostID, stream.DeletedAt)):
		return errStream
	case d.RoomID != "" && (room == nil || !free(room.CreatorID, room.PostID, room.DeletedAt)):
		return errRoom
	}
	return nil
}

// embedding says which poll, stream or room is part of which post. Exactly one of the first three fields is set.
type embedding struct {
	PollID         string `json:"pollId,omitempty"`
	StreamID       string `json:"streamId,omitempty"`
	RoomID         string `json:"roomId,omitempty"`
	PostID         string `json:"postId"`
	TargetType     string `json:"targetType"`
	TargetID       string `json:"targetId"` // internal id
	TargetPublicID string `json:"targetPublicId"`
}

func embeddingOf(parent store.Post, draft *Draft) embedding {
	return embedding{
		PollID: draft.PollID, StreamID: draft.StreamID, RoomID: draft.RoomID, PostID: parent.ID,
		TargetType: parent.TargetType, TargetID: parent.TargetID, TargetPublicID: parent.TargetPublicID,
	}
}

// id returns the id of the poll, stream or room, or "" if nothing is embedded.
func (e embedding) id() string { return e.PollID + e.StreamID + e.RoomID }

// attach makes the poll, stream or room part of the post. The transaction fails if it is part of another one.
func (e embedding) attach(tx *store.Tx) {
	switch {
	case e.PollID != "":
		tx.AttachPoll(e.PollID, e.PostID, errPoll)
	case e.StreamID != "":
		tx.AttachVideoStream(e.StreamID, e.PostID, e.TargetType, e.TargetPublicID, errStream)
	case e.RoomID != "":
		tx.AttachRoom(e.RoomID, e.PostID, e.TargetType, e.TargetID, e.TargetPublicID, errRoom)
	}
}

func (e embedding) detach(tx *store.Tx) {
	switch {
	case e.PollID != "":
		tx.DetachPoll(e.PollID, e.PostID)
	case e.StreamID != "":
		tx.DetachVideoStream(e.StreamID, e.PostID)
	case e.RoomID != "":
		tx.DetachRoom(e.RoomID, e.PostID)
	}
}

// Topics of outbox rows about embeddings.
const (
	topicReserved = "reserved"
	// topicAttached is of rows that servers of earlier versions wrote after they inserted the post.
	topicAttached = "carried"
)

// reservation is how long what a post at another home embeds is reserved for that post. It is longer than any
// transaction takes.
const reservation = time.Minute

// Reserve attaches what a draft embeds to the post before the post is inserted, if it is stored at another home: only
// that home can decide that it is part of no other post. If the post is not inserted, the reservation ends after a
// minute.
func Reserve(ctx context.Context, d *service.Deps, parent store.Post, draft *Draft) error {
	e := embeddingOf(parent, draft)
	home := d.HomeOf(e.id())
	if e.id() == "" || home == d.HomeOf(parent.ID) {
		return nil
	}
	tx := d.Store.NewTx(home)
	tx.WithoutRecord() // if the post is not inserted, the reservation ends
	e.attach(tx)
	tx.Emit(topicReserved, e, d.Now(), d.Now().Add(reservation))
	return tx.Commit(ctx)
}

// endReservation detaches what is reserved for a post that does not exist.
func endReservation(ctx context.Context, d *service.Deps, e embedding) error {
	post, err := service.Read(ctx, d, (*store.ReadBatch).Post, e.PostID)
	if err != nil || post != nil {
		return err
	}
	tx := d.Store.NewTx(d.HomeOf(e.id()))
	e.detach(tx)
	return tx.Commit(ctx)
}

// RegisterEmbed registers the outbox handlers of embeddings.
func RegisterEmbed(d *service.Deps) {
	service.HandleOutbox(d, topicReserved, func(ctx context.Context, e embedding) error { return endReservation(ctx, d, e) })
	service.HandleOutbox(d, topicAttached, func(ctx context.Context, e embedding) error {
		tx := d.Store.NewTx(d.HomeOf(e.id()))
		e.attach(tx)
		if err := tx.Commit(ctx); err != nil && fail.From(err).Code != fail.CodeBadRequest {
			return err
		}
		return nil // it is part of another post
	})
}
