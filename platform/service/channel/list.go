package channel

import (
	"context"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/chat"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/messaging"
	"github.com/plaza-social/plaza/platform/store/network"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// ListChannels lists the channels of all regions that the caller may see: those that they are a member of, except
// archived ones, and public ones. Homes that do not answer are left out.
//
// A keyword selects the channels whose name starts with it. The list is then ordered by name, because that is the
// order of its index.
func (s *Service) ListChannels(ctx context.Context, req *plazav1.ListChannelsRequest) (*plazav1.ListChannelsResponse, error) {
	r := s.NewRequest(ctx)
	cursor := r.Page(req.GetOptions())
	return s.list(ctx, r, channelQuery{ChannelList: listOf(req, cursor), filter: req.GetFilter()}, cursor)
}

// list runs the request r and answers a query about the channels of its caller.
func (s *Service) list(ctx context.Context, r *service.Request, q channelQuery, cursor page.Cursor) (*plazav1.ListChannelsResponse, error) {
	var settings network.Settings
	r.Settings(s.Region, &settings)
	r.ArchivedChannels(r.Caller.UserID, &q.Archived)
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	q.MemberID, q.seesAll = r.Caller.UserID, chat.SeesAllChannels(r.Caller)
	keys, paging, err := service.Merged[messaging.ChannelKey]{
		Cursor: cursor, ByName: q.Order == messaging.ChannelsByName, Desc: q.Desc, At: position, Read: q.read,
	}.Page(ctx, s.Deps)
	if err != nil {
		return nil, err
	}
	ids := service.Map(keys, func(k messaging.ChannelKey) string { return k.ID })
	a, err := s.respond(ctx, r, settings, view.ChannelRows{IDs: ids})
	return view.Fill(a, &plazav1.ListChannelsResponse{Paging: paging}), err
}

// listOf returns the query of a request.
func listOf(req *plazav1.ListChannelsRequest, cursor page.Cursor) messaging.ChannelList {
	list := messaging.ChannelList{
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
		list.Order = messaging.ChannelsByName
	case req.GetSortBy() == "lastCreated", req.GetSortBy() == "firstCreated":
		list.Order = messaging.ChannelsByCreation
	}
	list.Desc = (list.Order != messaging.ChannelsByName && req.GetSortBy() != "firstCreated") != cursor.Back
	return list
}

// typesOf returns the types to list. standard and private are former names of community.
func typesOf(types []string) []string {
	types = slices.Clone(types)
	for i, t := range types {
		if t == "standard" || t == "private" {
			types[i] = messaging.ChannelCommunity
		}
	}
	return types
}

// channelQuery is a list of channels as a caller sees it.
type channelQuery struct {
	messaging.ChannelList
	filter  string
	seesAll bool
}

// read queues reads of the sort keys of the channels after a position, at least enough for a page.
//
// For a caller who sees all channels, it reads a page of the public channels and one of the others. For other
// callers, it reads a page of the public channels that are not deleted, and all of the caller's own channels, of
// which a user has few.
func (q channelQuery) read(reads *store.ReadBatch, from page.Cursor, into *[]messaging.ChannelKey) {
	list := q.ChannelList
	list.AfterTime, list.AfterKey, list.AfterID = from.Start(list.Desc)
	if q.filter != "member" && q.seesAll {
		reads.ListChannels(list, true, into)
		reads.ListChannels(list, false, into)
	}
	if q.filter != "member" && !q.seesAll && list.Deleted != core.DeletedOnly {
		existing := list
		existing.Deleted = core.DeletedNone
		reads.ListChannels(existing, true, into)
	}
	var mine []messaging.ChannelKey
	if q.filter == "member" || q.filter != "notMember" && !q.seesAll {
		reads.ChannelsOf(list, &mine)
	}
	reads.Finally(func() {
		left := func(k messaging.ChannelKey) bool {
			home, _ := reads.HomeOf(k.ID) // the id of a row
			return slices.Contains(reads.Missing(), home)
		}
		*into = slices.DeleteFunc(*into, left)
		*into = append(*into, firstOf(list, slices.DeleteFunc(mine, left), *into)...)
	})
}

// firstOf returns the first keys of a list among the caller's own channels, without those that the list has already. It returns
// a page at most: a caller may have many more channels.
func firstOf(list messaging.ChannelList, mine, listed []messaging.ChannelKey) []messaging.ChannelKey {
	known := make(map[string]bool, len(listed))
	for _, k := range listed {
		known[k.ID] = true
	}
	from := page.Cursor{ID: list.AfterID, Key: list.AfterKey, Time: list.AfterTime}
	byName := list.Order == messaging.ChannelsByName
	mine = service.After(mine, from, byName, list.Desc, position)
	mine = slices.DeleteFunc(mine, func(k messaging.ChannelKey) bool { return known[k.ID] })
	return service.First(mine, list.Limit, byName, list.Desc, position)
}

// position returns the sort key of a channel.
func position(k messaging.ChannelKey) (t time.Time, key, id string) { return k.Time, k.NameKey, k.ID }
