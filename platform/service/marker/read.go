package marker

import (
	"context"
	"math"
	"time"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// readingFor is how long a user is taken to look at a feed; clients say so again every 30 seconds.
const readingFor = time.Minute

// GetUserMarker gets what the caller has not read, over all feeds.
func (s *Service) GetUserMarker(ctx context.Context, _ *plazav1.GetUserMarkerRequest) (*answer, error) {
	r, _, err := s.load(ctx, selection{})
	if err != nil {
		return nil, err
	}
	return s.answer(ctx, *r.User(), nil, nil)
}

// ListChannelMarkers gets the caller's markers of channels; unknown ones are left out.
func (s *Service) ListChannelMarkers(ctx context.Context, req *plazav1.ListChannelMarkersRequest) (*answer, error) {
	r, _, err := s.load(ctx, selection{})
	if err != nil {
		return nil, err
	}
	return s.answer(ctx, *r.User(), nil, once(req.GetChannelIds()))
}

// ListMessageFeedMarkers gets the caller's markers of message feeds; unknown ones are left out.
func (s *Service) ListMessageFeedMarkers(ctx context.Context, req *plazav1.ListMessageFeedMarkersRequest) (*answer, error) {
	r, marks, err := s.load(ctx, selection{feeds: once(req.GetMessageFeedIds())})
	if err != nil {
		return nil, err
	}
	return s.answer(ctx, *r.User(), feedsOf(marks), entitiesOf(marks))
}

// ListUserMessageFeeds gets the caller's markers of all message feeds of channels.
func (s *Service) ListUserMessageFeeds(ctx context.Context, req *plazav1.ListUserMessageFeedsRequest) (*answer, error) {
	r, marks, err := s.load(ctx, selection{entities: once(req.GetChannelIds())})
	if err != nil {
		return nil, err
	}
	return s.answer(ctx, *r.User(), feedsOf(marks), entitiesOf(marks))
}

// everything takes the caller to the end of a feed.
func everything(m store.FeedMark) move { return move{m.LastSegment, m.LastSegment} }

// theEnd takes the caller to where a feed ends by now, whatever the marker knows of it.
func theEnd(store.FeedMark) move { return move{math.MaxInt32, math.MaxInt32} }

// ReadChannel marks everything in a channel read.
func (s *Service) ReadChannel(ctx context.Context, req *plazav1.ReadChannelRequest) (*answer, error) {
	return s.advance(ctx, selection{entities: []string{req.GetChannelId()}}, theEnd, nil)
}

// ReadMessageFeed marks a feed read up to a segment. It never goes back, and not past the last segment.
func (s *Service) ReadMessageFeed(ctx context.Context, req *plazav1.ReadMessageFeedRequest) (*answer, error) {
	to := int64(req.GetReadToSegment())
	return s.advance(ctx, selection{feeds: []string{req.GetMessageFeedId()}}, func(store.FeedMark) move { return move{to, to} }, nil)
}

// DeliverMessage marks a feed delivered up to a message; one that is not of the feed is 400400.
func (s *Service) DeliverMessage(ctx context.Context, req *plazav1.DeliverMessageRequest) (*answer, error) {
	feed := selection{feeds: []string{req.GetMessageFeedId()}}
	if _, _, err := s.load(ctx, feed); err != nil {
		return nil, err
	}
	var segment int64
	reads := s.Store.NewReadBatch()
	reads.SegmentOf(req.GetMessageFeedId(), req.GetMessageId(), &segment)
	if err := reads.Run(ctx); err != nil || segment == 0 {
		return nil, orNotFound(err)
	}
	return s.advance(ctx, feed, func(store.FeedMark) move { return move{0, segment} }, nil)
}

func orNotFound(err error) error {
	if err != nil {
		return err
	}
	return fail.NotFound()
}

// ReadingMessageFeeds says that the caller is looking at feeds.
func (s *Service) ReadingMessageFeeds(ctx context.Context, req *plazav1.ReadingMessageFeedsRequest) (*answer, error) {
	return s.reading(ctx, req.GetMessageFeedIds(), readingFor)
}

// StartReading is ReadingMessageFeeds for one feed.
func (s *Service) StartReading(ctx context.Context, req *plazav1.StartReadingRequest) (*answer, error) {
	return s.reading(ctx, []string{req.GetMessageFeedId()}, readingFor)
}

// StopReading says that the caller looks away.
func (s *Service) StopReading(ctx context.Context, req *plazav1.StopReadingRequest) (*answer, error) {
	return s.reading(ctx, []string{req.GetMessageFeedId()}, 0)
}

func (s *Service) reading(ctx context.Context, feeds []string, how time.Duration) (*answer, error) {
	u := &until{}
	if how > 0 {
		end := s.Now().Add(how)
		u.time = &end
	}
	return s.advance(ctx, selection{feeds: once(feeds)}, everything, u)
}
