package store

import "time"

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
	statuses := orAll(l.Statuses, StreamStatuses())
	if l.Creators != nil {
		for _, id := range l.Creators {
			appendRows(r, r.homeOf(id), streamsByCreator.in(l.Desc), into, id, l.After, l.AfterID, l.Limit, statuses)
		}
		return
	}
	for _, status := range statuses {
		readEveryHome(r, pick(l.Deleted, deletedStreamsByStatus, streamsByStatus).in(l.Desc), into, status, l.After, l.AfterID, l.Limit)
	}
}
