package importer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service/internal/servicetest"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/messaging"
)

func TestImport(t *testing.T) {
	w := newWorld(t)
	text := readExample(t)
	rows := int64(strings.Count(text, "\n"))
	require.Equal(t, Progress{File: "file", Line: rows, Imported: rows}, w.mustImport(t, text))
	w.requireCounts(t, 3, 2, 2)

	users, err := New(w.options).findUsers(t.Context(), []string{"ada", "bob", "cleo"})
	require.NoError(t, err)
	ada := users["ada"]
	require.Equal(t, time.Date(2019, 3, 4, 5, 6, 7, 890e6, time.UTC), ada.CreatedAt.UTC())
	require.Equal(t, time.Date(2020, 1, 2, 3, 4, 5, 0, time.UTC), ada.UpdatedAt.UTC())
	require.Equal(t, "cleo", users["cleo"].DisplayName)
	for id, home := range map[string]region.Code{"ada": region.EU, "bob": region.US, "cleo": region.SG} {
		require.Equal(t, home, w.Deps.HomeOf(users[id].ID))
	}
	var community *communities.Community
	var member *communities.Member
	var due int
	reads := w.Store.NewReadBatch()
	reads.Community(climbing, &community)
	reads.Member(climbing, users["bob"].ID, &member)
	require.NoError(t, reads.Run(t.Context()))
	require.Equal(t, time.Date(2021, 2, 3, 4, 5, 6, 0, time.UTC), community.UpdatedAt.UTC())
	require.Equal(t, time.Date(2019, 5, 9, 10, 11, 12, 0, time.UTC), member.JoinedAt.UTC())
	lanes, err := w.Store.DueOutboxRows(t.Context(), region.EU, []int64{0, 1, 2, 3}, time.Time{}, servicetest.Noon)
	require.NoError(t, err)
	for _, rows := range lanes {
		for _, row := range rows {
			due++
			require.Equal(t, communities.TopicMembership, row.Topic, "nothing else is announced")
		}
	}
	require.Equal(t, 2, due, "the mirrors of bob and cleo")

	require.Equal(t, Progress{File: "file", Line: rows, Present: rows}, w.mustImport(t, text))
	w.requireCounts(t, 3, 2, 2)
	w.options.Region = region.SG // the default of lines without a region
	require.Equal(t, rows, w.mustImport(t, text).Present)
}

// TestImportedFields checks the columns of the rows of objects with all of their fields, and of some without.
func TestImportedFields(t *testing.T) {
	w := newWorld(t)
	text, err := os.ReadFile("testdata/fields.jsonl")
	require.NoError(t, err)
	w.mustImport(t, string(text))
	const times = `, created_at::DATE, updated_at::DATE`
	for _, c := range []struct{ from, columns, want string }{
		{
			`users WHERE public_id = 'ada'`, `display_name, description, avatar_custom_url, metadata` + times,
			`["Ada","d","https://a.example",{"a":1},"2020-01-01","2020-02-01"]`,
		},
		{
			`users WHERE public_id = 'bob'`, `display_name, description, avatar_custom_url, metadata` + times,
			`["bob","","",{},"2026-11-20","2026-11-20"]`,
		},
		{
			`communities`, `creator_public_id, display_name, description, is_public, only_admin_can_post, post_approval, tags, metadata` + times,
			`["ada","C","d",false,true,true,["t"],{"a":1},"2020-01-01","2020-02-01"]`,
		},
		{
			`posts WHERE id = '02d2a0f08b0d4a3c6e7f2001'`,
			`author_public_id, target_type, target_id, target_public_id, feed_type, data_type, data, tags, hashtags, metadata, edited_at::DATE` +
				times,
			`["bob","community","` + climbing + `","` + climbing + `","published","acme.card",{"a":1},["t"],["h"],{"a":1},` +
				`"2020-02-01","2020-01-01","2020-02-01"]`,
		},
		{
			`posts WHERE id = '02d2a0f08b0d4a3c6e7f2001'`,
			`annotations->'links'->0->>'url', jsonb_array_length(mentionees), mentionees->0->>'type', mentionees->0->'userIds', mentionees->0->'userPublicIds',
				mentionees->0->'userInternalIds'->>0 = (SELECT id FROM users WHERE public_id = 'ada')`,
			`["https://a.example",1,"user",["ada"],["ada"],true]`,
		},
		{
			`posts WHERE id = '01d2a0f08b0d4a3c6e7f2002'`,
			`author_public_id, target_type, target_public_id, target_id = author_id, data_type, data, mentionees` + times,
			`["bob","user","bob",true,"text",{"text":"a"},[],"2020-01-01","2020-01-01"]`,
		},
		{
			`channels WHERE type = 'community'`,
			`public_id, creator_public_id, display_name, is_public, notification_mode, auto_delete_enabled, auto_delete_flags, tags, metadata,
				created_at::DATE`,
			`["talk","ada","Talk",true,"silent",true,7,["t"],{"a":1},"2020-01-01"]`,
		},
		{
			`channels WHERE type = 'conversation'`,
			`public_id = id, creator_public_id, display_name, is_distinct, is_public, tags, metadata, created_at::DATE`,
			`[true,"ada","Us",true,false,["t"],{"a":1},"2020-01-01"]`,
		},
		{
			`messages WHERE id LIKE '%3001'`,
			`channel_public_id, creator_public_id, data_type, data, tags, metadata, mentions, parent_id, created_at::DATE`,
			`["talk","bob","custom",{"a":1},["t"],{"a":1},[],"","2020-01-02"]`,
		},
		{
			`messages WHERE id LIKE '%3002'`,
			`channel_public_id, creator_public_id, data_type, data, tags, metadata, right(parent_id, 4), created_at::DATE`,
			`["talk","ada","text",{"text":"a"},[],{},"3001","2020-01-02"]`,
		},
		{
			`messages JOIN channels ON channels.id = channel_id JOIN users ON users.id = messages.creator_id WHERE messages.id LIKE '%3001'`,
			`channels.public_id, users.public_id, feed_id = channel_id, channel_type`, `["talk","bob",true,"community"]`,
		},
	} {
		require.JSONEq(t, c.want, w.Text(t, `SELECT json_build_array(`+c.columns+`)::TEXT FROM `+c.from), c.from)
	}
}

// TestImportContinues interrupts an import before each of its transactions, and repeats it until it is complete.
func TestImportContinues(t *testing.T) {
	w := newWorld(t)
	text := readExample(t)
	for n := int64(1); ; n++ {
		w.FailAt(n)
		_, err := w.importText(t.Context(), text, 1)
		w.FailAt(-1)
		if err == nil {
			break
		}
		var bad *LineError
		require.NotErrorAs(t, err, &bad)
		require.Less(t, n, int64(50))
	}
	w.requireCounts(t, 3, 2, 2)
	require.Zero(t, w.mustImport(t, text).Imported)
}

// TestImportIsCancelled cancels an import after its first batch, and continues it after the last line that is done.
func TestImportIsCancelled(t *testing.T) {
	w := newWorld(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	w.options.Progress = func(Progress) { cancel() }
	text := userLines(2*maxBatchRows + 1)
	at, err := w.importText(ctx, text, 1)
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, Progress{File: "file", Line: maxBatchRows, Imported: maxBatchRows}, at)
	w.options.Progress = nil
	at, err = w.importText(t.Context(), text, at.Line+1)
	require.NoError(t, err)
	require.Equal(t, Progress{File: "file", Line: 2*maxBatchRows + 1, Imported: maxBatchRows + 1}, at)
	require.Equal(t, int64(2*maxBatchRows+1), w.mustImport(t, text).Present)
}

// TestImportStops checks that the first line which cannot be imported ends the import, after all lines before it are written.
func TestImportStops(t *testing.T) {
	for name, c := range map[string]struct{ line, reason string }{
		"not a row": {`{"type":"user"}`, "userId: must not be empty"},
		"no user": {
			`{"type":"post","id":"5cd6b3a48b0d4a3c6e7f2009","userId":"dora","data":{"data":{"text":"a"}}}`,
			`userId: there is no user "dora": import it first`,
		},
		"no wall": {
			`{"type":"post","id":"5cd6b3a48b0d4a3c6e7f2009","userId":"ada","data":{"targetId":"dora","data":{"text":"a"}}}`,
			`data.targetId: there is no user "dora": import it first`,
		},
		"no community": {
			`{"type":"member","userId":"ada","data":{"communityId":"5cd6b3a48b0d4a3c6e7f2009"}}`,
			`data.communityId: there is no community "5cd6b3a48b0d4a3c6e7f2009": import it first`,
		},
		"no target": {`{"type":"post","id":"5cd6b3a48b0d4a3c6e7f2009","userId":"ada","data":{"targetType":"community","targetId":"` + unknown +
			`","data":{"text":"a"}}}`, `data.targetId: there is no community "` + unknown + `": import it first`},
		"no creator": {
			`{"type":"community","id":"5cd6b3a48b0d4a3c6e7f2009","userId":"dora","data":{"displayName":"a"}}`,
			`userId: there is no user "dora": import it first`,
		},
		"no channel": {
			`{"type":"message","id":"5cd6b3a48b0d4a3c6e7f2009","userId":"ada","data":{"channelId":"a","data":{"text":"a"}}}`,
			"data: there is no such channel or conversation: import it first",
		},
		"no author": {
			`{"type":"message","id":"5cd6b3a48b0d4a3c6e7f2009","userId":"dora","data":{"channelId":"a","data":{"text":"a"}}}`,
			`userId: there is no user "dora": import it first`,
		},
		"no partner": {
			`{"type":"conversation","userId":"ada","data":{"userIds":["dora"]}}`,
			`data.userIds: there is no user "dora": import it first`,
		},
		"no member": {`{"type":"channelMember","userId":"dora","data":{"channelId":"a"}}`, `userId: there is no user "dora": import it first`},
		"other home": {
			`{"type":"post","id":"01d6b3a48b0d4a3c6e7f2009","userId":"ada","data":{"data":{"text":"a"}}}`,
			"id: begins with the digits of the region us, but the object belongs to eu",
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			text := `{"type":"user","userId":"ada"}` + "\n" + c.line + "\n" + `{"type":"user","userId":"eve"}` + "\n"
			at, err := w.importText(t.Context(), text, 1)
			require.EqualError(t, err, "file:2: "+c.reason)
			require.Equal(t, Progress{File: "file", Line: 1, Imported: 1}, at)

			var rejected []string
			w.options.Reject = func(reason *LineError, line []byte) error {
				require.Equal(t, c.reason, reason.Reason)
				rejected = append(rejected, string(line))
				return nil
			}
			require.Equal(t, Progress{File: "file", Line: 3, Imported: 1, Present: 1, Rejected: 1}, w.mustImport(t, text))
			require.Equal(t, []string{c.line}, rejected)
			w.options.Reject = func(*LineError, []byte) error { return errFull }
			_, err = w.importText(t.Context(), text, 1)
			require.ErrorIs(t, err, errFull)
		})
	}
}

// unknown is the id of no community.
const unknown = "5cffffffffffffffffffffff"

var errFull = errors.New("the disk is full")

// TestLineLength imports a line of the maximum length and refuses a longer one.
func TestLineLength(t *testing.T) {
	w := newWorld(t)
	line := `{"type":"user","userId":"ada"}`
	longest := line + strings.Repeat(" ", maxLine-len(line)-1) + "\n"
	require.Equal(t, int64(1), w.mustImport(t, longest).Imported)
	at, err := w.importText(t.Context(), "\n \n"+line+strings.Repeat(" ", maxLine-len(line)+1)+"\n", 1)
	require.EqualError(t, err, fmt.Sprintf("file:3: the line is too long: it must have at most %d bytes", maxLine))
	require.Zero(t, at.Imported)
	w.options.Reject = func(*LineError, []byte) error { return nil }
	at = w.mustImport(t, line+strings.Repeat(" ", 3*maxLine)+"\n"+`{"type":"user","userId":"eve"}`)
	require.Equal(t, Progress{File: "file", Line: 2, Imported: 1, Rejected: 1}, at)
}

// TestRepeatedLines checks that an object that occurs twice in a batch is written once.
func TestRepeatedLines(t *testing.T) {
	w := newWorld(t)
	text := strings.ReplaceAll(readExample(t), "\n", "\n\n")
	var doubled strings.Builder
	for line := range strings.Lines(text) {
		doubled.WriteString(line + line)
	}
	at := w.mustImport(t, doubled.String())
	require.Equal(t, at.Imported, at.Present)
	w.requireCounts(t, 3, 2, 2)
	banned := fmt.Sprintf(`{"type":"member","userId":"dora","data":{"communityId":%q,"role":"banned"}}`, climbingInFile)
	require.Equal(t, int64(2), w.mustImport(t, `{"type":"user","userId":"dora"}`+"\n"+banned).Imported)
	w.requireCounts(t, 3, 2, 2)
}

// TestMessages checks that messages keep their order, and that imported messages are not unread.
func TestMessages(t *testing.T) {
	w := newWorld(t)
	w.mustImport(t, readExample(t))
	const line = `{"type":"message","id":"5cf236008b0d4a3c6e7f%s","userId":"cleo","createdAt":"2019-06-0%sZ","data":{"channelId":"summit plans","data":{"text":"a"}%s}}`
	at := w.mustImport(t, fmt.Sprintf(line, "4001", "1T08:24:56", "")+"\n"+
		fmt.Sprintf(line, "4002", "1T08:24:56", `,"parentId":"5cf236008b0d4a3c6e7f4001"`))
	require.Equal(t, int64(2), at.Imported)
	for wrong, reason := range map[string]string{
		fmt.Sprintf(line, "4003", "1T08:24:55",
			""): "createdAt: must not be before the channel and its last message, 2019-06-01T08:24:56Z: sort messages by time",
		fmt.Sprintf(line, "4003", "2T08:24:55",
			`,"parentId":"5cf236008b0d4a3c6e7f4002"`): `data.parentId: the parent "5cf236008b0d4a3c6e7f4002" must be a message of the channel that is not a reply: import it first`,
		fmt.Sprintf(line, "4003", "2T08:24:55",
			`,"parentId":"5cf38f808b0d4a3c6e7f3003"`): `data.parentId: the parent "5cf38f808b0d4a3c6e7f3003" must be a message of the channel that is not a reply: import it first`,
		fmt.Sprintf(line, "4003", "2T08:24:55",
			`,"parentId":"5cf38f808b0d4a3c6e7f4009"`): `data.parentId: the parent "5cf38f808b0d4a3c6e7f4009" must be a message of the channel that is not a reply: import it first`,
	} {
		_, err := w.importText(t.Context(), wrong, 1)
		require.EqualError(t, err, "file:1: "+reason)
	}
	id := w.Deps.Directory.ChannelID("summit plans")
	counts := core.Counts{}
	var feed *messaging.MessageFeed
	var members []messaging.ChannelUser
	var before []int64
	reads := w.Store.NewReadBatch()
	reads.CountsOf([]string{id}, counts)
	reads.MessageFeed(id, &feed)
	reads.ChannelUsersAfter(id, "", 10, &members)
	require.NoError(t, reads.Run(t.Context()))
	require.Equal(t, int64(4), feed.LastSegment)
	require.Equal(t, int64(len(members)), counts.Of(id, core.CountMembers))
	require.Len(t, members, 2)
	reads = w.Store.NewReadBatch()
	reads.SegmentsBefore(id, []time.Time{members[0].JoinedAt}, &before)
	require.NoError(t, reads.Run(t.Context()))
	require.Equal(t, []int64{4}, before, "users have read what was written before they joined")
	_, err := w.importText(t.Context(), fmt.Sprintf(line, "4003", "3T08:24:56", "")+"\n"+fmt.Sprintf(line, "4004", "3T08:24:55", ""), 1)
	require.EqualError(t, err,
		"file:2: createdAt: must not be before the channel and its last message, 2019-06-03T08:24:56Z: sort messages by time")
}

// TestChannelMembers imports members of each role into a channel. A line that repeats a membership changes nothing.
func TestChannelMembers(t *testing.T) {
	w := newWorld(t)
	w.mustImport(t, readExample(t))
	roles := map[string]string{"dora": "banned", "eve": "moderator", "fay": "member", "gil": ""}
	var text strings.Builder
	for user, role := range roles {
		fmt.Fprintf(&text, `{"type":"user","userId":%q}`+"\n", user)
		fmt.Fprintf(&text, `{"type":"channelMember","userId":%q,"data":{"channelId":"summit plans","role":%q}}`+"\n", user, role)
	}
	require.Equal(t, int64(8), w.mustImport(t, text.String()).Imported)
	require.Equal(t, int64(1), w.mustImport(t, `{"type":"channelMember","userId":"dora","data":{"channelId":"summit plans"}}`).Present)
	users, err := New(w.options).findUsers(t.Context(), []string{"dora", "eve", "fay", "gil"})
	require.NoError(t, err)
	id := w.Deps.Directory.ChannelID("summit plans")
	counts := core.Counts{}
	var rows []messaging.ChannelUser
	reads := w.Store.NewReadBatch()
	reads.CountsOf([]string{id}, counts)
	reads.ChannelUsers(id, []string{users["dora"].ID, users["eve"].ID, users["fay"].ID, users["gil"].ID}, &rows)
	require.NoError(t, reads.Run(t.Context()))
	require.Len(t, rows, len(roles))
	for _, row := range rows {
		role := roles[row.UserPublicID]
		want := [3]bool{role == "banned", role != "banned", role == "moderator"}
		require.Equal(t, want, [3]bool{row.IsBanned(), row.IsMember(), row.IsModerator()}, row.UserPublicID)
	}
	require.Equal(t, int64(2+3), counts.Of(id, core.CountMembers), "those of the example, and those who are not banned")
}

// TestDeletedReferences refuses lines that refer to users, communities and messages which were deleted, and imports others.
func TestDeletedReferences(t *testing.T) {
	w := newWorld(t)
	w.mustImport(t, readExample(t))
	const post = `{"type":"post","id":"5cf236008b0d4a3c6e7f4009","userId":%q,"data":{"targetType":%q,"targetId":%q,"data":{"text":"a"}}}`
	const message = `{"type":"message","id":"5cf236008b0d4a3c6e7f%s","userId":"cleo","createdAt":"2019-06-01T08:24:56Z","data":{"channelId":%q,"data":{"text":"a"}%s}}`
	const other = `{"type":"channel","userId":"ada","createdAt":"2019-05-01T00:00:00Z","data":{"channelId":"other"}}`
	w.mustImport(t, fmt.Sprintf(message, "4001", "summit plans", "")+"\n"+other)
	const reply = `,"parentId":"5cf236008b0d4a3c6e7f4001"`
	refused := func(line, reason string) {
		t.Helper()
		_, err := w.importText(t.Context(), line, 1)
		require.EqualError(t, err, "file:1: "+reason)
	}
	const noParent = `data.parentId: the parent "5cf236008b0d4a3c6e7f4001" must be a message of the channel that is not a reply: import it first`
	refused(fmt.Sprintf(message, "4002", "other", reply), noParent)
	w.Exec(t, `UPDATE messages SET deleted_at = now() WHERE id LIKE '%4001'`)
	refused(fmt.Sprintf(message, "4002", "summit plans", reply), noParent)
	w.Exec(t, `UPDATE communities SET deleted_at = now()`)
	refused(fmt.Sprintf(post, "ada", "community", climbingInFile),
		`data.targetId: there is no community "`+climbingInFile+`": import it first`)
	w.Exec(t, `UPDATE users SET deleted_at = now() WHERE public_id = 'bob'`)
	refused(fmt.Sprintf(post, "bob", "user", "ada"), `userId: there is no user "bob": import it first`)
	refused(fmt.Sprintf(post, "ada", "user", "bob"), `data.targetId: there is no user "bob": import it first`)
	refused(`{"type":"conversation","userId":"ada","data":{"userIds":["bob"]}}`, `data.userIds: there is no user "bob": import it first`)
	require.Equal(t, int64(1), w.mustImport(t, fmt.Sprintf(post, "ada", "user", "ada")).Imported)
	w.Exec(t, `UPDATE users SET deleted_at = now()`)
	var kept []string
	for line := range strings.Lines(readExample(t)) {
		if !strings.Contains(line, `"type": "member"`) && !strings.Contains(line, `"type": "channelMember"`) {
			kept = append(kept, line)
		}
	}
	require.Equal(t, int64(len(kept)), w.mustImport(t, strings.Join(kept, "")).Present, "rows that exist are kept, except memberships")
}

// TestReadFails checks that an error of the file is not one of a line, so that the import may be continued.
func TestReadFails(t *testing.T) {
	w := newWorld(t)
	at, err := New(w.options).Import(t.Context(), "file", io.MultiReader(strings.NewReader(userLines(3)), iotest.ErrReader(errFull)), 1)
	require.EqualError(t, err, "read file: the disk is full")
	var bad *LineError
	require.NotErrorAs(t, err, &bad)
	require.Equal(t, Progress{File: "file"}, at, "the batch was not written")
}

// TestChannelIsDeleted deletes a channel after the import has read it: neither members nor messages are added.
func TestChannelIsDeleted(t *testing.T) {
	for kind, line := range map[string]string{
		"member":  `{"type":"channelMember","userId":"dora","data":{"channelId":"summit plans"}}`,
		"message": `{"type":"message","id":"5cf236008b0d4a3c6e7f4001","userId":"cleo","createdAt":"2019-06-01T08:24:56Z","data":{"channelId":"summit plans","data":{"text":"a"}}}`,
	} {
		t.Run(kind, func(t *testing.T) {
			w := newWorld(t)
			w.mustImport(t, readExample(t)+`{"type":"user","userId":"dora"}`+"\n")
			rows := func() string {
				return w.Text(t, `SELECT (SELECT count(*) FROM channel_users) || ' ' || (SELECT count(*) FROM messages)`)
			}
			before := rows()
			w.Before("channels.guardLive", func() { w.Exec(t, `UPDATE channels SET deleted_at = now()`) })
			_, err := w.importText(t.Context(), line, 1)
			require.ErrorIs(t, err, fail.NotFound())
			require.False(t, w.Pending())
			require.Equal(t, before, rows())
		})
	}
}

// TestDeletedChannel imports a member and a message of a channel that was deleted before: each line is refused.
func TestDeletedChannel(t *testing.T) {
	for kind, line := range map[string]string{
		"member":  `{"type":"channelMember","userId":"ada","data":{"channelId":"plans"}}`,
		"message": `{"type":"message","id":"5cf236008b0d4a3c6e7f4001","userId":"ada","data":{"channelId":"plans","data":{"text":"a"}}}`,
	} {
		t.Run(kind, func(t *testing.T) {
			w := newWorld(t)
			w.mustImport(t, `{"type":"user","userId":"ada"}`+"\n"+
				`{"type":"channel","userId":"ada","data":{"channelId":"plans","displayName":"Plans"}}`+"\n")
			w.Exec(t, `UPDATE channels SET deleted_at = now()`)
			_, err := w.importText(t.Context(), line, 1)
			require.EqualError(t, err, "file:1: data: there is no such channel or conversation: import it first")
		})
	}
}

// TestChannelIsFull imports the last member that a channel takes, and refuses one more.
func TestChannelIsFull(t *testing.T) {
	full := &row{channel: &messaging.Channel{Type: messaging.ChannelCommunity}}
	require.Equal(t, int64(1), full.takeRoom(1))
	require.NoError(t, full.err)
	require.Zero(t, full.takeRoom(0))
	require.EqualError(t, full.err, "data.channelId: the channel must have at most 10000 members")
}
