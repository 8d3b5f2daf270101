package conformance

import "testing"

func sessionRows() []row {
	newcomer := func(*testing.T, *grounds) object { return object{"userId": "newcomer", "deviceId": "d"} }
	token := func(*testing.T, *grounds) object { return object{"userId": "newcomer"} }
	ownOrAdmin := users(400300, 400300, 400300, 400300, 0)
	adminNames := users(0, 0, 0, 0, 500000) // an administrator has no session, and has to name somebody
	return []row{
		{procedure: "AuthenticationService/CreateToken", request: token, want: keyHolders()},
		{procedure: "SessionService/CreateSession", request: newcomer, want: keyHolders()},
		{procedure: "SessionService/VerifySession", request: nothing, want: everybody},
		{procedure: "SessionService/DeleteSession", request: nothing, want: adminNames, spends: true},
		{procedure: "SessionService/DeleteSession", name: "of somebody", request: somebody("userId"), want: ownOrAdmin},
		{procedure: "SessionService/RevokeUserSessions", request: somebody("userId"), want: ownOrAdmin},
	}
}

func userRows() []row {
	batch := func(_ *testing.T, g *grounds) object { return object{"userIds": []string{g.author.UserID}} }
	one := func(_ *testing.T, g *grounds) object { return object{"userId": g.author.UserID} }
	return []row{
		{procedure: "UserService/GetUser", request: one, want: everybody},
		{procedure: "UserService/BatchGetUsers", request: batch, want: everybody},
		{procedure: "UserService/ListUsers", request: nothing, want: everybody},
		{procedure: "UserService/UpdateUser", request: somebody("userId", object{"displayName": "x"}), want: adminsOnly},
		{procedure: "UserService/UpdateUser", name: "roles", request: somebody("userId", object{"roles": []string{"moderator"}}), want: adminsOnly},
		{procedure: "UserService/BanUser", request: somebody("userId"), want: adminsOnly},
		{procedure: "UserService/UnbanUser", request: somebody("userId"), want: adminsOnly},
	}
}

func userFlagRows() []row {
	return []row{
		{procedure: "UserService/FlagUser", request: somebody("userId"), want: usersOnly},
		{procedure: "UserService/UnflagUser", request: somebody("userId"), want: usersOnly},
		{procedure: "UserService/ClearUserFlags", request: somebody("userId"), want: adminsOnly},
		{procedure: "UserService/IsUserFlaggedByMe", request: somebody("userId"), want: everybody},
	}
}
