package erasure_test

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service/erasure"
	"github.com/plaza-social/plaza/platform/service/internal/servicetest"
	"github.com/plaza-social/plaza/platform/store/lifecycle"
)

// values are the values of columns, as literals without quotes.
type values map[string]string

// insert inserts a row at sg. Columns without a value get one of their own, or the zero value of their type.
func (w *world) insert(table string, row values) {
	w.t.Helper()
	w.rows++
	row = maps.Clone(row)
	row["home"] = "sg"
	required := w.Text(w.t, `SELECT string_agg(column_name || ':' || data_type, ',') FROM information_schema.columns
		WHERE table_schema = current_schema() AND table_name = '`+table+
		`' AND is_nullable = 'NO' AND column_default IS NULL AND is_generated = 'NEVER'`)
	for column := range strings.SplitSeq(required, ",") {
		name, kind, _ := strings.Cut(column, ":")
		if _, ok := row[name]; ok {
			continue
		}
		switch kind {
		case "text":
			row[name] = fmt.Sprint("secret", w.rows)
		case "boolean":
			row[name] = "false"
		case "timestamp with time zone", "date":
			row[name] = "2026-11-20"
		case "jsonb", "ARRAY":
			row[name] = "{}"
		case "bytea":
			row[name] = ""
		default:
			row[name] = "0"
		}
	}
	names := slices.Sorted(maps.Keys(row))
	literals := make([]string, len(names))
	for i, name := range names {
		literals[i] = "'" + row[name] + "'"
	}
	w.Exec(w.t, fmt.Sprintf(`INSERT INTO %s (%s) VALUES (%s)`, table, strings.Join(names, ", "), strings.Join(literals, ", ")))
}

// erase erases the user of the world.
func (w *world) erase() {
	w.t.Helper()
	s := erasure.New(w.Deps)
	w.passed(s, lifecycle.ErasureRunning)
	w.passed(s, lifecycle.ErasureVerifying)
	require.Equal(w.t, lifecycle.ErasureDone, w.erasure().State)
}

// TestRowsOfTheUserAreDeleted has the user in each column by which rows belong to a user. They are deleted, and those of others stay.
func TestRowsOfTheUserAreDeleted(t *testing.T) {
	w := newWorldOf(t, 0)
	columns := map[string][]string{
		"follows": {"follower_id", "followee_id"}, "followers": {"follower_id", "followee_id"}, "blocks": {"blocker_id", "blocked_id"},
		"blocked_by": {"blocker_id", "blocked_id"}, "tray_items": {"user_id", "target_id"}, "tray_actors": {"user_id", "actor_id"},
		"pushes": {"user_id", "actor_id"}, "scheduled_posts": {"author_id", "target_id"}, "pending_edits": {"author_id"},
		"audit_details": {"subject_id"},
		"sessions":      {"user_id"}, "user_markers": {"user_id"}, "user_feed_markers": {"user_id"}, "story_seen": {"user_id"},
		"story_targets":    {"target_id"},
		"user_communities": {"user_id"}, "counters": {"ref"}, "daily_usages": {"user_id"}, "tray_seen": {"user_id"}, "push_devices": {"user_id"},
		"notification_settings": {"user_id"}, "archived_channels": {"user_id"},
	}
	checked := map[string]values{
		"follows": {"status": "none"}, "followers": {"status": "none"}, "blocks": {"status": "none"}, "scheduled_posts": {"status": "posted"},
		"pending_edits": {"reference_type": "post"}, "audit_details": {"part": "before"},
	}
	for table, owners := range columns {
		for _, owner := range append(owners, "") {
			row := values{}
			maps.Copy(row, checked[table])
			if owner != "" {
				row[owner] = w.user
			}
			w.insert(table, row)
		}
	}
	w.erase()
	for table := range columns {
		require.Equal(t, "1 0",
			w.Text(t, fmt.Sprintf(`SELECT count(*) || ' ' || count(*) FILTER (WHERE strpos(t::text, '%s') > 0) FROM %s AS t`, w.user, table)), table)
	}
}

// emptied is a row that names the user, and what it must be afterwards.
type emptied struct {
	name, table string
	row         []values
	want        string // a condition
}

// named returns the values of the columns with the ids of the user.
func (w *world) named(id, publicID string) values { return values{id: w.user, publicID: "alice"} }

// isNameless returns the condition that a column has no public id any more.
func (w *world) isNameless(column string) string { return column + ` = 'DELETED_` + w.user + `'` }

// mention returns a list of mentions of the user.
func (w *world) mention() string {
	return `[{"userInternalIds":["` + w.user + `"],"userIds":["alice"]}]`
}

// content returns rows of what the user wrote, and of what others wrote about the user.
func (w *world) content() []emptied {
	written := values{
		"deleted_at": "2026-11-20", "data": `{"text":"secret"}`, "metadata": `{"note":"secret"}`,
		"mentionees": `[{"userIds":["bob"]}]`,
	}
	comment := values{
		"reference_type": "post", "attachments": "[1]", "annotations": `{"a":1}`, "author_public_id": "bob",
		"target_public_id": "bob",
	}
	story := values{"target_type": "user", "data_type": "text", "items": "[1]", "author_public_id": "bob", "target_public_id": "bob"}
	noted := `{"mentioned":[{"userId":"alice"}],"note":"kept"}`
	return []emptied{
		{
			"author of a comment", "comments",
			[]values{written, comment, w.named("author_id", "author_public_id")},
			`data = '{}' AND metadata = '{}' AND mentionees = '[]' AND attachments = '[]' AND annotations = '{}' AND target_public_id = 'bob' AND ` + w.isNameless("author_public_id"),
		},
		{
			"wall of a comment", "comments",
			[]values{written, comment, w.named("target_id", "target_public_id")},
			`data = '{}' AND author_public_id = 'bob' AND ` + w.isNameless("target_public_id"),
		},
		{
			"author of a story", "stories",
			[]values{written, story, w.named("author_id", "author_public_id")},
			`data = '{}' AND metadata = '{}' AND mentionees = '[]' AND items = '[]' AND target_public_id = 'bob' AND ` +
				w.isNameless("author_public_id"),
		},
		{
			"wall of a story", "stories",
			[]values{written, story, w.named("target_id", "target_public_id")},
			`data = '{}' AND author_public_id = 'bob' AND ` + w.isNameless("target_public_id"),
		},
		{
			"message", "messages",
			[]values{
				{
					"deleted_at": "2026-11-20", "data": `{"text":"secret"}`, "metadata": `{"note":"secret"}`, "mentions": `[{"userIds":["bob"]}]`,
					"tags": "{secret}",
				},
				w.named("creator_id", "creator_public_id"),
			},
			`data = '{}' AND metadata = '{}' AND mentions = '[]' AND tags = '{}' AND file_id = '' AND reference_id = '' AND reference_hash = convert_to(id, 'UTF8') AND ` +
				w.isNameless("creator_public_id"),
		},
		{"note about flags", "flag_notes", []values{{"author_id": w.user}}, `text = ''`},
		{
			"scheduled post with a mention", "scheduled_posts",
			[]values{{"status": "posted", "mentions": w.mention(), "draft": noted}},
			`mentions->0->'userIds' = '[]' AND draft = '{"mentioned":[],"note":"kept"}'`,
		},
		{
			"pending edit with a mention", "pending_edits",
			[]values{{"reference_type": "post", "mentionees": w.mention(), "metadata": noted}},
			`mentionees->0->'userIds' = '[]' AND metadata = '{"mentioned":[],"note":"kept"}'`,
		},
		{
			"poll", "polls",
			[]values{{"answer_type": "single", "answers": `["secret"]`}, w.named("creator_id", "creator_public_id")},
			`title = '' AND question = '' AND answers = '[]' AND ` + w.isNameless("creator_public_id"),
		},
	}
}

// relations returns rows of what the user asked others for, and made for them.
func (w *world) relations() []emptied {
	request := values{"requestor_public_id": "bob", "responder_public_id": "bob"}
	invitation := values{
		"type": "communityMemberInvite", "target_type": "community", "invited_public_id": "bob", "inviter_public_id": "bob",
		"status": "pending",
	}
	return []emptied{
		{
			"request to join", "join_requests",
			[]values{request, {"status": "pending"}, w.named("requestor_id", "requestor_public_id")},
			`status = 'cancelled' AND responder_public_id = 'bob' AND ` + w.isNameless("requestor_public_id"),
		},
		{
			"rejected request to join", "join_requests",
			[]values{request, {"status": "rejected"}, w.named("requestor_id", "requestor_public_id")},
			`status = 'rejected'`,
		},
		{
			"answer to a request to join", "join_requests",
			[]values{request, {"status": "approved"}, w.named("responder_id", "responder_public_id")},
			`status = 'approved' AND requestor_public_id = 'bob' AND ` + w.isNameless("responder_public_id"),
		},
		{
			"invitation of the user", "invitations",
			[]values{invitation, w.named("invited_id", "invited_public_id")},
			`status = 'cancelled' AND inviter_public_id = 'bob' AND ` + w.isNameless("invited_public_id"),
		},
		{
			"invitation by the user", "invitations",
			[]values{invitation, w.named("inviter_id", "inviter_public_id")},
			`status = 'cancelled' AND invited_public_id = 'bob' AND ` + w.isNameless("inviter_public_id"),
		},
		{
			"accepted invitation", "invitations",
			[]values{invitation, {"status": "approved"}, w.named("inviter_id", "inviter_public_id")},
			`status = 'approved'`,
		},
		{
			"channel", "channels",
			[]values{{"type": "community"}, w.named("creator_id", "creator_public_id")},
			`display_name <> '' AND name_key <> '' AND ` + w.isNameless("creator_public_id"),
		},
		{
			"channel of a room", "channels",
			[]values{{"type": "live"}, w.named("creator_id", "creator_public_id")},
			`display_name = '' AND name_key = '' AND ` + w.isNameless("creator_public_id"),
		},
		{
			"subchannel", "message_feeds",
			[]values{{"name": "kept"}, w.named("creator_id", "creator_public_id")},
			`name = 'kept' AND ` + w.isNameless("creator_public_id"),
		},
		{"pin", "pins", []values{{"placement": "default"}, w.named("pinned_by_id", "pinned_by")}, w.isNameless("pinned_by")},
	}
}

// live returns rows of streams, rooms and events.
func (w *world) live() []emptied {
	stream, room := values{"status": "ended", "resolution": "SD"}, values{"status": "ended", "type": "coHosts"}
	written := values{"metadata": `{"note":"secret"}`, "recordings": `["secret"]`, "updated_at": "2026-11-19"}
	event := values{
		"type": "virtual", "origin_type": "user", "tags": "{secret}", "metadata": `{"note":"secret"}`, "creator_public_id": "bob",
		"origin_public_id": "bob",
		"updated_at":       "2026-11-19",
	}
	creator, before := w.named("creator_id", "creator_public_id"), values{"deleted_at": "2026-11-18"}
	empty := `title = '' AND description = '' AND metadata = '{}' AND `
	media := empty + `thumbnail_file_id = '' AND recordings = '[]' AND deleted_at = updated_at AND ` + w.isNameless("creator_public_id")
	return []emptied{
		{
			"stream", "video_streams",
			[]values{stream, written, {"platform_name": "secret", "platform_version": "secret"}, creator},
			media + ` AND platform_name = '' AND platform_version = ''`,
		},
		{"deleted stream", "video_streams", []values{stream, written, before, creator}, empty + `deleted_at < updated_at`},
		{"room", "rooms", []values{room, written, creator}, media},
		{"deleted room", "rooms", []values{room, written, before, creator}, empty + `deleted_at < updated_at`},
		{
			"room of another user", "rooms",
			[]values{room, written, {"participants": `[{"userId":"` + w.user + `","publicId":"alice"}]`}},
			`title <> '' AND deleted_at IS NULL AND ` + w.isNameless("participants->0->>'publicId'"),
		},
		{
			"event", "planned_events",
			[]values{event, creator},
			empty +
				`location = '' AND external_url = '' AND cover_image_file_id = '' AND tags = '{}' AND deleted_at = updated_at AND origin_public_id = 'bob' AND ` +
				w.isNameless("creator_public_id"),
		},
		{
			"event on the wall", "planned_events",
			[]values{event, w.named("origin_id", "origin_public_id")},
			empty + `creator_public_id = 'bob' AND ` + w.isNameless("origin_public_id"),
		},
		{"deleted event", "planned_events", []values{event, before, creator}, empty + `deleted_at < updated_at`},
	}
}

// TestRowsOfTheUserAreEmptied has the user in each column that names who made or answered something. What the user wrote is removed, and
// so is the user's public id, but not that of others.
func TestRowsOfTheUserAreEmptied(t *testing.T) {
	w := newWorldOf(t, 0)
	all := slices.Concat(w.content(), w.relations(), w.live())
	ids := make([]string, len(all))
	key := func(table string) string {
		return cmp.Or(map[string]string{"pending_edits": "reference_id", "pins": "target_id"}[table], "id")
	}
	for i, c := range all {
		ids[i] = region.NewID(region.SG)
		row := values{}
		for _, part := range append(c.row, values{key(c.table): ids[i]}) {
			maps.Copy(row, part)
		}
		w.insert(c.table, row)
	}
	w.erase()
	for i, c := range all {
		require.Equal(t, "1",
			w.Text(t, fmt.Sprintf(`SELECT count(*)::text FROM %s WHERE %s = '%s' AND %s`, c.table, key(c.table), ids[i], c.want)), c.name)
	}
}

// TestPostsOnTheWallAreErased erases posts of others on the wall of the user.
func TestPostsOnTheWallAreErased(t *testing.T) {
	w := newWorldOf(t, 0)
	tx := w.Store.NewTx(region.EU)
	servicetest.InsertWallPost(tx, w.user, region.NewID(region.US), 1)
	require.NoError(t, tx.Commit(t.Context()))
	w.Exec(t,
		`UPDATE posts SET data = '{"text":"secret"}', metadata = '{"a":1}', tags = '{a}', hashtags = '{a}', mentionees = '[{"userIds":["bob"]}]', annotations = '{"a":1}',
		author_public_id = 'bob', target_public_id = 'alice'`)
	w.erase()
	require.Equal(t, "1",
		w.Text(t,
			`SELECT count(*)::text FROM posts WHERE data = '{}' AND metadata = '{}' AND tags = '{}' AND hashtags = '{}' AND mentionees = '[]' AND annotations = '{}'
		AND deleted_at IS NOT NULL AND author_public_id = 'bob' AND `+w.isNameless("target_public_id")))
}
