package live

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"encoding/json"
	"fmt"
	"slices"

	"google.golang.org/protobuf/types/known/structpb"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/fileref"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// This file holds what streams and rooms share: who may see and change them, states, keys and what moderation says.

// SeesAll reports whether the caller sees the streams and rooms of everybody.
func SeesAll(caller *auth.Caller) bool {
	return auth.Allowed(caller, auth.ViewLiveStreaming, auth.Scope{})
}

// RequireSeeRoom refuses who may not see a room: until a post carries it, it is for whoever knows its id; from then on for its participants
// and for those who may read the post. One that is nil or deleted is there for nobody.
func RequireSeeRoom(ctx context.Context, d *service.Deps, caller *auth.Caller, r *store.Room) error {
	if r == nil || r.DeletedAt != nil {
		return fail.NotFound()
	}
	takesPart := slices.ContainsFunc(r.Participants, func(p store.RoomParticipant) bool { return p.UserID == caller.UserID })
	return requireSeeLive(ctx, d, caller, r.PostID, takesPart)
}

// RequireSeeStream is RequireSeeRoom for a video stream, in which its creator alone takes part.
func RequireSeeStream(ctx context.Context, d *service.Deps, caller *auth.Caller, s *store.VideoStream) error {
	if s == nil || s.DeletedAt != nil {
		return fail.NotFound()
	}
	return requireSeeLive(ctx, d, caller, s.PostID, s.CreatorID == caller.UserID)
}

func requireSeeLive(ctx context.Context, d *service.Deps, caller *auth.Caller, postID string, takesPart bool) error {
	if postID == "" || takesPart || SeesAll(caller) {
		return nil
	}
	_, err := visibility.LoadPost(ctx, d, caller, postID)
	return err
}

// RequireChange refuses whoever neither made a stream or room nor manages those of everybody.
func RequireChange(caller *auth.Caller, creatorID string) error {
	if creatorID == caller.UserID {
		return nil
	}
	return auth.Require(caller, auth.ManageLiveStreaming, auth.Scope{})
}

// Transition is what an event does to the state of something.
type Transition struct {
	From []string // the states that it starts from
	To   string
	// Again are states beside To in which the event was taken in before, and more: a report that comes late, or twice, changes
	// nothing in them.
	Again []string
}

// Next decides about an event in a state: whether it moves, or changes nothing; otherwise the refusal.
func (t Transition) Next(event, state string) (moves bool, err error) {
	switch {
	case slices.Contains(t.From, state):
		return true, nil
	case state == t.To, slices.Contains(t.Again, state):
		return false, nil
	}
	return false, BadTransition(event, state)
}

// BadTransition refuses an event that does not fit a state.
func BadTransition(event, state string) error {
	return fail.New(fail.CodeBadRequest, fmt.Sprintf("%s does not fit the state %s", event, state))
}

// NewKey makes a key that nobody can guess: 26 letters and digits, 130 bits.
func NewKey() string { return rand.Text() }

// SameKey compares keys in a time that says nothing of them; an empty key is nobody's.
func SameKey(want, got string) bool {
	return want != "" && subtle.ConstantTimeCompare([]byte(want), []byte(got)) == 1
}

// maxLiveMetadata bounds the custom fields of a stream or room, in bytes of JSON.
const maxLiveMetadata = 10 * 1024

// Metadata is the JSON of the custom fields of a stream or room.
func Metadata(s *structpb.Struct) ([]byte, error) {
	raw := view.ObjectJSON(s)
	if len(raw) > maxLiveMetadata {
		return nil, fail.Validation(fmt.Sprintf("metadata: must be at most %d bytes", maxLiveMetadata))
	}
	if !json.Valid(raw) {
		return nil, fail.Validation("metadata: must be an object")
	}
	return raw, nil
}

// maxLabels is how many findings of each kind are kept: the newest.
const maxLabels = 100

// AddModerationLabels adds findings to what moderation saw before. terminates says that they ended the stream or room. Findings that are
// known already are not added again, so that a report that comes twice changes nothing.
func AddModerationLabels(d *service.Deps, old store.Moderation, labels []*plazav1.ModerationLabel, terminates bool, id string) store.Moderation {
	now := d.Now()
	seen := old
	if seen.ID == "" {
		seen.ID, seen.CreatedAt = d.NewID(service.HomeOf(id)), now
	}
	seen.UpdatedAt = now
	into := &seen.FlagLabels
	if terminates {
		into = &seen.TerminateLabels
	}
	list := slices.Clone(*into)
	for _, l := range labels {
		found := store.ModerationLabel{Category: l.GetCategory(), Threshold: l.GetThreshold(), DetectedAt: now}
		known := slices.ContainsFunc(list, func(k store.ModerationLabel) bool {
			return l.GetDetectedAt() != nil && k.Category == found.Category && k.DetectedAt.Equal(l.GetDetectedAt().AsTime())
		})
		if l.GetDetectedAt() != nil {
			found.DetectedAt = l.GetDetectedAt().AsTime()
		}
		if !known {
			list = append(list, found)
		}
	}
	*into = list[max(0, len(list)-maxLabels):]
	return seen
}

// Thumbnail refers to the image of a stream or room; nil and empty stand for none.
func Thumbnail(id *string) fileref.Reference {
	if id == nil {
		return fileref.Reference{}
	}
	return fileref.Reference{ID: *id, Kind: "image", Field: "thumbnailFileId"}
}
