package conformance

import (
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

const invitationsPath = "/api/v1/invitations"

// inviteMembers returns the request that invites users to a community.
func inviteMembers(communityID string, users ...*apptest.Client) object {
	return object{"type": "communityMemberInvite", "targetType": "community", "targetId": communityID, "userIds": publicIDs(users)}
}

// inviteCoHosts returns the request that invites users to a room.
func inviteCoHosts(roomID string, users ...*apptest.Client) object {
	return object{"type": "livestreamCohostInvite", "targetType": "room", "targetId": roomID, "userIds": publicIDs(users)}
}

func publicIDs(users []*apptest.Client) []string {
	ids := make([]string, len(users))
	for i, u := range users {
		ids[i] = u.UserID
	}
	return ids
}

// requireInvitations checks an answer with invitations, which includes the inviting and the invited users.
func requireInvitations(t *testing.T, r *apptest.Response) *aggregate {
	t.Helper()
	a := requireAggregate(t, r, "", inviteAggregate)
	for _, i := range a.lists["invitations"] {
		a.requireHas("invitations", "users", text(i, "invitedUserId"))
		if text(i, "inviterUserId") != "" {
			a.requireHas("invitations", "users", text(i, "inviterUserId"))
		}
	}
	return a
}

// newInvitation sends a request that invites one user, and returns the invitation's id.
func newInvitation(t *testing.T, by *apptest.Client, request object) string {
	t.Helper()
	nextMillisecond()
	return text(requireInvitations(t, by.Do(t, http.MethodPost, invitationsPath, request)).one("invitations"), "_id")
}

func answerInvitation(t *testing.T, by *apptest.Client, id, verb string) {
	t.Helper()
	r := by.Do(t, http.MethodPost, invitationsPath+"/"+id+"/"+verb, nil).OK(t)
	require.JSONEq(t, `{"success":true}`, string(r.Body))
}

func cancelInvitation(t *testing.T, by *apptest.Client, id string) {
	t.Helper()
	require.JSONEq(t, `{"success":true}`, string(by.Do(t, http.MethodDelete, invitationsPath+"/"+id, nil).OK(t).Body))
}

// invitationOf returns an invitation from the list of the invited user.
func invitationOf(t *testing.T, c *apptest.Client, id string) object {
	t.Helper()
	return requireInvitations(t, c.Do(t, http.MethodGet, invitationsPath+"/me", nil)).find("invitations", "_id", id)
}

// addMember adds a user to a community, subject to the network's settings.
func addMember(t *testing.T, by *apptest.Client, communityID string, c *apptest.Client) {
	t.Helper()
	by.Do(t, http.MethodPost, membersPath(communityID), object{"userIds": []string{c.UserID}}).OK(t)
}

func newCoHostRoom(t *testing.T, host *apptest.Client) string {
	t.Helper()
	return text(newRoom(t, host, object{"type": "coHosts"}), "roomId")
}

// TestInviteMember invites users of every region to a private community, who accept in another region.
func TestInviteMember(t *testing.T) {
	t.Parallel()
	n := apptest.Shared(t)
	boss := newUser(t, region.EU, "boss")
	id := newCommunity(t, boss, object{"isPublic": false, "isDiscoverable": false})
	for i, code := range region.All() {
		c := newUser(t, code, "guest")
		made := requireInvitations(t, boss.At(region.All()[(i+1)%3]).Do(t, http.MethodPost, invitationsPath,
			inviteMembers(id, c))).one("invitations")
		for field, want := range (object{
			"status": "pending", "type": "communityMemberInvite", "targetType": "community", "targetId": id, "communityId": id,
			"networkId":     n.NetworkID,
			"invitedUserId": c.UserID, "invitedUserPublicId": c.UserID, "invitedUserInternalId": c.InternalID, "userId": c.UserID,
			"inviterUserId": boss.UserID, "inviterUserPublicId": boss.UserID, "inviterUserInternalId": boss.InternalID, "createdBy": boss.UserID,
			"respondedAt": nil, "invitationId": made["_id"],
		}) {
			require.Equal(t, want, made[field], field)
		}
		require.Equal(t, made, invitationOf(t, c, text(made, "_id")))
		again := requireInvitations(t, boss.Do(t, http.MethodPost, invitationsPath, inviteMembers(id, c))).one("invitations")
		require.Equal(t, made, again, "who is invited keeps the invitation")
		requireFailure(t, notAllowed, boss.Do(t, http.MethodPost, invitationsPath+"/"+text(made, "_id")+"/accept", nil))
		for range 2 { // the repeated call returns the same answer
			answerInvitation(t, c.At(region.All()[(i+2)%3]), text(made, "_id"), "accept")
		}
		accepted := invitationOf(t, c, text(made, "_id"))
		require.Equal(t, "approved", accepted["status"])
		require.True(t, isKind("ts", accepted["respondedAt"]))
		require.Equal(t, "member", membership(t, c, id)["communityMembership"])
		require.Equal(t, i+2, count(t, boss, id, "membersCount"))
		requireFailure(t, exists, boss.Do(t, http.MethodPost, invitationsPath, inviteMembers(id, c)))
		requireFailure(t, failure{status: 400, code: 400000}, c.Do(t, http.MethodPost, invitationsPath+"/"+text(made, "_id")+"/reject", nil))
	}
}

// TestInvitationStates rejects, cancels and obsoletes invitations. After each, the user can be invited again.
func TestInvitationStates(t *testing.T) {
	t.Parallel()
	boss, c := newUser(t, region.EU, "boss"), newUser(t, region.SG, "guest")
	id := newApprovalCommunity(t, boss)
	rejected := newInvitation(t, boss, inviteMembers(id, c))
	answerInvitation(t, c, rejected, "reject")
	answerInvitation(t, c, rejected, "reject")
	require.Equal(t, "rejected", invitationOf(t, c, rejected)["status"])
	cancelled := newInvitation(t, boss, inviteMembers(id, c))
	require.NotEqual(t, rejected, cancelled)
	requireFailure(t, notAllowed, c.Do(t, http.MethodDelete, invitationsPath+"/"+cancelled, nil))
	cancelInvitation(t, boss.At(region.US), cancelled)
	cancelInvitation(t, admin(t), cancelled)
	require.Equal(t, "cancelled", invitationOf(t, c, cancelled)["status"])
	requireFailure(t, failure{status: 400, code: 400000}, c.Do(t, http.MethodPost, invitationsPath+"/"+cancelled+"/accept", nil))
	banned := newInvitation(t, admin(t), inviteMembers(id, c))
	require.Empty(t, invitationOf(t, c, banned)["inviterUserId"], "an administrator has no account")
	banMember(t, boss, id, c)
	require.Equal(t, "cancelled", invitationOf(t, c, banned)["status"])
	requireFailure(t, failure{status: 403, code: 400304}, boss.Do(t, http.MethodPost, invitationsPath, inviteMembers(id, c)))
	require.Equal(t, "none", membership(t, newUser(t, region.EU, "x"), id)["communityMembership"])
}

// TestCountInvitations counts the invitations to a community and a room.
func TestCountInvitations(t *testing.T) {
	t.Parallel()
	boss, c := newUser(t, region.EU, "boss"), newUser(t, region.SG, "guest")
	id, room := newCommunity(t, boss), newCoHostRoom(t, boss)
	countPath := func(kind, id, more string) string {
		return invitationsPath + "/count?targetType=" + kind + "&targetId=" + id + more
	}
	counted := func(kind, id, more string) int {
		return boss.At(region.US).Do(t, http.MethodGet, countPath(kind, id, more), nil).OK(t).Int(t, "count")
	}
	require.Zero(t, counted("community", id, ""))
	answerInvitation(t, c, newInvitation(t, boss, inviteMembers(id, c)), "reject")
	newInvitation(t, boss, inviteMembers(id, c))
	newInvitation(t, boss, inviteMembers(id, newUser(t, region.US, "other")))
	newInvitation(t, boss, inviteCoHosts(room, c))
	require.Equal(t, 3, counted("community", id, ""))
	require.Equal(t, 2, counted("community", id, "&statuses[]=pending"))
	require.Equal(t, 3, counted("community", id, "&statuses[]=pending&statuses[]=rejected&type=communityMemberInvite"))
	require.Zero(t, counted("community", id, "&statuses[]=approved"))
	require.Equal(t, 1, counted("room", room, ""))
	requireAttempts(t, []attempt{
		{"by the invited user", c, http.MethodGet, countPath("community", id, ""), nil, notAllowed},
		{"unknown", boss, http.MethodGet, countPath("community", unknownID, ""), nil, notFound},
		{"other type", boss, http.MethodGet, countPath("community", id, "&type=livestreamCohostInvite"), nil, invalid("type")},
		{"other status", boss, http.MethodGet, countPath("community", id, "&statuses[]=lost"), nil, invalid("statuses[0]")},
		{"5 statuses", boss, http.MethodGet, countPath("community", id, strings.Repeat("&statuses[]=pending", 5)), nil, invalid("statuses")},
		{"no target", boss, http.MethodGet, countPath("community", "", ""), nil, invalid("targetId")},
	})
}

// TestResendInvitation notifies an invited user again, at most once in ten minutes.
func TestResendInvitation(t *testing.T) {
	t.Parallel()
	boss, c := newUser(t, region.EU, "boss"), newUser(t, region.SG, "guest")
	id := newCommunity(t, boss)
	resendPath := func(id string) string { return invitationsPath + "/" + id + "/resend" }
	sent := newInvitation(t, boss, inviteMembers(id, c))
	before := invitationOf(t, c, sent)
	nextMillisecond()
	requireFailure(t, notFound, boss.Do(t, http.MethodPost, resendPath(sent)+"?communityId="+newCommunity(t, boss), nil))
	requireFailure(t, notAllowed, c.Do(t, http.MethodPost, resendPath(sent), nil))
	require.JSONEq(t, `{"success":true}`,
		string(boss.At(region.US).Do(t, http.MethodPost, resendPath(sent)+"?communityId="+id, nil).OK(t).Body))
	after := invitationOf(t, c, sent)
	require.Greater(t, text(after, "updatedAt"), text(before, "updatedAt"))
	before["updatedAt"] = after["updatedAt"]
	require.Equal(t, before, after)
	again := boss.Do(t, http.MethodPost, resendPath(sent), nil)
	requireFailure(t, failure{status: 429, code: 400311}, again)
	require.NotEmpty(t, again.Header.Get("Retry-After"))
	cancelInvitation(t, boss, sent)
	requireFailure(t, failure{status: 400, code: 400000}, boss.Do(t, http.MethodPost, resendPath(sent), nil))
	requireFailure(t, notFound, boss.Do(t, http.MethodPost, resendPath(unknownID), nil))
}

// TestInvitationReplacesApproval checks that an invited user needs no approval and that joining in another way
// obsoletes the invitation.
func TestInvitationReplacesApproval(t *testing.T) {
	t.Parallel()
	boss := newUser(t, region.EU, "boss")
	id := newApprovalCommunity(t, boss, object{"isPublic": false, "isDiscoverable": true})
	asks, waits, added := newUser(t, region.US, "asks"), newUser(t, region.SG, "waits"), newUser(t, region.EU, "added")

	invited := newInvitation(t, boss, inviteMembers(id, asks))
	require.Equal(t, "approved", ask(t, asks, id)["status"], "an invitation approves the request")
	require.Equal(t, "approved", invitationOf(t, asks, invited)["status"])

	require.Equal(t, "pending", ask(t, waits, id)["status"])
	invited = newInvitation(t, boss, inviteMembers(id, waits))
	require.Equal(t, "approved", ask(t, waits, id)["status"], "a request that waited is approved when it is sent again")
	require.Equal(t, "approved", myRequest(t, waits, id)["status"])
	require.Equal(t, "approved", invitationOf(t, waits, invited)["status"])

	invited = newInvitation(t, boss, inviteMembers(id, added))
	addMember(t, boss, id, added)
	require.Equal(t, "approved", invitationOf(t, added, invited)["status"])
	answerInvitation(t, added, invited, "accept")
	require.Equal(t, 4, count(t, boss, id, "membersCount"))

	both := newUser(t, region.US, "both")
	ask(t, both, id)
	answerInvitation(t, both, newInvitation(t, boss, inviteMembers(id, both)), "accept")
	require.Equal(t, "approved", myRequest(t, both, id)["status"], "the request has its answer")
	require.Equal(t, boss.UserID, myRequest(t, both, id)["responderId"])
	require.Equal(t, boss.InternalID, myRequest(t, both, id)["responderInternalId"])
}

// TestMembershipAcceptance uses a network of its own because it changes a network setting.
func TestMembershipAcceptance(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	boss, c := n.SignIn(t, region.EU, "boss"), n.SignIn(t, region.US, "guest")
	set := func(value any) *apptest.Response {
		return n.Admin(region.EU).Do(t, http.MethodPut, socialPath, object{"membershipAcceptance": value})
	}
	settings := n.Admin(region.EU).Do(t, http.MethodGet, socialPath, nil).OK(t)
	require.Equal(t, "automatic", settings.String(t, "membershipAcceptance"))
	require.Equal(t, "automatic", settings.String(t, "socialNetworkSetting.membershipAcceptance"))
	requireFailure(t, invalid("membershipAcceptance"), set("never"))
	require.Equal(t, "invitation", set("invitation").OK(t).String(t, "membershipAcceptance"))
	id := newCommunity(t, boss)
	for range 2 {
		r := boss.Do(t, http.MethodPost, membersPath(id), object{"userIds": []string{c.UserID}})
		requireAggregate(t, r, "", communityAggregate)
	}
	require.Equal(t, "none", membership(t, c, id)["communityMembership"])
	mine := requireInvitations(t, c.Do(t, http.MethodGet, invitationsPath+"/me", nil)).one("invitations")
	require.Equal(t, "pending", mine["status"])
	require.Equal(t, boss.UserID, mine["inviterUserId"])
	require.Eventually(t, func() bool { return len(trayOf(t, c)) > 0 }, apptest.Patience, 10*time.Millisecond, "the user is told")
	answerInvitation(t, c, text(mine, "_id"), "accept")
	require.Equal(t, "member", membership(t, c, id)["communityMembership"])
	other := n.SignIn(t, region.SG, "other")
	addMember(t, n.Admin(region.EU), id, other)
	require.Equal(t, "member", membership(t, other, id)["communityMembership"], "an administrator adds at once")
	set("automatic").OK(t)
	third := n.SignIn(t, region.SG, "third")
	addMember(t, boss, id, third)
	require.Equal(t, "member", membership(t, third, id)["communityMembership"])
}

// TestInviteCoHost invites users of every region to a room.
func TestInviteCoHost(t *testing.T) {
	t.Parallel()
	host := newUser(t, region.EU, "host")
	id := newCoHostRoom(t, host)
	names := []string{host.UserID}
	for i, code := range region.All() {
		c := newUser(t, code, "guest")
		invited := newInvitation(t, host.At(region.All()[(i+1)%3]), inviteCoHosts(id, c))
		row := invitationOf(t, c, invited)
		require.Equal(t, "livestreamCohostInvite", row["type"])
		require.Equal(t, "room", row["targetType"])
		require.Equal(t, id, row["targetId"])
		require.Empty(t, row["communityId"])
		for range 2 {
			answerInvitation(t, c, invited, "accept")
		}
		names = append(names, c.UserID)
		room := requireRoom(t, c.Do(t, http.MethodGet, roomsPath+"/"+id, nil))
		var got []string
		for _, p := range room["participants"].([]any) {
			got = append(got, text(p.(object), "userId"))
		}
		require.Equal(t, names, got)
		require.Equal(t, "coHost", room["participants"].([]any)[i+1].(object)["type"])
		_, key := sendCredentials(t, c, id)
		require.NotEmpty(t, key, "a co-host sends to the room")
		requireFailure(t, exists, host.Do(t, http.MethodPost, invitationsPath, inviteCoHosts(id, c)))
		a := requireInvitations(t, c.Do(t, http.MethodGet, invitationsPath+"?targetType=room&targetId="+id, nil))
		require.Len(t, a.lists["invitations"], i+1, "who takes part sees who is invited")
		requireFailure(t, notAllowed, c.Do(t, http.MethodPost, invitationsPath, inviteCoHosts(id, newUser(t, code, "x"))))
	}
	late := newUser(t, region.US, "late")
	invited := newInvitation(t, host, inviteCoHosts(id, late))
	host.Do(t, http.MethodPost, roomsPath+"/"+id+"/stop", nil).OK(t)
	over := failure{status: 400, code: 400000}
	requireFailure(t, over, late.Do(t, http.MethodPost, invitationsPath+"/"+invited+"/accept", nil))
	requireFailure(t, over, host.Do(t, http.MethodPost, invitationsPath, inviteCoHosts(id, newUser(t, region.EU, "x"))))
	answerInvitation(t, late, invited, "reject")
	host.Do(t, http.MethodDelete, roomsPath+"/"+id, nil).OK(t)
	requireFailure(t, notFound, host.Do(t, http.MethodGet, invitationsPath+"?targetType=room&targetId="+id, nil))
}

func TestListInvitations(t *testing.T) {
	t.Parallel()
	boss, other := newUser(t, region.EU, "boss"), newUser(t, region.SG, "other")
	id := newCommunity(t, boss)
	guest := newUser(t, region.US, "guest")
	var ids, mine []string
	status, mineBy := map[string][]string{}, map[string][]string{}
	for i := range 8 {
		c := newUser(t, region.All()[i%3], "guest")
		invited := newInvitation(t, boss, inviteMembers(id, c))
		ids = append(ids, invited)
		now := []string{"pending", "rejected", "approved", "cancelled"}[i%4]
		setInvitationStatus(t, boss, c, invited, now)
		status[now] = append(status[now], invited)

		by := []*apptest.Client{boss, other}[i%2]
		kind, request := "communityMemberInvite", inviteMembers(newCommunity(t, by), guest)
		if i%4 > 1 {
			kind, request = "livestreamCohostInvite", inviteCoHosts(newCoHostRoom(t, by), guest)
		}
		got := newInvitation(t, by, request)
		mine = append(mine, got)
		setInvitationStatus(t, by, guest, got, now)
		for _, name := range []string{"statuses[]=" + now, "type=" + kind} {
			mineBy[name] = append(mineBy[name], got)
		}
		mineBy["targetId="+text(request, "targetId")] = []string{got}
	}
	requireInvitationLists(t, listing{by: boss, path: invitationsPath, list: "invitations", id: "invitationId"}.with("targetType",
		"community").with("targetId", id), ids)
	l := listing{by: guest, path: invitationsPath + "/me", list: "invitations", id: "invitationId"}
	requireInvitationLists(t, l, mine)
	for filter, want := range mineBy {
		name, value, _ := strings.Cut(filter, "=")
		l.with(name, value).requireOrder(t, reversed(want))
		l.with(name, value).with("sortBy", "firstCreated").requireOrder(t, want)
	}
	l.with("targetType", "room").requireOrder(t, reversed(mineBy["type=livestreamCohostInvite"]))
	l.with("targetType", "community").requireOrder(t, reversed(mineBy["type=communityMemberInvite"]))
	l.with("targetId", unknownID).requireOrder(t, []string{})
	l.with("targetId", "nothing").requireOrder(t, []string{})
	for s, want := range status {
		target := listing{by: boss, path: invitationsPath, list: "invitations", id: "invitationId"}.with("targetType",
			"community").with("targetId", id)
		target.with("statuses[]", s).with("sortBy", "firstCreated").requireOrder(t, want)
	}
}

// setInvitationStatus moves a pending invitation to a status.
func setInvitationStatus(t *testing.T, by, guest *apptest.Client, id, status string) {
	t.Helper()
	switch status {
	case "rejected":
		answerInvitation(t, guest, id, "reject")
	case "approved":
		answerInvitation(t, guest, id, "accept")
	case "cancelled":
		cancelInvitation(t, by, id)
	}
}

// requireInvitationLists checks the orders, pages and limits of a list. ids are its invitations, oldest first.
func requireInvitationLists(t *testing.T, l listing, ids []string) {
	t.Helper()
	for _, code := range region.All() {
		at := l
		at.by = l.by.At(code)
		at.requireOrder(t, reversed(ids))
	}
	l.with("sortBy", "lastCreated").requirePages(t, 3, reversed(ids))
	l.with("sortBy", "firstCreated").requirePages(t, 2, ids)
	l.with("sortBy", "createdAt").with("sortOrder", "asc").requireOrder(t, ids)
	l.with("sortBy", "createdAt").with("sortOrder", "desc").requireOrder(t, reversed(ids))
	l.with("sortBy", "createdAt").requireOrder(t, reversed(ids))
	l.with("sortBy", "firstCreated").with("sortOrder", "desc").requireOrder(t, ids)
	l.with("statuses[]", "approved", "rejected", "pending", "cancelled").requirePages(t, 3, reversed(ids))
	l.requireLimits(t)
	requireInvitations(t, l.page(t, url.Values{}))
}

func TestInvitationRefusals(t *testing.T) {
	t.Parallel()
	club := newClub(t)
	someone := newUser(t, region.US, "someone")
	room, direct := newCoHostRoom(t, club.boss), text(newRoom(t, club.boss), "roomId")
	invited := newInvitation(t, club.boss, inviteMembers(club.id, someone))
	long := func(n int) string { return strings.Repeat("x", n) }
	change := func(field string, value any) object {
		return with(inviteMembers(club.id, someone), object{field: value})
	}
	post := func(name string, by *apptest.Client, body object, want failure) attempt {
		return attempt{name, by, http.MethodPost, invitationsPath, body, want}
	}
	bad := failure{status: 400, code: 400000}
	requireAttempts(t, []attempt{
		post("by a member", club.member, inviteMembers(club.id, someone), notAllowed),
		post("by a stranger", club.stranger, inviteMembers(club.id, someone), notAllowed),
		post("by an anonymous caller", apptest.Shared(t).Anonymous(region.EU), inviteMembers(club.id, someone), unauthorized),
		post("to a room by a stranger", club.stranger, inviteCoHosts(room, someone), notAllowed),
		post("to a room of one host", club.boss, inviteCoHosts(direct, someone), bad),
		post("the host", club.boss, inviteCoHosts(room, club.boss), exists),
		post("a member", club.boss, inviteMembers(club.id, club.member), exists),
		post("banned user", club.boss, inviteMembers(club.id, club.banned), banned),
		post("unknown user", club.boss, change("userIds", []string{"unknown-user"}), notFound),
		post("one unknown user", club.boss, change("userIds", []string{someone.UserID, "unknown-user"}), notFound),
		post("to an unknown community", club.boss, change("targetId", unknownID), notFound),
		post("to an invalid id", club.boss, change("targetId", "x"), notFound),
		post("to a room as a community", club.boss, inviteMembers(room, someone), notFound),
		post("targetId of 900", club.boss, change("targetId", long(900)), notFound),
		post("targetId of 901", club.boss, change("targetId", long(901)), invalid("targetId")),
		post("no target", club.boss, change("targetId", ""), invalid("targetId")),
		post("other target type", club.boss, change("targetType", "user"), invalid("targetType")),
		post("other type", club.boss, change("type", "friend"), invalid("type")),
		post("type of a room", club.boss, change("type", "livestreamCohostInvite"), invalid("type")),
		post("without users", club.boss, change("userIds", []string{}), invalid("userIds")),
		post("101 users", club.boss, change("userIds", strings.Split(long(101), "")), failure{status: 422, code: 500000}),
		post("userId of 50", club.boss, change("userIds", []string{long(50)}), notFound),
		post("userId of 51", club.boss, change("userIds", []string{long(51)}), invalid("userIds[0]")),
		{"accept unknown", someone, http.MethodPost, invitationsPath + "/" + unknownID + "/accept", nil, notFound},
		{"accept an invalid id", someone, http.MethodPost, invitationsPath + "/x/accept", nil, notFound},
		{"accept id of 50", someone, http.MethodPost, invitationsPath + "/" + long(50) + "/accept", nil, notFound},
		{"accept id of 51", someone, http.MethodPost, invitationsPath + "/" + long(51) + "/accept", nil, invalid("invitationId")},
		{"reject another's", club.boss, http.MethodPost, invitationsPath + "/" + invited + "/reject", nil, notAllowed},
		{"cancel by a stranger", club.stranger, http.MethodDelete, invitationsPath + "/" + invited, nil, notAllowed},
		{"list without a target", club.boss, http.MethodGet, invitationsPath, nil, invalid("targetId")},
		{"list by a member", club.member, http.MethodGet, invitationsPath + "?targetType=community&targetId=" + club.id, nil, notAllowed},
		{
			"list of another type", club.boss, http.MethodGet,
			invitationsPath + "?targetType=community&type=livestreamCohostInvite&targetId=" + club.id, nil, invalid("type"),
		},
		{
			"mine of another type", someone, http.MethodGet, invitationsPath + "/me?targetType=community&type=livestreamCohostInvite", nil,
			invalid("type"),
		},
		{"other status", someone, http.MethodGet, invitationsPath + "/me?statuses[]=lost", nil, invalid("statuses[0]")},
		{"5 statuses", someone, http.MethodGet, invitationsPath + "/me?" + strings.Repeat("statuses[]=pending&", 5), nil, invalid("statuses")},
		{"other sort", someone, http.MethodGet, invitationsPath + "/me?sortBy=size", nil, invalid("sortBy")},
	})
	require.Equal(t, "pending", invitationOf(t, someone, invited)["status"])
}
