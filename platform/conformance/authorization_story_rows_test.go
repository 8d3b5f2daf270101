package conformance

import (
	"testing"
	"time"
)

func storyRows() []row {
	body := func(_ *testing.T, g *fixture) object { return textStory(g.open) }
	made := func(private bool, more ...object) func(*testing.T, *fixture) object {
		return func(t *testing.T, g *fixture) object {
			t.Helper()
			id := newStory(t, g.boss, map[bool]string{false: g.open, true: g.private}[private])
			return with(object{"storyId": id}, more...)
		}
	}
	ofModerator := func(more ...object) func(*testing.T, *fixture) object {
		return func(t *testing.T, g *fixture) object {
			t.Helper()
			return with(object{"storyId": newStory(t, g.principals[moderator], g.open)}, more...)
		}
	}
	target := func(private bool, more ...object) func(*testing.T, *fixture) object {
		return func(_ *testing.T, g *fixture) object {
			id := map[bool]string{false: g.open, true: g.private}[private]
			return with(object{"targetType": "community", "targetId": id}, more...)
		}
	}
	targets := func(_ *testing.T, g *fixture) object {
		return object{"targets": object{"targetId": []string{g.open}, "targetType": []string{"community"}}}
	}
	viewers := func(t *testing.T, g *fixture) object {
		t.Helper()
		return object{"referenceType": "stories", "referenceId": newStory(t, g.boss, g.open)}
	}
	views := func(t *testing.T, g *fixture) object {
		t.Helper()
		return object{"activities": []object{activity("story", newStory(t, g.boss, g.open), time.Now())}}
	}
	commentOn := func(t *testing.T, g *fixture) object {
		t.Helper()
		return object{"referenceType": "story", "referenceId": newStory(t, g.boss, g.open), "data": object{"text": "x"}}
	}
	neverFlagged := codesFor(400300, 400300, 400300, 400300, 400300)
	return []row{
		{procedure: "StoryService/CreateStory", request: body, want: codesFor(400301, 400300, 0, 400304, 400300)},
		{procedure: "StoryService/GetStory", request: made(false), want: everyone},
		{procedure: "StoryService/GetStory", name: "private", request: made(true), want: communityReaders},
		{procedure: "StoryService/ListStories", request: target(false), want: everyone},
		{procedure: "StoryService/ListStories", name: "private", request: target(true), want: communityReaders},
		{procedure: "StoryService/ListStories", name: "ended", request: target(false, object{"isExpired": true}), want: adminsOnly},
		{procedure: "StoryService/ListStoriesByTargets", request: targets, want: everyone},
		{procedure: "StoryService/GetStoryTargets", request: targets, want: everyone},
		{procedure: "StoryService/CountStories", request: target(false), want: everyone},
		{procedure: "StoryService/CountStories", name: "private", request: target(true), want: communityReaders},
		{procedure: "StoryService/ListMyStoryTargets", request: noFields, want: usersOnly},
		{procedure: "StoryService/DeleteStory", request: ofModerator(), want: moderators},
		{procedure: "StoryService/DeleteStory", name: "permanently", request: ofModerator(object{"permanent": true}), want: moderators},
		{procedure: "StoryService/FlagStory", request: made(false), want: notBanned},
		{procedure: "StoryService/UnflagStory", request: made(false), want: neverFlagged},
		{procedure: "StoryService/ClearStoryFlags", request: made(false), want: moderators},
		{procedure: "AnalyticsService/ReportActivities", request: views, want: usersOnly},
		{procedure: "AnalyticsService/ListViewers", request: viewers, want: moderators},
		{procedure: "CommentService/CreateComment", name: "story", request: commentOn, want: notBanned},
	}
}
