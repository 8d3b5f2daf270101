package room

import (
	"context"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/media"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// ListRooms lists the rooms of all regions. Rooms that the caller may not see are left out of the page.
func (s *Service) ListRooms(ctx context.Context, m *plazav1.ListRoomsRequest) (*plazav1.ListRoomsResponse, error) {
	cursor, err := page.Parse(m.GetOptions(), page.DefaultLimit)
	if err != nil {
		return nil, err
	}
	list := media.RoomList{Statuses: service.SortedSet(m.GetStatuses()), Deleted: m.GetIsDeleted(), Desc: m.GetSortBy() != "firstCreated"}
	if m.GetType() != "" {
		list.Types = []string{m.GetType()}
	}
	rows, paging, err := s.rooms.List(ctx, cursor, list.Desc != cursor.Back, list.Deleted, reading(list, cursor))
	if err != nil {
		return nil, err
	}
	users, err := s.ReadUsers(ctx, userIDs(rows...))
	return &plazav1.ListRoomsResponse{Rooms: s.View.Rooms(rows), Users: s.View.Users(ctx, users), Paging: paging}, err
}

// reading returns the function that reads a page of a list of rooms.
func reading(list media.RoomList, cursor page.Cursor) func(*store.ReadBatch, page.Cursor, *[]media.Room) {
	list.Desc, list.Limit = list.Desc != cursor.Back, cursor.Limit+1
	return func(reads *store.ReadBatch, from page.Cursor, into *[]media.Room) {
		list.After, _, list.AfterID = from.Start(list.Desc)
		reads.ListRooms(list, into)
	}
}

func position(row media.Room) (t time.Time, key, id string) { return row.CreatedAt, "", row.ID }

// ListLiveRooms lists the live rooms in posts that the caller may read, with these posts.
func (s *Service) ListLiveRooms(ctx context.Context, m *plazav1.ListLiveRoomsRequest) (*plazav1.ListLiveRoomsResponse, error) {
	r := s.NewRequest(ctx)
	cursor := r.Page(m.GetOptions())
	if err := r.Run(ctx); err != nil {
		return nil, err
	}
	list := service.Merged[media.Room]{Cursor: cursor, Desc: !cursor.Back, At: position, Read: reading(liveList(m), cursor)}
	rows, paging, err := list.Page(ctx, s.Deps)
	if err != nil {
		return nil, err
	}
	k, err := s.posts(ctx, r, rows)
	if err != nil {
		return nil, err
	}
	rows = slices.DeleteFunc(rows, func(row media.Room) bool {
		return !slices.ContainsFunc(k.Posts, func(p content.Post) bool { return p.ID == row.PostID })
	})
	k.UserIDs = userIDs(rows...)
	a, err := s.View.Load(ctx, s.Store, r.Caller.UserID, k)
	return view.Fill(a, &plazav1.ListLiveRoomsResponse{Rooms: s.View.Rooms(rows), Paging: paging}), err
}

func liveList(m *plazav1.ListLiveRoomsRequest) media.RoomList {
	list := media.RoomList{Live: true, TargetTypes: []string{"community", "user"}, Desc: true}
	if slices.Contains(m.GetTargetTypes(), "community") && !slices.Contains(m.GetTargetTypes(), "all") {
		list.TargetTypes = []string{"community"}
		list.TargetIDs = slices.DeleteFunc(service.SortedSet(m.GetTargetIds()), func(id string) bool { return !region.ValidID(id) })
	}
	if len(m.GetTargetIds()) > 0 && len(list.TargetIDs) == 0 && len(list.TargetTypes) == 1 {
		list.TargetTypes = nil // none of the ids can be a community
	}
	return list
}

// posts reads the posts that show the rooms, in the order of the rooms, without those that the caller may not read.
func (s *Service) posts(ctx context.Context, r *service.Request, rows []media.Room) (view.Rows, error) {
	ids := service.Map(rows, func(row media.Room) string { return row.PostID })
	posts, err := service.ReadAvailable(ctx, s.Deps, (*store.ReadBatch).PostsByID, ids)
	if err != nil {
		return view.Rows{}, err
	}
	k, err := visibility.FilterPosts(ctx, r, posts)
	service.SortByID(k.Posts, ids, func(p content.Post) string { return p.ID })
	return k, err
}
