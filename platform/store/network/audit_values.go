package network

import (
	"maps"
	"slices"

	"github.com/plaza-social/plaza/platform/store/db"
)

// auditedValues are the values of a target that audit events keep as before and after, by the type of the target. They
// are bounded, and contain no secrets and no public user ids.
var auditedValues = map[string]*db.Statement{
	"user": auditValues("user", "users", "id",
		`'displayName', t.display_name, 'description', left(t.description, 1000), 'roles', t.roles, 'isGlobalBan', t.is_global_ban,
			'isBrand', t.is_brand, 'flagCount', t.flag_count, 'isDeleted', t.deleted_at IS NOT NULL`),
	"community": auditValues("community", "communities", "''",
		`'displayName', t.display_name, 'description', left(t.description, 1000), 'isOfficial', t.is_official, 'isPublic', t.is_public,
			'isDiscoverable', t.is_discoverable, 'onlyAdminCanPost', t.only_admin_can_post, 'needApprovalOnPostCreation', t.post_approval,
			'needApprovalOnCommentCreation', t.comment_approval, 'requiresJoinApproval', t.join_approval, 'allowCommentInStory', t.story_comments,
			'tags', t.tags, 'categoryIds', t.category_ids, 'isDeleted', t.deleted_at IS NOT NULL`),
	"channel": auditValues("channel", "channels", "''",
		`'displayName', t.display_name, 'isPublic', t.is_public, 'tags', t.tags, 'mutedUntil', t.muted_until, 'isDeleted', t.deleted_at
			IS NOT NULL`),
	"messageFeed": auditValues("messageFeed", "message_feeds", "''", `'name', t.name, 'isDeleted', t.deleted_at IS NOT NULL`),
	"post": auditValues("post", "posts", "author_id",
		`'text', left(t.data->>'text', 1000), 'dataType', t.data_type, 'feedType', t.feed_type, 'tags', t.tags, 'flagCount', t.flag_count,
			'editedAt', t.edited_at, 'isDeleted', t.deleted_at IS NOT NULL`),
	"comment": auditValues("comment", "comments", "author_id",
		`'text', left(t.data->>'text', 1000), 'status', t.approval_status, 'flagCount', t.flag_count, 'editedAt', t.edited_at,
			'isDeleted', t.deleted_at IS NOT NULL`),
	"message": auditValues("message", "messages", "creator_id",
		`'text', left(t.data->>'text', 1000), 'dataType', t.data_type, 'tags', t.tags, 'flagCount', t.flag_count, 'editedAt', t.edited_at,
			'isDeleted', t.deleted_at IS NOT NULL`),
	"story": auditValues("story", "stories", "author_id",
		`'text', left(t.data->>'text', 1000), 'dataType', t.data_type, 'flagCount', t.flag_count, 'isDeleted', t.deleted_at IS NOT NULL`),
	"flagItem": auditValuesBy("flagItem", "flag_items", "target_id", "", "''",
		`'state', t.state, 'outcome', t.outcome, 'flagCount', t.flag_count, 'isHidden', t.is_hidden`),
	"stream": auditValues("stream", "video_streams", "creator_id",
		`'title', left(t.title, 1000), 'status', t.status, 'isDeleted', t.deleted_at IS NOT NULL`),
	"room": auditValues("room", "rooms", "creator_id",
		`'title', left(t.title, 1000), 'status', t.status, 'isDeleted', t.deleted_at IS NOT NULL`),
	"event": auditValues("event", "planned_events", "creator_id",
		`'title', t.title, 'startTime', t.start_time, 'endTime', t.end_time, 'isCancelled', t.cancelled_at IS NOT NULL, 'isDeleted', t.deleted_at
			IS NOT NULL`),
	"scheduledPost": auditValues("scheduledPost", "scheduled_posts", "author_id",
		`'text', left(t.draft->>'text', 1000), 'scheduledAt', t.scheduled_at, 'status', t.status`),
	"file": auditValues("file", "files", "owner_id",
		`'altText', left(t.alt_text, 1000), 'accessType', t.access_type, 'mimeType', t.mime_type, 'size', t.size`),
	"poll": auditValues("poll", "polls", "creator_id",
		`'question', left(t.question, 1000), 'closedAt', t.closed_at, 'isDeleted', t.deleted_at IS NOT NULL`),
	"category": auditValues("category", "categories", "''", `'name', t.name, 'isDeleted', t.deleted_at IS NOT NULL`),
	"role": auditValues("role", "roles", "''",
		`'displayName', t.display_name, 'permissions', t.permissions, 'isDeleted', t.deleted_at IS NOT NULL`),
	"rule": auditValuesBy("rule", "moderation_rules", "id", "t.list IN ('allow', 'block') AND ", "''",
		`'list', t.list, 'regex', left(t.regex, 1000), 'isEnabled', t.is_enabled, 'isMatchExactWord', t.is_match_exact_word, 'isDeleted',
			t.is_deleted`),
	"webhook": auditValues("webhook", "webhooks", "''",
		`'name', t.name, 'url', t.url, 'events', t.events, 'isManaged', t.is_managed, 'isEnabled', t.is_enabled, 'isDeleted', t.is_deleted`),
}

// auditValues registers the statement that stores the values of a target.
func auditValues(kind, table, subject, values string) *db.Statement {
	return auditValuesBy(kind, table, "id", "", subject, values)
}

// auditValuesBy is auditValues for a table whose column id has the ids, and of whose rows only some are targets.
func auditValuesBy(kind, table, id, condition, subject, values string) *db.Statement {
	if subject != "''" {
		subject = "t." + subject
	}
	return db.Register("auditDetails.values."+kind, `INSERT INTO audit_details (home, event_id, part, type, id, subject_id, value)
		SELECT $1, $2, $3, '`+kind+`', t.`+id+`, `+subject+`, jsonb_build_object(`+values+`) FROM `+table+` AS t
		WHERE t.home = $1 AND `+condition+`t.`+id+` = ANY($4::text[]) AND `+auditValueMissing(`'`+kind+`'`, "t."+id))
}

// auditValueMissing returns the condition that an earlier attempt of the transaction has not stored the value: CockroachDB
// would look for conflicts in every region.
func auditValueMissing(kind, id string) string {
	return `NOT EXISTS (SELECT 1 FROM audit_details AS d WHERE d.home = $1 AND d.event_id = $2 AND d.part = $3 AND d.type = ` +
		kind + ` AND d.id = ` + id + `)`
}

var (
	sqlAuditSettings = db.Register("auditDetails.settings", `INSERT INTO audit_details (home, event_id, part, type, id, subject_id, value)
		SELECT $1, $2, $3, '`+AuditSettings+
		`', 'network', '', COALESCE(jsonb_object_agg(s.name, CASE WHEN s.name = 'prehook' THEN s.value - 'secret' ELSE s.value END), '{}')
		FROM settings AS s WHERE s.home = $1 AND s.name <> 'networkIdentity'
		AND `+auditValueMissing(`'`+AuditSettings+`'`, "'network'"))
	sqlAuditMembers = db.Register("auditDetails.members", `INSERT INTO audit_details (home, event_id, part, type, id, subject_id, value)
		SELECT $1, $2, $3, 'communityMember', m.user_id AS id, m.user_id AS subject_id, jsonb_build_object('communityId', m.community_id,
		'state', m.state, 'roles', m.roles)
		FROM community_members AS m WHERE m.home = $1 AND m.community_id = $4 AND m.user_id = ANY($5::text[])
		AND `+auditValueMissing("'communityMember'", "m.user_id"))
	sqlAuditChannelUsers = db.Register("auditDetails.channelUsers", `INSERT INTO audit_details (home, event_id, part, type, id, subject_id, value)
		SELECT $1, $2, $3, 'channelUser', u.user_id AS id, u.user_id AS subject_id,
			jsonb_build_object('channelId', u.channel_id, 'membership', u.membership, 'roles', u.roles, 'mutedUntil', u.muted_until)
		FROM channel_users AS u WHERE u.home = $1 AND u.channel_id = $4 AND u.user_id = ANY($5::text[])
		AND `+auditValueMissing("'channelUser'", "u.user_id"))
)

// AuditSettings is the type of the target that contains the settings of the network.
const AuditSettings = "settings"

// replicatedTargets are the types whose rows are the same in every home.
var replicatedTargets = map[string]bool{"role": true, "rule": true, "webhook": true}

// InsertAuditValues stores the current values of targets as a part of an event, as far as their rows are at the home of
// the transaction. It is safe to repeat.
func (w Tx) InsertAuditValues(eventID, part string, targets []AuditTarget) {
	types, byType := w.audited(targets)
	for _, kind := range types {
		switch ids := byType[kind]; {
		case kind == AuditSettings:
			w.Exec(sqlAuditSettings, eventID, part)
		case auditedValues[kind] != nil:
			w.Exec(auditedValues[kind], eventID, part, ids)
		}
	}
	users := idsOf(targets, "user")
	if len(users) == 0 {
		return
	}
	for _, id := range byType["community"] {
		w.Exec(sqlAuditMembers, eventID, part, id, users)
	}
	for _, id := range byType["channel"] {
		w.Exec(sqlAuditChannelUsers, eventID, part, id, users)
	}
}

// audited returns the ids by type of the targets that are at the home of the transaction, and the types in their order.
func (w Tx) audited(targets []AuditTarget) (types []string, byType map[string][]string) {
	byType = map[string][]string{}
	for _, t := range targets {
		home, err := w.HomeOf(t.ID)
		if t.Type != AuditSettings && !replicatedTargets[t.Type] && (err != nil || home != w.Home()) {
			continue
		}
		if byType[t.Type] == nil {
			types = append(types, t.Type)
		}
		byType[t.Type] = append(byType[t.Type], t.ID)
	}
	return types, byType
}

func idsOf(targets []AuditTarget, kind string) []string {
	var ids []string
	for _, t := range targets {
		if t.Type == kind {
			ids = append(ids, t.ID)
		}
	}
	return ids
}

// AuditedTypes returns the types of targets whose values audit events keep.
func AuditedTypes() []string { return slices.Sorted(maps.Keys(auditedValues)) }
