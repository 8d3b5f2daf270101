package message

import (
	"cmp"
	"context"
	"math"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/chat"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/messaging"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// ListMessages lists the messages of a subchannel in the order of their segments.
func (s *Service) ListMessages(ctx context.Context, req *plazav1.ListMessagesRequest) (*plazav1.ListMessagesResponse, error) {
	return s.list(ctx, req, 0)
}

// list lists messages from after a segment on, or from the first one if it is 0.
func (s *Service) list(ctx context.Context, req *plazav1.ListMessagesRequest, start int64) (*plazav1.ListMessagesResponse, error) {
	options := req.GetOptions()
	c := chat.NewFeedRequest(ctx, s.Deps, req.GetMessageFeedId())
	cursor := c.Page(page.Options(options))
	around := options.GetAround() != "" && cursor.First()
	list := listOf(req, cursor)
	if cursor.First() && start > 0 {
		list.After = start
	}
	var rows []messaging.Message
	if around {
		c.Request.ReadBatch.Message(options.GetAround(), &c.Message)
	} else {
		c.Request.ReadBatch.ListMessages(list, &rows)
	}
	if err := c.Run(ctx); err != nil {
		return nil, err
	}
	var err error
	stops := positions(list.FeedID, c.Request.ReadBatch.Stops())
	if list.Flagged, err = service.FlaggedOf(req.HasFlags, moderates(c)); err != nil {
		return nil, err
	}
	if !moderates(c) {
		list.Viewer = c.Caller.UserID
	}
	if around {
		return s.around(ctx, list, cursor, c)
	}
	if list.Flagged != core.FlaggedAny || list.Viewer != "" && mayDiffer(list, rows) {
		// A second round trip, because the first one tells whether the caller is a moderator.
		if rows, stops, err = s.read(ctx, list); err != nil {
			return nil, err
		}
	}
	rows, paging := service.Page(cursor, rows, false, list.Desc, position, stops...)
	return s.page(ctx, c, rows, paging)
}

// mayDiffer reports whether the list may contain other messages than rows, which were read without the viewer.
func mayDiffer(l messaging.MessageList, rows []messaging.Message) bool {
	switch l.Deleted {
	case core.DeletedOnly:
		return true
	case core.DeletedNone:
		return slices.ContainsFunc(rows, func(m messaging.Message) bool { return m.HiddenAt != nil })
	}
	return false
}

func (s *Service) page(ctx context.Context, c *chat.MessageRequest, rows []messaging.Message,
	paging *plazav1.Paging,
) (*plazav1.ListMessagesResponse, error) {
	a, err := s.respond(ctx, c, rows...)
	return view.Fill(a, &plazav1.ListMessagesResponse{Paging: paging}), err
}

// position returns the sort key of a message. Page tokens encode its segment as a time.
func position(m messaging.Message) (t time.Time, key, id string) {
	return time.UnixMicro(m.Segment).UTC(), "", m.FeedID
}

// positions returns stops of a list of messages as positions of page tokens.
func positions(feedID string, stops []core.Position) []core.Position {
	return service.Map(stops, func(p core.Position) core.Position {
		return core.Position{Time: time.UnixMicro(p.Segment).UTC(), ID: feedID}
	})
}

// listOf returns the query of a request.
func listOf(req *plazav1.ListMessagesRequest, cursor page.Cursor) messaging.MessageList {
	desc := req.GetOptions().GetSortBy() != "segmentAsc"
	list := messaging.MessageList{
		FeedID:      req.GetMessageFeedId(),
		EveryLevel:  req.ParentId == nil,
		ParentID:    req.GetParentId(),
		Deleted:     service.DeletedOf(req.IsDeleted),
		IncludeTags: req.GetIncludeTags(),
		ExcludeTags: req.GetExcludeTags(),
		DataType:    req.GetDataType(),
		Desc:        desc != cursor.Back,
		After:       cursor.Time.UnixMicro(),
		Limit:       cursor.Limit + 1,
	}
	if cursor.First() {
		list.After = firstSegment(list.Desc)
	}
	return list
}

// firstSegment returns a segment that precedes all messages in the direction of the list.
func firstSegment(desc bool) int64 {
	if desc {
		return math.MaxInt64
	}
	return 0
}

// around returns a page with a message in its middle, or closer to an end of the page if there are not enough messages
// on that side.
func (s *Service) around(ctx context.Context, list messaging.MessageList, cursor page.Cursor,
	c *chat.MessageRequest,
) (*plazav1.ListMessagesResponse, error) {
	if c.Message == nil || c.Message.FeedID != c.Feed.ID {
		return nil, fail.NotFound()
	}
	before, after := list, list
	before.Desc = !before.Desc
	before.After, after.After = c.Message.Segment, c.Message.Segment-1
	if after.Desc {
		after.After = c.Message.Segment + 1
	}
	head, headStops, err := s.read(ctx, before)
	if err != nil {
		return nil, err
	}
	tail, tailStops, err := s.read(ctx, after)
	if err != nil {
		return nil, err
	}
	ahead := min(len(head), cursor.Limit/2)
	behind := min(len(tail), cursor.Limit-ahead)
	ahead = min(len(head), cursor.Limit-behind)
	moreBefore, moreAfter := len(head) > ahead, len(tail) > behind
	head = head[:ahead]
	slices.Reverse(head)
	rows := slices.Concat(head, tail[:behind])
	paging := &plazav1.Paging{Next: tokenBeyond(cursor, rows, moreAfter, tailStops)}
	slices.Reverse(rows)
	cursor.Back = true
	paging.Previous = tokenBeyond(cursor, rows, moreBefore, headStops)
	paging.Prev = paging.Previous
	slices.Reverse(rows)
	return s.page(ctx, c, rows, paging)
}

// tokenBeyond returns the token for the messages beyond the last of rows if there are more, or beyond the first of stops;
// empty if there is none.
func tokenBeyond(cursor page.Cursor, rows []messaging.Message, more bool, stops []core.Position) string {
	token := page.Cursor{Limit: cursor.Limit, Back: cursor.Back}
	switch {
	case more:
		token.Time, _, token.ID = position(rows[len(rows)-1])
	case len(stops) > 0:
		token.Time, token.ID = stops[0].Time, stops[0].ID
	default:
		return ""
	}
	return token.Token()
}

// read reads a list, in its order, in a round trip of its own.
func (s *Service) read(ctx context.Context, list messaging.MessageList) (rows []messaging.Message, stops []core.Position, err error) {
	reads := s.Store.NewReadBatch()
	reads.ListMessages(list, &rows)
	err = reads.Run(ctx)
	slices.SortFunc(rows, func(a, b messaging.Message) int {
		c := cmp.Compare(a.Segment, b.Segment)
		if list.Desc {
			return -c
		}
		return c
	})
	return rows, positions(list.FeedID, reads.Stops()), err
}
