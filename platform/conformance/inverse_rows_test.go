package conformance

import (
	"net/http"
	"slices"
	"testing"

	"github.com/plaza-social/plaza/platform/apptest"
)

// inverses returns the operations that can be undone. A new pair adds its row here.
func inverses() []inverse {
	return slices.Concat(flagInverses(), relationInverses(), memberInverses(), channelInverses(), moderationInverses(), contentInverses())
}

// alone is why an operation has no inverse, and what tests it.
type alone struct{ why, tested string }

// withoutInverse are the operations whose names promise an inverse that does not exist, or whose effect no read shows.
var withoutInverse = map[string]alone{
	"CommentService/ClearCommentFlags":     {"flags do not come back", "conformance TestFlag"},
	"MessageService/ClearMessageFlags":     {"flags do not come back", "conformance TestFlagsOfMessages"},
	"PostService/ClearPostFlags":           {"flags do not come back", "conformance TestFlag"},
	"StoryService/ClearStoryFlags":         {"flags do not come back", "conformance TestStoryFlags"},
	"UserService/ClearUserFlags":           {"flags do not come back", "conformance TestUserFlags"},
	"FlagService/AddFlagNote":              {"notes stay", "conformance TestFlagNotes"},
	"FlagService/ResolveFlagItem":          {"only a further flag opens an item again", "conformance TestFlagQueue"},
	"FollowService/RemoveFollower":         {"the follower follows again", "conformance TestPrivateProfiles"},
	"InvitationService/CancelInvitation":   {"a new invitation is another one", "conformance TestInvitationStates"},
	"MarkerService/StartReading":           {"shown by the next message", "conformance TestReadingAFeed"},
	"MarkerService/StopReading":            {"shown by the next message", "conformance TestReadingAFeed"},
	"MessageService/RemoveChannelMessage":  {"a deletion", "conformance TestChannelMessages"},
	"MessageFeedService/RemoveMessageFeed": {"a deletion", "conformance TestSubchannel"},
	"NotificationService/RegisterDevice":   {"shown by the next push", "conformance TestDevicesEnd"},
	"NotificationService/UnregisterDevice": {"shown by the next push", "conformance TestDevicesEnd"},
	"PinService/UnpinAllCommunityPosts":    {"of many pins at once", "conformance TestCommunityPins"},
	"PinService/UnpinAllGlobalPosts":       {"of many pins at once", "conformance TestGlobalPins"},
	"RoomService/StopRoom":                 {"a room ends once", "conformance TestRoom"},
	"RoomService/LeaveRoom":                {"a participant is invited again", "conformance TestRoom"},
	"RoomService/RemoveRoomParticipant":    {"a participant is invited again", "conformance TestRoom"},
	"ExportService/StartExport":            {"an archive expires", "conformance TestUserExport"},
}

// flagInverses flag objects that another user has flagged, whose flag stays.
func flagInverses() []inverse {
	flagging := func(kind, field string, create func(t *testing.T, g *fixture) string) inverse {
		service := kind + "Service/"
		return inverse{do: service + "Flag" + kind, undo: service + "Unflag" + kind, prepare: func(t *testing.T, g *fixture) undoing {
			t.Helper()
			request := object{field: create(t, g)}
			first := g.principals[moderator]
			first.Do(t, http.MethodPost, "/plaza.v1."+service+"Flag"+kind, request).OK(t)
			by := g.principals[member]
			reads := []reading{
				{by, service + "Get" + kind, request},
				{g.boss, service + "Get" + kind, request},
				{first, service + "Get" + kind, request},
			}
			if kind != "Story" {
				reads = append(reads, reading{by, service + "Is" + kind + "FlaggedByMe", request},
					reading{first, service + "Is" + kind + "FlaggedByMe", request})
			}
			return undoing{request: request, by: by, other: g.author, reads: reads}
		}}
	}
	return []inverse{
		flagging("Post", "postId", func(t *testing.T, g *fixture) string { t.Helper(); return g.post(t, g.open) }),
		flagging("Comment", "commentId", func(t *testing.T, g *fixture) string { t.Helper(); return g.comment(t, g.open) }),
		flagging("Message", "messageId", func(t *testing.T, g *fixture) string { t.Helper(); _, id := g.chat(t, true); return id }),
		flagging("Story", "storyId", func(t *testing.T, g *fixture) string { t.Helper(); return newStory(t, g.boss, g.open) }),
		flagging("User", "userId", func(t *testing.T, g *fixture) string { t.Helper(); return g.user(t).UserID }),
	}
}

// relationInverses are what a user does with another one.
func relationInverses() []inverse {
	return []inverse{
		{do: "FollowService/FollowUser", undo: "FollowService/UnfollowUser", prepare: func(t *testing.T, g *fixture) undoing {
			t.Helper()
			followed, by := g.user(t), g.user(t)
			request := object{"userId": followed.UserID}
			g.author.Do(t, http.MethodPost, "/plaza.v1.FollowService/FollowUser", request).OK(t)
			return undoing{request: request, by: by, other: g.boss, reads: []reading{
				{by, "FollowService/GetFollowInfo", request},
				{by, "FollowService/GetMyFollowInfo", object{}},
				{followed, "FollowService/ListMyFollowers", object{}},
				{by, "FollowService/ListMyFollowing", object{}},
			}}
		}},
		{do: "FollowService/BlockUser", undo: "FollowService/UnblockUser", prepare: func(t *testing.T, g *fixture) undoing {
			t.Helper()
			blocked, second, by := g.user(t), g.user(t), g.user(t)
			request := object{"userId": blocked.UserID}
			by.Do(t, http.MethodPost, "/plaza.v1.FollowService/BlockUser", object{"userId": second.UserID}).OK(t)
			post := object{"postId": newWallPost(t, blocked)}
			newComment(t, by, post["postId"].(string))
			return undoing{request: request, by: by, other: blocked, reads: []reading{
				{by, "FollowService/ListBlockedUsers", object{}},
				{by, "FollowService/GetFollowInfo", request},
				{blocked, "FollowService/GetFollowInfo", object{"userId": by.UserID}},
				{by, "PostService/GetPost", post},
			}}
		}},
	}
}

// two returns clients of two new users, and the request that names them.
func (g *fixture) two(t *testing.T, more object) (first, second *apptest.Client, request object) {
	t.Helper()
	first, second = g.user(t), g.user(t)
	return first, second, with(named(first, second), more)
}
