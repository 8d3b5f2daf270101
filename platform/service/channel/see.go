package channel

import (
	"context"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/chat"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// SeeChannels marks the default subchannels of channels as read up to a segment. It changes nothing for channels that
// the caller is not a member of, because the caller has no markers there.
func (s *Service) SeeChannels(ctx context.Context, req *plazav1.SeeChannelsRequest) (*plazav1.SuccessResponse, error) {
	r := s.NewUserRequest(ctx)
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	seen := req.GetChannels()
	if req.GetChannelId() != "" {
		seen = append(seen, &plazav1.SeenChannel{ChannelId: req.GetChannelId(), ReadToSegment: req.GetReadToSegment()})
	}
	if len(seen) == 0 {
		return nil, fail.Validation("channels: must name at least one channel")
	}
	readTo := map[string]int64{}
	for _, c := range seen {
		id := chat.ChannelID(s.Deps, c.GetChannelId())
		readTo[id] = max(readTo[id], int64(c.GetReadToSegment()))
	}
	return service.Success(), s.markers.SeeFeeds(ctx, r.Caller.UserID, readTo)
}
