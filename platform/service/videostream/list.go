package videostream

import (
	"context"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/live"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// ListVideoStreamings lists the streams of all regions that the caller may see. What they may not see is left out of the page.
func (s *Service) ListVideoStreamings(ctx context.Context, m *plazav1.ListVideoStreamingsRequest) (*plazav1.ListVideoStreamingsResponse, error) {
	cursor, err := page.Parse(m.GetOptions(), page.DefaultLimit)
	if err != nil {
		return nil, err
	}
	list, err := s.listOf(ctx, m, cursor)
	if err != nil {
		return nil, err
	}
	f := s.NewRequest(ctx)
	if err := f.Run(ctx); err != nil {
		return nil, err
	}
	if list.Deleted && !live.SeesAll(f.Caller) {
		return nil, fail.NotAllowed()
	}
	var rows []store.VideoStream
	reads := s.Store.NewBestEffortBatch()
	reads.ListVideoStreams(list, &rows)
	if err := reads.Run(ctx); err != nil {
		return nil, err
	}
	rows, paging := service.Page(cursor, rows, false, list.Desc, func(r store.VideoStream) (time.Time, string, string) { return r.CreatedAt, "", r.ID })
	if rows, err = s.visible(ctx, f, rows); err != nil {
		return nil, err
	}
	a, err := s.aggregate(ctx, f.Caller.UserID, rows)
	if err != nil {
		return nil, err
	}
	return &plazav1.ListVideoStreamingsResponse{Results: a, Paging: paging}, nil
}

func (s *Service) listOf(ctx context.Context, m *plazav1.ListVideoStreamingsRequest, cursor page.Cursor) (store.StreamList, error) {
	list := store.StreamList{Statuses: distinct(m.GetStatuses()), Deleted: m.GetIsDeleted(), Desc: (m.GetSortBy() != "firstCreated") != cursor.Back, Limit: cursor.Limit + 1}
	list.After, _, list.AfterID = cursor.Start(list.Desc)
	if m.GetIsLive() {
		list.Statuses = []string{"live"}
	}
	if len(m.GetUserPublicIds()) == 0 {
		return list, nil
	}
	if list.Deleted {
		return list, fail.Validation("isDeleted: goes without userPublicIds")
	}
	found, err := s.Directory.Resolve(ctx, m.GetUserPublicIds()...)
	list.Creators = []string{}
	for _, id := range found {
		list.Creators = append(list.Creators, id)
	}
	slices.Sort(list.Creators)
	list.Creators = slices.Compact(list.Creators)
	return list, err
}

func distinct(list []string) []string {
	return slices.Compact(slices.Sorted(slices.Values(list)))
}

// visible keeps the streams that the caller may see: their own, and those of posts that they may read.
func (s *Service) visible(ctx context.Context, f *service.Request, rows []store.VideoStream) ([]store.VideoStream, error) {
	if live.SeesAll(f.Caller) {
		return rows, nil
	}
	var ids []string
	for _, r := range rows {
		if r.PostID != "" && r.CreatorID != f.Caller.UserID {
			ids = append(ids, r.PostID)
		}
	}
	seen, err := visibility.VisiblePostIDs(ctx, s.Deps, f, ids)
	return slices.DeleteFunc(rows, func(r store.VideoStream) bool { return r.CreatorID != f.Caller.UserID && !seen[r.PostID] }), err
}
