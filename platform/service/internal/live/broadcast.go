// Package live holds the rules that rooms and video streams share: who may see and change one, the transitions between
// its states, its keys, and the findings of moderation.
package live

import (
	"context"
	"slices"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/media"
)

// Broadcast is what the shared rules need to know about a room or a video stream.
type Broadcast struct {
	ID           string
	CreatorID    string
	Participants []string // internal ids of the users who take part
	Banned       []string // internal ids of the viewers who are banned
	PostID       string   // of the post that shows it; empty without one
	Status       string
	Deleted      bool
	Moderation   media.Moderation
}

// OfRoom returns a room as a broadcast. A room that does not exist, nil, is like a deleted one.
func OfRoom(r *media.Room) Broadcast {
	if r == nil {
		return Broadcast{Deleted: true}
	}
	b := Broadcast{
		ID: r.ID, CreatorID: r.CreatorID, PostID: r.PostID, Status: r.Status, Deleted: r.DeletedAt != nil, Moderation: r.Moderation,
	}
	for _, p := range r.Participants {
		b.Participants = append(b.Participants, p.UserID)
	}
	return b
}

// OfStream is OfRoom for a video stream. Only its creator takes part in it.
func OfStream(s *media.VideoStream) Broadcast {
	if s == nil {
		return Broadcast{Deleted: true}
	}
	return Broadcast{
		ID: s.ID, CreatorID: s.CreatorID, Participants: []string{s.CreatorID}, Banned: s.BannedIDs, PostID: s.PostID, Status: s.Status,
		Deleted: s.DeletedAt != nil, Moderation: s.Moderation,
	}
}

// HasParticipant reports whether a user, by internal id, takes part.
func (b Broadcast) HasParticipant(userID string) bool { return slices.Contains(b.Participants, userID) }

// hides reports whether a room or stream does not exist for a user, by internal id: it is deleted, or the user is banned.
func (b Broadcast) hides(userID string) bool { return b.Deleted || slices.Contains(b.Banned, userID) }

// SeesAll reports whether a network role lets the caller see every room and stream.
func SeesAll(caller *auth.Caller) bool {
	return auth.Allowed(caller, auth.ViewLiveStreaming, auth.Scope{})
}

// RequireSee returns nil if the caller may see a room or stream. Until it is part of a post, every caller who knows its
// id may; from then on the callers who may read the post, and its participants as long as they may take part. A deleted
// one is visible to no one, and none is visible to viewers who are banned from it.
func RequireSee(ctx context.Context, d *service.Deps, caller *auth.Caller, b Broadcast) error {
	var post *content.Post
	var target visibility.Target
	if b.PostID != "" && !b.hides(caller.UserID) && !SeesAll(caller) {
		var err error
		if post, target, err = visibility.LoadPostIn(ctx, d, caller, b.PostID); err != nil {
			return err
		}
	}
	if b.RequireSeeIn(target, post, caller) != nil {
		return fail.NotFound()
	}
	return nil
}

// RequireTakePart returns nil if a participant may still take part in a room or stream. Once it is part of a post, that
// ends with their membership in the community of the post, by a ban, by leaving or by being removed, or with a block by
// the owner of its wall. The deletion of the post ends nothing.
func RequireTakePart(ctx context.Context, d *service.Deps, caller *auth.Caller, b Broadcast) error {
	if b.PostID == "" {
		return nil
	}
	post, target, err := visibility.LoadPostIn(ctx, d, caller, b.PostID)
	if err != nil || post == nil {
		return err
	}
	return requireTakePartIn(target, caller)
}

// requireTakePartIn is RequireTakePart for the target of the post.
func requireTakePartIn(target visibility.Target, caller *auth.Caller) error {
	if target.Community != nil && target.Member == nil { // guests never were members
		return nil
	}
	target.Wall.Private = false // co-hosts need not follow the owner of a wall
	return target.RequireReact(caller)
}

// RequireSeeIn is RequireSee for a caller whose access to the target of the post was read. post is nil if there is none any more.
func (b Broadcast) RequireSeeIn(target visibility.Target, post *content.Post, caller *auth.Caller) error {
	switch {
	case b.hides(caller.UserID):
		return fail.NotFound()
	case b.PostID == "" || SeesAll(caller):
		return nil
	case post == nil || post.DeletedAt != nil:
		return b.requireParticipant(caller)
	case b.HasParticipant(caller.UserID) && requireTakePartIn(target, caller) == nil:
		return nil
	}
	return target.RequireSeePost(caller, post)
}

// RequireStageIn returns nil if the caller takes part in the room or stream, or sees all of them.
func (b Broadcast) RequireStageIn(target visibility.Target, post *content.Post, caller *auth.Caller) error {
	if err := b.RequireSeeIn(target, post, caller); err != nil || SeesAll(caller) {
		return err
	}
	return b.requireParticipant(caller)
}

func (b Broadcast) requireParticipant(caller *auth.Caller) error {
	if !b.HasParticipant(caller.UserID) {
		return fail.NotFound()
	}
	return nil
}

var errSender = fail.Forbidden("The user of the stream key may not send any more")

// RequireSender returns nil if a participant, who is not the caller, may send now: the user is neither deleted nor
// banned from the network, and may take part. Its refusal is for the media server.
func RequireSender(ctx context.Context, d *service.Deps, userID string, b Broadcast) error {
	users, err := service.Read(ctx, d, (*store.ReadBatch).Users, []string{userID})
	if err != nil {
		return err
	}
	sender := &auth.Caller{Kind: auth.User, UserID: userID, Home: d.HomeOf(userID)}
	if err = auth.Confirm(auth.WithCaller(ctx, sender), d.FactsOf(service.UserByID(users, userID))); err == nil {
		err = RequireTakePart(ctx, d, sender, b)
	}
	if err != nil && fail.From(err).Code != fail.CodeUnexpected {
		return errSender
	}
	return err
}

// RequireChange returns nil for the creator of a room or stream and for callers who manage live streams.
func RequireChange(caller *auth.Caller, creatorID string) error {
	if creatorID == caller.UserID {
		return nil
	}
	return auth.Require(caller, auth.ManageLiveStreaming, auth.Scope{})
}
