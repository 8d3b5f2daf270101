package message

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/chat"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// ListMessages lists the messages of a subchannel in the order of their segments.
func (s *Service) ListMessages(ctx context.Context, req *plazav1.ListMessagesRequest) (*plazav1.ListMessagesResponse, error) {
	return s.list(ctx, req, 0)
}

// list lists messages from after a segment on, or from the first one if it is 0.
func (s *Service) list(ctx context.Context, req *plazav1.ListMessagesRequest, start int64) (*plazav1.ListMessagesResponse, error) {
	options := req.GetOptions()
	cursor, err := page.Parse(pageOptions(options), page.DefaultLimit)
	if err != nil {
		return nil, err
	}
	c := chat.NewFeedRequest(ctx, s.Deps, req.GetMessageFeedId())
	around := options.GetAround() != "" && cursor.First()
	list := listOf(req, cursor)
	if cursor.First() && start > 0 {
		list.After = start
	}
	var rows []store.Message
	if around {
		c.Request.ReadBatch.Message(options.GetAround(), &c.Message)
	} else {
		c.Request.ReadBatch.ListMessages(list, &rows)
	}
	if err := c.Run(ctx); err != nil {
		return nil, err
	}
	if list.Flagged, err = service.FlaggedOf(req.HasFlags, moderates(c)); err != nil {
		return nil, err
	}
	if !moderates(c) {
		list.Viewer = c.Caller.UserID
	}
	if around {
		return s.around(ctx, list, cursor, c)
	}
	if list.Flagged != store.FlaggedAny || list.Viewer != "" && mayDiffer(list, rows) {
		// A second round trip, because the first one tells whether the caller is a moderator.
		if rows, err = service.Read(ctx, s.Deps, (*store.ReadBatch).ListMessages, list); err != nil {
			return nil, err
		}
	}
	rows, paging := page.Window(cursor, rows, position)
	return s.page(ctx, c, rows, paging)
}

// mayDiffer reports whether the list may contain other messages than rows, which were read without the viewer.
func mayDiffer(l store.MessageList, rows []store.Message) bool {
	switch l.Deleted {
	case store.DeletedOnly:
		return true
	case store.DeletedNone:
		return slices.ContainsFunc(rows, func(m store.Message) bool { return m.HiddenAt != nil })
	}
	return false
}

func (s *Service) page(ctx context.Context, c *chat.MessageRequest, rows []store.Message, paging *plazav1.Paging) (*plazav1.ListMessagesResponse, error) {
	a, err := s.respond(ctx, c, rows...)
	if err != nil {
		return nil, err
	}
	return &plazav1.ListMessagesResponse{
		Messages: a.GetMessages(), MessageFeeds: a.GetMessageFeeds(), Users: a.GetUsers(), Files: a.GetFiles(), Paging: paging,
	}, nil
}

func pageOptions(o *plazav1.MessageListOptions) *plazav1.PageOptions {
	if o == nil {
		return nil
	}
	return &plazav1.PageOptions{Limit: o.Limit, Token: o.GetToken()}
}

// position returns the sort key of a message. Page tokens encode its segment as a time.
func position(m store.Message) (t time.Time, key, id string) {
	return time.UnixMicro(m.Segment).UTC(), "", m.FeedID
}

// listOf returns the query of a request.
func listOf(req *plazav1.ListMessagesRequest, cursor page.Cursor) store.MessageList {
	desc := req.GetOptions().GetSortBy() != "segmentAsc"
	list := store.MessageList{
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
func (s *Service) around(ctx context.Context, list store.MessageList, cursor page.Cursor, c *chat.MessageRequest) (*plazav1.ListMessagesResponse, error) {
	if c.Message == nil || c.Message.FeedID != c.Feed.ID {
		return nil, fail.NotFound()
	}
	before, after := list, list
	before.Desc = !before.Desc
	before.After, after.After = c.Message.Segment, c.Message.Segment-1
	if after.Desc {
		after.After = c.Message.Segment + 1
	}
	var head, tail []store.Message
	reads := s.Store.NewReadBatch()
	reads.ListMessages(before, &head)
	reads.ListMessages(after, &tail)
	if err := reads.Run(ctx); err != nil {
		return nil, err
	}
	ahead := min(len(head), cursor.Limit/2)
	behind := min(len(tail), cursor.Limit-ahead)
	ahead = min(len(head), cursor.Limit-behind)
	moreBefore, moreAfter := len(head) > ahead, len(tail) > behind
	head = head[:ahead]
	slices.Reverse(head)
	rows := slices.Concat(head, tail[:behind])
	return s.page(ctx, c, rows, pagingAround(cursor, rows, moreBefore, moreAfter))
}

// pagingAround returns the tokens of the pages before and after rows.
func pagingAround(cursor page.Cursor, rows []store.Message, before, after bool) *plazav1.Paging {
	paging := &plazav1.Paging{}
	if len(rows) == 0 {
		return paging
	}
	token := func(m store.Message, back bool) string {
		at, _, id := position(m)
		return page.Cursor{Limit: cursor.Limit, Back: back, Time: at, ID: id}.Token()
	}
	if after {
		paging.Next = token(rows[len(rows)-1], false)
	}
	if before {
		paging.Previous = token(rows[0], true)
		paging.Prev = paging.Previous
	}
	return paging
}
