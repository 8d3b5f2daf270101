package flag

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/people"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// flagsInList is the maximum number of flags of an item in a list.
const flagsInList = 10

// ListFlagItems lists the items of the flag queue that have a state. Regions that are unavailable are left out.
func (s *Service) ListFlagItems(ctx context.Context, req *plazav1.ListFlagItemsRequest) (*plazav1.FlagItemListResponse, error) {
	r := s.NewRequest(ctx)
	cursor := r.Page(req.GetOptions())
	list := itemListOf(req, cursor)
	list.PlaceID = readPlace(r, req)
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	rows, paging, err := service.Merged[content.FlagItem]{
		Cursor: cursor, Desc: list.Desc,
		At: func(i content.FlagItem) (time.Time, string, string) { return list.At(i), "", i.TargetID },
		Read: func(reads *store.ReadBatch, from page.Cursor, into *[]content.FlagItem) {
			list.After, _, list.AfterID = from.Start(list.Desc)
			reads.ListFlagItems(list, into)
		},
	}.Page(ctx, s.Deps)
	if err != nil {
		return nil, err
	}
	return s.respondList(ctx, rows, paging)
}

// itemListOf returns the query of a request, without the place.
func itemListOf(req *plazav1.ListFlagItemsRequest, cursor page.Cursor) content.FlagItemList {
	list := content.FlagItemList{
		Homes: homesOf(req.GetRegion()), State: content.FlagsOpen, TargetType: content.FlagTarget(req.GetTargetType()), Reason: req.GetReason(),
		Escalated: req.GetIsEscalated(), Desc: (req.GetSortBy() != "firstCreated") != cursor.Back, Limit: cursor.Limit + 1,
	}
	if req.GetState() != "" {
		list.State = content.FlagState(req.GetState())
	}
	return list
}

func (s *Service) respondList(
	ctx context.Context, items []content.FlagItem, paging *plazav1.Paging,
) (*plazav1.FlagItemListResponse, error) {
	flags, err := s.flagsOf(ctx, items, flagsInList)
	if err != nil {
		return nil, err
	}
	users, err := s.ReadUsers(ctx, usersOf(items, flags, nil))
	if err != nil {
		return nil, err
	}
	return &plazav1.FlagItemListResponse{Items: s.items(items, flags, users), Users: s.View.Users(ctx, users), Paging: paging}, nil
}

// flagsOf reads up to n flags of each item, the latest first.
func (s *Service) flagsOf(ctx context.Context, items []content.FlagItem, n int) ([]content.Flag, error) {
	var flags []content.Flag
	reads := s.Store.NewBestEffortBatch()
	reads.FlagsOf(service.Map(items, func(i content.FlagItem) string { return i.TargetID }), n, &flags)
	err := reads.Run(ctx)
	slices.SortFunc(flags, func(a, b content.Flag) int { return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(b.ID, a.ID)) })
	return flags, err
}

// items converts items with their flags.
func (s *Service) items(items []content.FlagItem, flags []content.Flag, users []people.User) []*plazav1.FlagItem {
	byTarget := map[string][]content.Flag{}
	for _, f := range flags {
		byTarget[f.TargetID] = append(byTarget[f.TargetID], f)
	}
	return service.Map(items, func(i content.FlagItem) *plazav1.FlagItem {
		return view.FlagItem(i, s.HomeOf(i.TargetID), byTarget[i.TargetID], users)
	})
}

// usersOf returns the internal ids of the users who flagged and of the moderators.
func usersOf(items []content.FlagItem, flags []content.Flag, notes []content.FlagNote) []string {
	ids := service.Map(flags, func(f content.Flag) string { return f.UserID })
	for _, i := range items {
		ids = append(ids, i.ClaimedBy, i.ResolvedBy)
	}
	for _, n := range notes {
		ids = append(ids, n.AuthorID)
	}
	return service.Distinct(ids)
}

// CountFlagItems returns the number of items by state. Regions that are unavailable are left out.
func (s *Service) CountFlagItems(ctx context.Context, req *plazav1.CountFlagItemsRequest) (*plazav1.CountFlagItemsResponse, error) {
	r := s.NewRequest(ctx)
	place := readPlace(r, req)
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	refs := []string{place}
	if place == "" {
		refs = service.Map(region.All(), content.FlagsRef)
	}
	counts := core.Counts{}
	reads := s.Store.NewBestEffortBatch()
	reads.CountsOf(refs, counts)
	if err := reads.Run(ctx); err != nil {
		return nil, err
	}
	return view.FlagItemCounts(counts, refs), nil
}
