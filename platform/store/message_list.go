package store

import "github.com/plaza-social/plaza/platform/region"

var messageLists = makeMessageLists()

func messageListName(replies bool, f Flagged, desc bool) string {
	return "messages.list" + flaggedNames[f] + pick(replies, "OfParent", "All") + pick(desc, "Desc", "Asc")
}

func makeMessageLists() map[string]*Statement {
	lists := map[string]*Statement{}
	flagged := map[Flagged]string{FlaggedAny: ``, FlaggedOnly: ` AND flag_count > 0`, FlaggedNone: ` AND flag_count = 0`}
	for _, replies := range []bool{true, false} {
		for f, flagSQL := range flagged {
			for _, desc := range []bool{true, false} {
				name := messageListName(replies, f, desc)
				lists[name] = stmt(name, `SELECT `+messageColumns+` FROM messages WHERE home = $1 AND feed_id = $2`+
					pick(replies, ` AND parent_id = $9`, ``)+flagSQL+` AND segment `+pick(desc, `<`, `>`)+` $3::bigint
					AND ($5::text = 'any' OR ($5::text = 'deleted') = (deleted_at IS NOT NULL))
					AND (cardinality($6::text[]) = 0 OR tags && $6::text[]) AND NOT tags && $7::text[] AND ($8::text = '' OR data_type = $8::text)
					ORDER BY segment`+pick(desc, ` DESC`, ``)+` LIMIT $4::bigint`)
			}
		}
	}
	return lists
}

// MessageList is a page of the messages of a subchannel, by their segments.
type MessageList struct {
	FeedID string
	// EveryLevel lists messages and replies; otherwise ParentID names the message whose replies are listed, empty for those
	// that are none.
	EveryLevel  bool
	ParentID    string
	Flagged     Flagged
	Deleted     Deleted
	IncludeTags []string // any of them
	ExcludeTags []string // none of them
	DataType    string   // every type when empty
	Desc        bool
	After       int64 // the segment after which the page starts
	Limit       int
}

// ListMessages reads up to Limit messages in the order of the list.
func (r *ReadBatch) ListMessages(l MessageList, into *[]Message) {
	home, err := region.HomeOf(l.FeedID)
	if err != nil {
		return
	}
	args := []any{l.FeedID, l.After, l.Limit, string(l.Deleted), emptyIfNil(l.IncludeTags), emptyIfNil(l.ExcludeTags), l.DataType}
	if !l.EveryLevel {
		args = append(args, l.ParentID)
	}
	r.add(home, messageLists[messageListName(!l.EveryLevel, l.Flagged, l.Desc)], scanAll(into, scanMessage), args...)
}
