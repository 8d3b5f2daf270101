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
)

// Broadcast is what the shared rules need to know about a room or a video stream.
type Broadcast struct {
	ID           string
	CreatorID    string
	Participants []string // internal ids of the users who take part
	PostID       string   // of the post that shows it; empty without one
	Status       string
	Deleted      bool
	Moderation   store.Moderation
}

// OfRoom returns a room as a broadcast.
func OfRoom(r *store.Room) Broadcast {
	b := Broadcast{
		ID: r.ID, CreatorID: r.CreatorID, PostID: r.PostID, Status: r.Status, Deleted: r.DeletedAt != nil, Moderation: r.Moderation,
	}
	for _, p := range r.Participants {
		b.Participants = append(b.Participants, p.UserID)
	}
	return b
}

// OfStream returns a video stream as a broadcast. Only its creator takes part in it.
func OfStream(s *store.VideoStream) Broadcast {
	return Broadcast{
		ID: s.ID, CreatorID: s.CreatorID, Participants: []string{s.CreatorID}, PostID: s.PostID, Status: s.Status,
		Deleted: s.DeletedAt != nil, Moderation: s.Moderation,
	}
}

// HasParticipant reports whether a user, by internal id, takes part.
func (b Broadcast) HasParticipant(userID string) bool { return slices.Contains(b.Participants, userID) }

// SeesAll reports whether a network role lets the caller see every room and stream.
func SeesAll(caller *auth.Caller) bool {
	return auth.Allowed(caller, auth.ViewLiveStreaming, auth.Scope{})
}

// RequireSee returns nil if the caller may see a room or stream. Until it is part of a post, every caller who knows its
// id may; from then on its participants and the callers who may read the post. A deleted one is visible to no one.
func RequireSee(ctx context.Context, d *service.Deps, caller *auth.Caller, b Broadcast) error {
	if b.Deleted {
		return fail.NotFound()
	}
	if b.PostID == "" || b.HasParticipant(caller.UserID) || SeesAll(caller) {
		return nil
	}
	_, err := visibility.LoadPost(ctx, d, caller, b.PostID)
	return err
}

// RequireSeeRoom is RequireSee for a room, which does not exist if it is nil.
func RequireSeeRoom(ctx context.Context, d *service.Deps, caller *auth.Caller, r *store.Room) error {
	if r == nil {
		return fail.NotFound()
	}
	return RequireSee(ctx, d, caller, OfRoom(r))
}

// RequireSeeStream is RequireSee for a video stream, which does not exist if it is nil.
func RequireSeeStream(ctx context.Context, d *service.Deps, caller *auth.Caller, s *store.VideoStream) error {
	if s == nil {
		return fail.NotFound()
	}
	return RequireSee(ctx, d, caller, OfStream(s))
}

// RequireChange returns nil for the creator of a room or stream and for callers who manage live streams.
func RequireChange(caller *auth.Caller, creatorID string) error {
	if creatorID == caller.UserID {
		return nil
	}
	return auth.Require(caller, auth.ManageLiveStreaming, auth.Scope{})
}

// FilterListed returns the rows of a list that the caller may see: those they take part in, and those in posts that
// they may read.
func FilterListed[Row any](ctx context.Context, r *service.Request, rows []Row, of func(*Row) Broadcast) ([]Row, error) {
	if SeesAll(r.Caller) {
		return rows, nil
	}
	var postIDs []string
	for i := range rows {
		if b := of(&rows[i]); b.PostID != "" && !b.HasParticipant(r.Caller.UserID) {
			postIDs = append(postIDs, b.PostID)
		}
	}
	visible, err := visibility.VisiblePostIDs(ctx, r, postIDs)
	return slices.DeleteFunc(rows, func(row Row) bool {
		b := of(&row)
		return !b.HasParticipant(r.Caller.UserID) && !visible[b.PostID]
	}), err
}
