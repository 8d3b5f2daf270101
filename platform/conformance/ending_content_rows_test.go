package conformance

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
)

func contentEndings() []ending {
	return []ending{
		{name: "story", of: []string{"stories.expires_at", "story_targets.last_expires_at"}, begin: storyEnding},
		{name: "poll", of: []string{"polls.closes_at", "closedIn"}, begin: pollEnding},
		{name: "claim of a flagged post", of: []string{"flag_items.claimed_until"}, begin: claimEnding},
	}
}

func storyEnding(t *testing.T, w *timeline) moment {
	t.Helper()
	boss, member := w.user(t), w.user(t)
	community := newCommunity(t, boss, object{"userIds": userIDs(member)})
	story := newStory(t, boss, community)
	path := storiesPath + "/" + story
	targets := func(t *testing.T) []string {
		t.Helper()
		return member.Do(t, http.MethodGet, "/api/v5/me/global-story-targets", nil).OK(t).Strings(t, "storyTargets", "targetPublicId")
	}
	return moment{
		at: timeAt(t, getStory(t, boss, story), "expiresAt"),
		before: func(t *testing.T) {
			t.Helper()
			member.Do(t, http.MethodGet, path, nil).OK(t)
			require.Equal(t, []string{story}, listStories(t, member, community, ""))
			require.Equal(t, []string{community}, targets(t))
			newStoryComment(t, member, story)
		},
		after: func(t *testing.T) {
			t.Helper()
			requireFailure(t, notFound, member.Do(t, http.MethodGet, path, nil))
			require.Empty(t, listStories(t, member, community, ""))
			require.Empty(t, targets(t))
			say := object{"referenceType": "story", "referenceId": story, "data": object{"text": "x"}}
			requireFailure(t, notFound, member.Do(t, http.MethodPost, commentsPath, say))
		},
	}
}

func pollEnding(t *testing.T, w *timeline) moment {
	t.Helper()
	author, early, late := w.user(t), w.user(t), w.user(t)
	body := object{"question": "Which?", "answers": []object{{"data": "this"}, {"data": "that"}}, "closedIn": time.Hour.Milliseconds()}
	poll := author.Do(t, http.MethodPost, pollsPath, body).OK(t)
	id, answers := poll.String(t, "polls.0.pollId"), poll.Strings(t, "polls.0.answers", "id")
	status := func(t *testing.T) string {
		t.Helper()
		return early.Do(t, http.MethodGet, pollsPath+"/"+id, nil).OK(t).String(t, "polls.0.status")
	}
	closed := failure{status: http.StatusBadRequest, code: 400000, message: "The poll is closed"}
	return moment{
		at: parsed(t, poll, "polls.0.closedAt"),
		before: func(t *testing.T) {
			t.Helper()
			require.Equal(t, "open", status(t))
			early.Do(t, http.MethodPost, votesPath(id), answering(answers[0])).OK(t)
		},
		after: func(t *testing.T) {
			t.Helper()
			require.Equal(t, "closed", status(t))
			requireFailure(t, closed, late.Do(t, http.MethodPost, votesPath(id), answering(answers[0])))
			requireFailure(t, closed, early.Do(t, http.MethodPut, votesPath(id), answering(answers[1])))
		},
	}
}

func claimEnding(t *testing.T, w *timeline) moment {
	t.Helper()
	boss, first, second := w.user(t), w.user(t), w.user(t)
	community := newCommunity(t, boss, object{"userIds": userIDs(first, second)})
	promote(t, boss, community, first)
	promote(t, boss, community, second)
	post := newPost(t, boss, community)
	flag(t, first, "posts", post)
	path := flagItemsPath + "/" + post + "/claim"
	return moment{
		at: parsed(t, first.Do(t, http.MethodPost, path, nil), "items.0.claimedUntil"),
		before: func(t *testing.T) {
			t.Helper()
			requireFailure(t, failure{status: http.StatusConflict, code: 400900}, second.Do(t, http.MethodPost, path, nil))
			requireFailure(t, failure{status: http.StatusConflict, code: 400900}, second.Do(t, http.MethodDelete, path, nil))
		},
		after: func(t *testing.T) {
			t.Helper()
			second.Do(t, http.MethodPost, path, nil).OK(t)
			requireItem(t, boss, post, object{"state": "claimed", "claimedBy": second.UserID})
		},
	}
}

func eventEndings() []ending {
	return []ending{
		{name: "wait for an event", of: []string{"planned_events.start_time"}, begin: eventBeginning},
		{name: "event", of: []string{"planned_events.end_time", "endTime"}, begin: eventEnding},
	}
}

// newEvent creates an event of a new community that starts in an hour, and returns the creator and the event.
func (w *timeline) newEvent(t *testing.T) (*apptest.Client, object) {
	t.Helper()
	c := w.user(t)
	times := object{"startTime": w.in(time.Hour), "endTime": w.in(2 * time.Hour)}
	return c, getEvent(t, c, newEvent(t, c, with(eventIn(newCommunity(t, c)), times)))
}

// requireEventStatus checks the status of an event, and that the list of its status has it.
func requireEventStatus(t *testing.T, c *apptest.Client, e object, want string) {
	t.Helper()
	require.Equal(t, want, getEvent(t, c, text(e, "eventId"))["status"])
	query := "?originType=community&originId=" + text(e, "originId") + "&status="
	for _, status := range []string{"scheduled", "live", "ended"} {
		var listed []string
		if status == want {
			listed = []string{text(e, "eventId")}
		}
		require.ElementsMatch(t, listed, c.Do(t, http.MethodGet, eventsPath+query+status, nil).OK(t).Strings(t, "events", "eventId"), status)
	}
}

func eventBeginning(t *testing.T, w *timeline) moment {
	t.Helper()
	c, e := w.newEvent(t)
	return moment{
		at:     timeAt(t, e, "startTime"),
		before: func(t *testing.T) { t.Helper(); requireEventStatus(t, c, e, "scheduled") },
		after:  func(t *testing.T) { t.Helper(); requireEventStatus(t, c, e, "live") },
	}
}

func eventEnding(t *testing.T, w *timeline) moment {
	t.Helper()
	c, e := w.newEvent(t)
	early, late, id := w.user(t), w.user(t), text(e, "eventId")
	join(t, text(e, "originId"), early, late)
	return moment{
		at: timeAt(t, e, "endTime"),
		before: func(t *testing.T) {
			t.Helper()
			requireEventStatus(t, c, e, "live")
			requireRsvp(t, rsvp(t, early, http.MethodPost, id, "going"))
		},
		after: func(t *testing.T) {
			t.Helper()
			requireEventStatus(t, c, e, "ended")
			requireFailure(t, eventRefused, rsvp(t, late, http.MethodPost, id, "going"))
		},
	}
}
