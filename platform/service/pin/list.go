package pin

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"connectrpc.com/connect"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// ListGlobalPins lists the pinned posts of the global feed. A home that does not answer leaves its pins out. Those whose
// community went private since are shown to nobody but those who see every community.
func (s *Service) ListGlobalPins(ctx context.Context, req *connect.Request[plazav1.ListGlobalPinsRequest]) (*connect.Response[plazav1.PinResponse], error) {
	f := s.Begin(ctx)
	if err := f.Run(ctx); err != nil {
		return nil, err
	}
	pins := &store.Pins{}
	reads := s.Store.Related()
	for _, home := range region.All() {
		reads.Pins(home, s.NetworkID, store.PinGlobal, pins)
	}
	if err := reads.Run(ctx); err != nil {
		return nil, err
	}
	pins.Communities = slices.DeleteFunc(pins.Communities, func(c store.Community) bool {
		return service.Place{Community: &c}.RequireSee(f.Caller) != nil
	})
	order := orderOf(req.Msg.GetSortBy(), req.Msg.GetOptions())
	return s.list(ctx, view.Known{Users: f.UserRows()}, f.Caller.UserID, pins, order)
}

// ListCommunityPins lists the pinned posts of a community, at one placement or at all.
func (s *Service) ListCommunityPins(ctx context.Context, req *connect.Request[plazav1.ListCommunityPinsRequest]) (*connect.Response[plazav1.PinResponse], error) {
	m := req.Msg
	pins := &store.Pins{}
	f, place, err := s.loadPlace(ctx, m.GetCommunityId(), func(f *service.First) {
		f.Pins(service.HomeOf(m.GetCommunityId()), m.GetCommunityId(), m.GetPlacement(), pins)
	})
	if err != nil {
		return nil, err
	}
	known := view.Known{Users: f.UserRows()}
	if place.Member != nil {
		known.Members = []store.Member{*place.Member}
	}
	return s.list(ctx, known, f.Caller.UserID, pins, orderOf(m.GetSortBy(), m.GetOptions()))
}

// list answers with the pins whose posts and communities are there, in order.
func (s *Service) list(ctx context.Context, k view.Known, callerID string, all *store.Pins, order func(a, b store.Pin) int) (*connect.Response[plazav1.PinResponse], error) {
	slices.SortFunc(all.Pins, order)
	var pins []store.Pin
	for _, p := range all.Pins {
		post := slices.IndexFunc(all.Posts, func(row store.Post) bool {
			return row.ID == p.PostID && row.DeletedAt == nil && row.FeedType == "published"
		})
		community := slices.IndexFunc(all.Communities, func(c store.Community) bool { return c.ID == p.CommunityID && c.DeletedAt == nil })
		if post < 0 || community < 0 {
			continue
		}
		pins = append(pins, p)
		if !slices.ContainsFunc(k.Posts, func(row store.Post) bool { return row.ID == p.PostID }) {
			k.Posts = append(k.Posts, all.Posts[post])
		}
		if !slices.ContainsFunc(k.Communities, func(c store.Community) bool { return c.ID == p.CommunityID }) {
			k.Communities = append(k.Communities, all.Communities[community])
		}
	}
	k.UserIDs = pinners(pins)
	a, err := s.View.Gather(ctx, s.Store, callerID, k)
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(s.View.Pins(a, latest(all.Targets), pins)), nil
}

// orderOf is the order that a request asks for: by the age of the pins, or of the posts, newest first unless it says
// otherwise.
func orderOf(sortBy string, o *plazav1.PinOptions) func(a, b store.Pin) int {
	byPost, ascending := sortBy == "lastCreated", o.GetOrderBy() == "asc"
	return func(a, b store.Pin) int {
		order := cmp.Or(a.PinnedAt.Compare(b.PinnedAt), strings.Compare(a.PostID, b.PostID), strings.Compare(a.Placement, b.Placement))
		if byPost {
			order = cmp.Or(a.PostCreatedAt.Compare(b.PostCreatedAt), order)
		}
		if ascending {
			return order
		}
		return -order
	}
}
