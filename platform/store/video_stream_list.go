package store

import (
	"time"

	"github.com/plaza-social/plaza/platform/region"
)

// StreamStatuses are the states of a stream.
func StreamStatuses() []string { return []string{"idle", "live", "ended", "recorded", "error"} }

// streamLists are the statements of ListVideoStreams by what they list and order.
var streamLists = makeStreamLists()

func makeStreamLists() map[string]*Statement {
	lists := map[string]*Statement{}
	for name, where := range map[string]string{
		"":          `status = $2 AND deleted_at IS NULL`,
		"Deleted":   `status = $2 AND deleted_at IS NOT NULL`,
		"OfCreator": `creator_id = $2 AND status = ANY($6::text[]) AND deleted_at IS NULL`,
	} {
		for _, o := range []listOrder{orderCreatedDesc, orderCreatedAsc} {
			lists[name+o.name] = stmt("videoStreams.list"+name+o.name, `SELECT `+streamColumns+` FROM video_streams WHERE home = $1 AND `+where+
				` AND `+o.after("created_at", "id", "$3::timestamptz", "$4")+` ORDER BY `+o.by("created_at", "id")+` LIMIT $5::bigint`)
		}
	}
	return lists
}

// StreamList is a page of streams.
type StreamList struct {
	Statuses []string // each once; empty means all
	Creators []string // internal ids, each once; nil means everybody's
	Deleted  bool     // only deleted ones, instead of only the others; for everybody's
	Desc     bool
	// The position after which the page starts.
	After   time.Time
	AfterID string
	Limit   int
}

// ListVideoStreams reads up to Limit streams of each creator, or of each home and state; the caller merges them.
func (r *ReadBatch) ListVideoStreams(l StreamList, into *[]VideoStream) {
	*into = nil
	if len(l.Statuses) == 0 {
		l.Statuses = StreamStatuses()
	}
	if l.Creators != nil {
		for _, id := range l.Creators {
			if home, err := region.HomeOf(id); err == nil {
				r.listStreams(home, "OfCreator", l, into, id, l.Statuses)
			}
		}
		return
	}
	name := ""
	if l.Deleted {
		name = "Deleted"
	}
	for _, home := range region.All() {
		for _, status := range l.Statuses {
			r.listStreams(home, name, l, into, status)
		}
	}
}

func (r *ReadBatch) listStreams(home region.Code, name string, l StreamList, into *[]VideoStream, key string, more ...any) {
	part := new([]VideoStream)
	st := streamLists[name+pick(l.Desc, orderCreatedDesc, orderCreatedAsc).name]
	r.add(home, st, scanAll(part, scanStream), append([]any{key, l.After, l.AfterID, l.Limit}, more...)...)
	r.Then(func() { *into = append(*into, *part...) })
}
