package conformance

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

// TestBlocksEndContact has two users of different regions, one of whom blocks the other, try to reach each other in
// every way.
func TestBlocksEndContact(t *testing.T) {
	t.Parallel()
	anna, ben, boss := newUser(t, region.EU, "anna"), newUser(t, region.US, "ben"), newUser(t, region.SG, "boss")
	users := object{"userIds": []string{anna.UserID, ben.UserID}}
	club := newCommunity(t, boss, users)
	conversation := anna.Do(t, http.MethodPost, "/api/v3/channels/conversation", object{"userIds": []string{ben.UserID}}).OK(t).String(t, "channels.0.channelId")
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
				{"invite", by, http.MethodPost, "/api/v1/invitations", with(object{"type": "communityMemberInvite", "targetType": "community", "targetId": mine}, named), notFound},
				{"a room with", by, http.MethodPost, roomsPath, object{"title": "r", "type": "coHosts", "participants": []string{other.UserID}}, notFound},
				{"comment", by, http.MethodPost, commentsPath, with(reply, object{"referenceId": post}), refused},
				{"reply", by, http.MethodPost, commentsPath, with(reply, object{"referenceId": newPost(t, boss, club)}), failure{}},
				{"reply to a comment", by, http.MethodPost, commentsPath, with(reply, object{"referenceId": commented, "parentId": comment}), refused},
				{"comment on a story", by, http.MethodPost, commentsPath, with(onStory, object{"referenceId": story}), refused},
				{"reply to a comment on a story", by, http.MethodPost, commentsPath, with(onStory, object{"referenceId": bossStory, "parentId": storyComment}), refused},
				{"comment on the story of another user", by, http.MethodPost, commentsPath, with(onStory, object{"referenceId": bossStory}), failure{}},
				{"react to a story", by, http.MethodPost, "/api/v2/reactions", with(like, object{"referenceId": story, "referenceType": "story"}), refused},
				{"react to a comment on a story", by, http.MethodPost, "/api/v2/reactions", with(like, object{"referenceId": storyComment, "referenceType": "comment"}), refused},
				{"react to a post", by, http.MethodPost, "/api/v2/reactions", with(like, object{"referenceId": post, "referenceType": "post"}), refused},
				{"react to a comment", by, http.MethodPost, "/api/v2/reactions", with(like, object{"referenceId": comment, "referenceType": "comment"}), refused},
				{"react to a message", by, http.MethodPost, "/api/v2/reactions", with(like, object{"referenceId": message, "referenceType": "message"}), refused},
				{"answer a message", by, http.MethodPost, messagesPath, object{"messageFeedId": chat.id, "parentId": message, "data": object{"text": "x"}}, refused},
				{"write in the conversation", by, http.MethodPost, messagesPath, object{"messageFeedId": conversation, "data": object{"text": "x"}}, refused},
				{"follow", by, http.MethodPost, "/api/v4/me/following/" + other.UserID, nil, forbidden},
				{"comment by the moderator", boss, http.MethodPost, commentsPath, with(reply, object{"referenceId": post}), failure{}},
			})
			mention := object{"mentionees": []object{{"type": "user", "userIds": []string{other.UserID, boss.UserID}}}}
			r := by.Do(t, http.MethodPost, "/api/v4/posts", with(object{"targetType": "community", "targetId": club, "data": object{"text": "x"}}, mention)).OK(t)
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
	require.Empty(t, ben.Do(t, http.MethodGet, "/api/v3/users?keyword="+url.QueryEscape(anna.UserID), nil).OK(t).Strings(t, "users", "userId"))
	anna.Do(t, http.MethodGet, "/api/v3/users/"+ben.UserID, nil).OK(t)
	admin(t).Do(t, http.MethodGet, profile, nil).OK(t)
	anna.Do(t, http.MethodDelete, "/api/v4/me/user-blocks/"+ben.UserID, nil).OK(t)
	ben.Do(t, http.MethodGet, profile, nil).OK(t)
}
