package store

import "github.com/plaza-social/plaza/platform/store/db"

type messageListKey struct {
	everyLevel bool
	flagged    Flagged
}

var messageFlags = map[Flagged]string{FlaggedAny: ``, FlaggedOnly: ` AND is_flagged`, FlaggedNone: ` AND NOT is_flagged`}

// messageFilter is the filter that has no index.
const messageFilter = ` AND ($5::text = 'any' OR ($5::text = 'deleted') = (deleted_at IS NOT NULL OR hidden_at IS NOT NULL AND $9::text
	NOT IN ('', creator_id)))
	AND (cardinality($6::text[]) = 0 OR tags && $6::text[]) AND NOT tags && $7::text[] AND ($8::text = '' OR data_type = $8::text)`

// messageLists are the statements of lists that include deleted messages, messagePages those of pages of others, and messageWindows
// those of the windows of both.
var messageLists, messagePages, messageWindows = makeMessageLists()

func makeMessageLists() (lists, pages, windows map[messageListKey]directions) {
	lists, pages, windows = map[messageListKey]directions{}, map[messageListKey]directions{}, map[messageListKey]directions{}
	for _, everyLevel := range []bool{true, false} {
		for f := range messageFlags {
			k := messageListKey{everyLevel, f}
			s := k.source()
			windows[k] = by(plainOrders, segmentColumn, s.window)
			if f == FlaggedAny || f == FlaggedOnly && everyLevel { // the filter of others has no index
				lists[k] = by(plainOrders, segmentColumn, s.list)
				s.name += ".page"
				pages[k] = by(plainOrders, segmentColumn, s.page)
			}
		}
	}
	return lists, pages, windows
}

// source returns the list by the index of flagged messages, or by that of the level.
func (k messageListKey) source() source {
	s := source{
		name:    "messages.list" + flaggedNames[k.flagged] + pick(k.everyLevel, "All", "OfParent"),
		columns: messageColumns, zeros: db.Zeros[Message](), after: 3, args: 9,
	}
	indexed, filter := ``, messageFlags[k.flagged]
	if !k.everyLevel { // the argument of the condition on the level is the last one
		indexed, s.args = ` AND parent_id = $10`, 10
	}
	if k.flagged == FlaggedOnly {
		indexed, filter = filter, indexed
	}
	s.from, s.filter = `messages WHERE home = $1 AND feed_id = $2`+indexed, filter+messageFilter
	return s
}

// MessageList is a page of the messages of a subchannel, ordered by segment.
type MessageList struct {
	FeedID string
	// EveryLevel lists messages and replies; otherwise the replies to ParentID, or the messages that are not replies if
	// it is empty.
	EveryLevel bool
	ParentID   string
	Flagged    Flagged
	Deleted    Deleted
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
func (r *ReadBatch) ListMessages(l MessageList, into *[]Message) {
	home := r.homeOf(l.FeedID)
	*into = nil
	var level []any
	if !l.EveryLevel {
		level = []any{l.ParentID}
	}
	args := func(after Position, limit int) []any {
		return append([]any{
			l.FeedID, after.Segment, limit, string(l.Deleted), emptyIfNil(l.IncludeTags), emptyIfNil(l.ExcludeTags), l.DataType, l.Viewer,
		}, level...)
	}
	key, after := messageListKey{l.EveryLevel, l.Flagged}, Position{Segment: l.After}
	w := windows[Message]{
		home: home, after: after, limit: l.Limit, statement: lookup(messageWindows, key).in(l.Desc), args: args,
		rows: func(found []Position, into *[]Message) { r.MessagesByID(idsAt(found), into) },
	}
	switch {
	case l.isFiltered():
		readWindows(r, w, into)
	case l.Deleted == DeletedAny:
		r.Add(home, lookup(messageLists, key).in(l.Desc), db.Rows(into), args(after, l.Limit)...)
	default:
		at := func(m Message) Position { return Position{ID: m.ID, Segment: m.Segment} }
		readPage(r, lookup(messagePages, key).in(l.Desc), l.Desc, at, w, into)
	}
}

// isFiltered reports whether the list has a filter without an index.
func (l MessageList) isFiltered() bool {
	return len(l.IncludeTags)+len(l.ExcludeTags) > 0 || l.DataType != "" || l.Deleted == DeletedOnly || l.Flagged == FlaggedNone ||
		l.Flagged == FlaggedOnly && !l.EveryLevel
}
