package store

import (
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/db"
)

// The walks of an erasure. Every table is in one of them, among the statements below, or in notErased, which a test
// checks: a new table fails it until its rows are decided about here.
var (
	ErasePosts = newErasureWalk(walk{
		table: "posts", key: []string{"id"}, files: true, own: `author_id = $2 OR target_id = $2`, json: []string{"mentionees", "metadata"},
		set: `data = '{}', metadata = '{}', tags = '{}', hashtags = '{}', mentionees = '[]', annotations = '{}', ` + anonymous("author_id", "author_public_id") + `, ` +
			anonymous("target_id", "target_public_id"),
	})
	EraseComments = newErasureWalk(walk{
		table: "comments", key: []string{"id"}, files: true, own: `author_id = $2 OR target_id = $2`, json: []string{"mentionees", "metadata"},
		set: `data = '{}', metadata = '{}', mentionees = '[]', attachments = '[]', annotations = '{}', ` + anonymous("author_id", "author_public_id") + `, ` +
			anonymous("target_id", "target_public_id"),
	})
	EraseStories = newErasureWalk(walk{
		table: "stories", key: []string{"id"}, files: true, own: `author_id = $2 OR target_id = $2`, json: []string{"mentionees", "metadata"},
		set: `data = '{}', items = '[]', metadata = '{}', mentionees = '[]', ` + anonymous("author_id", "author_public_id") + `, ` +
			anonymous("target_id", "target_public_id"),
	})
	EraseMessages = newErasureWalk(walk{
		table: "messages", key: []string{"id"}, files: true, own: `creator_id = $2`, json: []string{"mentions", "metadata"},
		set: `data = '{}', metadata = '{}', tags = '{}', mentions = '[]', file_id = '', reference_id = '',
			reference_hash = convert_to(id, 'UTF8'), ` + anonymous("creator_id", "creator_public_id"),
	})
	EraseScheduledPosts = newErasureWalk(walk{
		table: "scheduled_posts", key: []string{"id"}, files: true, own: `author_id = $2 OR target_id = $2`, json: []string{"mentions", "draft"},
	})
	EraseReactions = newErasureWalk(walk{table: "reactions", key: []string{"reference_id", "user_id", "name"}, own: `user_id = $2`})
	EraseFiles     = newErasureWalk(walk{table: "files", key: []string{"id"}, own: `owner_id = $2`})
	EraseFollows   = newErasureWalk(walk{
		table: "follows", key: []string{"follower_id", "followee_id"}, own: `follower_id = $2 OR followee_id = $2`,
	})
	EraseFollowers = newErasureWalk(walk{
		table: "followers", key: []string{"followee_id", "follower_id"}, own: `follower_id = $2 OR followee_id = $2`,
	})
	EraseBlocks = newErasureWalk(walk{
		table: "blocks", key: []string{"blocker_id", "blocked_id"}, own: `blocker_id = $2 OR blocked_id = $2`,
	})
	EraseBlockedBy = newErasureWalk(walk{
		table: "blocked_by", key: []string{"blocked_id", "blocker_id"}, own: `blocker_id = $2 OR blocked_id = $2`,
	})
	EraseMembers      = newErasureWalk(walk{table: "community_members", key: []string{"community_id", "user_id"}, own: `user_id = $2`})
	EraseChannelUsers = newErasureWalk(walk{table: "channel_users", key: []string{"channel_id", "user_id"}, own: `user_id = $2`})

	// The rows of these tables concern no counter and no other row.
	EraseRows = []*ErasureWalk{
		newErasureWalk(walk{table: "tray_items", key: []string{"user_id", "id"}, own: `user_id = $2 OR target_id = $2`}),
		newErasureWalk(walk{table: "tray_actors", key: []string{"user_id", "item_id", "actor_id"}, own: `user_id = $2 OR actor_id = $2`}),
		newErasureWalk(walk{table: "pushes", key: []string{"provider", "id"}, own: `user_id = $2 OR actor_id = $2`}),
		newErasureWalk(walk{
			table: "join_requests", key: []string{"community_id", "id"}, own: `requestor_id = $2 OR responder_id = $2`,
			set: anonymous("requestor_id", "requestor_public_id") + `, ` + anonymous("responder_id", "responder_public_id") + `,
				status = CASE WHEN requestor_id = $2 AND status = '` + JoinPending + `' THEN '` + JoinCancelled + `' ELSE status END`,
		}),
		newErasureWalk(walk{
			table: "invitations", key: []string{"id"}, own: `invited_id = $2 OR inviter_id = $2`,
			set: anonymous("invited_id", "invited_public_id") + `, ` + anonymous("inviter_id", "inviter_public_id") + `,
				status = CASE WHEN status = '` + JoinPending + `' THEN '` + JoinCancelled + `' ELSE status END`,
		}),
		newErasureWalk(walk{
			table: "communities", key: []string{"id"}, own: `creator_id = $2`, set: anonymous("creator_id", "creator_public_id"),
		}),
		newErasureWalk(walk{ // the name of a live channel is the title of its stream or room
			table: "channels", key: []string{"id"}, own: `creator_id = $2`,
			set: `display_name = CASE WHEN type = 'live' THEN '' ELSE display_name END, name_key = CASE WHEN type = 'live' THEN '' ELSE name_key END, ` +
				anonymous("creator_id", "creator_public_id"),
		}),
		newErasureWalk(walk{
			table: "message_feeds", key: []string{"id"}, own: `creator_id = $2`, set: anonymous("creator_id", "creator_public_id"),
		}),
		newErasureWalk(walk{
			table: "pins", key: []string{"target_id", "placement", "post_id"}, own: `pinned_by_id = $2`, set: anonymous("pinned_by_id", "pinned_by"),
		}),
		newErasureWalk(walk{
			table: "polls", key: []string{"id"}, files: true, own: `creator_id = $2`,
			set: `title = '', question = '', answers = '[]', ` + anonymous("creator_id", "creator_public_id"),
		}),
		newErasureWalk(walk{
			table: "video_streams", key: []string{"id"}, files: true, own: `creator_id = $2`,
			set: `title = '', description = '', thumbnail_file_id = '', metadata = '{}', recordings = '[]', platform_name = '', platform_version = '',
				deleted_at = COALESCE(deleted_at, updated_at), ` + anonymous("creator_id", "creator_public_id"),
		}),
		newErasureWalk(walk{
			table: "rooms", key: []string{"id"}, files: true, own: `creator_id = $2`, json: []string{"participants"},
			set: `title = '', description = '', thumbnail_file_id = '', metadata = '{}', recordings = '[]',
				deleted_at = COALESCE(deleted_at, updated_at), ` + anonymous("creator_id", "creator_public_id"),
		}),
		newErasureWalk(walk{
			table: "planned_events", key: []string{"id"}, files: true, own: `creator_id = $2 OR origin_id = $2`,
			set: `title = '', description = '', location = '', external_url = '', cover_image_file_id = '', tags = '{}', metadata = '{}',
				deleted_at = COALESCE(deleted_at, updated_at), ` + anonymous("creator_id", "creator_public_id") + `, ` + anonymous("origin_id", "origin_public_id"),
		}),
		newErasureWalk(walk{table: "pending_edits", key: []string{"reference_id"}, own: `author_id = $2`, json: []string{"mentionees", "metadata"}}),
		newErasureWalk(walk{table: "audit_details", key: []string{"event_id", "part", "type", "id"}, own: `subject_id = $2`}),
		newErasureWalk(walk{table: "flags", key: []string{"target_id", "user_id"}, own: `user_id = $2`, set: `detail = ''`}),
		newErasureWalk(walk{table: "cleared_flags", key: []string{"target_id", "user_id"}, own: `user_id = $2`, set: `detail = ''`}),
		newErasureWalk(walk{table: "flag_notes", key: []string{"target_id", "id"}, own: `author_id = $2`, set: `text = ''`}),
	}
)

// notErased are the tables whose rows identify no person without the others, each with the reason.
var notErased = map[string]string{
	"audit_events":          "internal ids, which remain so that users who had a privilege stay accountable",
	"audit_targets":         "internal ids",
	"categories":            "made by administrators",
	"community_categories":  "of communities",
	"products":              "made by administrators",
	"idempotency_keys":      "keyed hashes, and answers that expire after 24 hours",
	"idempotency_marks":     "keyed hashes",
	"message_feed_segments": "internal ids",
	"moderation_lists":      "made by administrators",
	"moderation_rules":      "made by administrators",
	"outbox":                "the job waits until its rows are delivered",
	"pin_targets":           "of communities",
	"event_rsvps":           "internal ids, which remain as answers without a person",
	"poll_votes":            "internal ids, which remain as votes without a person",
	"presences":             "internal ids, for a few minutes",
	"rate_usages":           "keyed hashes",
	"realtime_heads":        "numbers",
	"schema_versions":       "numbers",
	"servers":               "of no user",
	"backfills":             "without rows",
	"roles":                 "made by administrators",
	"webhooks":              "made by administrators",
	"webhook_cursors":       "numbers",
	"webhook_deliveries":    "internal ids, for 30 days at most",
	"settings":              "made by administrators",
	"moved_ids":             "internal ids",
	"user_homes":            "internal ids",
	"user_moves":            "internal ids",
	"uploads":               "ids, until the end of an upload",
	"views":                 "internal ids, which remain as views without a person",
	"flag_items":            "internal ids; the item of the user is purged with the flags of the user",
	"user_exports":          "deleted by the step account, with the archive",
	"erasures":              "the receipt, without the user's id",
	"users":                 "emptied by the request, see EraseUser",
	"directory":             "deleted by package directory",
	"file_uses":             "internal ids, deleted when the objects are erased",
	"file_releases":         "ids of files, until they are deleted",
	"search_words":          "words of posts and communities, deleted when the posts are erased",
	"handles":               "keyed hashes, released by package directory",
	"realtime_events":       "see EraseEvents",
}

// tablesOfUser are the tables whose key begins with the user. ownedStatements delete the rows of one home.
var (
	tablesOfUser = []string{
		"sessions", "user_markers", "user_feed_markers", "story_seen", "story_targets", "user_communities", "counters", "daily_usages", "tray_seen",
		"push_devices", "notification_settings", "archived_channels",
	}
	ownedStatements = []*db.Statement{
		eraseByOwner("sessions", "user_id"), eraseByOwner("user_markers", "user_id"), eraseByOwner("user_feed_markers", "user_id"),
		eraseByOwner("story_seen", "user_id"), eraseByOwner("story_targets", "target_id"), eraseByOwner("user_communities", "user_id"),
		eraseByOwner("counters", "ref"), eraseByOwner("daily_usages", "user_id"),
		eraseByOwner("tray_seen", "user_id"), sqlPushDeviceRemoveAll, eraseByOwner("notification_settings", "user_id"),
		eraseByOwner("archived_channels", "user_id"),
	}
)

func eraseByOwner(table, owner string) *db.Statement {
	st := stmt("erasure.owned."+table, `DELETE FROM `+table+` WHERE home = $1 AND `+owner+` = $2`)
	if t := shared[table]; t != nil {
		return st.UpdatesUnlocked(t, "they are deleted with what is counted")
	}
	return st
}

var (
	sqlEraseEvents = stmt("erasure.events", `DELETE FROM realtime_events WHERE home = $1 AND seq > $3::bigint AND seq <= $4::bigint
		AND (sender_id = $2 OR topic = $2 OR strpos(payload::text, $2) > 0) AND name <> $5`)
	sqlOutboxConcerns = stmt("erasure.outbox", `SELECT count(*) FROM outbox WHERE home = $1 AND strpos(payload::text, $2) > 0`)
)

// EraseOwned deletes the rows that only concern the user: sessions, markers, the counts of the wall, and what others
// wrote in flags of the user and in notes about these.
func (w *Tx) EraseOwned(userID string) {
	for _, st := range ownedStatements {
		w.Exec(st, userID)
	}
	w.PurgeFlags([]string{userID})
}

// EraseEvents deletes events about the user from a part of the log of a home.
func (w *Tx) EraseEvents(userID string, after, to int64) { w.EraseEventsBut("", userID, after, to) }

// EraseEventsBut is EraseEvents without the events of a name.
func (w *Tx) EraseEventsBut(name, userID string, after, to int64) {
	w.Exec(sqlEraseEvents, userID, after, to, name)
}

// OutboxRowsOf reads the number of undelivered outbox rows of a home that concern the user.
func (r *ReadBatch) OutboxRowsOf(home region.Code, userID string, into *int64) {
	r.Add(home, sqlOutboxConcerns, db.Value(into), userID)
}
