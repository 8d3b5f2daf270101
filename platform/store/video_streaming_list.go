package store

import (
	"time"

	"github.com/plaza-social/plaza/platform/region"
)

// StreamStatuses returns the statuses of a stream.
func StreamStatuses() []string { return []string{"idle", "live", "ended", "recorded", "error"} }

// The statements of ListVideoStreams.
var (
	streamsByStatus        = streamList("", `status = $2 AND NOT is_deleted`)
	deletedStreamsByStatus = streamList("Deleted", `status = $2 AND is_deleted`)
	streamsByCreator       = streamList("OfCreator", `creator_id = $2 AND status = ANY($6::text[]) AND NOT is_deleted`)
)

func streamList(name, where string) directions {
	return by(createdOrders, "created_at", source{
		name: "videoStreams.list" + name, columns: streamColumns, from: `video_streams WHERE home = $1 AND ` + where, after: 3,
	}.list)
}

// StreamList is a page of streams.
type StreamList struct {
	Statuses []string // distinct; empty means all
	Creators []string // distinct internal ids; nil means all
	Deleted  bool     // deleted streams instead of live rows; requires nil Creators
	Desc     bool
	// The position that the page starts after.
	After   time.Time
	AfterID string
	Limit   int
}

// ListVideoStreams reads up to Limit streams of each creator, or of each home and status. The caller merges them.
func (r *ReadBatch) ListVideoStreams(l StreamList, into *[]VideoStream) {
	*into = nil
	if len(l.Statuses) == 0 {
		l.Statuses = StreamStatuses()
	}
	if l.Creators != nil {
		for _, id := range l.Creators {
			if home, err := r.HomeOf(id); err == nil {
				r.listStreams(home, streamsByCreator, l, into, id, l.Statuses)
			}
		}
		return
	}
	list := pick(l.Deleted, deletedStreamsByStatus, streamsByStatus)
	for _, home := range region.All() {
		for _, status := range l.Statuses {
			r.listStreams(home, list, l, into, status)
		}
	}
}

func (r *ReadBatch) listStreams(home region.Code, list directions, l StreamList, into *[]VideoStream, key string, more ...any) {
	appendRows(r, home, list.in(l.Desc), into, append([]any{key, l.After, l.AfterID, l.Limit}, more...)...)
}
