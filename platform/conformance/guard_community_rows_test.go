package conformance

import (
	"net/http"
	"testing"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

// inNewCommunity builds a request for a new community with these fields and its id.
func inNewCommunity(more object, fields ...object) func(*testing.T, *fixture) object {
	return func(t *testing.T, g *fixture) object {
		t.Helper()
		return with(object{"communityId": g.community(t, fields...)}, more)
	}
}

// ofNewcomer is inNewCommunity for requests about, or of, a new user.
func ofNewcomer(field string, fields ...object) func(*testing.T, *fixture) object {
	return func(t *testing.T, g *fixture) object {
		t.Helper()
		request := inNewCommunity(nil, fields...)(t, g)
		g.principals[userOfRow] = g.user(t)
		switch field {
		case "userIds":
			request[field] = []string{g.principals[userOfRow].UserID}
		case "userId":
			request[field] = g.principals[userOfRow].InternalID
		}
		return request
	}
}

func communityGuardRows() []guardRow {
	deletesCategory := calls("CategoryService/DeleteCategory", "categoryId")
	deletesProduct := calls("ProductService/DeleteProduct", "productId")
	unique := func(*testing.T, *fixture) object {
		return object{"displayName": apptest.UserID("unique"), "isUniqueDisplayName": true}
	}
	joined := func(t *testing.T, g *fixture) object {
		t.Helper()
		request := ofNewcomer("userIds")(t, g)
		g.principals[userOfRow].Join(t, text(request, "communityId"))
		return request
	}
	asked := func(t *testing.T, g *fixture) object {
		t.Helper()
		request := ofNewcomer("userId", object{"requiresJoinApproval": true})(t, g)
		ask(t, g.principals[userOfRow], text(request, "communityId"))
		return request
	}
	approval := object{"requiresJoinApproval": true}
	rejects := calls("JoinRequestService/RejectJoin", "communityId", "userId")
	adds := func(t *testing.T, g *fixture, _ string, request object) {
		t.Helper()
		addMember(t, g.boss, text(request, "communityId"), g.principals[userOfRow])
	}
	const join = "service/joinrequest."
	return []guardRow{
		{
			condition: "store/communities.UpdateCategory sqlCategoryGuard", procedure: "CategoryService/UpdateCategory", by: adminToken,
			change: deletesCategory, want: 400400,
		},
		{
			condition: "store/communities.DeleteCategory sqlCategoryGuard", procedure: "CategoryService/DeleteCategory", by: adminToken,
			change: deletesCategory, want: 400400,
		},
		{
			condition: "store/content.UpdateProduct sqlProductGuard", procedure: "ProductService/UpdateProduct", by: adminToken,
			change: deletesProduct,
			want:   400400,
		},
		{
			condition: "store/content.DeleteProduct sqlProductGuard", procedure: "ProductService/DeleteProduct", by: adminToken,
			change: deletesProduct,
			want:   400400,
		},
		{
			condition: "store/communities.InsertCommunity sqlCommunityGuardName", procedure: "CommunityService/CreateCommunity", by: member,
			request: unique, change: again(theBoss), want: 400315,
			writes: []string{"daily_usages"},
		},
		{
			condition: "store/communities.UpdateCommunity GuardCommunity", procedure: "CommunityService/UpdateCommunity", by: theBoss,
			request: inNewCommunity(object{"description": "x"}), change: deletesCommunity, want: 400400,
		},
		{
			condition: "store/communities.DeleteCommunity GuardCommunity", procedure: "CommunityService/DeleteCommunity", by: theBoss,
			change: deletesCommunity, want: 400400,
		},
		{
			condition: "service/member.apply GuardCommunity", procedure: "MemberService/AddMembers", by: theBoss,
			request: ofNewcomer("userIds"), change: deletesCommunity, want: 400400,
		},
		{
			condition: "service/member.apply GuardModerator", procedure: "MemberService/LeaveCommunity", by: theBoss,
			change: callsAs(moderator, "MemberService/LeaveCommunity", nil, "communityId"), want: 400300,
		},
		{
			condition: "store/communities.changeMember sqlMemberUpdate", procedure: "MemberService/BanMembers", by: theBoss, request: joined,
			change: callsAs(userOfRow, "MemberService/LeaveCommunity", nil, "communityId"),
		},
		{
			condition: "store/communities.changeMember community_members_pkey", procedure: "MemberService/JoinCommunity", by: userOfRow,
			request: ofNewcomer(""), change: adds,
		},
		{
			condition: join + "approve GuardCommunity", procedure: "JoinRequestService/ApproveJoin", by: theBoss,
			request: asked, change: deletesCommunity, want: 400400,
		},
		{
			condition: "store/communities.AnswerJoinRequest sqlJoinAnswer", procedure: "JoinRequestService/ApproveJoin", by: theBoss,
			request: asked, change: rejects, want: 400400,
		},
		{
			condition: join + "store GuardCommunity", procedure: "JoinRequestService/RequestJoin", by: userOfRow, request: ofNewcomer("", approval),
			change: deletesCommunity, want: 400400,
		},
		{
			condition: "store/communities.InsertJoinRequest join_requests_pending", procedure: "JoinRequestService/RequestJoin", by: userOfRow,
			request: ofNewcomer("", approval), change: again(userOfRow), want: 400315,
		},
	}
}

func invitationGuardRows() []guardRow {
	invites := func(t *testing.T, g *fixture) object {
		t.Helper()
		request := ofNewcomer("")(t, g)
		return inviteMembers(text(request, "communityId"), g.principals[userOfRow])
	}
	coHost := func(t *testing.T, g *fixture) object {
		t.Helper()
		return inviteCoHosts(newCoHostRoom(t, g.author), g.user(t))
	}
	invited := func(t *testing.T, g *fixture) object {
		t.Helper()
		return object{"invitationId": newInvitation(t, g.boss, invites(t, g))}
	}
	cancels := calls("InvitationService/CancelInvitation", "invitationId")
	const guard = "service/invitation.guard "
	return []guardRow{
		{
			condition: guard + "GuardCommunity", procedure: "InvitationService/CreateInvitations", by: theBoss,
			request: invites, change: deletesTarget, want: 400400,
		},
		{
			condition: guard + "GuardRoomIn", procedure: "InvitationService/CreateInvitations", by: theAuthor, request: coHost,
			change: calls("RoomService/StopRoom", "roomId=targetId"), want: 400000,
		},
		{
			condition: "store/communities.InsertInvitation invitations_pending", procedure: "InvitationService/CreateInvitations", by: theBoss,
			request: invites, change: again(adminToken),
		},
		{
			condition: "store/communities.AnswerInvitation sqlInvitationAnswer", procedure: "InvitationService/AcceptInvitation", by: userOfRow,
			request: invited, change: cancels, want: 400000,
		},
		{
			condition: "store/communities.ResendInvitation sqlInvitationResend", procedure: "InvitationService/ResendInvitation", by: theBoss,
			request: invited, change: cancels, want: 400000,
		},
	}
}

func pinGuardRows() []guardRow {
	pinned := func(t *testing.T, g *fixture) object {
		t.Helper()
		id := g.community(t)
		pin := object{"communityId": id, "placement": "default", "postId": g.post(t, id)}
		again(theBoss)(t, g, "PinService/PinCommunityPost", pin)
		return pin
	}
	const most = 20 // pins of a placement
	full := func(t *testing.T, g *fixture) object {
		t.Helper()
		id := g.community(t)
		pin := object{"communityId": id, "placement": "default", "postId": g.post(t, id)}
		for range most - 1 {
			again(theBoss, object{"postId": g.post(t, id)})(t, g, "PinService/PinCommunityPost", pin)
		}
		g.kept = object{"postId": g.post(t, id)}
		return pin
	}
	pinsAnother := func(t *testing.T, g *fixture, procedure string, request object) {
		t.Helper()
		again(theBoss, g.kept)(t, g, procedure, request)
	}
	global := func(t *testing.T, g *fixture) object {
		t.Helper()
		g.kept = object{"communityId": g.community(t)}
		return object{"postId": g.post(t, text(g.kept, "communityId"))}
	}
	hides := func(t *testing.T, g *fixture, _ string, _ object) {
		t.Helper()
		callsAs(adminToken, "CommunityService/UpdateCommunity", object{"isPublic": false}, "communityId")(t, g, "", g.kept)
	}
	const guard = "service/pin."
	return []guardRow{
		{condition: guard + "add GuardPost", procedure: "PinService/PinCommunityPost", by: moderator, change: deletesPost, want: 400400},
		{
			condition: guard + "add GuardPinLimit", procedure: "PinService/PinCommunityPost", by: theBoss,
			request: full, change: pinsAnother, want: 400300,
		},
		{
			condition: guard + "add GuardPublicCommunity", procedure: "PinService/PinGlobalPost", by: adminToken,
			request: global, change: hides, want: 400300,
		},
		{
			condition: "store/content.DeletePin sqlPinGuard", procedure: "PinService/UnpinCommunityPost", by: theBoss,
			request: pinned, change: again(adminToken), want: 400400,
		},
		{
			condition: guard + "UnpinAllCommunityPosts GuardTarget", procedure: "PinService/UnpinAllCommunityPosts", by: theBoss, request: pinned,
			change: deletesCommunity, want: 400400,
		},
	}
}

func eventGuardRows() []guardRow {
	create := func(t *testing.T, g *fixture) object { t.Helper(); return eventIn(g.community(t)) }
	// Events of the boss, who is not counted by a quota of the tests.
	made := func(more object) func(t *testing.T, g *fixture) object {
		return func(t *testing.T, g *fixture) object {
			t.Helper()
			return with(object{"eventId": newEvent(t, g.boss, eventIn(g.open))}, more)
		}
	}
	going := object{"status": "going"}
	answered := func(t *testing.T, g *fixture) object {
		t.Helper()
		request := made(object{"status": "interested"})(t, g)
		again(member)(t, g, "EventService/CreateEventRsvp", request)
		return with(request, going)
	}
	cancels := callsAs(theBoss, "EventService/UpdateEvent", object{"status": "cancelled"}, "eventId")
	deletes := calls("EventService/DeleteEvent", "eventId")
	return []guardRow{
		{
			condition: "service/event.CreateEvent GuardTarget", procedure: "EventService/CreateEvent", by: theBoss, request: create,
			change: calls("CommunityService/DeleteCommunity", "communityId=originId"), want: 400400,
			writes: []string{"daily_usages"},
		},
		{
			condition: "store/content.UpdatePlannedEvent sqlPlannedEventUpdate", procedure: "EventService/UpdateEvent", by: theBoss,
			request: made(object{"title": "x"}), change: deletes, want: 400400,
		},
		{
			condition: "store/content.DeletePlannedEvent sqlPlannedEventDelete", procedure: "EventService/DeleteEvent", by: theBoss,
			request: made(nil), change: deletes, want: 400400,
		},
		{
			condition: "store/content.InsertRsvp sqlPlannedEventGuard", procedure: "EventService/CreateEventRsvp", by: member,
			request: made(going), change: cancels, want: 400000,
		},
		{
			condition: "store/content.InsertRsvp event_rsvps_pkey", procedure: "EventService/CreateEventRsvp", by: member,
			request: made(going), change: again(member), want: 400315,
		},
		{
			condition: "store/content.UpdateRsvp sqlPlannedEventGuard", procedure: "EventService/UpdateEventRsvp", by: member,
			request: answered, change: cancels, want: 400000,
		},
		{
			condition: "store/content.UpdateRsvp sqlRsvpUpdate", procedure: "EventService/UpdateEventRsvp", by: member,
			request: answered, change: again(member),
		},
	}
}

func flagGuardRows() []guardRow {
	flagged := func(more object) func(t *testing.T, g *fixture) object {
		return func(t *testing.T, g *fixture) object {
			t.Helper()
			id := g.post(t, g.open)
			g.boss.Do(t, http.MethodPost, "/api/v3/posts/"+id+"/flag", nil).OK(t)
			return with(object{"targetId": id}, more)
		}
	}
	flags := callsAs(member, "PostService/FlagPost", nil, "postId=targetId")
	const most = 50 // notes of an item
	noted := func(t *testing.T, g *fixture) object {
		t.Helper()
		note := flagged(object{"text": "x"})(t, g)
		for range most - 1 {
			again(theBoss)(t, g, "FlagService/AddFlagNote", note)
		}
		return note
	}
	purges := func(t *testing.T, g *fixture, _ string, request object) {
		t.Helper()
		g.boss.Do(t, http.MethodDelete, "/api/v4/posts/"+text(request, "targetId")+"?permanent=true", nil).OK(t)
	}
	setLimit := func(t *testing.T, g *fixture, limit object) {
		t.Helper()
		for _, code := range region.All() {
			g.n.Admin(code).Do(t, http.MethodPut, settingsPath, limit).OK(t)
		}
	}
	limited := func(limit object) func(*testing.T, *fixture) object {
		return func(t *testing.T, g *fixture) object {
			t.Helper()
			setLimit(t, g, limit)
			return object{"postId": g.post(t, g.open)}
		}
	}
	hidden := func(t *testing.T, g *fixture) object {
		t.Helper()
		request := limited(object{"flagHideLimit": 1})(t, g)
		flag(t, g.principals[member], "posts", text(request, "postId"))
		return request
	}
	// unlimited is a change that also restores the settings, which the request has read.
	unlimited := func(by change) change {
		return func(t *testing.T, g *fixture, procedure string, request object) {
			t.Helper()
			by(t, g, procedure, request)
			setLimit(t, g, object{"flagLimit": 100, "flagHideLimit": 0})
		}
	}
	return []guardRow{
		{
			condition: "service/flag.tryResolve GuardFlagItem", procedure: "FlagService/ResolveFlagItem", by: theBoss,
			request: flagged(object{"outcome": "dismissed"}), change: flags,
		},
		{
			condition: "store/content.UpdateFlagItem sqlFlagItemUpdate", procedure: "FlagService/ClaimFlagItem", by: theBoss,
			request: flagged(nil), change: flags,
		},
		{
			condition: "store/content.InsertFlagNote sqlFlagItemGuard", procedure: "FlagService/AddFlagNote", by: theBoss,
			request: flagged(object{"text": "x"}), change: purges, want: 400400,
		},
		{
			condition: "store/content.InsertFlagNote sqlFlagNoteGuard", procedure: "FlagService/AddFlagNote", by: theBoss,
			request: noted, change: again(theBoss), want: 400000,
		},
		{
			condition: "service/internal/flags.Add GuardFlagLimit", procedure: "PostService/FlagPost", by: member,
			request: limited(object{"flagLimit": 1}), change: unlimited(again(theBoss)), want: 400300,
		},
		{
			condition: "service/internal/flags.Review GuardFlagItem", procedure: "PostService/ApprovePost", by: theBoss, request: hidden,
			change: unlimited(callsAs(moderator, "FlagService/ClaimFlagItem", nil, "targetId=postId")),
		},
	}
}
