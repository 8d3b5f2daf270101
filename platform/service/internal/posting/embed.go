package posting

import (
	"context"
	"time"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/textrules"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/media"
)

// Embedded identifies the poll, stream or room that a post embeds.
type Embedded struct {
	Kind string `json:"kind"` // a key of embedKinds
	ID   string `json:"id"`   // empty if the post embeds nothing
}

// embedKind is a kind of what posts embed.
type embedKind struct {
	name    string // in errors
	field   string // of a post's data, with the id
	refusal error  // of what belongs to other users or is already part of a post
	read    func(reads *store.ReadBatch, id string, into *Embed)
	// attach makes it part of a post, see embedding.attach.
	attach func(tx *store.Tx, e embedding)
	detach func(tx *store.Tx, id, postID string)
}

// embedKinds are the kinds by the types of the child posts.
var embedKinds = map[string]embedKind{
	"poll": {
		name: "poll", field: "pollId", refusal: errPoll, read: reader((*store.ReadBatch).Poll, embedOfPoll),
		attach: func(tx *store.Tx, e embedding) { tx.AttachPoll(e.ID, e.PostID, errPoll) },
		detach: (*store.Tx).DetachPoll,
	},
	"liveStream": {
		name: "stream", field: "streamId", refusal: errStream, read: reader((*store.ReadBatch).VideoStream, embedOfStream),
		attach: func(tx *store.Tx, e embedding) {
			tx.AttachVideoStream(e.ID, e.PostID, e.TargetType, e.TargetPublicID, errStream)
		},
		detach: (*store.Tx).DetachVideoStream,
	},
	"room": {
		name: "room", field: "roomId", refusal: errRoom, read: reader((*store.ReadBatch).Room, embedOfRoom),
		attach: func(tx *store.Tx, e embedding) {
			tx.AttachRoom(e.ID, e.PostID, e.TargetType, e.TargetID, e.TargetPublicID, errRoom)
		},
		detach: (*store.Tx).DetachRoom,
	},
}

var (
	errPoll   = refusalOf("poll")
	errStream = refusalOf("stream")
	errRoom   = refusalOf("room")
)

func refusalOf(name string) error {
	return fail.New(fail.CodeBadRequest, "The "+name+" must be one of your own and must not be part of another post")
}

// Embed is the poll, stream or room that a draft embeds, as it was read.
type Embed struct {
	exists    bool
	creatorID string
	postID    string // of the post that it is part of
	text      []string
	fileIDs   []string // of its images
}

// Read adds the reads of what a draft embeds.
func (c *Embed) Read(d *Draft, reads *store.ReadBatch) {
	if d.Embedded.ID != "" {
		embedKinds[d.Embedded.Kind].read(reads, d.Embedded.ID, c)
	}
}

// reader returns the function that reads an Embed by a query.
func reader[T any](query func(*store.ReadBatch, string, **T), convert func(T) Embed) func(*store.ReadBatch, string, *Embed) {
	return func(reads *store.ReadBatch, id string, into *Embed) {
		var row *T
		query(reads, id, &row)
		reads.Then(func() {
			if row != nil {
				*into = convert(*row)
			}
		})
	}
}

func embedOfPoll(p content.Poll) Embed {
	images := service.Map(p.Answers, func(a content.PollAnswer) string { return a.FileID })
	return Embed{p.DeletedAt == nil, p.CreatorID, p.PostID, textrules.TextOfPoll(p).Texts, images}
}

func embedOfStream(s media.VideoStream) Embed {
	return Embed{s.DeletedAt == nil, s.CreatorID, s.PostID, []string{s.Title, s.Description}, []string{s.ThumbnailFileID}}
}

func embedOfRoom(r media.Room) Embed {
	return Embed{r.DeletedAt == nil, r.CreatorID, r.PostID, []string{r.Title, r.Description}, []string{r.ThumbnailFileID}}
}

// Text returns the user-written text of what is embedded, which may have been written under older rules.
func (c *Embed) Text() textrules.UserText { return textrules.TextOfList(c.text...) }

// RequireEmbed returns nil if what was read for the draft may become part of the post. What is part of that very post
// already, because an earlier attempt to publish it failed, may.
func (p *PostContext) RequireEmbed(d *Draft, c Embed) error {
	if d.Embedded.ID == "" || c.exists && c.creatorID == p.AuthorID && (c.postID == "" || c.postID == d.PostID) {
		return nil
	}
	return embedKinds[d.Embedded.Kind].refusal
}

// embedding says which poll, stream or room is part of which post.
type embedding struct {
	Embedded

	PostID         string `json:"postId"`
	TargetType     string `json:"targetType"`
	TargetID       string `json:"targetId"` // internal id
	TargetPublicID string `json:"targetPublicId"`
}

func embeddingOf(parent content.Post, draft *Draft) embedding {
	return embedding{draft.Embedded, parent.ID, parent.TargetType, parent.TargetID, parent.TargetPublicID}
}

// attach makes the poll, stream or room part of the post. The transaction fails if it is part of another one.
func (e embedding) attach(tx *store.Tx) { embedKinds[e.Kind].attach(tx, e) }

// topicReserved is the topic of outbox rows about embeddings.
const topicReserved = "reserved"

// reservation is how long what a post at another home embeds is reserved for that post. It is longer than any
// transaction takes.
const reservation = time.Minute

// Reserve attaches what a draft embeds to the post before the post is inserted, if it is stored at another home: only
// that home can decide that it is part of no other post. If the post is not inserted, the reservation ends after a
// minute.
func Reserve(ctx context.Context, d *service.Deps, parent content.Post, draft *Draft) error {
	e := embeddingOf(parent, draft)
	home := d.HomeOf(e.ID)
	if e.ID == "" || home == d.HomeOf(parent.ID) {
		return nil
	}
	tx := d.Store.NewTx(home)
	tx.WithoutRecord() // if the post is not inserted, the reservation ends
	e.attach(tx)
	tx.Emit(topicReserved, e, d.Now(), d.Now().Add(reservation))
	return tx.Commit(ctx)
}

// RegisterEmbed registers the outbox handler that detaches what is reserved for a post that does not exist.
func RegisterEmbed(d *service.Deps) {
	service.HandleOutbox(d, topicReserved, func(ctx context.Context, e embedding) error {
		post, err := service.Read(ctx, d, (*store.ReadBatch).Post, e.PostID)
		if err != nil || post != nil {
			return err
		}
		tx := d.Store.NewTx(d.HomeOf(e.ID))
		embedKinds[e.Kind].detach(tx, e.ID, e.PostID)
		return tx.Commit(ctx)
	})
}
