package subscription

import (
	"context"

	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/live"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	"github.com/plaza-social/plaza/platform/store"
)

// broadcast is what decides who may watch a room or a stream.
type broadcast struct {
	live.Broadcast
	stage   bool // for those who take part only
	exists  bool
	post    *store.Post // that shows it; nil if there is none
	unknown bool        // whether a home did not answer
}

// broadcastAt reads the room or stream of a place, or returns nil if the place is neither.
func (s *Resolver) broadcastAt(ctx context.Context, place events.Place) (*broadcast, error) {
	var room *store.Room
	var stream *store.VideoStream
	reads := s.deps.Store.NewBestEffortBatch()
	switch place.Kind {
	case events.PlaceRoom, events.PlaceStage:
		reads.Room(place.ID, &room)
	case events.PlaceStream:
		reads.VideoStream(place.ID, &stream)
	default:
		return nil, nil //nolint:nilnil // not an error
	}
	if err := reads.Run(ctx); err != nil {
		return nil, err
	}
	b := &broadcast{stage: place.Kind == events.PlaceStage, exists: room != nil || stream != nil, unknown: len(reads.Missing()) > 0}
	if room != nil {
		b.Broadcast = live.OfRoom(room)
	} else if stream != nil {
		b.Broadcast = live.OfStream(stream)
	}
	return b, s.readPost(ctx, b)
}

// readPost reads the post that shows a room or stream.
func (s *Resolver) readPost(ctx context.Context, b *broadcast) error {
	if b.PostID == "" {
		return nil
	}
	var posts []store.Post
	reads := s.deps.Store.NewBestEffortBatch()
	reads.PostsByID([]string{b.PostID}, &posts)
	if err := reads.Run(ctx); err != nil {
		return err
	}
	b.unknown = b.unknown || len(reads.Missing()) > 0
	if len(posts) > 0 {
		b.post = &posts[0]
	}
	return nil
}

// read adds what decides whether the user of a request may watch.
func (b *broadcast) read(r *service.Request, a *Access) {
	r.CheckFound(func() bool { return b.exists })
	if b.post != nil {
		visibility.ReadTarget(r, b.post.TargetType, b.post.TargetID, &a.target)
	}
	r.Check(func() error {
		if b.stage {
			return b.RequireStageIn(a.target, b.post, r.Caller)
		}
		return b.RequireSeeIn(a.target, b.post, r.Caller)
	})
}
