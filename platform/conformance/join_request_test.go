package conformance

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

func joinPath(communityID string) string { return "/api/v4/communities/" + communityID + "/join" }

// newApprovalCommunity returns a community in which a moderator must approve join requests.
func newApprovalCommunity(t *testing.T, boss *apptest.Client, fields ...object) string {
	t.Helper()
	return newCommunity(t, boss, append([]object{{"requiresJoinApproval": true}}, fields...)...)
}

// ask sends a join request and returns it.
func ask(t *testing.T, c *apptest.Client, communityID string) object {
	t.Helper()
	nextMillisecond()
	return requireAggregate(t, c.Do(t, http.MethodPost, joinPath(communityID), nil), "", joinAggregate).one("joinRequests")
}

// myRequest returns the caller's latest join request.
func myRequest(t *testing.T, c *apptest.Client, communityID string) object {
	t.Helper()
	return requireAggregate(t, c.Do(t, http.MethodGet, joinPath(communityID)+"/me", nil), "", joinAggregate).one("joinRequests")
}

func decide(t *testing.T, by *apptest.Client, communityID, verb, userID string) {
	t.Helper()
	r := by.Do(t, http.MethodPost, joinPath(communityID)+"/"+verb, object{"userId": userID}).OK(t)
	require.JSONEq(t, `{"success":true}`, string(r.Body))
}

func TestRequestToJoin(t *testing.T) {
	t.Parallel()
	n := apptest.Shared(t)
	boss := newUser(t, region.EU, "boss")
	id := newApprovalCommunity(t, boss)
	for i, code := range region.All() {
		c := newUser(t, code, "asker")
		r := c.Do(t, http.MethodGet, joinPath(id)+"/me", nil)
		require.Empty(t, requireAggregate(t, r, "", joinAggregate).lists["joinRequests"])
		request := ask(t, c.At(region.All()[(i+1)%3]), id)
		for field, want := range (object{
			"status": "pending", "targetId": id, "targetType": "community", "type": "communityJoinRequest", "userId": c.UserID,
			"requestorId": c.UserID, "requestorPublicId": c.UserID, "requestorInternalId": c.InternalID, "networkId": n.NetworkID,
			"respondedAt": nil, "responderId": "", "joinRequestId": request["_id"],
		}) {
			require.Equal(t, want, request[field], field)
		}
		require.Equal(t, request, myRequest(t, c, id))
		requireFailure(t, exists, c.Do(t, http.MethodPost, joinPath(id), nil))
		require.Equal(t, "none", membership(t, c, id)["communityMembership"])
	}
}

// TestRequestToJoinOpenCommunity requests to join a community without approval: the request is approved immediately.
func TestRequestToJoinOpenCommunity(t *testing.T) {
	t.Parallel()
	boss, c := newUser(t, region.EU, "boss"), newUser(t, region.US, "c")
	id := newCommunity(t, boss)
	request := ask(t, c, id)
	require.Equal(t, "approved", request["status"])
	require.Equal(t, "member", membership(t, c, id)["communityMembership"])
	require.Equal(t, 2, count(t, c, id, "membersCount"))
	require.Equal(t, request["_id"], ask(t, c, id)["_id"], "a repeated call gets the same answer")
	requireFailure(t, exists, boss.Do(t, http.MethodPost, joinPath(id), nil))
}

func TestApproveJoin(t *testing.T) {
	t.Parallel()
	boss, c, d := newUser(t, region.EU, "boss"), newUser(t, region.US, "c"), newUser(t, region.SG, "d")
	id := newApprovalCommunity(t, boss)
	ask(t, c, id)
	ask(t, d, id)
	decide(t, boss.At(region.SG), id, "approve", c.InternalID)
	decide(t, boss, id, "approve", d.UserID) // the public id is accepted too
	for _, asker := range []*apptest.Client{c, d} {
		request := myRequest(t, asker, id)
		require.Equal(t, "approved", request["status"])
		require.Equal(t, boss.UserID, request["responderId"])
		require.Equal(t, boss.UserID, request["responderPublicId"])
		require.Equal(t, boss.InternalID, request["responderInternalId"])
		require.True(t, isKind("ts", request["respondedAt"]))
		require.Equal(t, "member", membership(t, asker, id)["communityMembership"])
	}
	require.Equal(t, 3, count(t, boss, id, "membersCount"))
	requireFailure(t, notFound, boss.Do(t, http.MethodPost, joinPath(id)+"/approve", object{"userId": c.InternalID}))
}

// TestPendingRequestIsAnswered checks that a request that waits is approved when its user becomes a member in another way.
func TestPendingRequestIsAnswered(t *testing.T) {
	t.Parallel()
	boss, joins, added := newUser(t, region.EU, "boss"), newUser(t, region.US, "joins"), newUser(t, region.SG, "added")
	id := newApprovalCommunity(t, boss)
	ask(t, joins, id)
	ask(t, added, id)
	addMember(t, boss, id, added)
	require.Equal(t, "approved", myRequest(t, added, id)["status"])
	require.Equal(t, boss.UserID, myRequest(t, added, id)["responderId"])
	boss.Do(t, http.MethodPut, communitiesPath+"/"+id, object{"requiresJoinApproval": false}).OK(t)
	join(t, id, joins)
	require.Equal(t, "approved", myRequest(t, joins, id)["status"])
	require.Empty(t, myRequest(t, joins, id)["responderId"])
	require.Zero(t, boss.Do(t, http.MethodGet, joinPath(id)+"/count", nil).OK(t).Int(t, "count"))
}

func TestRejectJoin(t *testing.T) {
	t.Parallel()
	boss, c := newUser(t, region.EU, "boss"), newUser(t, region.US, "c")
	id := newApprovalCommunity(t, boss)
	for _, userID := range []string{c.InternalID, c.UserID} {
		first := ask(t, c, id)
		decide(t, boss.At(region.US), id, "reject", userID)
		request := myRequest(t, c, id)
		require.Equal(t, "rejected", request["status"])
		require.Equal(t, first["_id"], request["_id"])
		require.Equal(t, "none", membership(t, c, id)["communityMembership"])
		requireFailure(t, notFound, boss.Do(t, http.MethodPost, joinPath(id)+"/reject", object{"userId": userID}))
	}
	ask(t, c, id)
	decide(t, admin(t), id, "reject", c.InternalID) // an administrator may reject too
	require.Equal(t, "rejected", myRequest(t, c, id)["status"])
	addMember(t, boss, id, c)
	requireFailure(t, exists, c.Do(t, http.MethodPost, joinPath(id), nil))
}

// TestJoinDecisionRefusals checks the errors and limits of approve and reject.
func TestJoinDecisionRefusals(t *testing.T) {
	t.Parallel()
	club := newClub(t, object{"requiresJoinApproval": true})
	ask(t, club.stranger, club.id)
	body := object{"userId": club.stranger.InternalID}
	other := newApprovalCommunity(t, newUser(t, region.US, "other"))
	var attempts []attempt
	for _, verb := range []string{"approve", "reject"} {
		path := func(id string) string { return joinPath(id) + "/" + verb }
		attempts = append(attempts,
			attempt{verb + " by the asker", club.stranger, http.MethodPost, path(club.id), body, notAllowed},
			attempt{verb + " by a stranger", newUser(t, region.SG, "x"), http.MethodPost, path(club.id), body, notAllowed},
			attempt{verb + " by a member", club.member, http.MethodPost, path(club.id), body, notAllowed},
			attempt{verb + " by a banned user", club.banned, http.MethodPost, path(club.id), body, notAllowed},
			attempt{verb + " elsewhere", club.boss, http.MethodPost, path(other), body, notAllowed},
			attempt{verb + " by an anonymous caller", apptest.Shared(t).Anonymous(region.EU), http.MethodPost, path(club.id), body, unauthorized},
			attempt{verb + " a member", club.boss, http.MethodPost, path(club.id), object{"userId": club.member.InternalID}, notFound},
			attempt{verb + " unknown", club.boss, http.MethodPost, path(club.id), object{"userId": "unknown-user"}, notFound},
			attempt{verb + " unknown internal", club.boss, http.MethodPost, path(club.id), object{"userId": unknownID}, notFound},
			attempt{verb + " unknown community", club.boss, http.MethodPost, path(unknownID), body, notFound},
			attempt{verb + " id of 1", club.boss, http.MethodPost, path("x"), body, notFound},
			attempt{verb + " id of 900", club.boss, http.MethodPost, path(strings.Repeat("x", 900)), body, notFound},
			attempt{verb + " id of 901", club.boss, http.MethodPost, path(strings.Repeat("x", 901)), body, invalid("communityId")},
			attempt{verb + " without users", club.boss, http.MethodPost, path(club.id), object{}, invalid("userId")},
			attempt{verb + " without a body", club.boss, http.MethodPost, path(club.id), nil, invalid("userId")},
			attempt{verb + " userId of 51", club.boss, http.MethodPost, path(club.id), object{"userId": strings.Repeat("x", 51)}, invalid("userId")})
	}
	requireAttempts(t, attempts)
	require.Equal(t, "pending", myRequest(t, club.stranger, club.id)["status"])
}

func TestCancelJoin(t *testing.T) {
	t.Parallel()
	boss, c := newUser(t, region.EU, "boss"), newUser(t, region.US, "c")
	id := newApprovalCommunity(t, boss)
	requireFailure(t, notFound, c.Do(t, http.MethodDelete, joinPath(id), nil))
	first := ask(t, c, id)
	require.JSONEq(t, `{"success":true}`, string(c.At(region.SG).Do(t, http.MethodDelete, joinPath(id), nil).OK(t).Body))
	require.Equal(t, "cancelled", myRequest(t, c, id)["status"])
	requireFailure(t, notFound, c.Do(t, http.MethodDelete, joinPath(id), nil))
	require.NotEqual(t, first["_id"], ask(t, c, id)["_id"], "one may ask again")
}

func TestListJoinRequests(t *testing.T) {
	t.Parallel()
	boss := newUser(t, region.EU, "boss")
	id := newApprovalCommunity(t, boss)
	var ids []string
	status := map[string][]string{}
	for i := range 8 {
		c := newUser(t, region.All()[i%3], "asker")
		request := ask(t, c, id)
		ids = append(ids, text(request, "joinRequestId"))
		now := []string{"pending", "rejected", "approved", "cancelled"}[i%4]
		switch now {
		case "rejected":
			decide(t, boss, id, "reject", c.InternalID)
		case "approved":
			decide(t, boss, id, "approve", c.InternalID)
		case "cancelled":
			c.Do(t, http.MethodDelete, joinPath(id), nil).OK(t)
		}
		status[now] = append(status[now], ids[i])
	}
	l := listing{by: boss, path: joinPath(id), list: "joinRequests", id: "joinRequestId"}
	l = l.with("targetType", "community").with("type", "communityJoinRequest")
	for _, code := range region.All() {
		l.by = boss.At(code)
		l.requireOrder(t, reversed(ids))
	}
	l.with("sortBy", "lastCreated").requirePages(t, 3, reversed(ids))
	l.with("sortBy", "firstCreated").requirePages(t, 2, ids)
	l.with("sortBy", "createdAt").with("sortOrder", "asc").requireOrder(t, ids)
	l.with("sortBy", "createdAt").with("sortOrder", "desc").requireOrder(t, reversed(ids))
	l.with("sortBy", "createdAt").requireOrder(t, reversed(ids))
	l.with("sortBy", "firstCreated").with("sortOrder", "desc").requireOrder(t, ids)
	l.with("sortBy", "lastCreated").with("sortOrder", "asc").requireOrder(t, reversed(ids))
	require.Contains(t, l.page(t, nil).Strings(t, "users", "userId"), boss.UserID, "who has answered")
	var some []string
	for _, id := range ids {
		if slices.Contains(status["approved"], id) || slices.Contains(status["rejected"], id) {
			some = append(some, id)
		}
	}
	l.with("status", "approved").with("statuses[]", "rejected").requireOrder(t, reversed(some))
	for s, want := range status {
		l.with("status", s).requireOrder(t, reversed(want))
		l.with("statuses[]", s).with("sortBy", "firstCreated").requireOrder(t, want)
	}
	l.with("statuses[]", "approved", "rejected", "pending", "cancelled").requirePages(t, 3, reversed(ids))
	require.Equal(t, len(status["pending"]), boss.At(region.SG).Do(t, http.MethodGet, joinPath(id)+"/count", nil).OK(t).Int(t, "count"))
	l.requireLimits(t)
	requireAggregate(t, l.page(t, nil), "", joinAggregate)
	stranger := newUser(t, region.US, "stranger")
	requireAttempts(t, []attempt{
		{"stranger", stranger, http.MethodGet, joinPath(id), nil, notAllowed},
		{"admin", admin(t), http.MethodGet, joinPath(id), nil, failure{}},
		{"other status", boss, http.MethodGet, joinPath(id) + "?status=lost", nil, invalid("status")},
		{"other type", boss, http.MethodGet, joinPath(id) + "?type=invitation", nil, invalid("type")},
		{"other sort", boss, http.MethodGet, joinPath(id) + "?sortBy=size", nil, invalid("sortBy")},
		{"5 statuses", boss, http.MethodGet, joinPath(id) + "?" + strings.Repeat("statuses[]=pending&", 5), nil, invalid("statuses")},
		{"unknown", boss, http.MethodGet, joinPath(unknownID), nil, notFound},
		{"counted by a stranger", stranger, http.MethodGet, joinPath(id) + "/count", nil, notAllowed},
		{"count in an unknown one", boss, http.MethodGet, joinPath(unknownID) + "/count", nil, notFound},
		{"id of 901", boss, http.MethodGet, joinPath(strings.Repeat("x", 901)), nil, invalid("communityId")},
	})
}

// TestJoinRequestDefaultPageSize checks the page size of this list.
func TestJoinRequestDefaultPageSize(t *testing.T) {
	t.Parallel()
	boss := newUser(t, region.EU, "boss")
	id := newApprovalCommunity(t, boss)
	for range 21 {
		ask(t, newUser(t, region.EU, "asker"), id)
	}
	l := listing{by: boss, path: joinPath(id), list: "joinRequests", id: "joinRequestId"}
	first := l.page(t, url.Values{})
	require.Len(t, l.ids(t, first), 20)
	require.Len(t, l.walk(t, first, "next"), 2)
}

// TestMyJoinRequests returns the caller's latest requests to communities of several regions.
func TestMyJoinRequests(t *testing.T) {
	t.Parallel()
	eu, us, caller := newUser(t, region.EU, "boss"), newUser(t, region.US, "boss"), newUser(t, region.SG, "caller")
	pending, rejected, never := newApprovalCommunity(t, eu), newApprovalCommunity(t, us), newApprovalCommunity(t, us)
	ask(t, caller, rejected)
	decide(t, us, rejected, "reject", caller.InternalID)
	wanted := []object{ask(t, caller, pending)}
	ask(t, newUser(t, region.US, "other"), never)
	wanted = append(wanted, myRequest(t, caller, rejected))
	us.Do(t, http.MethodPut, communitiesPath+"/"+rejected, object{"isPublic": false, "isDiscoverable": false}).OK(t)
	const path = "/api/v4/communities/join/requests"
	query := url.Values{"communityIds[]": {pending, never, unknownID, rejected, pending}}
	for _, code := range region.All() {
		a := requireAggregate(t, caller.At(code).Do(t, http.MethodGet, path+"?"+query.Encode(), nil), "", joinAggregate)
		require.Equal(t, wanted, a.lists["joinRequests"], "in the order of the communities, even if one is hidden now")
		require.Equal(t, []string{caller.UserID}, a.values("users", "userId"))
	}
	requireAttempts(t, []attempt{
		{"no communities", caller, http.MethodGet, path, nil, invalid("communityIds")},
		{"101 communities", caller, http.MethodGet, path + "?" + strings.Repeat("communityIds[]=x&", 101), nil, invalid("communityIds")},
		{"anonymous", apptest.Shared(t).Anonymous(region.EU), http.MethodGet, path, nil, unauthorized},
	})
}
