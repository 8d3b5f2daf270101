package conformance

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/plaza-social/plaza/platform/region"
)

func markerRows() []row {
	feeds := func(*testing.T, *fixture) object { return object{"messageFeedIds": []string{unknownID}} }
	channels := func(*testing.T, *fixture) object { return object{"channelIds": []string{unknownID}} }
	feed := func(more object) func(*testing.T, *fixture) object {
		return func(*testing.T, *fixture) object { return with(object{"messageFeedId": unknownID}, more) }
	}
	message := func(_ *testing.T, g *fixture) object {
		return object{
			"messageFeedId": region.NewID(region.EU), "segment": 1, "entityId": "e", "messageId": "m",
			"userIds": []string{g.author.UserID},
		}
	}
	pushed := func(t *testing.T, g *fixture) object {
		t.Helper()
		m := message(t, g)
		g.principals[adminToken].Do(t, http.MethodPut, fmt.Sprint("/api/v1/markers/message-feeds/", m["messageFeedId"], "/segments/1"), m).OK(t)
		return object{"messageFeedId": m["messageFeedId"]}
	}
	own := codesFor(400400, 400400, 400400, 400400, 400300) // no principal belongs to a feed
	return []row{
		{procedure: "MarkerService/GetUserMarker", request: noFields, want: usersOnly},
		{procedure: "MarkerService/SyncMarkers", request: noFields, want: usersOnly},
		{procedure: "MarkerService/ListChannelMarkers", request: channels, want: usersOnly},
		{procedure: "MarkerService/ReadChannel", request: func(*testing.T, *fixture) object { return object{"channelId": unknownID} }, want: own},
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
