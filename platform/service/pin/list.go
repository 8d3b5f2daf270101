package pin

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// ListGlobalPins lists the pinned posts of the global feed. Homes that do not answer are left out. A pin whose
// community became private is visible only to callers who see every community.
func (s *Service) ListGlobalPins(ctx context.Context, req *plazav1.ListGlobalPinsRequest) (*plazav1.PinResponse, error) {
	f := s.NewRequest(ctx)
	if err := f.Run(ctx); err != nil {
		return nil, err
	}
	pins := &content.Pins{}
	reads := s.Store.NewBestEffortBatch()
	for _, home := range region.All() {
		reads.Pins(home, s.NetworkID, content.PinGlobal, pins)
	}
	if err := reads.Run(ctx); err != nil {
		return nil, err
	}
	pins.Communities = slices.DeleteFunc(pins.Communities, func(c communities.Community) bool {
		return visibility.Target{Community: &c}.RequireSee(f.Caller) != nil
	})
	order := orderOf(req.GetSortBy(), req.GetOptions())
	return s.list(ctx, view.Rows{Users: f.UserRows()}, f.Caller.UserID, pins, order)
}

// ListCommunityPins lists the pinned posts of a community at one placement, or at all.
func (s *Service) ListCommunityPins(ctx context.Context, m *plazav1.ListCommunityPinsRequest) (*plazav1.PinResponse, error) {
	id, pins := m.GetCommunityId(), &content.Pins{}
	r, target := s.newCommunityRequest(ctx, id)
	if region.ValidID(id) {
		r.Pins(s.HomeOf(id), id, m.GetPlacement(), pins)
	}
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	known := target.Known(r.UserRows())
	known.Communities = nil // list adds those of the pins
	return s.list(ctx, known, r.Caller.UserID, pins, orderOf(m.GetSortBy(), m.GetOptions()))
}

// list returns the pins whose posts and communities exist, in order.
func (s *Service) list(ctx context.Context, k view.Rows, callerID string, all *content.Pins,
	order func(a, b content.Pin) int,
) (*plazav1.PinResponse, error) {
	slices.SortFunc(all.Pins, order)
	pins := addPinned(&k, all)
	k.UserIDs = pinners(pins)
	a, err := s.View.Load(ctx, s.Store, callerID, k)
	return s.View.Pins(a, latest(all.Targets), pins), err
}

// addPinned returns the pins whose posts and communities exist, and adds these to the rows of the response, each once.
func addPinned(k *view.Rows, all *content.Pins) []content.Pin {
	var pins []content.Pin
	for _, p := range all.Pins {
		post := slices.IndexFunc(all.Posts, func(row content.Post) bool {
			return row.ID == p.PostID && row.DeletedAt == nil && row.FeedType == "published"
		})
		community := slices.IndexFunc(all.Communities, func(c communities.Community) bool { return c.ID == p.CommunityID && c.DeletedAt == nil })
		if post < 0 || community < 0 {
			continue
		}
		pins = append(pins, p)
		if !slices.ContainsFunc(k.Posts, func(row content.Post) bool { return row.ID == p.PostID }) {
			k.Posts = append(k.Posts, all.Posts[post])
		}
		if !slices.ContainsFunc(k.Communities, func(c communities.Community) bool { return c.ID == p.CommunityID }) {
			k.Communities = append(k.Communities, all.Communities[community])
		}
	}
	return pins
}

// orderOf returns the order of a request: by the age of the pins or of the posts, newest first by default.
func orderOf(sortBy string, o *plazav1.PinOptions) func(a, b content.Pin) int {
	byPost, ascending := sortBy == "lastCreated", o.GetOrderBy() == "asc"
	return func(a, b content.Pin) int {
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
