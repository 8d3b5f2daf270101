package store

import (
	"strings"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/db"
)

// ExportTable is a kind of rows that the export of a user contains.
type ExportTable struct {
	Name string
	// AtHome reports whether all rows are at the user's home.
	AtHome bool
	start  []string // precedes every key
	page   *db.Statement
}

// ExportRow is a row that was visited by an export.
type ExportRow struct {
	Key  []string
	JSON string // empty if the row does not belong to the user
}

// exported describes an ExportTable in SQL, in which $2 is the internal id of the user.
type exported struct {
	table   string
	key     []string // columns of the key that pages follow
	own     string   // condition of the rows that belong to the user
	columns string
}

// walkedTable returns a table whose rows are all read, because no index has those of a user: exports are rare, and such
// an index would have to be written with every row.
func walkedTable(e exported) ExportTable {
	return e.statement(``, `CASE WHEN `+e.own+` THEN `+e.object()+`::text ELSE '' END`)
}

// ownedTable returns a table at the user's home whose key begins with the user.
func ownedTable(e exported) ExportTable {
	t := e.statement(` AND `+e.own, e.object()+`::text`)
	t.AtHome = true
	return t
}

func (e exported) statement(condition, value string) ExportTable {
	key := strings.Join(e.key, ", ")
	return ExportTable{Name: e.table, start: make([]string, len(e.key)), page: stmt("export."+e.table, `SELECT ARRAY[`+key+`], `+value+` FROM `+e.table+
		` WHERE home = $1`+condition+` AND (`+key+`) > (`+parameters(4, len(e.key))+`) ORDER BY `+key+` LIMIT $3::bigint`)}
}

// object returns the row as a JSON object.
func (e exported) object() string {
	var fields []string
	for column := range strings.SplitSeq(e.columns, ", ") {
		fields = append(fields, `'`+camelCase(column)+`', `+column)
	}
	return `jsonb_build_object(` + strings.Join(fields, ", ") + `)`
}

// camelCase converts the name of a column to that of a JSON field.
func camelCase(column string) string {
	words := strings.Split(column, "_")
	for i, word := range words[1:] {
		words[i+1] = strings.ToUpper(word[:1]) + word[1:]
	}
	return strings.Join(words, "")
}

// Derived columns, and those that concern moderation rather than the user.
var internalColumns = []string{
	"flaggers", "flag_count", "has_flagged_children", "has_flagged_comment", "has_flagged_post", "latest_comments", "latest_replies",
	"version", "attempts", "handle_claim", "device_hash", "playback_key", "ingest_key", "moderation", "sizes_mime_type", "hidden_at",
	"banned_ids",
}

// ExportTables are the kinds of rows in an export. Every table is in one of them or in notExported, which a test checks:
// a new table fails it until its rows are decided about here.
var ExportTables = []ExportTable{
	ownedTable(exported{table: "users", key: []string{"id"}, own: `id = $2`, columns: db.Columns[User](internalColumns...)}),
	ownedTable(exported{table: "sessions", key: []string{"id"}, own: `user_id = $2`, columns: db.Columns[Session](internalColumns...)}),
	ownedTable(exported{table: "follows", key: []string{"followee_id"}, own: `follower_id = $2`, columns: db.Columns[Follow](internalColumns...)}),
	ownedTable(exported{table: "followers", key: []string{"follower_id"}, own: `followee_id = $2`, columns: db.Columns[Follow](internalColumns...)}),
	ownedTable(exported{table: "blocks", key: []string{"blocked_id"}, own: `blocker_id = $2`, columns: db.Columns[Block](internalColumns...)}),
	ownedTable(exported{
		table: "user_communities", key: []string{"community_id"}, own: `user_id = $2`, columns: "community_id, state, changed_at",
	}),
	ownedTable(exported{
		table: "user_feed_markers", key: []string{"feed_id"}, own: `user_id = $2`,
		columns: "feed_id, entity_id, read_to, delivered_to, created_at, updated_at",
	}),
	ownedTable(exported{table: "user_markers", key: []string{"user_id"}, own: `user_id = $2`, columns: "last_sync_at, created_at, updated_at"}),
	ownedTable(exported{table: "story_seen", key: []string{"target_id"}, own: `user_id = $2`, columns: "target_id, seen_expires_at"}),
	ownedTable(exported{
		table: "tray_items", key: []string{"id"}, own: `user_id = $2`, columns: db.Columns[TrayItem](internalColumns...),
	}),
	ownedTable(exported{table: "push_devices", key: []string{"device"}, own: `user_id = $2`, columns: "platform, provider, created_at, updated_at"}),
	ownedTable(exported{table: "notification_settings", key: []string{"level", "target_id"}, own: `user_id = $2`, columns: "level, target_id, enabled, events, updated_at"}),
	ownedTable(exported{table: "archived_channels", key: []string{"channel_id"}, own: `user_id = $2`, columns: "channel_id, created_at"}),
	ownedTable(exported{table: "tray_seen", key: []string{"user_id"}, own: `user_id = $2`, columns: "seen_at"}),
	ownedTable(exported{table: "daily_usages", key: []string{"day", "kind"}, own: `user_id = $2`, columns: "day, kind, used"}),

	walkedTable(exported{table: "posts", key: []string{"id"}, own: `author_id = $2`, columns: db.Columns[Post](internalColumns...)}),
	walkedTable(exported{table: "comments", key: []string{"id"}, own: `author_id = $2`, columns: db.Columns[Comment](internalColumns...)}),
	walkedTable(exported{table: "stories", key: []string{"id"}, own: `author_id = $2`, columns: db.Columns[Story](internalColumns...)}),
	walkedTable(exported{table: "messages", key: []string{"id"}, own: `creator_id = $2`, columns: db.Columns[Message](internalColumns...)}),
	walkedTable(exported{table: "scheduled_posts", key: []string{"id"}, own: `author_id = $2`, columns: db.Columns[ScheduledPost](internalColumns...)}),
	walkedTable(exported{table: "pending_edits", key: []string{"reference_id"}, own: `author_id = $2`, columns: db.Columns[PendingEdit](internalColumns...)}),
	walkedTable(exported{table: "files", key: []string{"id"}, own: `owner_id = $2`, columns: db.Columns[File](internalColumns...)}),
	walkedTable(exported{
		table: "reactions", key: []string{"reference_id", "user_id", "name"}, own: `user_id = $2`, columns: db.Columns[Reaction](internalColumns...),
	}),
	walkedTable(exported{table: "flags", key: []string{"target_id", "user_id"}, own: `user_id = $2`, columns: db.Columns[Flag](internalColumns...)}),
	walkedTable(exported{table: "cleared_flags", key: []string{"target_id", "user_id"}, own: `user_id = $2`, columns: db.Columns[Flag](internalColumns...)}),
	walkedTable(exported{table: "flag_notes", key: []string{"target_id", "id"}, own: `author_id = $2`, columns: db.Columns[FlagNote](internalColumns...)}),
	walkedTable(exported{table: "planned_events", key: []string{"id"}, own: `creator_id = $2`, columns: db.Columns[PlannedEvent](internalColumns...)}),
	walkedTable(exported{
		table: "event_rsvps", key: []string{"event_id", "user_id"}, own: `user_id = $2`, columns: "event_id, status, responded_at, created_at",
	}),
	walkedTable(exported{table: "polls", key: []string{"id"}, own: `creator_id = $2`, columns: db.Columns[Poll](internalColumns...)}),
	walkedTable(exported{
		table: "poll_votes", key: []string{"poll_id", "user_id", "answer_id"}, own: `user_id = $2`, columns: "poll_id, answer_id, created_at",
	}),
	walkedTable(exported{
		table: "views", key: []string{"reference_id", "user_id"}, own: `user_id = $2`, columns: "reference_type, reference_id, n, first_at, last_at",
	}),
	walkedTable(exported{table: "video_streams", key: []string{"id"}, own: `creator_id = $2`, columns: db.Columns[VideoStream](internalColumns...)}),
	walkedTable(exported{
		table: "rooms", key: []string{"id"}, own: `creator_id = $2`, columns: db.Columns[Room](append(internalColumns, "participants", "on_stage_ids")...),
	}),
	walkedTable(exported{table: "communities", key: []string{"id"}, own: `creator_id = $2`, columns: db.Columns[Community](internalColumns...)}),
	walkedTable(exported{
		table: "community_members", key: []string{"community_id", "user_id"}, own: `user_id = $2`, columns: db.Columns[Member](internalColumns...),
	}),
	walkedTable(exported{table: "channels", key: []string{"id"}, own: `creator_id = $2`, columns: db.Columns[Channel](internalColumns...)}),
	walkedTable(exported{
		table: "channel_users", key: []string{"channel_id", "user_id"}, own: `user_id = $2`, columns: db.Columns[ChannelUser](internalColumns...),
	}),
	walkedTable(exported{
		table: "join_requests", key: []string{"community_id", "id"}, own: `requestor_id = $2`,
		columns: "community_id, id, requestor_id, requestor_public_id, status, responded_at, created_at, updated_at",
	}),
	walkedTable(exported{
		table: "invitations", key: []string{"id"}, own: `invited_id = $2 OR inviter_id = $2`, columns: db.Columns[Invitation](internalColumns...),
	}),
	walkedTable(exported{
		table: "pins", key: []string{"target_id", "placement", "post_id"}, own: `pinned_by_id = $2`, columns: "target_id, placement, post_id, pinned_at",
	}),
}

// notExported are the tables that exports do not contain, each with the reason.
var notExported = map[string]string{
	"file_uses":             "which objects refer to a file; the objects are in the export",
	"pushes":                "kept until they are sent; the tray is in the export",
	"tray_actors":           "other users, whose actions are in the items of the tray",
	"search_words":          "derived from posts and communities",
	"file_releases":         "files that are being deleted",
	"audit_details":         "the record of what administrators and moderators did",
	"audit_events":          "the record of what administrators and moderators did",
	"audit_targets":         "the record of what administrators and moderators did",
	"blocked_by":            "the data of those who block",
	"categories":            "made by administrators",
	"community_categories":  "of communities",
	"products":              "made by administrators",
	"counters":              "derived",
	"directory":             "keyed hashes",
	"erasures":              "an erased user has no export",
	"flag_items":            "the work of moderators",
	"handles":               "keyed hashes; the handle is part of users",
	"idempotency_keys":      "keyed hashes, and answers that expire after 24 hours",
	"idempotency_marks":     "keyed hashes",
	"message_feed_segments": "derived from messages",
	"message_feeds":         "of channels",
	"moderation_lists":      "made by administrators",
	"moderation_rules":      "made by administrators",
	"presences":             "who watches a room, for a few minutes",
	"outbox":                "changes on their way between homes",
	"pin_targets":           "of communities",
	"rate_usages":           "keyed hashes",
	"realtime_events":       "copies of other rows, for 24 hours",
	"realtime_heads":        "numbers",
	"roles":                 "made by administrators",
	"schema_versions":       "numbers",
	"servers":               "of no user",
	"backfills":             "without rows",
	"webhooks":              "made by administrators",
	"webhook_cursors":       "numbers",
	"webhook_deliveries":    "internal ids of events, for 30 days at most",
	"settings":              "made by administrators",
	"story_targets":         "derived from stories",
	"moved_ids":             "where rows are",
	"user_homes":            "where rows are",
	"user_moves":            "where rows are",
	"uploads":               "ids, until the end of an upload",
	"user_exports":          "the export itself",
}

// ExportPage reads up to limit rows of a table after a position, which is empty at the start.
func (r *ReadBatch) ExportPage(t ExportTable, home region.Code, userID string, after []string, limit int, into *[]ExportRow) {
	if len(after) == 0 {
		after = t.start
	}
	r.Add(home, t.page, db.Rows(into), append([]any{userID, limit}, anys(after)...)...)
}
