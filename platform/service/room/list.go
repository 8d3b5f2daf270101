package room

import (
	"context"
	"slices"
	"time"

	"connectrpc.com/connect"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// ListRooms lists the rooms of all regions that the caller may see. What they may not see is left out of the page.
func (s *Service) ListRooms(ctx context.Context, req *connect.Request[plazav1.ListRoomsRequest]) (*connect.Response[plazav1.ListRoomsResponse], error) {
	m := req.Msg
	cursor, err := page.Parse(m.GetOptions(), page.DefaultLimit)
	if err != nil {
		return nil, err
	}
	list := store.RoomList{Statuses: distinct(m.GetStatuses()), Deleted: m.GetIsDeleted(), Desc: m.GetSortBy() != "firstCreated"}
	if m.GetType() != "" {
		list.Types = []string{m.GetType()}
	}
	f := s.Begin(ctx)
	if err := f.Run(ctx); err != nil {
		return nil, err
	}
	if list.Deleted && !service.SeesAllLive(f.Caller) {
		return nil, fail.NotAllowed()
	}
	rows, paging, err := s.page(ctx, list, cursor)
	if err != nil {
		return nil, err
	}
	if rows, err = s.visible(ctx, f, rows); err != nil {
		return nil, err
	}
	users, err := s.users(ctx, rows)
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(&plazav1.ListRoomsResponse{Rooms: s.View.Rooms(rows), Users: s.View.Users(users), Paging: paging}), nil
}

// page reads a page of rooms; a region that is away is left out.
func (s *Service) page(ctx context.Context, list store.RoomList, cursor page.Cursor) ([]store.Room, *plazav1.Paging, error) {
	list.Desc, list.Limit = list.Desc != cursor.Back, cursor.Limit+1
	list.After, _, list.AfterID = cursor.Start(list.Desc)
	var rows []store.Room
	reads := s.Store.Related()
	reads.ListRooms(list, &rows)
	if err := reads.Run(ctx); err != nil {
		return nil, nil, err
	}
	rows, paging := service.Page(cursor, rows, false, list.Desc, func(r store.Room) (time.Time, string, string) { return r.CreatedAt, "", r.ID })
	return rows, paging, nil
}

func distinct(list []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(list)))
}

// visible keeps the rooms that the caller may see: those they take part in, and those of posts that they may read.
func (s *Service) visible(ctx context.Context, f *service.First, rows []store.Room) ([]store.Room, error) {
	if service.SeesAllLive(f.Caller) {
		return rows, nil
	}
	mine := func(r store.Room) bool { return participant(&r, f.Caller.UserID) != nil }
	var ids []string
	for _, r := range rows {
		if r.PostID != "" && !mine(r) {
			ids = append(ids, r.PostID)
		}
	}
	seen, err := s.VisibleIDs(ctx, f, ids)
	return slices.DeleteFunc(rows, func(r store.Room) bool { return !mine(r) && !seen[r.PostID] }), err
}

// ListLiveRooms lists the rooms that are live in posts that the caller may read, with their posts.
func (s *Service) ListLiveRooms(ctx context.Context, req *connect.Request[plazav1.ListLiveRoomsRequest]) (*connect.Response[plazav1.ListLiveRoomsResponse], error) {
	m := req.Msg
	cursor, err := page.Parse(m.GetOptions(), page.DefaultLimit)
	if err != nil {
		return nil, err
	}
	f := s.Begin(ctx)
	if err := f.Run(ctx); err != nil {
		return nil, err
	}
	rows, paging, err := s.page(ctx, liveList(m), cursor)
	if err != nil {
		return nil, err
	}
	k, err := s.posts(ctx, f, rows)
	if err != nil {
		return nil, err
	}
	carries := func(r store.Room) bool {
		return slices.ContainsFunc(k.Posts, func(p store.Post) bool { return p.ID == r.PostID })
	}
	rows = slices.DeleteFunc(rows, func(r store.Room) bool { return !carries(r) })
	k.UserIDs = userIDs(rows)
	a, err := s.View.Load(ctx, s.Store, f.Caller.UserID, k)
	if err != nil {
		return nil, err
	}
	return connect.NewResponse(a.ListLiveRooms(s.View.Rooms(rows), paging)), nil
}

func liveList(m *plazav1.ListLiveRoomsRequest) store.RoomList {
	list := store.RoomList{Live: true, TargetTypes: []string{"community", "user"}, Desc: true}
	if slices.Contains(m.GetTargetTypes(), "community") && !slices.Contains(m.GetTargetTypes(), "all") {
		list.TargetTypes = []string{"community"}
		list.TargetIDs = slices.DeleteFunc(distinct(m.GetTargetIds()), func(id string) bool { return !region.ValidID(id) })
	}
	if len(m.GetTargetIds()) > 0 && len(list.TargetIDs) == 0 && len(list.TargetTypes) == 1 {
		list.TargetTypes = nil // communities that there are not have no rooms
	}
	return list
}

// posts reads the posts that carry the rooms, as far as the caller may read them, in the order of the rooms.
func (s *Service) posts(ctx context.Context, f *service.First, rows []store.Room) (view.Rows, error) {
	ids := make([]string, 0, len(rows))
	for _, r := range rows {
		ids = append(ids, r.PostID)
	}
	var posts []store.Post
	reads := s.Store.Related()
	reads.PostsByID(ids, &posts)
	if err := reads.Run(ctx); err != nil {
		return view.Rows{}, err
	}
	k, err := s.Visible(ctx, f, posts)
	slices.SortFunc(k.Posts, func(a, b store.Post) int { return slices.Index(ids, a.ID) - slices.Index(ids, b.ID) })
	return k, err
}
