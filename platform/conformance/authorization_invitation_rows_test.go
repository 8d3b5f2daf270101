package conformance

import "testing"

func invitationRows() []row {
	invites := func(t *testing.T, g *fixture) object { t.Helper(); return inviteMembers(g.open, g.user(t)) }
	coHost := func(t *testing.T, g *fixture) object {
		t.Helper()
		return inviteCoHosts(newCoHostRoom(t, g.author), g.user(t))
	}
	list := func(_ *testing.T, g *fixture) object {
		return object{"targetType": "community", "targetId": g.open}
	}
	listRoom := func(t *testing.T, g *fixture) object {
		t.Helper()
		return object{"targetType": "room", "targetId": newCoHostRoom(t, g.author)}
	}
	one := func(t *testing.T, g *fixture) object {
		t.Helper()
		return object{"invitationId": newInvitation(t, g.boss, invites(t, g))}
	}
	notInvited := codesFor(400300, 400300, 400300, 400300, 400300)
	return []row{
		{procedure: "InvitationService/CreateInvitations", request: invites, want: moderators},
		{procedure: "InvitationService/CreateInvitations", name: "to a room", request: coHost, want: adminsOnly},
		{procedure: "InvitationService/ListInvitations", request: list, want: moderators},
		{procedure: "InvitationService/ListInvitations", name: "of a room", request: listRoom, want: adminsOnly},
		{procedure: "InvitationService/CountInvitations", request: list, want: moderators},
		{procedure: "InvitationService/CountInvitations", name: "of a room", request: listRoom, want: adminsOnly},
		{procedure: "InvitationService/ListMyInvitations", request: noFields, want: usersOnly},
		{procedure: "InvitationService/AcceptInvitation", request: one, want: notInvited},
		{procedure: "InvitationService/RejectInvitation", request: one, want: notInvited},
		{procedure: "InvitationService/CancelInvitation", request: one, want: moderators},
		{procedure: "InvitationService/ResendInvitation", request: one, want: moderators},
	}
}
