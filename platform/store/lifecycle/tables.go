package lifecycle

import (
	"cmp"
	"strings"

	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/db"
	"github.com/plaza-social/plaza/platform/store/media"
	"github.com/plaza-social/plaza/platform/store/messaging"
	"github.com/plaza-social/plaza/platform/store/notify"
	"github.com/plaza-social/plaza/platform/store/people"
)

// table says what erasures, exports and moves of users do with the rows of a table. The zero value of a field with a reason means that
// they do what its comment says.
type table struct {
	name string
	key  string // the primary key without home
	// users are the columns with internal ids of users, the first one that of the user to whom a row belongs. Without them it is the
	// first column of the key.
	users string

	// Erasures visit the rows of tables with users, and delete those that concern the user or, with set or names, empty them. They
	// delete the rows of other tables by their key.
	kept  string // why they leave the rows
	set   string // assignments that empty a row, in SQL in which $2 is the internal id of the user
	names bool   // whether the columns with the public ids of users are emptied
	json  string // JSON columns that can refer to the user, the first one by the internal id
	files bool   // whether the rows refer to files

	// Exports contain columns of the rows that belong to the user.
	hidden  string // why they do not
	columns string
	byAny   bool // whether the rows belong to all users that they name

	// Rows move with the ids of the user.
	stays string // why they do not
	moves string // the column of the id; empty for the first column of the key
	short bool   // whether plans for more than a few rows would read all rows
}

// unrelated returns a table whose rows identify no person, and the reasons why they are left, and why they do not move.
func unrelated(name, why, stays string) table {
	return table{name: name, kept: why, hidden: why, stays: stays}
}

// Reasons.
const (
	byAdministrators = "made by administrators"
	derived          = "derived"
	ofModerators     = "the work of moderators"
	ofCommunities    = "of communities"
	ofAudits         = "at the home of the audited change"
	sameEverywhere   = "the same at every home"
	movedApart       = "moved by statements of their own"
)

// tables are all tables, those with rows of users in the order in which erasures visit them and exports contain them. A test fails for
// a new table until it is added here.
var tables = []table{
	{name: "users", key: "id", kept: "emptied by the request, see EraseUser", columns: exported[people.User]()},
	{name: "sessions", key: "user_id, id", columns: exported[people.Session]()},
	{name: "user_communities", key: "user_id, community_id", columns: "community_id, state, changed_at"},
	{
		name: "user_feed_markers", key: "user_id, feed_id", short: true,
		columns: "feed_id, entity_id, read_to, delivered_to, created_at, updated_at",
	},
	{name: "user_markers", key: "user_id", columns: "last_sync_at, created_at, updated_at"},
	{name: "story_seen", key: "user_id, target_id", columns: "target_id, seen_expires_at", stays: movedApart},
	{
		name: "push_devices", key: "user_id, device", kept: "deleted by EraseOwned with a statement of package notify",
		columns: "platform, provider, created_at, updated_at",
	},
	{name: "notification_settings", key: "user_id, level, target_id", columns: "level, target_id, enabled, events, updated_at"},
	{name: "archived_channels", key: "user_id, channel_id", columns: "channel_id, created_at"},
	{name: "tray_seen", key: "user_id", columns: "seen_at"},
	{name: "daily_usages", key: "user_id, day, kind", columns: "day, kind, used"},
	{name: "story_targets", key: "target_id", hidden: derived},
	{name: "counters", key: "ref, kind, shard", hidden: derived},
	{
		name: "posts", key: "id", users: "author_id, target_id", names: true, json: "mentionees, metadata", files: true,
		set:     `data = '{}', metadata = '{}', tags = '{}', hashtags = '{}', mentionees = '[]', annotations = '{}'`,
		columns: exported[content.Post](),
	},
	{
		name: "stories", key: "id", users: "author_id, target_id", names: true, json: "mentionees, metadata", files: true,
		set:     `data = '{}', items = '[]', metadata = '{}', mentionees = '[]'`,
		columns: exported[content.Story](),
	},
	{
		name: "comments", key: "id", users: "author_id, target_id", names: true, json: "mentionees, metadata", files: true,
		set:     `data = '{}', metadata = '{}', mentionees = '[]', attachments = '[]', annotations = '{}'`,
		columns: exported[content.Comment](),
	},
	{
		name: "messages", key: "id", users: "creator_id", names: true, json: "mentions, metadata", files: true,
		set: `data = '{}', metadata = '{}', tags = '{}', mentions = '[]', file_id = '', reference_id = '',
			reference_hash = convert_to(id, 'UTF8')`,
		columns: exported[messaging.Message](),
	},
	{
		name: "scheduled_posts", key: "id", users: "author_id, target_id", json: "mentions, draft", files: true,
		columns: exported[content.ScheduledPost](),
	},
	{name: "reactions", key: "reference_id, user_id, name", users: "user_id", columns: exported[content.Reaction]()},
	{name: "files", key: "id", users: "owner_id", columns: exported[media.File]()},
	{name: "community_members", key: "community_id, user_id", users: "user_id", columns: exported[communities.Member](), stays: ofCommunities},
	{name: "channel_users", key: "channel_id, user_id", users: "user_id", columns: exported[messaging.ChannelUser]()},
	{name: "follows", key: "follower_id, followee_id", users: "follower_id, followee_id", columns: exported[people.Follow]()},
	{name: "followers", key: "followee_id, follower_id", users: "followee_id, follower_id", columns: exported[people.Follow]()},
	{name: "blocks", key: "blocker_id, blocked_id", users: "blocker_id, blocked_id", columns: exported[people.Block](), short: true},
	{name: "blocked_by", key: "blocked_id, blocker_id", users: "blocked_id, blocker_id", hidden: "the data of those who block"},
	// The rows of these tables concern no counter and no other row.
	{name: "tray_items", key: "user_id, id", users: "user_id, target_id", columns: exported[notify.TrayItem]()},
	{
		name: "tray_actors", key: "user_id, item_id, actor_id", users: "user_id, actor_id",
		hidden: "other users, whose actions are in the items of the tray", short: true,
	},
	{
		name: "pushes", key: "provider, id", users: "user_id, actor_id", hidden: "kept until they are sent; the tray is in the export",
		stays: "sent within seconds, or dropped because the device has moved",
	},
	{
		name: "join_requests", key: "community_id, id", users: "requestor_id, responder_id", names: true,
		set:     `status = CASE WHEN requestor_id = $2 AND status = '` + communities.JoinPending + `' THEN '` + communities.JoinCancelled + `' ELSE status END`,
		columns: "community_id, id, requestor_id, requestor_public_id, status, responded_at, created_at, updated_at", stays: ofCommunities,
	},
	{
		name: "invitations", key: "id", users: "invited_id, inviter_id", names: true,
		set:     `status = CASE WHEN status = '` + communities.JoinPending + `' THEN '` + communities.JoinCancelled + `' ELSE status END`,
		columns: exported[communities.Invitation](), byAny: true,
	},
	{
		name: "communities", key: "id", users: "creator_id", names: true, columns: exported[communities.Community](),
		stays: "at the home that their id contains",
	},
	{ // the name of a live channel is the title of its stream or room
		name: "channels", key: "id", users: "creator_id", names: true,
		set: `display_name = CASE WHEN type = 'live' THEN '' ELSE display_name END,
			name_key = CASE WHEN type = 'live' THEN '' ELSE name_key END`,
		columns: exported[messaging.Channel](),
	},
	{name: "message_feeds", key: "id", users: "creator_id", names: true, hidden: "of channels"},
	{
		name: "pins", key: "target_id, placement, post_id", users: "pinned_by_id", set: anonymous("pinned_by_id", "pinned_by"),
		columns: "target_id, placement, post_id, pinned_at", moves: "post_id",
	},
	{
		name: "polls", key: "id", users: "creator_id", names: true, files: true, set: `title = '', question = '', answers = '[]'`,
		columns: exported[content.Poll](),
	},
	{
		name: "video_streams", key: "id", users: "creator_id", names: true, files: true,
		set: `title = '', description = '', thumbnail_file_id = '', metadata = '{}', recordings = '[]',
			platform_name = '', platform_version = '', deleted_at = COALESCE(deleted_at, updated_at)`,
		columns: exported[media.VideoStream](),
	},
	{
		name: "rooms", key: "id", users: "creator_id", names: true, json: "participants", files: true,
		set: `title = '', description = '', thumbnail_file_id = '', metadata = '{}', recordings = '[]',
			deleted_at = COALESCE(deleted_at, updated_at)`,
		columns: exported[media.Room]("participants", "on_stage_ids"),
	},
	{
		name: "planned_events", key: "id", users: "creator_id, origin_id", names: true, files: true,
		set: `title = '', description = '', location = '', external_url = '', cover_image_file_id = '', tags = '{}', metadata = '{}',
			deleted_at = COALESCE(deleted_at, updated_at)`,
		columns: exported[content.PlannedEvent](),
	},
	{name: "pending_edits", key: "reference_id", users: "author_id", json: "mentionees, metadata", columns: exported[content.PendingEdit]()},
	{
		name: "audit_details", key: "event_id, part, type, id", users: "subject_id",
		hidden: "the record of what administrators and moderators did", stays: ofAudits,
	},
	{name: "flags", key: "target_id, user_id", users: "user_id", set: `detail = ''`, columns: exported[content.Flag]()},
	{name: "cleared_flags", key: "target_id, user_id", users: "user_id", set: `detail = ''`, columns: exported[content.Flag]()},
	{name: "flag_notes", key: "target_id, id", users: "author_id", set: `text = ''`, columns: exported[content.FlagNote]()},
	{
		name: "event_rsvps", key: "event_id, user_id", users: "user_id", kept: "internal ids, which remain as answers without a person",
		columns: "event_id, status, responded_at, created_at", short: true,
	},
	{
		name: "poll_votes", key: "poll_id, user_id, answer_id", users: "user_id",
		kept:    "internal ids, which remain as votes without a person",
		columns: "poll_id, answer_id, created_at", short: true,
	},
	{
		name: "views", key: "reference_id, user_id", users: "user_id", kept: "internal ids, which remain as views without a person",
		columns: "reference_type, reference_id, n, first_at, last_at",
	},

	{name: "user_exports", key: "id", kept: "deleted by the step account, with the archive", hidden: "the export itself"},
	{name: "message_feed_segments", key: "feed_id, message_id", kept: "internal ids", hidden: "derived from messages", short: true},
	{
		name: "file_uses", key: "file_id, object_id, kind", kept: "internal ids, deleted when the objects are erased",
		hidden: "which objects refer to a file; the objects are in the export", moves: "object_id",
	},
	{
		name: "search_words", key: "key, created_at, object_id", kept: "words of posts and communities, deleted when the posts are erased",
		hidden: derived, moves: "object_id",
	},
	{
		name: "flag_items", kept: "internal ids; the item of the user is purged with the flags of the user", hidden: ofModerators,
		stays: movedApart,
	},
	unrelated("audit_events", "internal ids, which remain so that users who had a privilege stay accountable", ofAudits),
	unrelated("audit_targets", "internal ids", ofAudits),
	unrelated("categories", byAdministrators, "of no user"),
	unrelated("community_categories", ofCommunities, ofCommunities),
	unrelated("products", byAdministrators, "of no user"),
	unrelated("idempotency_keys", "keyed hashes, and answers that expire after 24 hours", "at the home that the user's id contains"),
	unrelated("idempotency_marks", "keyed hashes", "at the homes that a request changed, for 24 hours"),
	unrelated("moderation_lists", byAdministrators, sameEverywhere),
	unrelated("moderation_rules", byAdministrators, sameEverywhere),
	unrelated("outbox", "the job waits until its rows are delivered", "delivered to the home where a user is at that time"),
	unrelated("pin_targets", ofCommunities, ofCommunities),
	unrelated("presences", "internal ids, for a few minutes", "kept for a few minutes; heartbeats find the new home of the room"),
	unrelated("rate_usages", "keyed hashes", "at the home that the user's id contains"),
	unrelated("realtime_events", "copies of other rows, for 24 hours, see EraseEvents", "streams continue with a reset"),
	unrelated("realtime_heads", "numbers", "of no user"),
	unrelated("schema_versions", "numbers", "of no user"),
	unrelated("servers", "of no user", "of no user"),
	unrelated("backfills", "without rows", "without rows"),
	unrelated("roles", byAdministrators, sameEverywhere),
	unrelated("webhooks", byAdministrators, sameEverywhere),
	unrelated("webhook_cursors", "numbers", "of no user"),
	unrelated("webhook_deliveries", "internal ids, for 30 days at most", "at the home of the event"),
	unrelated("settings", byAdministrators, sameEverywhere),
	unrelated("moved_ids", "internal ids", sameEverywhere),
	unrelated("user_homes", "internal ids", sameEverywhere),
	unrelated("user_moves", "internal ids", "at the home that the user's id contains"),
	unrelated("uploads", "ids, until the end of an upload", "at the home that the id of the file contains"),
	unrelated("erasures", "the receipt, without the user's id; an erased user has no export", "an erased user does not move"),
	unrelated("directory", "keyed hashes, deleted by package directory", "the new home gets a copy of the entry"),
	unrelated("file_releases", "ids of files, until they are deleted", "deleted within minutes; the job finds the file wherever it is"),
	unrelated("handles", "keyed hashes, released by package directory; the handle is part of users", "at the home of the keyed hash"),
}

// internalColumns are derived, or concern moderation rather than the user.
var internalColumns = []string{
	"flaggers", "flag_count", "has_flagged_children", "has_flagged_comment", "has_flagged_post", "latest_comments", "latest_replies",
	"version", "attempts", "handle_claim", "device_hash", "playback_key", "ingest_key", "moderation", "sizes_mime_type", "hidden_at",
	"banned_ids",
}

// exported returns the columns of a struct that exports contain, without some.
func exported[T any](without ...string) string {
	return db.Columns[T](append(without, internalColumns...)...)
}

// owner returns the column with the id of the user to whom a row belongs.
func (t table) owner() string {
	first, _, _ := strings.Cut(cmp.Or(t.users, t.key), ", ")
	return first
}

// movedBy returns the column of the ids with which rows move.
func (t table) movedBy() string {
	first, _, _ := strings.Cut(t.key, ", ")
	return cmp.Or(t.moves, first)
}

// isOwned reports whether the key begins with the user, so that all rows of a user are at one home.
func (t table) isOwned() bool { return t.key == t.owner() || strings.HasPrefix(t.key, t.owner()+", ") }

// concerns returns the condition that a row names the user $2.
func (t table) concerns() string { return strings.ReplaceAll(t.users, ", ", ` = $2 OR `) + ` = $2` }

// selectTables returns a value for each table that an operation concerns.
func selectTables[T any](concerned func(table) bool, convert func(table) T) []T {
	var all []T
	for _, t := range tables {
		if concerned(t) {
			all = append(all, convert(t))
		}
	}
	return all
}
