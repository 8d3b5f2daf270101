//go:build faults

package faults

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/db"
	"github.com/plaza-social/plaza/platform/store/network"
	"github.com/plaza-social/plaza/platform/store/notify"
)

// homeColumns names, for each table, the columns whose ids must have the row's home: content is stored with its
// target, a membership with its community, its mirror with the user. Tables with another rule have none.
var homeColumns = map[string][]string{
	"users":                 {"id"},
	"sessions":              {"user_id", "id"},
	"handles":               {"claim_id"},
	"erasures":              {"id"},
	"user_exports":          {"id"},
	"user_moves":            {"id"},
	"user_homes":            {}, // the same at every home
	"moved_ids":             {}, // the same at every home
	"categories":            {"id"},
	"products":              {"id"},
	"communities":           {"id"},
	"community_categories":  {"community_id"},
	"community_members":     {"community_id"},
	"user_communities":      {"user_id"},
	"join_requests":         {"community_id", "id"},
	"invitations":           {"id", "target_id"},
	"posts":                 {"id", "target_id"},
	"comments":              {"id", "reference_id", "root_id", "target_id"},
	"flags":                 {"target_id"},
	"flag_items":            {"target_id"},
	"cleared_flags":         {"target_id", "id"},
	"flag_notes":            {"target_id", "id"},
	"reactions":             {"reference_id", "id"},
	"counters":              {"ref"},
	"outbox":                {"id"},
	"follows":               {"follower_id"},
	"followers":             {"followee_id"},
	"blocks":                {"blocker_id"},
	"blocked_by":            {"blocked_id"},
	"pins":                  {"post_id"},
	"pin_targets":           {}, // see requirePinTargets
	"scheduled_posts":       {"id", "target_id"},
	"planned_events":        {"id", "origin_id"},
	"event_rsvps":           {"event_id"},
	"polls":                 {"id"},
	"files":                 {"id"},
	"uploads":               {"id"},
	"file_uses":             {"object_id"},
	"search_words":          {"object_id"},
	"tray_items":            {"user_id"},
	"tray_actors":           {"user_id"},
	"tray_seen":             {"user_id"},
	"push_devices":          {"user_id"},
	"notification_settings": {"user_id"},
	"archived_channels":     {"user_id"},
	"pushes":                {"id", "user_id"},
	"file_releases":         {}, // at the home of the object that released the file
	"realtime_heads":        {}, // see requireLogs
	"schema_versions":       {}, // one row at each home
	"servers":               {}, // at the first home that answered the server
	"backfills":             {}, // one row at each home
	"realtime_events":       {}, // see requireLogs
	"message_feeds":         {"id"},
	"message_feed_segments": {"feed_id"},
	"messages":              {"id", "feed_id", "channel_id"},
	"user_markers":          {"user_id"},
	"user_feed_markers":     {"user_id"},
	"poll_answers":          {"poll_id"},
	"poll_votes":            {"poll_id"},
	"stories":               {"id", "target_id"},
	"story_targets":         {"target_id"},
	"story_seen":            {"target_id"},
	"views":                 {"reference_id"},
	"video_streams":         {"id", "creator_id"},
	"rooms":                 {"id", "creator_id"},
	"channels":              {"id"},
	"channel_users":         {"channel_id"},
	"daily_usages":          {"user_id"},
	"presences":             {"place"},
	"pending_edits":         {"reference_id", "target_id"},
	"audit_events":          {"id"},
	"audit_targets":         {"event_id"},
	"audit_details":         {"event_id"},
	"idempotency_keys":      {}, // at the home of the caller
	"idempotency_marks":     {}, // at the homes that a request changed
	"rate_usages":           {}, // at the home of the user or server
	"directory":             {}, // see requireDirectory
	"webhooks":              {}, // the same at every home
	"webhook_cursors":       {}, // one row of each webhook at each home
	"webhook_deliveries":    {}, // at the home of the log
	"settings":              {}, // see requireSettings
	"moderation_rules":      {}, // see requireRules
	"moderation_lists":      {}, // each home has its own version
	"roles":                 {}, // the same at every home, like the settings
}

// TestRowPlacement writes content of every home through every region, and then checks the homes of all rows of each
// table.
func TestRowPlacement(t *testing.T) {
	t.Parallel()
	n := startAll(t)
	for _, home := range region.All() {
		for _, through := range region.All() {
			writeEverything(t, n, home, through)
		}
	}
	writeAccounts(t, n)
	writeMoves(t, n)
	writeFileUses(t, n)
	insertUndeliverableRows(t, n)
	writePresences(t, n) // last, because they are removed soon
	conn, err := pgx.Connect(t.Context(), n.DatabaseURL)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(t.Context()) })
	for _, table := range db.Tables() {
		columns, known := homeColumns[table]
		require.True(t, known, "no rule says where the rows of %s live", table)
		requireRows(t, conn, table)
		for _, column := range columns {
			requireHomeOfID(t, conn, table, column, columns[0])
		}
	}
	requireDirectory(t, conn)
	requireSettings(t, conn)
	requireRules(t, conn)
	requireLogs(t, conn)
	requirePinTargets(t, conn)
}

// writeEverything creates a community at home, and writes to it through another region, as users of both.
func writeEverything(t *testing.T, n *apptest.Network, home, through region.Code) {
	t.Helper()
	founder := n.NewUser(t, home, "founder")
	guest := n.NewUser(t, through, "guest")
	admin := n.Admin(home)
	admin.Do(t, http.MethodPost, "/api/v1/products", object{"productName": "Rope", "productUrl": "https://shop.example/rope"}).OK(t)
	category := admin.Do(t, http.MethodPost, "/api/v3/community-categories", object{"name": "c"}).OK(t).String(t, "categories.0.categoryId")
	open := founder.With("Idempotency-Key", "open").Do(t, http.MethodPost, "/api/v3/communities",
		object{"displayName": "open", "categoryIds": []string{category}}).
		OK(t).String(t, "communities.0.communityId")
	closed := founder.Do(t, http.MethodPost, "/api/v3/communities", object{"displayName": "closed", "requiresJoinApproval": true}).
		OK(t).String(t, "communities.0.communityId")
	guest.Do(t, http.MethodPost, "/api/v3/communities/"+open+"/join", nil).OK(t)
	guest.Do(t, http.MethodPost, "/api/v4/communities/"+closed+"/join", nil).OK(t)
	for _, target := range []object{{"targetType": "community", "targetId": open}, {"targetType": "user", "targetId": founder.UserID}} {
		target["data"] = object{"text": "hello"}
		post := guest.Do(t, http.MethodPost, "/api/v4/posts", target).OK(t).String(t, "posts.0.postId")
		comment := guest.Do(t, http.MethodPost, "/api/v3/comments", object{"referenceId": post, "data": object{"text": "hi"}}).
			OK(t).String(t, "comments.0.commentId")
		guest.Do(t, http.MethodPost, "/api/v3/posts/"+post+"/flag", nil).OK(t)
		guest.Do(t, http.MethodPost, "/api/v3/comments/"+comment+"/flag", nil).OK(t)
		for path, body := range map[string]object{"/notes": {"text": "seen"}, "/resolve": {"outcome": "dismissed"}} {
			admin.Do(t, http.MethodPost, "/api/v1/moderation/flag-items/"+comment+path, body).OK(t)
		}
		guest.Do(t, http.MethodPost, "/api/v2/reactions", object{"referenceId": post, "referenceType": "post", "reactionName": "like"}).OK(t)
	}
	n.Admin(through).Do(t, http.MethodPut, "/api/v3/network-settings/moderation", object{"isReportEnabled": true}).OK(t)
	n.Admin(through).Do(t, http.MethodPost, "/api/v2/whitelist/records",
		object{"regexs": []string{home.String() + ".example", "all.example"}}).OK(t)
	n.Admin(through).Do(t, http.MethodPost, "/api/v3/roles",
		object{"roleId": fmt.Sprint("from-", home, "-", through), "permissions": []string{"BAN_USER"}}).OK(t)
	founder.At(through).Do(t, http.MethodPost, "/api/v1/invitations", object{
		"type": "communityMemberInvite", "targetType": "community", "targetId": closed, "userIds": []string{guest.UserID},
	}).OK(t)
	reviewed := founder.NewCommunity(t, object{"needApprovalOnPostCreation": true})
	guest.Join(t, reviewed)
	edited := guest.NewPost(t, reviewed)
	post(t, founder, "/api/v3/posts/"+edited+"/approve", object{})
	guest.Do(t, http.MethodPut, "/api/v3/posts/"+edited, object{"data": object{"text": "other words"}}).OK(t)
	writeMarkers(t, n, home, guest)
	writeMessages(t, founder, guest)
	writeRelations(t, founder, guest, open)
}

// writeAccounts gives many users a handle, because its hash decides about the home of its row, and exports and erases a
// user of each region.
func writeAccounts(t *testing.T, n *apptest.Network) {
	t.Helper()
	for range 30 {
		u := n.NewUser(t, region.EU, "handle")
		u.Do(t, http.MethodPut, "/api/v3/users", object{"profileHandle": u.UserID}).OK(t)
	}
	for _, home := range region.All() {
		exported := n.NewUser(t, home, "exported")
		exported.Do(t, http.MethodPost, "/api/v4/users/"+exported.UserID+"/export", nil).OK(t)
		exported.Do(t, http.MethodPost, "/api/v1/notification-tray/tray/seen", object{"lastSeenAt": "2026-01-02T03:04:05Z"}).OK(t)
		exported.Do(t, http.MethodPost, "/v1/notification",
			object{"userId": exported.UserID, "platform": "android", "token": exported.UserID}).OK(t)
		exported.Do(t, http.MethodPost, "/api/v3/notification/setting", object{"level": "user", "isPushNotifiable": true}).OK(t)
		u := n.NewUser(t, home, "leaver")
		u.Do(t, http.MethodDelete, "/api/v4/users/"+u.UserID, nil).OK(t)
	}
}

// writeMoves moves a user of each region to the next one.
func writeMoves(t *testing.T, n *apptest.Network) {
	t.Helper()
	all := region.All()
	for i, home := range all {
		u := n.NewUser(t, home, "mover")
		path := "/api/v4/users/" + u.UserID + "/move"
		n.Admin(home).Do(t, http.MethodPost, path, object{"region": all[(i+1)%len(all)]}).OK(t)
		require.Eventually(t, func() bool {
			return n.Admin(home).Do(t, http.MethodGet, path, nil).OK(t).String(t, "move.state") == "done"
		}, apptest.Patience, 100*time.Millisecond)
	}
}

// writeFileUses has a user of each region refer to a file, and release another one.
func writeFileUses(t *testing.T, n *apptest.Network) {
	t.Helper()
	for _, home := range region.All() {
		u := n.NewUser(t, home, "painter")
		for _, permanent := range []bool{false, true} {
			file := u.Upload(t, "file", "a", []byte("x")).OK(t).String(t, "0.fileId")
			body := object{"data": object{"text": "look"}, "attachments": []object{{"type": "file", "fileId": file}}}
			id := post(t, u, "/api/v4/posts", body).String(t, "posts.0.postId")
			if permanent {
				u.Do(t, http.MethodDelete, "/api/v4/posts/"+id+"?permanent=true", nil).OK(t)
			}
		}
	}
}

// writeMessages creates a channel with a subchannel, and has the guest write to both.
func writeMessages(t *testing.T, founder, guest *apptest.Client) {
	t.Helper()
	body := object{"type": "community", "displayName": "chat", "userIds": []string{guest.UserID}}
	channel := post(t, founder, "/api/v3/channels", body).String(t, "channels.0._id")
	feed := post(t, founder.At(guest.Region), "/api/v5/message-feeds", object{"channelId": channel, "name": "s"}).String(t,
		"messageFeeds.0.messageFeedId")
	for _, feed := range []string{channel, feed} {
		message := post(t, guest, "/api/v5/messages", object{"messageFeedId": feed, "data": object{"text": "hello"}}).String(t,
			"messages.0.messageId")
		post(t, guest, "/api/v5/messages", object{"messageFeedId": feed, "data": object{"text": "a reply"}, "parentId": message})
		post(t, guest, "/api/v5/messages/"+message+"/flags", object{})
		post(t, guest, "/api/v2/reactions", object{"referenceId": message, "referenceType": "message", "reactionName": "like"})
	}
}

// writeRelations has two users of different regions follow and block each other, and creates the other content of a
// community.
func writeRelations(t *testing.T, founder, guest *apptest.Client, community string) {
	t.Helper()
	founder.At(guest.Region).Upload(t, "file", "a", []byte("x")).OK(t)
	pinned := founder.At(guest.Region).NewPost(t, community)
	founder.At(guest.Region).Do(t, http.MethodPost, "/api/v1/pinned-posts/communities/"+community+"/default/"+pinned, nil).OK(t)
	guest.Do(t, http.MethodPost, "/api/v4/me/following/"+founder.UserID, nil).OK(t)
	poll := post(t, founder.At(guest.Region), "/api/v3/polls",
		object{"question": "Which?", "answers": []object{{"data": "this"}, {"data": "that"}}})
	pollID, answerID := poll.String(t, "polls.0.pollId"), poll.String(t, "polls.0.answers.0.id")
	posted := object{"targetType": "community", "targetId": community, "dataType": "poll", "data": object{"text": "vote!", "pollId": pollID}}
	post(t, founder.At(guest.Region), "/api/v4/posts", posted)
	post(t, guest, "/api/v3/polls/"+pollID+"/votes", object{"answerIds": []string{answerID}})
	story := founder.At(guest.Region).NewStory(t, community)
	viewed := guest.Do(t, http.MethodPost, "/api/v1/analytics/activities", object{"activities": []object{
		{"contentId": story, "contentType": "story", "activityType": "view"},
		{"contentId": pinned, "contentType": "post", "activityType": "view"},
	}})
	require.Equal(t, http.StatusAccepted, viewed.Status, "%s", viewed.Body)
	writeLive(t, founder.At(guest.Region), community)
	event := post(t, founder.At(guest.Region), "/api/v1/events", newEvent(community)).String(t, "events.0.eventId")
	post(t, guest, "/api/v1/events/"+event+"/rsvp", object{"status": "going"})
	draft := object{"targetType": "community", "targetId": community, "data": object{"text": "later"}}
	scheduled := guest.Do(t, http.MethodPost, "/api/v1/posts/schedule", object{
		"scheduledAt": time.Now().Add(time.Hour).UTC().Format(time.RFC3339), "postData": draft,
	})
	require.Equal(t, http.StatusCreated, scheduled.Status, "%s", scheduled.Body)
	channel := post(t, founder, "/api/v3/channels/conversation",
		object{"type": "conversation", "userIds": []string{guest.UserID}, "isDistinct": true})
	post(t, founder.At(guest.Region), "/api/v1/archives/channels/"+channel.String(t, "channels.0.channelId"), nil)
	founder.At(guest.Region).Do(t, http.MethodPost, "/api/v4/me/user-blocks/"+guest.UserID, nil).OK(t)
}

// writePresences lets users of every home watch a room. The rows are removed after a minute.
func writePresences(t *testing.T, n *apptest.Network) {
	t.Helper()
	for _, home := range region.All() {
		c := n.NewUser(t, home, "viewer")
		room := post(t, c, "/api/v1/rooms", object{"title": "Live!"}).String(t, "rooms.0.roomId")
		require.Equal(t, http.StatusAccepted, c.Do(t, http.MethodPost, "/api/v1/presence/rooms/"+room+"/heartbeat", nil).Status)
		require.Eventually(t, func() bool {
			return len(c.Do(t, http.MethodGet, "/api/v1/presence/rooms/"+room+"/users", nil).OK(t).List(t, "viewers")) == 1
		}, apptest.Patience, 100*time.Millisecond, "heartbeats are stored in the background")
	}
}

// writeLive creates a stream and a room, and posts both.
func writeLive(t *testing.T, c *apptest.Client, community string) {
	t.Helper()
	stream := post(t, c, "/api/v3/video-streaming", object{"title": "Live!"}).String(t, "videoStreamings.0.streamId")
	room := post(t, c, "/api/v1/rooms", object{"title": "Live!"}).String(t, "rooms.0.roomId")
	for _, carried := range []object{
		{"dataType": "liveStream", "data": object{"streamId": stream}}, {"dataType": "room", "data": object{"roomId": room}},
	} {
		carried["targetType"], carried["targetId"] = "community", community
		post(t, c, "/api/v4/posts", carried)
	}
}

// insertUndeliverableRows inserts outbox rows that cannot be delivered, because others are deleted immediately.
func insertUndeliverableRows(t *testing.T, n *apptest.Network) {
	t.Helper()
	st, err := store.Open(t.Context(), db.Config{URLs: map[region.Code]string{"": n.DatabaseURL}})
	require.NoError(t, err)
	t.Cleanup(st.Close)
	hook := network.Webhook{ID: region.NewID(region.EU), Secret: []byte{}, CreatedAt: time.Now(), ChangedAt: time.Now()}
	for _, home := range region.All() {
		w := st.NewTx(home)
		w.UpsertWebhooks([]network.Webhook{hook}, time.Now().Add(-time.Hour)) // disabled
		w.InsertWebhookDeliveries(hook.ID, []network.WebhookDelivery{{ID: region.NewID(home), Payload: []byte("{}")}}, time.Now(), time.Now())
		push := notify.Push{Provider: "none", UserID: region.NewID(home), Data: []byte("{}"), CreatedAt: time.Now()}
		push.Identify("event")
		w.AddPush(push)
		w.Emit("nobody-handles-this", object{}, time.Now(), time.Now().Add(time.Hour))
		w.InsertUpload(region.NewID(home), time.Now().Add(time.Hour), time.Now())                             // of a server that was killed
		w.AddRateUsages([]network.RateUsage{{Key: []byte("key"), Level: 1, Refill: 1}}, map[string]float64{}) // tests have no rate limit
		require.NoError(t, w.Commit(t.Context()))
	}
}

// requireHomeOfID fails if a row's home is not the home that the column's id contains, unless the row has moved with the id
// in the column owner.
func requireHomeOfID(t *testing.T, db *pgx.Conn, table, column, owner string) {
	t.Helper()
	var total, wrong int
	err := db.QueryRow(t.Context(), fmt.Sprintf(`SELECT count(*), count(*) FILTER (WHERE home IS DISTINCT FROM
		CASE substr(%[2]s, 1, 2) WHEN '01' THEN 'us' WHEN '02' THEN 'eu' WHEN '03' THEN 'sg' END AND NOT EXISTS (SELECT 1 FROM user_homes AS u
		JOIN moved_ids AS m ON m.home = 'us' AND m.user_id = u.user_id WHERE u.home = 'us' AND u.to_home = %[1]s.home AND m.id = %[1]s.%[3]s)) FROM %[1]s`, table, column, owner)).Scan(&total, &wrong)
	require.NoError(t, err)
	require.Zero(t, wrong, "%d of %d rows of %s are not at the home of their %s", wrong, total, table, column)
}

// requireRows fails if a home has no rows of a table.
func requireRows(t *testing.T, db *pgx.Conn, table string) {
	t.Helper()
	var homes []string
	require.NoError(t, db.QueryRow(t.Context(), `SELECT COALESCE(array_agg(DISTINCT home), '{}') FROM `+table).Scan(&homes))
	require.ElementsMatch(t, []string{"us", "eu", "sg"}, homes, "homes with rows of %s", table)
}

// requireDirectory checks that every user id has a row at the home that its hash names, and that all other rows
// agree with it.
func requireDirectory(t *testing.T, db *pgx.Conn) {
	t.Helper()
	rows, err := db.Query(t.Context(), `SELECT home, user_hash, user_id FROM directory`)
	require.NoError(t, err)
	decided, copies := map[string]string{}, map[string][]string{}
	for rows.Next() {
		var home, userID string
		var hash []byte
		require.NoError(t, rows.Scan(&home, &hash, &userID))
		if home == string(region.All()[int(hash[0])%3]) {
			decided[string(hash)] = userID
		} else {
			copies[string(hash)] = append(copies[string(hash)], userID)
		}
	}
	require.NoError(t, rows.Err())
	require.NotEmpty(t, decided)
	require.NotEmpty(t, copies)
	for hash, ids := range copies {
		for _, id := range ids {
			require.Equal(t, decided[hash], id, "a copy differs from the row that decides")
		}
	}
}

// requireLogs checks that every log ends at its head, and that events about a user are in the log of the user's home
// only.
func requireLogs(t *testing.T, db *pgx.Conn) {
	t.Helper()
	require.Empty(t,
		rows(t, db, `SELECT home FROM realtime_heads AS h WHERE last_seq < (SELECT max(seq) FROM realtime_events AS e WHERE e.home = h.home)`))
	require.Empty(t, rows(t, db, `SELECT id FROM realtime_events WHERE name = 'marker.user-sync'
		AND home <> CASE substr(topic, 1, 2) WHEN '01' THEN 'us' WHEN '02' THEN 'eu' WHEN '03' THEN 'sg' END`))
}

// writeMarkers pushes a message into a feed, which a user reads.
func writeMarkers(t *testing.T, n *apptest.Network, home region.Code, reader *apptest.Client) {
	t.Helper()
	feed := region.NewID(home)
	message := object{"entityId": feed, "messageId": "m", "userIds": []string{reader.UserID}}
	n.Admin(home).Do(t, http.MethodPut, "/api/v1/markers/message-feeds/"+feed+"/segments/1", message).OK(t)
	require.Eventually(t, func() bool {
		return reader.Do(t, http.MethodPut, "/api/v1/markers/message-feeds/"+feed+"/mark-read",
			object{"readToSegment": 1}).Status == http.StatusOK
	}, apptest.Patience, 10*time.Millisecond)
	reader.Do(t, http.MethodPost, "/api/v1/markers/sync", nil).OK(t)
}

// requirePinTargets checks that every target whose pins changed has or had pins.
func requirePinTargets(t *testing.T, db *pgx.Conn) {
	t.Helper()
	require.Empty(t, rows(t, db, `SELECT home, target_id FROM pin_targets AS t WHERE NOT EXISTS
		(SELECT 1 FROM pins AS p WHERE p.home = t.home AND p.target_id = t.target_id)`))
}

// requireRules checks that every home has the same rules of the moderation lists.
func requireRules(t *testing.T, db *pgx.Conn) {
	t.Helper()
	require.Eventually(t, func() bool {
		var homes, rows, rules int
		require.NoError(t, db.QueryRow(t.Context(), `SELECT count(DISTINCT home), count(*),
			count(DISTINCT (list, id, regex, is_enabled, is_deleted, created_at, changed_at, origin)) FROM moderation_rules`).Scan(&homes, &rows,
			&rules))
		return homes == 3 && rules > 0 && rows == homes*rules
	}, apptest.Patience, 50*time.Millisecond, "the homes have different rules")
}

// requireSettings checks that every home has the same settings.
func requireSettings(t *testing.T, db *pgx.Conn) {
	t.Helper()
	require.Eventually(t, func() bool {
		rows, err := db.Query(t.Context(), `SELECT home, name || '=' || value::text FROM settings ORDER BY home, name`)
		require.NoError(t, err)
		byHome := map[string]string{}
		for rows.Next() {
			var home, setting string
			require.NoError(t, rows.Scan(&home, &setting))
			byHome[home] += setting + "\n"
		}
		require.NoError(t, rows.Err())
		us := byHome["us"]
		return strings.TrimSpace(us) != "" && us == byHome["eu"] && us == byHome["sg"]
	}, apptest.Patience, 50*time.Millisecond, "the homes have different settings")
}
