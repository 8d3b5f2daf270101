package conformance

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
)

func chatEndings() []ending {
	return []ending{
		{name: "mute of a channel", of: []string{"channels.muted_until", "mutePeriod"}, begin: channelMuteEnding},
		{name: "mute of a user", of: []string{"channel_users.muted_until", "mutePeriod"}, begin: userMuteEnding},
		{name: "reading a subchannel", of: []string{"user_feed_markers.reading_until"}, begin: readingEnding},
		{name: "presence", of: []string{"presences.until"}, begin: presenceEnding},
	}
}

func channelMuteEnding(t *testing.T, w *timeline) moment {
	t.Helper()
	boss, member := w.user(t), w.user(t)
	chat := newChat(t, boss, member)
	boss.Do(t, http.MethodPut, "/api/v2/channel/"+chat.id+"/mute", object{"mutePeriod": time.Hour.Milliseconds()}).OK(t)
	return moment{
		at: timeAt(t, getChannel(t, member, chat.id), "muteTimeout"),
		before: func(t *testing.T) {
			t.Helper()
			require.Equal(t, true, getChannel(t, member, chat.id)["isMuted"])
			requireFailure(t, failure{status: http.StatusForbidden, code: 400303}, chat.sendMessage(t, member, "psst"))
		},
		after: func(t *testing.T) {
			t.Helper()
			require.Equal(t, false, getChannel(t, member, chat.id)["isMuted"])
			chat.newMessage(t, member, "hello")
		},
	}
}

func userMuteEnding(t *testing.T, w *timeline) moment {
	t.Helper()
	boss, member := w.user(t), w.user(t)
	chat := newChat(t, boss, member)
	muted := listing{by: boss, path: channelUsersPath(chat.id), list: "channelUsers", id: "userId"}.with("memberships[]", "muted")
	boss.Do(t, http.MethodPut, "/api/v2/channel/"+chat.id+"/users/mute",
		with(named(member), object{"mutePeriod": time.Hour.Milliseconds()})).OK(t)
	return moment{
		at: timeAt(t, channelUser(t, member, chat.id), "muteTimeout"),
		before: func(t *testing.T) {
			t.Helper()
			require.Equal(t, true, channelUser(t, member, chat.id)["isMuted"])
			muted.requireOrder(t, []string{member.UserID})
			requireFailure(t, failure{status: http.StatusForbidden, code: 400302}, chat.sendMessage(t, member, "psst"))
		},
		after: func(t *testing.T) {
			t.Helper()
			require.Equal(t, false, channelUser(t, member, chat.id)["isMuted"])
			muted.requireOrder(t, []string{})
			chat.newMessage(t, member, "hello")
		},
	}
}

// readingEnding has a user read a subchannel for a minute, in which messages are read as they come.
func readingEnding(t *testing.T, w *timeline) moment {
	t.Helper()
	boss, member := w.user(t), w.user(t)
	chat := newChat(t, boss, member)
	chat.newMessage(t, boss, "1")
	chat.mark(t, member, 1)
	began := w.clock.Stop()
	member.Do(t, http.MethodPost, feedsPath+"/"+chat.id+"/start-reading", nil).OK(t)
	return moment{
		at: began.Add(time.Minute),
		before: func(t *testing.T) {
			t.Helper()
			chat.newMessage(t, boss, "2")
			require.Equal(t, feedMark{Read: 2, Delivered: 2}, chat.mark(t, member, 2))
		},
		after: func(t *testing.T) {
			t.Helper()
			chat.newMessage(t, boss, "3")
			require.Equal(t, feedMark{Read: 2, Delivered: 2, Unread: 1}, chat.mark(t, member, 3))
		},
	}
}

// presenceEnding has a user be online and watch a room, for one and a half intervals of a minute after the heartbeat.
func presenceEnding(t *testing.T, w *timeline) moment {
	t.Helper()
	user, host := w.user(t), w.user(t)
	room := text(newRoom(t, host), "roomId")
	began := w.clock.Stop()
	require.Equal(t, http.StatusAccepted, user.Do(t, http.MethodPost, presencePath+"/heartbeat", nil).Status)
	watch(t, user, room)
	present := func(t *testing.T) []string {
		t.Helper()
		online := host.Do(t, http.MethodGet, presencePath+"/users/list?userIds[]="+user.UserID, nil).OK(t).Strings(t, "presences", "userId")
		return append(online, host.Do(t, http.MethodGet, presencePath+"/rooms/"+room+"/users", nil).OK(t).Strings(t, "viewers", "userId")...)
	}
	require.Eventually(t, func() bool { return len(present(t)) == 2 }, apptest.Patience, tick)
	return moment{
		at:     began.Add(90 * time.Second),
		before: func(t *testing.T) { t.Helper(); require.Equal(t, []string{user.UserID, user.UserID}, present(t)) },
		after:  func(t *testing.T) { t.Helper(); require.Empty(t, present(t)) },
	}
}

// workEndings are the ends of what servers remember of requests.
func workEndings() []ending {
	return []ending{
		{
			name: "wait for a scheduled post", of: []string{"scheduled_posts.scheduled_at", "scheduled_posts.due_at", "scheduledAt"},
			begin: scheduleEnding,
		},
		{name: "answer of a repeated request", of: []string{"idempotency_keys.expires_at", "idempotency_marks.expires_at"}, begin: answerEnding},
		{name: "attempt of a repeated request", of: []string{"idempotency_keys.locked_until"}, begin: attemptEnding},
	}
}

// scheduleEnding schedules two posts, of which the second is due a millisecond after the first one.
func scheduleEnding(t *testing.T, w *timeline) moment {
	t.Helper()
	author := w.user(t)
	community := newCommunity(t, author)
	at := w.clock.Now().UTC().Add(time.Hour).Truncate(time.Millisecond)
	for _, at := range []time.Time{at, at.Add(time.Millisecond)} {
		nextMillisecond()
		newScheduled(t, author, scheduling(w.format(at), community, "later"))
	}
	var posts []string
	list := author.Do(t, http.MethodGet, schedulePath+"?sortBy=firstCreated", nil).OK(t)
	for _, id := range []string{"data.0", "data.1"} {
		posts = append(posts, "/api/v3/posts/"+list.String(t, id+".postData.postId"))
	}
	status := func(t *testing.T, path string) int {
		t.Helper()
		return author.Do(t, http.MethodGet, path, nil).Status
	}
	return moment{
		at:     at,
		before: func(t *testing.T) { t.Helper(); require.Equal(t, http.StatusNotFound, status(t, posts[0])) },
		after: func(t *testing.T) {
			t.Helper()
			require.Eventually(t, func() bool { return status(t, posts[0]) == http.StatusOK }, apptest.Patience, tick)
			require.Equal(t, http.StatusNotFound, status(t, posts[1]))
			w.clock.StopAt(at.Add(time.Millisecond))
			require.Eventually(t, func() bool { return status(t, posts[1]) == http.StatusOK }, apptest.Patience, tick)
		},
	}
}

// answerEnding repeats a request a day after it.
func answerEnding(t *testing.T, w *timeline) moment {
	t.Helper()
	c := w.user(t)
	began := w.clock.Stop()
	create := func(t *testing.T) *apptest.Response {
		t.Helper()
		return c.With("Idempotency-Key", "key").Do(t, http.MethodPost, postsPath, textPost("a")).OK(t)
	}
	create(t)
	return moment{
		at: began.Add(24 * time.Hour),
		before: func(t *testing.T) {
			t.Helper()
			require.Equal(t, "true", create(t).Header.Get("Idempotency-Replayed"))
			require.Equal(t, 1, postsOf(t, c))
		},
		after: func(t *testing.T) {
			t.Helper()
			require.Empty(t, create(t).Header.Get("Idempotency-Replayed"))
			require.Equal(t, 2, postsOf(t, c))
		},
	}
}

// attemptEnding repeats a request while an attempt holds its key whose server has stopped before it changed anything.
func attemptEnding(t *testing.T, w *timeline) moment {
	t.Helper()
	c := w.user(t)
	create := func(t *testing.T) *apptest.Response {
		t.Helper()
		return c.With("Idempotency-Key", "key").Do(t, http.MethodPost, postsPath, textPost("a"))
	}
	create(t).OK(t)
	at := w.clock.Stop().Add(time.Minute)
	execute(t, w.n, `UPDATE idempotency_keys SET answer = NULL, locked_until = $1`, at)
	execute(t, w.n, `DELETE FROM idempotency_marks`)
	return moment{
		at: at,
		before: func(t *testing.T) {
			t.Helper()
			requireFailure(t, failure{status: http.StatusConflict, code: 400900}, create(t))
		},
		after: func(t *testing.T) { t.Helper(); create(t).OK(t) },
	}
}
