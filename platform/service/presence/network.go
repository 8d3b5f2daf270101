package presence

import (
	"context"
	"maps"
	"slices"
	"time"

	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/plaza-social/plaza/platform/narrow"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/contact"
	"github.com/plaza-social/plaza/platform/store/network"
	"github.com/plaza-social/plaza/platform/store/people"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// maxOnline is the maximum number of users in a list of who is online.
const maxOnline = 1000

// networkCount is the key of the count of users who are online.
const networkCount = "network"

// onlineIn returns the place in which the users of a home are who are online.
func onlineIn(home region.Code) string { return region.FixedID(home) }

// online is a request about who is online.
type online struct {
	*service.Request
	hidden   *contact.Hidden
	settings network.Settings
}

func (s *Service) newOnline(ctx context.Context) (*online, error) {
	o := &online{Request: s.NewRequest(ctx)}
	o.hidden = contact.ReadHidden(o.Request)
	o.Settings(s.Region, &o.settings)
	return o, o.Run(ctx)
}

// SendHeartbeat takes the caller for online.
func (s *Service) SendHeartbeat(ctx context.Context, _ *plazav1.SendHeartbeatRequest) (*plazav1.SendRoomHeartbeatResponse, error) {
	r := s.NewRequest(ctx)
	home := s.HomeOf(r.Caller.UserID)
	return s.heartbeat(ctx, r, home, onlineIn(home))
}

// BatchGetPresences returns which of several users are online.
func (s *Service) BatchGetPresences(ctx context.Context, req *plazav1.BatchGetPresencesRequest) (*plazav1.ListPresencesResponse, error) {
	o, err := s.newOnline(ctx)
	if err != nil {
		return nil, err
	}
	found, err := s.Directory.Resolve(ctx, service.Distinct(req.GetUserIds())...)
	if err != nil {
		return nil, err
	}
	var present []people.Presence
	reads := s.Store.NewBestEffortBatch()
	for home, ids := range reads.ByHome(service.SortedSet(slices.Collect(maps.Values(found)))) {
		reads.PresencesAmong(onlineIn(home), ids, s.Now(), &present)
	}
	if err := reads.Run(ctx); err != nil {
		return nil, err
	}
	return s.presences(ctx, o, present)
}

// ListPresences lists users who are online, by the time of their latest heartbeat.
func (s *Service) ListPresences(ctx context.Context, req *plazav1.ListPresencesRequest) (*plazav1.ListPresencesResponse, error) {
	o, err := s.newOnline(ctx)
	if err != nil {
		return nil, err
	}
	homes := region.All()
	ofHome := make([][]people.Presence, len(homes))
	reads := s.Store.NewBestEffortBatch()
	for i, home := range homes {
		reads.ListPresences(onlineIn(home), s.Now(), maxOnline, &ofHome[i])
	}
	if err := reads.Run(ctx); err != nil {
		return nil, err
	}
	present := slices.Concat(ofHome...)
	slices.SortStableFunc(present, func(a, b people.Presence) int { return b.Until.Compare(a.Until) })
	present = present[:min(len(present), maxOnline)]
	if req.GetOrderBy() == "asc" {
		slices.Reverse(present)
	}
	return s.presences(ctx, o, present)
}

// presences returns those who are present, without users who are hidden from the caller.
func (s *Service) presences(ctx context.Context, o *online, present []people.Presence) (*plazav1.ListPresencesResponse, error) {
	users, err := s.shown(ctx, present, o.hidden)
	if err != nil {
		return nil, err
	}
	byID := map[string]people.User{}
	for _, u := range users {
		byID[u.ID] = u
	}
	response := &plazav1.ListPresencesResponse{}
	for _, p := range present {
		if u, ok := byID[p.UserID]; ok {
			at := p.Until.Add(-o.settings.PresenceDuration())
			response.Presences = append(response.Presences,
				&plazav1.Presence{UserId: u.PublicID, LastHeartbeat: timestamppb.New(at.Truncate(time.Millisecond))})
		}
	}
	return response, nil
}

// CountPresences counts the users who are online.
func (s *Service) CountPresences(ctx context.Context, _ *plazav1.CountPresencesRequest) (*plazav1.CountPresencesResponse, error) {
	if err := s.NewRequest(ctx).Run(ctx); err != nil {
		return nil, err
	}
	c, err := s.count(ctx, networkCount, s.Store.NewBestEffortBatch(), service.Map(region.All(), onlineIn)...)
	return &plazav1.CountPresencesResponse{Count: narrow.To[int32](c.n), ReferenceTimeStamp: timestamppb.New(c.at)}, err
}
