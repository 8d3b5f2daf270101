package media

import (
	"time"

	"github.com/plaza-social/plaza/platform/store/core"
)

// StreamStatuses returns the statuses of a stream.
func StreamStatuses() []string { return []string{"idle", "live", "ended", "recorded", "error"} }

// The statements of ListVideoStreams.
var (
	streamsByStatus        = streamList("", `status = $2 AND NOT is_deleted`)
	deletedStreamsByStatus = streamList("Deleted", `status = $2 AND is_deleted`)
	streamsByCreator       = streamList("OfCreator", `creator_id = $2 AND status = ANY($6::text[]) AND NOT is_deleted`)
)

func streamList(name, where string) core.Directions {
	return core.OrderedBy(core.CreatedOrders, "created_at", core.Source{
		Name: "videoStreams.list" + name, Columns: streamColumns, From: `video_streams WHERE home = $1 AND ` + where, After: 3,
	}.List)
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
func (r ReadBatch) ListVideoStreams(l StreamList, into *[]VideoStream) {
	*into = nil
	statuses := core.OrAll(l.Statuses, StreamStatuses())
	if l.Creators != nil {
		for _, id := range l.Creators {
			core.AppendRows(r.ReadBatch, r.HomeOrNone(id), streamsByCreator.In(l.Desc), into, id, l.After, l.AfterID, l.Limit, statuses)
		}
		return
	}
	for _, status := range statuses {
		core.ReadEveryHome(r.ReadBatch, core.Pick(l.Deleted, deletedStreamsByStatus, streamsByStatus).In(l.Desc), into, status, l.After,
			l.AfterID, l.Limit)
	}
}
