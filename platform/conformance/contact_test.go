package conformance

import (
	"bytes"
	"net/http"
	"net/url"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/people"
)

// blockedBy adds blocks of users by a number of others, whose ids precede those of all users of tests.
func blockedBy(t *testing.T, n *apptest.Network, others int, users ...*apptest.Client) {
	t.Helper()
	conn := connectTo(t, n)
	for _, u := range users {
		_, err := conn.Exec(t.Context(), `INSERT INTO blocked_by (home, blocked_id, blocker_id, status, version, changed_at)
			SELECT home, id, lpad(n::text, 24, '0'), 'blocked', 1, now() FROM users, generate_series(1, $2::bigint) AS n WHERE id = $1`,
			u.InternalID, others)
		require.NoError(t, err)
	}
}

// TestBlocksEndContact has two users of different regions, one of whom blocks the other, try to reach each other in
// every way, also if more users block both than a request reads.
func TestBlocksEndContact(t *testing.T) {
	t.Parallel()
	for _, others := range []int{0, people.MaxHidden + 1} {
		t.Run(strconv.Itoa(others), func(t *testing.T) {
			t.Parallel()
			testBlocksEndContact(t, others)
		})
	}
}

func testBlocksEndContact(t *testing.T, others int) {
	t.Helper()
	anna, ben, boss := newUser(t, region.EU, "anna"), newUser(t, region.US, "ben"), newUser(t, region.SG, "boss")
	blockedBy(t, apptest.Shared(t), others, anna, ben)
	users := object{"userIds": []string{anna.UserID, ben.UserID}}
	club := newCommunity(t, boss, users)
	conversation := anna.Do(t, http.MethodPost, "/api/v3/channels/conversation", object{"userIds": []string{ben.UserID}}).OK(t).String(t,
		"channels.0.channelId")
	chat := newChat(t, boss, anna, ben)
	anna.Do(t, http.MethodPost, "/api/v4/me/user-blocks/"+ben.UserID, nil).OK(t)
	refused := failure{status: 403, code: 400300, message: "One of the two users blocks the other"}
	for name, pair := range map[string][2]*apptest.Client{"the blocker": {anna, ben}, "the blocked user": {ben, anna}} {
		by, other := pair[0], pair[1]
		t.Run(name, func(t *testing.T) {
			mine := newCommunity(t, by)
			channel := newChannel(t, by)
			post := newPost(t, other, club)
			commented := newPost(t, boss, club)
			comment := newComment(t, other, commented)
			message := chat.newMessage(t, other, "hello")
			promote(t, boss, club, other) // only moderators add stories to a community
			story, bossStory := newStory(t, other, club), newStory(t, boss, club)
			boss.Do(t, http.MethodDelete, membersPath(club)+"/roles", object{"role": "community-moderator", "userIds": []string{other.UserID}}).OK(t)
			storyComment := newStoryComment(t, other, bossStory)
			onStory := object{"referenceType": "story", "data": object{"text": "x"}}
			named := object{"userIds": []string{other.UserID}}
			reply := object{"referenceType": "post", "data": object{"text": "x"}}
			like := object{"reactionName": "like"}
			requireAttempts(t, []attempt{
				{"a channel with", by, http.MethodPost, channelsPath, with(object{"displayName": "c"}, named), notFound},
				{"add to a channel", by, http.MethodPost, "/api/v3/channels/" + channel + "/users", named, notFound},
				{"a community with", by, http.MethodPost, communitiesPath, with(object{"displayName": "c"}, named), notFound},
				{"add to a community", by, http.MethodPost, membersPath(mine), named, notFound},
				{
					"invite", by, http.MethodPost, "/api/v1/invitations",
					with(object{"type": "communityMemberInvite", "targetType": "community", "targetId": mine}, named), notFound,
				},
				{
					"a room with", by, http.MethodPost, roomsPath,
					object{"title": "r", "type": "coHosts", "participants": []string{other.UserID}},
					notFound,
				},
				{"comment", by, http.MethodPost, commentsPath, with(reply, object{"referenceId": post}), refused},
				{"reply", by, http.MethodPost, commentsPath, with(reply, object{"referenceId": newPost(t, boss, club)}), failure{}},
				{"reply to a comment", by, http.MethodPost, commentsPath, with(reply, object{"referenceId": commented, "parentId": comment}), refused},
				{"comment on a story", by, http.MethodPost, commentsPath, with(onStory, object{"referenceId": story}), refused},
				{
					"reply to a comment on a story", by, http.MethodPost, commentsPath,
					with(onStory, object{"referenceId": bossStory, "parentId": storyComment}), refused,
				},
				{"comment on the story of another user", by, http.MethodPost, commentsPath, with(onStory, object{"referenceId": bossStory}), failure{}},
				{
					"react to a story", by, http.MethodPost, "/api/v2/reactions", with(like, object{"referenceId": story, "referenceType": "story"}),
					refused,
				},
				{
					"react to a comment on a story", by, http.MethodPost, "/api/v2/reactions",
					with(like, object{"referenceId": storyComment, "referenceType": "comment"}), refused,
				},
				{
					"react to a post", by, http.MethodPost, "/api/v2/reactions", with(like, object{"referenceId": post, "referenceType": "post"}),
					refused,
				},
				{
					"react to a comment", by, http.MethodPost, "/api/v2/reactions",
					with(like, object{"referenceId": comment, "referenceType": "comment"}), refused,
				},
				{
					"react to a message", by, http.MethodPost, "/api/v2/reactions",
					with(like, object{"referenceId": message, "referenceType": "message"}), refused,
				},
				{
					"answer a message", by, http.MethodPost, messagesPath,
					object{"messageFeedId": chat.id, "parentId": message, "data": object{"text": "x"}},
					refused,
				},
				{
					"write in the conversation", by, http.MethodPost, messagesPath,
					object{"messageFeedId": conversation, "data": object{"text": "x"}},
					refused,
				},
				{"follow", by, http.MethodPost, "/api/v4/me/following/" + other.UserID, nil, forbidden},
				{"comment by the moderator", boss, http.MethodPost, commentsPath, with(reply, object{"referenceId": post}), failure{}},
			})
			mention := object{"mentionees": []object{{"type": "user", "userIds": []string{other.UserID, boss.UserID}}}}
			r := by.Do(t, http.MethodPost, "/api/v4/posts",
				with(object{"targetType": "community", "targetId": club, "data": object{"text": "x"}}, mention)).OK(t)
			require.Equal(t, []any{boss.UserID}, r.Get(t, "posts.0.mentionees.0.userIds"))
			r = by.Do(t, http.MethodPost, commentsPath, with(onStory, mention, object{"referenceId": bossStory})).OK(t)
			require.Equal(t, []any{boss.UserID}, r.Get(t, "comments.0.mentionees.0.userIds"))
			told := object{"mentionedUsers": []object{{"type": "user", "userIds": []string{other.UserID, boss.UserID}}}}
			r = by.Do(t, http.MethodPost, messagesPath, with(told, object{"messageFeedId": chat.id, "data": object{"text": "x"}})).OK(t)
			require.Equal(t, []any{boss.UserID}, r.Get(t, "messages.0.mentionedUsers.0.userPublicIds"))
		})
	}
	profile := "/api/v3/users/" + anna.UserID
	requireFailure(t, notFound, ben.Do(t, http.MethodGet, profile, nil))
	require.NotContains(t, ben.Do(t, http.MethodGet, "/api/v3/users?options[limit]=100&keyword="+url.QueryEscape(anna.UserID),
		nil).OK(t).Strings(t, "users", "userId"), anna.UserID)
	anna.Do(t, http.MethodGet, "/api/v3/users/"+ben.UserID, nil).OK(t)
	admin(t).Do(t, http.MethodGet, profile, nil).OK(t)
	anna.Do(t, http.MethodDelete, "/api/v4/me/user-blocks/"+ben.UserID, nil).OK(t)
	ben.Do(t, http.MethodGet, profile, nil).OK(t)
}

// TestBlocksHideContent lists what two users of different regions write before and after one of them blocks the other,
// also if more users block both than a request reads.
func TestBlocksHideContent(t *testing.T) {
	t.Parallel()
	for _, others := range []int{0, people.MaxHidden + 1} {
		t.Run(strconv.Itoa(others), func(t *testing.T) {
			t.Parallel()
			testBlocksHideContent(t, others)
		})
	}
}

func testBlocksHideContent(t *testing.T, others int) {
	t.Helper()
	anna, ben, boss := newUser(t, region.EU, "anna"), newUser(t, region.US, "ben"), newUser(t, region.SG, "boss")
	blockedBy(t, apptest.Shared(t), others, anna, ben)
	club, word := newCommunity(t, boss, object{"userIds": []string{anna.UserID, ben.UserID}}), newWord(t)
	room := text(newRoom(t, boss), "roomId")
	newPost(t, boss, club, object{"dataType": "room", "data": object{"roomId": room}})
	write := func(by *apptest.Client) map[string]string {
		post := newPost(t, by, club, textOf(word, word))
		community := newCommunity(t, by, object{"displayName": word, "userIds": []string{boss.UserID}})
		require.Equal(t, http.StatusAccepted, by.Do(t, http.MethodPost, presencePath+"/heartbeat", nil).Status)
		watch(t, by, room)
		return map[string]string{
			"/api/v1/me/following-feeds":                      post,
			"/api/v5/me/global-feeds":                         post,
			searchPath + "?query=" + word:                     post,
			searchPath + "?hashtags=" + word:                  post,
			rankPostsPath + "?query=" + word:                  post,
			rankCommunitiesPath + "?query=" + word:            community,
			presencePath + "/users/list?userIds=" + by.UserID: by.UserID,
			presencePath + "/network/users":                   by.UserID,
			presencePath + "/rooms/" + room + "/users":        by.UserID,
		}
	}
	written := map[*apptest.Client]map[string]string{anna: write(ben), ben: write(anna)}
	shows := func(reader *apptest.Client, path, id string) bool {
		return bytes.Contains(reader.Do(t, http.MethodGet, path, nil).OK(t).Body, []byte(id))
	}
	for reader, lists := range written {
		for path, id := range lists {
			require.Eventually(t, func() bool { return shows(reader, path, id) }, apptest.Patience, 50*time.Millisecond, path)
		}
	}
	block(t, anna, ben)
	for reader, lists := range written {
		for path, id := range lists {
			require.Eventually(t, func() bool { return !shows(reader, path, id) }, apptest.Patience, 50*time.Millisecond, path)
			require.True(t, shows(boss, path, id), path)
		}
	}
}
