package conformance

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

// preparedRows are successful calls of the operations that the authorization rows call on missing resources: a
// member first creates the resource.
func preparedRows() []row {
	byMember := resultCodes{member: 0}
	other := func(prepare func(t *testing.T, g *fixture, other *apptest.Client)) func(*testing.T, *fixture) object {
		return func(t *testing.T, g *fixture) object {
			t.Helper()
			neighbour := g.n.SignIn(t, g.principals[member].Region, apptest.UserID("neighbour"))
			prepare(t, g, neighbour)
			return object{"userId": neighbour.UserID}
		}
	}
	follows := other(func(t *testing.T, g *fixture, o *apptest.Client) { t.Helper(); follow(t, g.principals[member], o) })
	followed := other(func(t *testing.T, g *fixture, o *apptest.Client) { t.Helper(); follow(t, o, g.principals[member]) })
	blocked := other(func(t *testing.T, g *fixture, o *apptest.Client) { t.Helper(); block(t, g.principals[member], o) })
	asked := other(func(t *testing.T, g *fixture, o *apptest.Client) {
		t.Helper()
		setting := func(private string) {
			g.principals[adminToken].At(o.Region).Do(t, http.MethodPut, socialPath, object{"userPrivacySetting": private}).OK(t)
		}
		setting("private")
		require.Equal(t, "pending", follow(t, o, g.principals[member]))
		setting("public")
	})
	reacted := func(t *testing.T, g *fixture) object {
		t.Helper()
		reaction := object{"referenceType": "post", "referenceId": g.post(t, g.open), "reactionName": "like"}
		g.principals[member].Do(t, http.MethodPost, "/api/v2/reactions", reaction).OK(t)
		return reaction
	}
	asking := func(t *testing.T, g *fixture) object {
		t.Helper()
		id := newCommunity(t, g.boss, object{"requiresJoinApproval": true})
		g.principals[member].Do(t, http.MethodPost, joinPath(id), nil).OK(t)
		return object{"communityId": id}
	}
	invited := func(t *testing.T, g *fixture) object {
		t.Helper()
		return object{"invitationId": newInvitation(t, g.boss, inviteMembers(newCommunity(t, g.boss), g.principals[member]))}
	}
	answered := func(t *testing.T, g *fixture) object {
		t.Helper()
		id := newEvent(t, g.boss, eventIn(g.open))
		rsvp(t, g.principals[member], http.MethodPost, id, "interested").OK(t)
		return object{"eventId": id, "status": "going"}
	}
	mine := func(t *testing.T, g *fixture) object {
		t.Helper()
		return object{"eventId": answered(t, g)["eventId"]}
	}
	return append([]row{
		{procedure: "EventService/UpdateEventRsvp", request: answered, want: byMember},
		{procedure: "EventService/GetMyEventRsvp", request: mine, want: byMember},
		{procedure: "FollowService/UnfollowUser", request: follows, want: byMember},
		{procedure: "FollowService/RemoveFollower", request: followed, want: byMember},
		{procedure: "FollowService/AcceptFollower", request: asked, want: byMember},
		{procedure: "FollowService/UnblockUser", request: blocked, want: byMember},
		{procedure: "ReactionService/RemoveReaction", request: reacted, want: byMember},
		{procedure: "JoinRequestService/CancelJoin", request: asking, want: byMember},
		{procedure: "InvitationService/AcceptInvitation", request: invited, want: byMember},
		{procedure: "InvitationService/RejectInvitation", request: invited, want: byMember},
	}, preparedMarkerRows()...)
}

// preparedMarkerRows are calls about a message feed of the member.
func preparedMarkerRows() []row {
	in := func(fields func(feed, channel string) object) func(*testing.T, *fixture) object {
		return func(t *testing.T, g *fixture) object {
			t.Helper()
			reader := g.principals[member]
			feed, channel := region.NewID(reader.Region), region.NewID(reader.Region)
			g.principals[adminToken].Do(t, http.MethodPut, fmt.Sprint(feedsPath, "/", feed, "/segments/1"), object{
				"entityId": channel, "messageId": "m", "userIds": []string{reader.UserID},
			}).OK(t)
			return fields(feed, channel)
		}
	}
	feed := in(func(feed, _ string) object {
		return object{"messageFeedId": feed, "readToSegment": 1, "messageId": "m"}
	})
	feeds := in(func(feed, _ string) object { return object{"messageFeedIds": []string{feed}} })
	channel := in(func(_, channel string) object { return object{"channelId": channel} })
	byMember := resultCodes{member: 0}
	return []row{
		{procedure: "MarkerService/ReadChannel", request: channel, want: byMember},
		{procedure: "MarkerService/ReadMessageFeed", request: feed, want: byMember},
		{procedure: "MarkerService/DeliverMessage", request: feed, want: byMember},
		{procedure: "MarkerService/ReadingMessageFeeds", request: feeds, want: byMember},
		{procedure: "MarkerService/StartReading", request: feed, want: byMember},
		{procedure: "MarkerService/StopReading", request: feed, want: byMember},
	}
}
