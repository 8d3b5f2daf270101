package conformance

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/region"
)

func followRows() []row {
	author := func(_ *testing.T, g *grounds) object { return object{"userId": g.author.UserID} }
	missing := users(400400, 400400, 400400, 400400, 400300)
	return []row{
		{procedure: "FollowService/FollowUser", request: somebody("userId"), want: usersOnly},
		{procedure: "FollowService/UnfollowUser", request: somebody("userId"), want: missing},
		{procedure: "FollowService/AcceptFollower", request: somebody("userId"), want: missing},
		{procedure: "FollowService/RemoveFollower", request: somebody("userId"), want: missing},
		{procedure: "FollowService/ListMyFollowers", request: nothing, want: usersOnly},
		{procedure: "FollowService/ListMyFollowing", request: nothing, want: usersOnly},
		{procedure: "FollowService/ListFollowers", request: author, want: everybody},
		{procedure: "FollowService/ListFollowing", request: author, want: everybody},
		{procedure: "FollowService/GetMyFollowInfo", request: nothing, want: usersOnly},
		{procedure: "FollowService/GetFollowInfo", request: author, want: everybody},
		{procedure: "FollowService/ListBlockedUsers", request: nothing, want: usersOnly},
		{procedure: "FollowService/BlockUser", request: somebody("userId"), want: usersOnly},
		{procedure: "FollowService/UnblockUser", request: somebody("userId"), want: missing},
	}
}

func pinRows() []row {
	inCommunity := func(t *testing.T, g *grounds) object {
		t.Helper()
		id := g.community(t) // a place of its own: as many can be pinned in one as the placement takes
		return object{"communityId": id, "placement": "default", "postId": g.post(t, id)}
	}
	pinned := func(t *testing.T, g *grounds) object {
		t.Helper()
		pin := inCommunity(t, g)
		path := fmt.Sprint("/api/v1/pinned-posts/communities/", pin["communityId"], "/default/", pin["postId"])
		g.boss.Do(t, http.MethodPost, path, nil).OK(t)
		return pin
	}
	global := func(t *testing.T, g *grounds) object {
		t.Helper()
		id := g.post(t, g.open)
		g.walkers[adminToken].Do(t, http.MethodDelete, "/api/v1/pinned-posts/global", nil).OK(t)
		g.walkers[adminToken].Do(t, http.MethodPost, "/api/v1/pinned-posts/global/"+id, nil).OK(t)
		return object{"postId": id}
	}
	placement := func(_ *testing.T, g *grounds) object { return object{"communityId": g.open, "placement": "default"} }
	return []row{
		{procedure: "PinService/UnpinAllGlobalPosts", request: nothing, want: adminsOnly},
		{procedure: "PinService/PinGlobalPost", request: aPost("postId", false), want: adminsOnly},
		{procedure: "PinService/UnpinGlobalPost", request: global, want: adminsOnly},
		{procedure: "PinService/UnpinCommunityPost", request: pinned, want: moderators},
		{procedure: "PinService/ListGlobalPins", request: nothing, want: everybody},
		{procedure: "PinService/PinCommunityPost", request: inCommunity, want: moderators},
		{procedure: "PinService/ListCommunityPins", request: placement, want: everybody},
		{procedure: "PinService/ListCommunityPins", name: "private", request: in("communityId", true), want: readable},
		{procedure: "PinService/UnpinAllCommunityPosts", request: placement, want: moderators},
	}
}

func moreFeedRows() []row {
	return []row{
		{procedure: "FeedService/ListFollowingFeed", request: nothing, want: usersOnly},
		{procedure: "FeedService/ListGlobalFeed", request: nothing, want: usersOnly},
		{procedure: "FeedService/ListRankedGlobalFeed", request: nothing, want: usersOnly},
		{procedure: "NetworkSettingService/GetSocialSettings", request: nothing, want: everybody},
		{procedure: "NetworkSettingService/UpdateSocialSettings", request: nothing, want: adminsOnly},
	}
}

func scheduleRows() []row {
	data := func(g *grounds) object {
		return object{
			"scheduledAt": time.Now().Add(time.Hour).UTC().Format(time.RFC3339),
			"postData":    object{"targetType": "community", "targetId": g.open, "data": object{"text": "x"}},
		}
	}
	create := func(_ *testing.T, g *grounds) object { return data(g) }
	made := func(more func(g *grounds) object) func(*testing.T, *grounds) object {
		return func(t *testing.T, g *grounds) object {
			t.Helper()
			r := g.author.Do(t, http.MethodPost, "/api/v1/posts/schedule", data(g))
			require.Less(t, r.Status, 300, "%s", r.Short())
			return with(object{"id": r.String(t, "data.id")}, more(g))
		}
	}
	ofTheAuthor := users(400400, 400400, 400400, 400400, 0) // others do not hear of it
	return []row{
		{procedure: "ScheduledPostService/SchedulePost", request: create, want: users(400301, 0, 0, 400304, 400300)},
		{procedure: "ScheduledPostService/ListScheduledPosts", request: nothing, want: everybody},
		{procedure: "ScheduledPostService/UpdateScheduledPost", request: made(data), want: ofTheAuthor},
		{procedure: "ScheduledPostService/CancelScheduledPost", request: made(func(*grounds) object { return nil }), want: ofTheAuthor},
	}
}

func pollRows() []row {
	question := object{"question": "which?", "answers": []object{{"dataType": "text", "data": "a"}, {"dataType": "text", "data": "b"}}}
	create := func(*testing.T, *grounds) object { return question }
	made := func(private bool, more func(answer string) object) func(*testing.T, *grounds) object {
		return func(t *testing.T, g *grounds) object {
			t.Helper()
			poll := g.author.Do(t, http.MethodPost, "/api/v3/polls", question).OK(t)
			id := poll.String(t, "polls.0.pollId")
			newPost(t, g.author, map[bool]string{false: g.open, true: g.private}[private],
				object{"dataType": "poll", "data": object{"text": "x", "pollId": id}})
			return with(object{"pollId": id}, more(poll.String(t, "polls.0.answers.0.id")))
		}
	}
	plain := func(string) object { return nil }
	closing := func(string) object { return object{"status": "closed"} }
	vote := func(answer string) object { return object{"answerIds": []string{answer}} }
	voters := func(answer string) object { return object{"answerId": answer} }
	return []row{
		{procedure: "PollService/CreatePoll", request: create, want: usersOnly},
		{procedure: "PollService/GetPoll", request: made(false, plain), want: everybody},
		{procedure: "PollService/GetPoll", name: "private", request: made(true, plain), want: users(400400, 0, 0, 400400, 0)},
		{procedure: "PollService/UpdatePoll", request: made(false, closing), want: adminsOnly},
		{procedure: "PollService/DeletePoll", request: made(false, plain), want: adminsOnly},
		{procedure: "PollService/VotePoll", request: made(false, vote), want: unbanned},
		{procedure: "PollService/ChangePollVote", request: made(false, vote), want: unbanned},
		{procedure: "PollService/ListPollVoters", request: made(false, voters), want: everybody},
	}
}

func markerRows() []row {
	feeds := func(*testing.T, *grounds) object { return object{"messageFeedIds": []string{unknownID}} }
	channels := func(*testing.T, *grounds) object { return object{"channelIds": []string{unknownID}} }
	feed := func(more object) func(*testing.T, *grounds) object {
		return func(*testing.T, *grounds) object { return with(object{"messageFeedId": unknownID}, more) }
	}
	message := func(_ *testing.T, g *grounds) object {
		return object{"messageFeedId": region.NewID(region.EU), "segment": 1, "entityId": "e", "messageId": "m", "userIds": []string{g.author.UserID}}
	}
	pushed := func(t *testing.T, g *grounds) object {
		t.Helper()
		m := message(t, g)
		g.walkers[adminToken].Do(t, http.MethodPut, fmt.Sprint("/api/v1/markers/message-feeds/", m["messageFeedId"], "/segments/1"), m).OK(t)
		return object{"messageFeedId": m["messageFeedId"]}
	}
	own := users(400400, 400400, 400400, 400400, 400300) // nobody here belongs to a feed
	return []row{
		{procedure: "MarkerService/GetUserMarker", request: nothing, want: usersOnly},
		{procedure: "MarkerService/SyncMarkers", request: nothing, want: usersOnly},
		{procedure: "MarkerService/ListChannelMarkers", request: channels, want: usersOnly},
		{procedure: "MarkerService/ReadChannel", request: func(*testing.T, *grounds) object { return object{"channelId": unknownID} }, want: own},
		{procedure: "MarkerService/ListMessageFeedMarkers", request: feeds, want: usersOnly},
		{procedure: "MarkerService/ListUserMessageFeeds", request: channels, want: usersOnly},
		{procedure: "MarkerService/ReadMessageFeed", request: feed(object{"readToSegment": 1}), want: own},
		{procedure: "MarkerService/DeliverMessage", request: feed(object{"messageId": "m"}), want: own},
		{procedure: "MarkerService/ReadingMessageFeeds", request: feeds, want: own},
		{procedure: "MarkerService/StartReading", request: feed(nil), want: own},
		{procedure: "MarkerService/StopReading", request: feed(nil), want: own},
		{procedure: "MarkerService/PushSegment", request: message, want: adminsOnly},
		{procedure: "MarkerService/DeleteMessageFeed", request: pushed, want: adminsOnly},
	}
}

func storyRows() []row {
	body := func(_ *testing.T, g *grounds) object { return textStory(g.open) }
	made := func(private bool, more ...object) func(*testing.T, *grounds) object {
		return func(t *testing.T, g *grounds) object {
			t.Helper()
			id := newStory(t, g.boss, map[bool]string{false: g.open, true: g.private}[private])
			return with(object{"storyId": id}, more...)
		}
	}
	target := func(private bool, more ...object) func(*testing.T, *grounds) object {
		return func(_ *testing.T, g *grounds) object {
			id := map[bool]string{false: g.open, true: g.private}[private]
			return with(object{"targetType": "community", "targetId": id}, more...)
		}
	}
	targets := func(_ *testing.T, g *grounds) object {
		return object{"targets": object{"targetId": []string{g.open}, "targetType": []string{"community"}}}
	}
	viewers := func(t *testing.T, g *grounds) object {
		t.Helper()
		return object{"referenceType": "stories", "referenceId": newStory(t, g.boss, g.open)}
	}
	views := func(t *testing.T, g *grounds) object {
		t.Helper()
		return object{"activities": []object{activity("story", newStory(t, g.boss, g.open), time.Now())}}
	}
	commentOn := func(t *testing.T, g *grounds) object {
		t.Helper()
		return object{"referenceType": "story", "referenceId": newStory(t, g.boss, g.open), "data": object{"text": "x"}}
	}
	neverFlagged := users(400300, 400300, 400300, 400300, 400300)
	return []row{
		{procedure: "StoryService/CreateStory", request: body, want: users(400301, 400300, 0, 400304, 400300)},
		{procedure: "StoryService/GetStory", request: made(false), want: everybody},
		{procedure: "StoryService/GetStory", name: "private", request: made(true), want: readable},
		{procedure: "StoryService/ListStories", request: target(false), want: everybody},
		{procedure: "StoryService/ListStories", name: "private", request: target(true), want: readable},
		{procedure: "StoryService/ListStories", name: "ended", request: target(false, object{"isExpired": true}), want: adminsOnly},
		{procedure: "StoryService/ListStoriesByTargets", request: targets, want: everybody},
		{procedure: "StoryService/GetStoryTargets", request: targets, want: everybody},
		{procedure: "StoryService/CountStories", request: target(false), want: everybody},
		{procedure: "StoryService/CountStories", name: "private", request: target(true), want: readable},
		{procedure: "StoryService/ListMyStoryTargets", request: nothing, want: usersOnly},
		{procedure: "StoryService/DeleteStory", request: made(false), want: moderators},
		{procedure: "StoryService/DeleteStory", name: "permanently", request: made(false, object{"permanent": true}), want: moderators},
		{procedure: "StoryService/FlagStory", request: made(false), want: unbanned},
		{procedure: "StoryService/UnflagStory", request: made(false), want: neverFlagged},
		{procedure: "StoryService/ClearStoryFlags", request: made(false), want: moderators},
		{procedure: "AnalyticsService/ReportActivities", request: views, want: usersOnly},
		{procedure: "AnalyticsService/ListViewers", request: viewers, want: moderators},
		{procedure: "CommentService/CreateComment", name: "story", request: commentOn, want: unbanned},
	}
}
