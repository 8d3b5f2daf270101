package conformance

import (
	"slices"
)

// blockRule says who loses what a row shows by a block.
type blockRule int

const (
	// inPlace hides the wall of the blocker, with what others wrote there, from the blocked user. In shared places both go on.
	inPlace blockRule = iota
	// forBoth hides each of the two users, and the walls of both, from the other one.
	forBoth
	// profile hides the blocker from the blocked user.
	profile
)

// loses reports whether a reader loses a mark by a block. byBlocker says that the mark is the blocker's.
func (r blockRule) loses(mark string, byBlocker bool) bool {
	switch r {
	case forBoth:
		return true
	case profile:
		return byBlocker
	}
	return byBlocker && onWall[mark]
}

// blockRow is a call of a read operation that shows what there is of a user.
type blockRow struct {
	procedure string
	rule      blockRule
	shows     []string
	request   func(w *blockWorld, s side) object
}

// asking builds the same request for both users.
func asking(body object) func(*blockWorld, side) object {
	return func(*blockWorld, side) object { return body }
}

// ofUser builds a request that names the user.
func ofUser(field string, more ...object) func(*blockWorld, side) object {
	return func(_ *blockWorld, s side) object { return with(object{field: s.id()}, more...) }
}

// ofMark builds a request that names what there is of the user.
func ofMark(field, mark string, more ...object) func(*blockWorld, side) object {
	return func(_ *blockWorld, s side) object { return with(object{field: s.marks[mark]}, more...) }
}

// ofMarks builds a request that names several.
func ofMarks(field string, marks ...string) func(*blockWorld, side) object {
	return func(_ *blockWorld, s side) object {
		var ids []string
		for _, mark := range marks {
			ids = append(ids, s.marks[mark])
		}
		return object{field: ids}
	}
}

// blockRows are the rows of all operations that show what users made.
func blockRows() []blockRow {
	return slices.Concat(blockFeedRows(), blockContentRows(), blockLiveRows(), blockPeopleRows(), blockChatRows())
}

func blockFeedRows() []blockRow {
	posts, walls := []string{clubPost, wallPost, guestPost}, []string{wallPost, guestPost}
	hundred := object{"options": object{"limit": 100}}
	word := func(w *blockWorld, _ side) object { return object{"query": w.word} }
	inClub := func(field string) func(*blockWorld, side) object {
		return func(w *blockWorld, _ side) object { return with(object{field: w.club}, hundred) }
	}
	return []blockRow{
		{"FeedService/ListFollowingFeed", forBoth, posts, asking(object{"limit": 100})},
		{"FeedService/ListGlobalFeed", forBoth, posts, asking(hundred)},
		{"FeedService/ListRankedGlobalFeed", forBoth, posts, asking(hundred)},
		{"FeedService/ListUserFeed", inPlace, walls, ofUser("userId")},
		{"FeedService/ListPostsOfUser", inPlace, walls, ofUser("userId")},
		{"FeedService/CountUserFeed", inPlace, []string{anyAnswer}, ofUser("userId")},
		{"FeedService/ListCommunityFeed", inPlace, []string{clubPost}, inClub("communityId")},
		{"PostService/ListPosts", inPlace, walls, ofUser("targetId", object{"targetType": "user"})},
		{"PostService/ListPosts", inPlace, []string{clubPost}, inClub("targetId")},
		{"SearchService/SearchPosts", forBoth, posts, word},
		{"SearchService/SearchPosts", forBoth, posts, func(w *blockWorld, _ side) object { return object{"hashtags": []string{w.word}} }},
		{"SearchService/RankPosts", forBoth, posts, word},
		{"SearchService/RankCommunities", forBoth, []string{ownCommunity}, word},
	}
}

func blockContentRows() []blockRow {
	targets := func(w *blockWorld, s side) object {
		return object{"targets": object{"targetId": []string{s.id(), w.club}, "targetType": []string{"user", "community"}}}
	}
	onWallOf := object{"targetType": "user"}
	inClub := func(w *blockWorld, _ side) object { return object{"targetType": "community", "targetId": w.club} }
	onTopic := func(w *blockWorld, _ side) object { return object{"referenceType": "post", "referenceId": w.topic} }
	onWallPost := ofMark("referenceId", wallPost, object{"referenceType": "post"})
	return []blockRow{
		{"PostService/GetPost", inPlace, []string{wallPost}, ofMark("postId", wallPost)},
		{"PostService/GetPost", inPlace, []string{guestPost}, ofMark("postId", guestPost)},
		{"PostService/GetPost", inPlace, []string{clubPost}, ofMark("postId", clubPost)},
		{"PostService/BatchGetPosts", inPlace, []string{wallPost, guestPost, clubPost}, ofMarks("postIds", wallPost, guestPost, clubPost)},
		{"PostService/IsPostFlaggedByMe", inPlace, []string{anyAnswer}, ofMark("postId", guestPost)},
		{"CommentService/GetComment", inPlace, []string{clubComment}, ofMark("commentId", clubComment)},
		{"CommentService/GetComment", inPlace, []string{wallComment}, ofMark("commentId", wallComment)},
		{"CommentService/BatchGetComments", inPlace, []string{clubComment, wallComment}, ofMarks("commentIds", clubComment, wallComment)},
		{"CommentService/ListComments", inPlace, []string{clubComment}, onTopic},
		{"CommentService/ListComments", inPlace, []string{wallComment}, onWallPost},
		{"CommentService/IsCommentFlaggedByMe", inPlace, []string{anyAnswer}, ofMark("commentId", wallComment)},
		{"ReactionService/ListReactions", inPlace, []string{userMark}, onTopic},
		{"ReactionService/ListReactions", inPlace, []string{anyAnswer}, onWallPost},
		{"ReactionService/ListWrappedReactions", inPlace, []string{userMark}, onTopic},
		{"ReactionService/ListWrappedReactions", inPlace, []string{anyAnswer}, onWallPost},
		{"StoryService/GetStory", inPlace, []string{clubStory}, ofMark("storyId", clubStory)},
		{"StoryService/GetStory", inPlace, []string{wallStory}, ofMark("storyId", wallStory)},
		{"StoryService/ListStories", inPlace, []string{clubStory}, inClub},
		{"StoryService/ListStories", inPlace, []string{wallStory}, ofUser("targetId", onWallOf)},
		{"StoryService/ListStoriesByTargets", inPlace, []string{clubStory, wallStory}, targets},
		{"StoryService/CountStories", inPlace, []string{anyAnswer}, ofUser("targetId", onWallOf)},
		{"StoryService/ListMyStoryTargets", forBoth, []string{userMark}, asking(object{"seenState": "all"})},
		{"EventService/GetEvent", inPlace, []string{wallMeeting}, ofMark("eventId", wallMeeting)},
		{"EventService/ListEvents", inPlace, []string{wallMeeting}, ofUser("originId", object{"originType": "user"})},
		{"EventService/ListEvents", inPlace, []string{wallMeeting}, asking(object{})},
		{"EventService/ListEventRsvps", inPlace, []string{anyAnswer}, ofMark("eventId", wallMeeting)},
		{"EventService/ListEventRsvps", inPlace, []string{userMark}, func(w *blockWorld, _ side) object { return object{"eventId": w.meeting} }},
		{"PollService/ListPollVoters", inPlace, []string{userMark}, func(w *blockWorld, _ side) object {
			return object{"pollId": w.poll, "answerId": w.pollAnswer}
		}},
	}
}

func blockLiveRows() []blockRow {
	inRoom := func(w *blockWorld, _ side) object { return object{"roomId": w.room} }
	return []blockRow{
		{"RoomService/GetRoom", inPlace, []string{clubRoom}, ofMark("roomId", clubRoom)},
		{"RoomService/GetRoom", inPlace, []string{wallRoom}, ofMark("roomId", wallRoom)},
		{"RoomService/GetRoomRecordings", inPlace, []string{anyAnswer}, ofMark("roomId", wallRoom)},
		{"RoomService/ListRooms", inPlace, []string{clubRoom, wallRoom}, asking(object{})},
		{"PresenceService/ListRoomViewers", inPlace, []string{anyAnswer}, ofMark("roomId", wallRoom)},
		{"PresenceService/CountRoomViewers", inPlace, []string{anyAnswer}, ofMark("roomId", wallRoom)},
		{"PresenceService/ListRoomViewers", forBoth, []string{userMark}, inRoom},
		{"VideoStreamingService/GetVideoStreaming", inPlace, []string{clubStream}, ofMark("streamId", clubStream)},
		{"VideoStreamingService/GetVideoStreaming", inPlace, []string{wallStream}, ofMark("streamId", wallStream)},
		{"VideoStreamingService/ListVideoStreamings", inPlace, []string{clubStream, wallStream}, asking(object{})},
	}
}

func blockPeopleRows() []blockRow {
	byThird := func(w *blockWorld, _ side) object { return object{"userId": w.third.UserID} }
	ids := func(_ *blockWorld, s side) object { return object{"userIds": []string{s.id()}} }
	return []blockRow{
		{"UserService/GetUser", profile, []string{userMark}, ofUser("userId")},
		{"UserService/BatchGetUsers", profile, []string{userMark}, ids},
		{"UserService/ListUsers", profile, []string{userMark}, ofUser("keyword")},
		{"PresenceService/BatchGetPresences", forBoth, []string{userMark}, ids},
		{"PresenceService/ListPresences", forBoth, []string{userMark}, asking(object{})},
		{"FollowService/ListMyFollowers", forBoth, []string{userMark}, asking(object{})}, // a block ends both follows
		{"FollowService/ListMyFollowing", forBoth, []string{userMark}, asking(object{})},
		{"FollowService/ListFollowers", inPlace, []string{userMark}, byThird},
		{"FollowService/ListFollowing", inPlace, []string{userMark}, byThird},
		{"MemberService/ListMembers", inPlace, []string{userMark}, func(w *blockWorld, _ side) object { return object{"communityId": w.club} }},
		{"CommunityService/GetCommunity", inPlace, []string{ownCommunity}, ofMark("communityId", ownCommunity)},
		{"CommunityService/BatchGetCommunities", inPlace, []string{ownCommunity}, ofMarks("communityIds", ownCommunity)},
		{
			"CommunityService/ListCommunities", inPlace,
			[]string{ownCommunity},
			func(w *blockWorld, _ side) object { return object{"keyword": w.word} },
		},
	}
}

func blockChatRows() []blockRow {
	inChannel := func(w *blockWorld, _ side) object { return object{"channelId": w.chat.id} }
	ofMessage := func(w *blockWorld, _ side) object { return object{"messageId": w.message} }
	return []blockRow{
		{"ChannelUserService/ListChannelUsers", inPlace, []string{userMark}, inChannel},
		{"MessageService/GetMessage", inPlace, []string{chatMessage}, ofMark("messageId", chatMessage)},
		{"MessageService/BatchGetMessages", inPlace, []string{chatMessage}, ofMarks("messageIds", chatMessage)},
		{
			"MessageService/ListMessages", inPlace,
			[]string{chatMessage},
			func(w *blockWorld, _ side) object { return object{"messageFeedId": w.chat.id} },
		},
		{"MessageService/ListChannelMessages", inPlace, []string{chatMessage}, inChannel},
		{"MarkerService/ListReadUsers", inPlace, []string{userMark}, ofMessage},
	}
}
