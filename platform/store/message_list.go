package store

import (
	"github.com/plaza-social/plaza/platform/store/db"
)

type messageListKey struct {
	everyLevel bool
	flagged    Flagged
}

var messageLists = makeMessageLists()

func makeMessageLists() map[messageListKey]directions {
	lists := map[messageListKey]directions{}
	flagged := map[Flagged]string{FlaggedAny: ``, FlaggedOnly: ` AND is_flagged`, FlaggedNone: ` AND NOT is_flagged`}
	for _, everyLevel := range []bool{true, false} {
		for f, flagSQL := range flagged {
			lists[messageListKey{everyLevel, f}] = inBoth(plainOrders, func(o db.Order) *db.Statement {
				name := "messages.list" + flaggedNames[f] + pick(everyLevel, "All", "OfParent") + o.Name
				return stmt(name, `SELECT `+messageColumns+` FROM messages WHERE home = $1 AND feed_id = $2`+
					pick(everyLevel, ``, ` AND parent_id = $10`)+flagSQL+` AND segment `+pick(o.Desc, `<`, `>`)+` $3::bigint
					AND ($5::text = 'any' OR ($5::text = 'deleted') = (deleted_at IS NOT NULL OR hidden_at IS NOT NULL AND $9::text NOT IN ('', creator_id)))
					AND (cardinality($6::text[]) = 0 OR tags && $6::text[]) AND NOT tags && $7::text[] AND ($8::text = '' OR data_type = $8::text)
					ORDER BY segment`+pick(o.Desc, ` DESC`, ``)+` LIMIT $4::bigint`)
			})
		}
	}
	return lists
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
	home, err := r.HomeOf(l.FeedID)
	if err != nil {
		return
	}
	args := []any{l.FeedID, l.After, l.Limit, string(l.Deleted), emptyIfNil(l.IncludeTags), emptyIfNil(l.ExcludeTags), l.DataType, l.Viewer}
	if !l.EveryLevel {
		args = append(args, l.ParentID)
	}
	r.Add(home, lookup(messageLists, messageListKey{l.EveryLevel, l.Flagged}).in(l.Desc), db.Rows(into), args...)
}
