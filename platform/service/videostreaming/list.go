package videostreaming

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/media"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// ListVideoStreamings lists the streams of all regions. Streams that the caller may not see are left out of the page.
func (s *Service) ListVideoStreamings(
	ctx context.Context, m *plazav1.ListVideoStreamingsRequest,
) (*plazav1.ListVideoStreamingsResponse, error) {
	cursor, err := page.Parse(m.GetOptions(), page.DefaultLimit)
	if err != nil {
		return nil, err
	}
	list, err := s.listOf(ctx, m, cursor)
	if err != nil {
		return nil, err
	}
	read := func(reads *store.ReadBatch, from page.Cursor, into *[]media.VideoStream) {
		list.After, _, list.AfterID = from.Start(list.Desc)
		reads.ListVideoStreams(list, into)
	}
	rows, paging, err := s.streams.List(ctx, cursor, list.Desc, list.Deleted, read)
	if err != nil {
		return nil, err
	}
	a, err := s.respond(ctx, rows...)
	return &plazav1.ListVideoStreamingsResponse{Results: a, Paging: paging}, err
}

func position(row media.VideoStream) (t time.Time, key, id string) { return row.CreatedAt, "", row.ID }

func (s *Service) listOf(ctx context.Context, m *plazav1.ListVideoStreamingsRequest, cursor page.Cursor) (media.StreamList, error) {
	list := media.StreamList{
		Statuses: service.SortedSet(m.GetStatuses()), Deleted: m.GetIsDeleted(),
		Desc: (m.GetSortBy() != "firstCreated") != cursor.Back, Limit: cursor.Limit + 1,
	}
	if m.GetIsLive() {
		list.Statuses = []string{"live"}
	}
	if len(m.GetUserPublicIds()) == 0 {
		return list, nil
	}
	if list.Deleted {
		return list, fail.Validation("isDeleted: must not be combined with userPublicIds")
	}
	found, err := s.Directory.Resolve(ctx, m.GetUserPublicIds()...)
	list.Creators = append([]string{}, slices.Sorted(maps.Values(found))...) // not nil: no creator is known, so no stream is listed
	list.Creators = slices.Compact(list.Creators)
	return list, err
}
