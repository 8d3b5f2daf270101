package conformance

import (
	"fmt"
	"net/http"
	"testing"
)

func pinRows() []row {
	inCommunity := func(t *testing.T, g *fixture) object {
		t.Helper()
		id := g.community(t) // a new community, because the number of pins is limited
		return object{"communityId": id, "placement": "default", "postId": g.post(t, id)}
	}
	pinned := func(t *testing.T, g *fixture) object {
		t.Helper()
		pin := inCommunity(t, g)
		path := fmt.Sprint("/api/v1/pinned-posts/communities/", pin["communityId"], "/default/", pin["postId"])
		g.boss.Do(t, http.MethodPost, path, nil).OK(t)
		return pin
	}
	global := func(t *testing.T, g *fixture) object {
		t.Helper()
		id := g.post(t, g.open)
		g.principals[adminToken].Do(t, http.MethodDelete, "/api/v1/pinned-posts/global", nil).OK(t)
		g.principals[adminToken].Do(t, http.MethodPost, "/api/v1/pinned-posts/global/"+id, nil).OK(t)
		return object{"postId": id}
	}
	placement := func(_ *testing.T, g *fixture) object { return object{"communityId": g.open, "placement": "default"} }
	return []row{
		{procedure: "PinService/UnpinAllGlobalPosts", request: noFields, want: adminsOnly},
		{procedure: "PinService/PinGlobalPost", request: aPost("postId", false), want: adminsOnly},
		{procedure: "PinService/UnpinGlobalPost", request: global, want: adminsOnly},
		{procedure: "PinService/UnpinCommunityPost", request: pinned, want: moderators},
		{procedure: "PinService/ListGlobalPins", request: noFields, want: everyone},
		{procedure: "PinService/PinCommunityPost", request: inCommunity, want: moderators},
		{procedure: "PinService/ListCommunityPins", request: placement, want: everyone},
		{procedure: "PinService/ListCommunityPins", name: "private", request: aCommunity("communityId", true), want: communityReaders},
		{procedure: "PinService/UnpinAllCommunityPosts", request: placement, want: moderators},
	}
}
