package channel

import (
	"context"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/chat"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// ListChannels lists the channels of all regions that the caller may see: those that they are a member of, and public
// ones. Regions that are unavailable are left out.
//
// A keyword selects the channels whose name starts with it. The list is then ordered by name, because that is the
// order of its index.
func (s *Service) ListChannels(ctx context.Context, req *plazav1.ListChannelsRequest) (*plazav1.ListChannelsResponse, error) {
	cursor, err := page.Parse(req.GetOptions(), page.DefaultLimit)
	if err != nil {
		return nil, err
	}
	r := s.NewRequest(ctx)
	var settings store.Settings
	r.Settings(s.Region, &settings)
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	list := listOf(req, cursor)
	list.MemberID = r.Caller.UserID
	keys, err := s.keys(ctx, list, req.GetFilter(), chat.SeesAllChannels(r.Caller))
	if err != nil {
		return nil, err
	}
	keys, paging := service.Page(cursor, keys, list.Order == store.ChannelsByName, list.Desc, position)
	rows, err := s.rows(ctx, keys)
	if err != nil {
		return nil, err
	}
	aggregate, err := s.respond(ctx, r, settings, view.ChannelRows{Channels: rows})
	if err != nil {
		return nil, err
	}
	return view.ChannelPage(aggregate, paging), nil
}

// listOf returns the query of a request.
func listOf(req *plazav1.ListChannelsRequest, cursor page.Cursor) store.ChannelList {
	list := store.ChannelList{
		Types:   typesOf(req.GetTypes()),
		Tags:    req.GetTags(),
		Without: req.GetExcludeTags(),
		Deleted: service.DeletedOf(req.IsDeleted),
		Prefix:  req.GetKeyword(),
		NotMine: req.GetFilter() == "notMember",
		Limit:   cursor.Limit + 1,
	}
	switch {
	case req.GetSortBy() == "displayName", req.GetKeyword() != "":
		list.Order = store.ChannelsByName
	case req.GetSortBy() == "lastCreated", req.GetSortBy() == "firstCreated":
		list.Order = store.ChannelsByCreation
	}
	list.Desc = (list.Order != store.ChannelsByName && req.GetSortBy() != "firstCreated") != cursor.Back
	list.AfterTime, list.AfterKey, list.AfterID = cursor.Start(list.Desc)
	return list
}

// typesOf returns the types to list. standard and private are former names of community.
func typesOf(types []string) []string {
	types = slices.Clone(types)
	for i, t := range types {
		if t == "standard" || t == "private" {
			types[i] = store.ChannelCommunity
		}
	}
	return types
}

// keys reads the sort keys of the channels after the position of the list, at least enough for a page.
//
// For a caller who sees all channels, it reads a page of the public channels and one of the others. For other
// callers, it reads a page of the public channels that are not deleted, and all of the caller's own channels, of
// which a user has few.
func (s *Service) keys(ctx context.Context, list store.ChannelList, filter string, seesAll bool) ([]store.ChannelKey, error) {
	var public, others, mine []store.ChannelKey
	reads := s.Store.NewBestEffortBatch()
	if filter != "member" && seesAll {
		reads.ListChannels(list, true, &public)
		reads.ListChannels(list, false, &others)
	}
	if filter != "member" && !seesAll && list.Deleted != store.DeletedOnly {
		existing := list
		existing.Deleted = store.DeletedNone
		reads.ListChannels(existing, true, &public)
	}
	if filter == "member" || filter != "notMember" && !seesAll {
		reads.ChannelsOf(list, &mine)
	}
	if err := reads.Run(ctx); err != nil {
		return nil, err
	}
	keys := slices.Concat(public, others)
	for _, k := range after(mine, list) {
		if !slices.ContainsFunc(keys, func(p store.ChannelKey) bool { return p.ID == k.ID }) {
			keys = append(keys, k)
		}
	}
	return keys, nil
}

// after returns the keys after the position of the list.
func after(keys []store.ChannelKey, l store.ChannelList) []store.ChannelKey {
	from := store.ChannelKey{ID: l.AfterID, NameKey: l.AfterKey, Time: l.AfterTime}
	return service.After(keys, from, l.Order == store.ChannelsByName, l.Desc, position)
}

// position returns the sort key of a channel.
func position(k store.ChannelKey) (t time.Time, key, id string) { return k.Time, k.NameKey, k.ID }

// rows reads the channels with the keys, in the order of the keys.
func (s *Service) rows(ctx context.Context, keys []store.ChannelKey) ([]store.Channel, error) {
	ids := service.Map(keys, func(k store.ChannelKey) string { return k.ID })
	rows, err := service.ReadAvailable(ctx, s.Deps, (*store.ReadBatch).Channels, ids)
	service.SortByID(rows, ids, func(c store.Channel) string { return c.ID })
	return rows, err
}
