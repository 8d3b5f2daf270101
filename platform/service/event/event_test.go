package event

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service/internal/servicetest"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/content"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

func planned(start, end time.Duration) content.PlannedEvent {
	return content.PlannedEvent{Type: "virtual", StartTime: servicetest.Noon.Add(start), EndTime: servicetest.Noon.Add(end)}
}

func TestStatus(t *testing.T) {
	t.Parallel()
	cancelled := planned(time.Hour, 2*time.Hour)
	cancelled.CancelledAt = &servicetest.Noon
	for want, events := range map[string][]content.PlannedEvent{
		content.EventScheduled: {planned(time.Microsecond, time.Hour)},
		content.EventLive:      {planned(0, time.Hour), planned(-time.Hour, time.Microsecond)},
		content.EventEnded:     {planned(-time.Hour, 0), planned(-2*time.Hour, -time.Hour)},
		content.EventCancelled: {cancelled},
	} {
		for _, e := range events {
			require.Equal(t, want, e.Status(servicetest.Noon))
			for _, status := range []string{content.EventScheduled, content.EventLive, content.EventEnded, content.EventCancelled} {
				require.Equal(t, status == want, content.EventList{Status: status, Now: servicetest.Noon}.Has(e), "%s in the list of %s", want, status)
			}
		}
	}
}

func TestReschedule(t *testing.T) {
	t.Parallel()
	at := func(d time.Duration) *timestamppb.Timestamp { return timestamppb.New(servicetest.Noon.Add(d)) }
	live, scheduled := planned(-time.Hour, time.Hour), planned(time.Hour, 2*time.Hour)
	for name, test := range map[string]struct {
		event content.PlannedEvent
		req   *plazav1.UpdateEventRequest
		err   error
	}{
		"later":                          {scheduled, &plazav1.UpdateEventRequest{StartTime: at(90 * time.Minute)}, nil},
		"a start after the end":          {scheduled, &plazav1.UpdateEventRequest{StartTime: at(3 * time.Hour)}, errEnd},
		"a start in the past":            {scheduled, &plazav1.UpdateEventRequest{StartTime: at(-time.Minute)}, errStart},
		"the same start of a live event": {live, &plazav1.UpdateEventRequest{StartTime: at(-time.Hour)}, nil},
		"a longer live event":            {live, &plazav1.UpdateEventRequest{EndTime: at(2 * time.Hour)}, nil},
		"a start now":                    {scheduled, &plazav1.UpdateEventRequest{StartTime: at(0)}, errStart},
		"an end at the start":            {scheduled, &plazav1.UpdateEventRequest{EndTime: at(time.Hour)}, errEnd},
		"an end now":                     {live, &plazav1.UpdateEventRequest{EndTime: at(0)}, errEnd},
		"31 days":                        {scheduled, &plazav1.UpdateEventRequest{EndTime: at(time.Hour + 31*24*time.Hour)}, nil},
		"an end in the past":             {live, &plazav1.UpdateEventRequest{EndTime: at(-time.Minute)}, errEnd},
		"longer than 31 days":            {scheduled, &plazav1.UpdateEventRequest{EndTime: at(32 * 24 * time.Hour)}, errEnd},
		"a time that no database can store": {
			scheduled, &plazav1.UpdateEventRequest{EndTime: &timestamppb.Timestamp{Seconds: 1 << 60}},
			errTime,
		},
		"in person without a place":           {scheduled, &plazav1.UpdateEventRequest{Type: new("in_person")}, errLocation},
		"a change of an event that has ended": {planned(-2*time.Hour, -time.Hour), &plazav1.UpdateEventRequest{}, errOver},
		"a title, and nothing about the end":  {live, &plazav1.UpdateEventRequest{Title: new("x")}, nil},
	} {
		_, err := change(test.event, test.req, servicetest.Noon)
		require.Equal(t, test.err, err, name)
	}
}

// TestNewEventTimes covers the times of a new event at their bounds.
func TestNewEventTimes(t *testing.T) {
	t.Parallel()
	at := func(d time.Duration) *timestamppb.Timestamp { return timestamppb.New(servicetest.Noon.Add(d)) }
	for name, test := range map[string]struct {
		start, end *timestamppb.Timestamp
		err        error
	}{
		"a start now":                      {at(0), nil, errStart},
		"a start a millisecond later":      {at(time.Millisecond), nil, nil},
		"an end at the start":              {at(time.Hour), at(time.Hour), errEnd},
		"31 days":                          {at(time.Hour), at(time.Hour + 31*24*time.Hour), nil},
		"longer than 31 days":              {at(time.Hour), at(time.Hour + 31*24*time.Hour + time.Millisecond), errEnd},
		"an end that no database can hold": {at(time.Hour), &timestamppb.Timestamp{Seconds: 1 << 60}, errTime},
	} {
		request := &plazav1.CreateEventRequest{Type: "virtual", StartTime: test.start, EndTime: test.end, Tags: []string{"a", "b", "a"}}
		e, err := rowOf(request, servicetest.Noon)
		require.Equal(t, test.err, err, name)
		require.Equal(t, []string{"a", "b"}, e.Tags, name)
	}
}

// TestDiscussionOf checks that users find the discussion community of an event neither by a list nor by its posts.
func TestDiscussionOf(t *testing.T) {
	t.Parallel()
	c := discussionOf(content.PlannedEvent{DiscussionCommunityID: "d", CreatorID: "u", CreatorPublicID: "ada", CreatedAt: servicetest.Noon})
	require.Equal(t, communities.Community{
		ID: "d", DisplayName: "Event discussion", CreatorID: "u", CreatorPublicID: "ada", JoinApproval: true, StoryComments: true,
		NotificationMode: "default", Type: "event", Metadata: []byte("{}"), CreatedAt: servicetest.Noon, UpdatedAt: servicetest.Noon,
	}, c)
}

// TestCutPage checks that the next page begins after the last event of a page that was filled from several.
func TestCutPage(t *testing.T) {
	t.Parallel()
	q := &query{cursor: page.Cursor{Limit: 2}}
	rows := rowsOf(nil, planned(1, 2), planned(2, 3), planned(3, 4))
	for i := range rows.Events {
		rows.Events[i].ID = region.NewID(region.EU)
	}
	last := rows.Events[1]
	paging := q.cut(&rows, &plazav1.Paging{Next: "of the last page"}, "before")
	require.Len(t, rows.Events, 2)
	require.Equal(t, page.Cursor{Limit: 2, Time: last.StartTime, ID: last.ID}.Token(), paging.GetNext())
	require.Equal(t, "before", paging.GetPrevious())
	require.Equal(t, "rest", q.cut(&rows, &plazav1.Paging{Next: "rest"}, "").GetNext())
}

// TestDiscussionMembership covers who joins and leaves the discussion community by an answer.
func TestDiscussionMembership(t *testing.T) {
	t.Parallel()
	state := func(s string, roles ...string) *communities.Member {
		return &communities.Member{State: s, Roles: roles}
	}
	gone := &communities.Community{ID: "c", DeletedAt: &servicetest.Noon}
	for name, test := range map[string]struct {
		discussion *communities.Community
		member     *communities.Member
		status     string
		want       string // the new state; empty for no change
	}{
		"no discussion":  {nil, nil, content.RsvpGoing, ""},
		"a deleted one":  {gone, nil, content.RsvpGoing, ""},
		"a member stays": {&communities.Community{ID: "c"}, state(communities.StateMember), content.RsvpGoing, ""},
		"a member leaves": {
			&communities.Community{ID: "c"}, state(communities.StateMember), content.RsvpInterested,
			communities.StateLeft,
		},
		"the moderator stays": {
			&communities.Community{ID: "c"}, state(communities.StateMember, "community-moderator"), content.RsvpNotGoing,
			"",
		},
		"a ban stays in force":     {&communities.Community{ID: "c"}, state(communities.StateBanned), content.RsvpGoing, ""},
		"who was never there":      {&communities.Community{ID: "c"}, nil, content.RsvpNotGoing, ""},
		"who left, and stays away": {&communities.Community{ID: "c"}, state(communities.StateLeft), content.RsvpInterested, ""},
	} {
		a := &answer{discussion: test.discussion, member: test.member}
		changes := a.membership(content.EventRsvp{Status: test.status, RespondedAt: servicetest.Noon})
		if test.want == "" {
			require.Empty(t, changes, name)
			continue
		}
		require.Len(t, changes, 1, name)
		require.Equal(t, test.want, changes[0].New.State, name)
	}
}
