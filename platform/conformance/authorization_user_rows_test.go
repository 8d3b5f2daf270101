package conformance

import (
	"net/http"
	"testing"
)

func sessionRows() []row {
	newcomer := func(*testing.T, *fixture) object { return object{"userId": "newcomer", "deviceId": "d"} }
	onDevice := func(*testing.T, *fixture) object { return object{"deviceId": "d"} }
	token := func(*testing.T, *fixture) object { return object{"userId": "newcomer"} }
	ownOrAdmin := codesFor(400300, 400300, 400300, 400300, 0)
	adminNames := codesFor(0, 0, 0, 0, 500000) // an administrator has no session and must name a user
	return []row{
		{procedure: "AuthenticationService/CreateToken", request: token, want: keysOnly()},
		{procedure: "SessionService/CreateSession", request: newcomer, want: keysOnly()},
		{procedure: "SessionService/CreateVisitorSession", request: onDevice, want: keysOnly()},
		{procedure: "SessionService/CreateBotSession", request: onDevice, want: keysOnly()},
		{procedure: "SessionService/VerifySession", request: noFields, want: everyone},
		{procedure: "SessionService/DeleteSession", request: noFields, want: adminNames, endsSession: true},
		{procedure: "SessionService/DeleteSession", name: "of another user", request: aUser("userId"), want: ownOrAdmin},
		{procedure: "SessionService/RevokeUserSessions", request: aUser("userId"), want: ownOrAdmin},
	}
}

func userRows() []row {
	batch := func(_ *testing.T, g *fixture) object { return object{"userIds": []string{g.author.UserID}} }
	one := func(_ *testing.T, g *fixture) object { return object{"userId": g.author.UserID} }
	return []row{
		{procedure: "UserService/GetUser", request: one, want: everyone},
		{procedure: "UserService/BatchGetUsers", request: batch, want: everyone},
		{procedure: "UserService/ListUsers", request: noFields, want: everyone},
		{procedure: "UserService/UpdateUser", request: aUser("userId", object{"displayName": "x"}), want: adminsOnly},
		{procedure: "UserService/UpdateUser", name: "roles", request: aUser("userId", object{"roles": []string{"moderator"}}), want: adminsOnly},
		{procedure: "UserService/BanUser", request: aUser("userId"), want: adminsOnly},
		{procedure: "UserService/UnbanUser", request: aUser("userId"), want: adminsOnly},
	}
}

func userFlagRows() []row {
	return []row{
		{procedure: "UserService/FlagUser", request: aUser("userId"), want: usersOnly},
		{procedure: "UserService/UnflagUser", request: aUser("userId"), want: usersOnly},
		{procedure: "UserService/ClearUserFlags", request: aUser("userId"), want: adminsOnly},
		{procedure: "UserService/IsUserFlaggedByMe", request: aUser("userId"), want: everyone},
	}
}

func erasureRows() []row {
	erased := func(t *testing.T, g *fixture) object {
		t.Helper()
		r := g.principals[adminToken].Do(t, http.MethodDelete, "/api/v4/users/"+g.user(t).UserID, nil).OK(t)
		return object{"erasureId": r.String(t, "erasureId")}
	}
	return []row{
		{procedure: "ErasureService/EraseUser", request: aUser("userId"), want: adminsOnly},
		{procedure: "ErasureService/GetErasure", request: erased, want: adminsOnly},
	}
}

func moveRows() []row {
	moved := func(t *testing.T, g *fixture) object {
		t.Helper()
		id := g.user(t).UserID
		g.principals[adminToken].Do(t, http.MethodPost, movePath(id), object{"region": "sg"}).OK(t)
		return object{"userId": id}
	}
	return []row{
		{procedure: "MoveService/MoveUser", request: func(t *testing.T, g *fixture) object {
			t.Helper()
			return object{"userId": g.user(t).UserID, "region": "sg"}
		}, want: adminsOnly},
		{procedure: "MoveService/GetUserMove", request: moved, want: adminsOnly},
	}
}

func exportRows() []row {
	exported := func(t *testing.T, g *fixture) object {
		t.Helper()
		user := g.user(t).UserID
		g.principals[adminToken].Do(t, http.MethodPost, "/api/v4/users/"+user+"/export", nil).OK(t)
		return object{"userId": user}
	}
	return []row{
		{procedure: "ExportService/StartExport", request: aUser("userId"), want: adminsOnly},
		{procedure: "ExportService/GetExport", request: exported, want: adminsOnly},
	}
}
