package subscription

import (
	"context"

	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/live"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/media"
)

// broadcast is what decides who may watch a room or a stream.
type broadcast struct {
	live.Broadcast
	stage   bool          // for those who take part only
	post    *content.Post // that shows it; nil if there is none
	unknown bool          // whether a home did not answer
}

// broadcastsAt reads the rooms and streams among places, in one round trip, and the posts that show them, in another one.
func (s *Resolver) broadcastsAt(ctx context.Context, places []events.Place) (map[events.Place]*broadcast, error) {
	found := map[events.Place]*broadcast{}
	rooms, streams := map[events.Place]**media.Room{}, map[events.Place]**media.VideoStream{}
	reads := s.deps.Store.NewBestEffortBatch()
	for _, place := range places {
		if found[place] != nil {
			continue
		}
		switch place.Kind {
		case events.PlaceRoom, events.PlaceStage:
			rooms[place] = new(*media.Room)
			reads.Room(place.ID, rooms[place])
		case events.PlaceStream:
			streams[place] = new(*media.VideoStream)
			reads.VideoStream(place.ID, streams[place])
		default:
			continue
		}
		found[place] = &broadcast{stage: place.Kind == events.PlaceStage}
	}
	if len(found) == 0 {
		return nil, nil // not an error
	}
	if err := reads.Run(ctx); err != nil {
		return nil, err
	}
	for place, b := range found {
		b.unknown = len(reads.Missing()) > 0
		if room := rooms[place]; room != nil {
			b.Broadcast = live.OfRoom(*room)
		} else {
			b.Broadcast = live.OfStream(*streams[place])
		}
		b.unknown = b.unknown || reads.Incomplete() && b.ID == ""
	}
	return found, s.readPosts(ctx, found)
}

// readPosts reads the posts that show rooms and streams.
func (s *Resolver) readPosts(ctx context.Context, found map[events.Place]*broadcast) error {
	var ids []string
	for _, b := range found {
		if b.PostID != "" {
			ids = append(ids, b.PostID)
		}
	}
	if len(ids) == 0 {
		return nil
	}
	var posts []content.Post
	reads := s.deps.Store.NewBestEffortBatch()
	reads.PostsByID(ids, &posts)
	if err := reads.Run(ctx); err != nil {
		return err
	}
	for _, b := range found {
		if b.PostID != "" {
			b.post = service.Find(posts, func(p content.Post) bool { return p.ID == b.PostID })
			b.unknown = b.unknown || len(reads.Missing()) > 0 || reads.Incomplete() && b.post == nil
		}
	}
	return nil
}

// read adds what decides whether the user of a request may watch.
func (b *broadcast) read(r *service.Request, a *Access) {
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
