// Package presence implements PresenceService: who watches a room.
//
// A heartbeat changes nothing on disk by itself. The server that receives it keeps the user's presence in memory, one of
// each user and room, and stores what it has of a home once a second, in transactions of up to 500 presences. A presence ends
// one and a half intervals after the latest heartbeat; a job removes the rows of those that have ended. Heartbeats that a
// server has not stored when it stops are lost: the next ones replace them.
//
// Counts are cached for five seconds by each server, so that a room costs a server one count in this time however many
// clients ask.
package presence

import (
	"context"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/plaza-social/plaza/platform/narrow"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/contact"
	"github.com/plaza-social/plaza/platform/service/internal/live"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/media"
	"github.com/plaza-social/plaza/platform/store/network"
	"github.com/plaza-social/plaza/platform/store/people"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// maxViewers is the maximum number of users in a response.
const maxViewers = 200

// Service implements PresenceService.
type Service struct {
	*service.Deps
	beats  beats
	counts counts
}

// New returns the service. Its heartbeats are stored by Store.
func New(d *service.Deps) *Service { return &Service{Deps: d, counts: newCounts()} }

// GetPresenceSettings gets how often clients send heartbeats.
func (s *Service) GetPresenceSettings(ctx context.Context, _ *plazav1.GetPresenceSettingsRequest) (*plazav1.PresenceSettings, error) {
	r := s.NewUserRequest(ctx)
	var settings network.Settings
	r.Settings(s.Region, &settings)
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	minutes := narrow.To[int32](settings.PresenceHeartbeatMinutes)
	network := &plazav1.NetworkPresenceSetting{HeartbeatInterval: minutes, PresenceSyncInterval: minutes}
	if changed := settings.PresenceChangedAt; !changed.IsZero() {
		network.UpdatedAt = timestamppb.New(changed.Truncate(time.Millisecond))
	}
	return &plazav1.PresenceSettings{User: settingOf(*r.User()), Network: network}, nil
}

// newRequest starts a request about a room, which fails unless the caller may see the room.
func (s *Service) newRequest(ctx context.Context, roomID string) *service.Request {
	var room *media.Room
	r := s.NewRequest(ctx)
	r.Room(roomID, &room)
	r.AfterRun(func(ctx context.Context) error {
		return live.RequireSee(ctx, s.Deps, r.Caller, live.OfRoom(room))
	})
	return r
}

// SendRoomHeartbeat takes the caller for present in a room.
func (s *Service) SendRoomHeartbeat(
	ctx context.Context, req *plazav1.SendRoomHeartbeatRequest,
) (*plazav1.SendRoomHeartbeatResponse, error) {
	return s.heartbeat(ctx, s.newRequest(ctx, req.GetRoomId()), s.HomeOf(req.GetRoomId()), req.GetRoomId())
}

// heartbeat runs a request and takes its caller for present in a place of a home, unless the caller's presence is hidden.
func (s *Service) heartbeat(
	ctx context.Context, r *service.Request, home region.Code, place string,
) (*plazav1.SendRoomHeartbeatResponse, error) {
	var settings network.Settings
	r.Settings(s.Region, &settings)
	r.Check(r.RequireUser)
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	sent := &plazav1.SendRoomHeartbeatResponse{Success: true}
	if r.User().IsPresenceHidden {
		return sent, nil
	}
	now := s.Now()
	p := people.Presence{Place: place, UserID: r.Caller.UserID, JoinedAt: now, Until: now.Add(settings.PresenceDuration())}
	return sent, s.beats.add(home, p)
}

// CountRoomViewers counts the users who watch a room.
func (s *Service) CountRoomViewers(ctx context.Context, req *plazav1.CountRoomViewersRequest) (*plazav1.CountRoomViewersResponse, error) {
	r := s.newRequest(ctx, req.GetRoomId())
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	c, err := s.count(ctx, req.GetRoomId(), s.Store.NewReadBatch(), req.GetRoomId())
	return &plazav1.CountRoomViewersResponse{Count: narrow.To[int32](c.n), ReferenceTimestamp: timestamppb.New(c.at)}, err
}

// count returns the number of users in places, which may be cached under a key.
func (s *Service) count(ctx context.Context, key string, reads *store.ReadBatch, places ...string) (count, error) {
	now := s.Now()
	if c, ok := s.counts.get(key, now); ok {
		return c, nil
	}
	parts := make([]int64, len(places))
	for i, place := range places {
		reads.CountPresences(place, now, &parts[i])
	}
	if err := reads.Run(ctx); err != nil {
		return count{}, err
	}
	c := count{at: now}
	for _, n := range parts {
		c.n += n
	}
	s.counts.Add(key, c)
	return c, nil
}

// ListRoomViewers lists users who watch a room.
func (s *Service) ListRoomViewers(ctx context.Context, req *plazav1.ListRoomViewersRequest) (*plazav1.ListRoomViewersResponse, error) {
	r := s.newRequest(ctx, req.GetRoomId())
	var present []people.Presence
	r.ListPresences(req.GetRoomId(), s.Now(), maxViewers, &present)
	hidden := contact.ReadHidden(r)
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	c, err := s.count(ctx, req.GetRoomId(), s.Store.NewReadBatch(), req.GetRoomId())
	if err != nil {
		return nil, err
	}
	users, err := s.shown(ctx, present, hidden)
	return &plazav1.ListRoomViewersResponse{
		Viewers: viewers(present, users), Limit: maxViewers, Total: narrow.To[int32](c.n),
	}, err
}
