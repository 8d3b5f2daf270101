package messaging

import (
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
)

type messageListKey struct {
	everyLevel bool
	flagged    core.Flagged
}

var messageFlags = map[core.Flagged]string{core.FlaggedAny: ``, core.FlaggedOnly: ` AND is_flagged`, core.FlaggedNone: ` AND NOT is_flagged`}

// messageFilter is the filter that has no index.
const messageFilter = ` AND ($5::text = 'any' OR ($5::text = 'deleted') = (deleted_at IS NOT NULL OR hidden_at IS NOT NULL AND $9::text
	NOT IN ('', creator_id)))
	AND (cardinality($6::text[]) = 0 OR tags && $6::text[]) AND NOT tags && $7::text[] AND ($8::text = '' OR data_type = $8::text)`

// messageLists are the statements of lists that include deleted messages, messagePages those of pages of others, and messageWindows
// those of the windows of both.
var messageLists, messagePages, messageWindows = makeMessageLists()

func makeMessageLists() (lists, pages, windows map[messageListKey]core.Directions) {
	lists, pages, windows = map[messageListKey]core.Directions{}, map[messageListKey]core.Directions{}, map[messageListKey]core.Directions{}
	for _, everyLevel := range []bool{true, false} {
		for f := range messageFlags {
			k := messageListKey{everyLevel, f}
			s := k.source()
			windows[k] = core.OrderedBy(core.PlainOrders, core.SegmentColumn, s.Window)
			if f == core.FlaggedAny || f == core.FlaggedOnly && everyLevel { // the filter of others has no index
				lists[k] = core.OrderedBy(core.PlainOrders, core.SegmentColumn, s.List)
				s.Name += ".page"
				pages[k] = core.OrderedBy(core.PlainOrders, core.SegmentColumn, s.Page)
			}
		}
	}
	return lists, pages, windows
}

// source returns the list by the index of flagged messages, or by that of the level.
func (k messageListKey) source() core.Source {
	s := core.Source{
		Name:    "messages.list" + core.FlaggedNames[k.flagged] + core.Pick(k.everyLevel, "All", "OfParent"),
		Columns: messageColumns, Zeros: db.Zeros[Message](), After: 3, Args: 9,
	}
	indexed, filter := ``, messageFlags[k.flagged]
	if !k.everyLevel { // the argument of the condition on the level is the last one
		indexed, s.Args = ` AND parent_id = $10`, 10
	}
	if k.flagged == core.FlaggedOnly {
		indexed, filter = filter, indexed
	}
	s.From, s.Filter = `messages WHERE home = $1 AND feed_id = $2`+indexed, filter+messageFilter
	return s
}

// MessageList is a page of the messages of a subchannel, ordered by segment.
type MessageList struct {
	FeedID string
	// EveryLevel lists messages and replies; otherwise the replies to ParentID, or the messages that are not replies if
	// it is empty.
	EveryLevel bool
	ParentID   string
	Flagged    core.Flagged
	Deleted    core.Deleted
	// Viewer is the internal id of a user for whom hidden messages are deleted ones, unless the user is their author.
	// It is empty for those who see all messages.
	Viewer      string
	IncludeTags []string // any of them
	ExcludeTags []string // none of them
	DataType    string   // empty means all
	Desc        bool
	After       int64 // the segment that the page starts after
	Limit       int
}

// ListMessages reads up to Limit messages in the order of the list.
func (r ReadBatch) ListMessages(l MessageList, into *[]Message) {
	home := r.HomeOrNone(l.FeedID)
	*into = nil
	var level []any
	if !l.EveryLevel {
		level = []any{l.ParentID}
	}
	args := func(after core.Position, limit int) []any {
		return append([]any{
			l.FeedID, after.Segment, limit, string(l.Deleted), core.EmptyIfNil(l.IncludeTags), core.EmptyIfNil(l.ExcludeTags), l.DataType, l.Viewer,
		}, level...)
	}
	key, after := messageListKey{l.EveryLevel, l.Flagged}, core.Position{Segment: l.After}
	w := core.Windows[Message]{
		Home: home, After: after, Limit: l.Limit, Statement: core.Lookup(messageWindows, key).In(l.Desc), Args: args,
		Rows: func(found []core.Position, into *[]Message) { r.MessagesByID(core.IDsAt(found), into) },
	}
	switch {
	case l.isFiltered():
		core.ReadWindows(r.ReadBatch, w, into)
	case l.Deleted == core.DeletedAny:
		r.Add(home, core.Lookup(messageLists, key).In(l.Desc), db.Rows(into), args(after, l.Limit)...)
	default:
		at := func(m Message) core.Position { return core.Position{ID: m.ID, Segment: m.Segment} }
		core.ReadPage(r.ReadBatch, core.Lookup(messagePages, key).In(l.Desc), l.Desc, at, w, into)
	}
}

// isFiltered reports whether the list has a filter without an index.
func (l MessageList) isFiltered() bool {
	return len(l.IncludeTags)+len(l.ExcludeTags) > 0 || l.DataType != "" || l.Deleted == core.DeletedOnly || l.Flagged == core.FlaggedNone ||
		l.Flagged == core.FlaggedOnly && !l.EveryLevel
}
