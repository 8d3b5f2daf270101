package marker

import (
	"context"
	"math"
	"time"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store/messaging"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// readingPeriod is how long a user counts as reading a feed. Clients renew it every 30 seconds.
const readingPeriod = time.Minute

// GetUserMarker gets the caller's marker over all feeds.
func (s *Service) GetUserMarker(ctx context.Context, _ *plazav1.GetUserMarkerRequest) (*plazav1.MarkerResponse, error) {
	r, _, err := s.load(ctx, selection{})
	if err != nil {
		return nil, err
	}
	return s.respond(ctx, *r.User(), nil, nil)
}

// ListChannelMarkers gets the caller's markers of channels. Channels without a marker are left out.
func (s *Service) ListChannelMarkers(ctx context.Context, req *plazav1.ListChannelMarkersRequest) (*plazav1.MarkerResponse, error) {
	r, _, err := s.load(ctx, selection{})
	if err != nil {
		return nil, err
	}
	return s.respond(ctx, *r.User(), nil, service.SortedSet(req.GetChannelIds()))
}

// ListMessageFeedMarkers gets the caller's markers of message feeds. Feeds without a marker are left out.
func (s *Service) ListMessageFeedMarkers(ctx context.Context, req *plazav1.ListMessageFeedMarkersRequest) (*plazav1.MarkerResponse, error) {
	r, marks, err := s.load(ctx, selection{feeds: service.SortedSet(req.GetMessageFeedIds())})
	if err != nil {
		return nil, err
	}
	return s.respond(ctx, *r.User(), feedsOf(marks), entitiesOf(marks))
}

// ListUserMessageFeeds gets the caller's markers of all message feeds of channels.
func (s *Service) ListUserMessageFeeds(ctx context.Context, req *plazav1.ListUserMessageFeedsRequest) (*plazav1.MarkerResponse, error) {
	r, marks, err := s.load(ctx, selection{entities: service.SortedSet(req.GetChannelIds())})
	if err != nil {
		return nil, err
	}
	return s.respond(ctx, *r.User(), feedsOf(marks), entitiesOf(marks))
}

// toLastKnown moves a marker to the last segment that it knows of.
func toLastKnown(m messaging.FeedMarker) move { return move{m.LastSegment, m.LastSegment} }

// toEnd moves a marker to the current end of its feed.
func toEnd(messaging.FeedMarker) move { return move{math.MaxInt32, math.MaxInt32} }

// ReadChannel marks all messages of a channel as read.
func (s *Service) ReadChannel(ctx context.Context, req *plazav1.ReadChannelRequest) (*plazav1.MarkerResponse, error) {
	return s.advance(ctx, selection{entities: []string{req.GetChannelId()}}, toEnd, nil)
}

// ReadMessageFeed marks a feed as read up to a segment. The marker moves neither backward nor past the last segment.
func (s *Service) ReadMessageFeed(ctx context.Context, req *plazav1.ReadMessageFeedRequest) (*plazav1.MarkerResponse, error) {
	to := int64(req.GetReadToSegment())
	return s.advance(ctx, selection{feeds: []string{req.GetMessageFeedId()}}, func(messaging.FeedMarker) move { return move{to, to} }, nil)
}

// DeliverMessage marks a feed as delivered up to a message. A message of another feed is 400400.
func (s *Service) DeliverMessage(ctx context.Context, req *plazav1.DeliverMessageRequest) (*plazav1.MarkerResponse, error) {
	feed := selection{feeds: []string{req.GetMessageFeedId()}}
	if _, _, err := s.load(ctx, feed); err != nil {
		return nil, err
	}
	var segment int64
	reads := s.Store.NewReadBatch()
	reads.SegmentOf(req.GetMessageFeedId(), req.GetMessageId(), &segment)
	if err := reads.Run(ctx); err != nil {
		return nil, err
	}
	if segment == 0 {
		return nil, fail.NotFound()
	}
	return s.advance(ctx, feed, func(messaging.FeedMarker) move { return move{0, segment} }, nil)
}

// ReadingMessageFeeds marks the caller as reading feeds.
func (s *Service) ReadingMessageFeeds(ctx context.Context, req *plazav1.ReadingMessageFeedsRequest) (*plazav1.MarkerResponse, error) {
	return s.reading(ctx, req.GetMessageFeedIds(), readingPeriod)
}

// StartReading is ReadingMessageFeeds for one feed.
func (s *Service) StartReading(ctx context.Context, req *plazav1.StartReadingRequest) (*plazav1.MarkerResponse, error) {
	return s.reading(ctx, []string{req.GetMessageFeedId()}, readingPeriod)
}

// StopReading marks the caller as no longer reading a feed.
func (s *Service) StopReading(ctx context.Context, req *plazav1.StopReadingRequest) (*plazav1.MarkerResponse, error) {
	return s.reading(ctx, []string{req.GetMessageFeedId()}, 0)
}

func (s *Service) reading(ctx context.Context, feeds []string, period time.Duration) (*plazav1.MarkerResponse, error) {
	until := &readingUntil{}
	if period > 0 {
		end := s.Now().Add(period)
		until.time = &end
	}
	return s.advance(ctx, selection{feeds: service.SortedSet(feeds)}, toLastKnown, until)
}
