package audit

import (
	"context"
	"fmt"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/proto"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/directory"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/servicetest"
	"github.com/plaza-social/plaza/platform/store/network"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// newRecorder returns a recorder without a database, whose directory knows no users.
func newRecorder() *Recorder {
	now := func() time.Time { return servicetest.Noon }
	d := &service.Deps{
		NetworkID: "network", Region: region.EU, Now: now,
		Directory: directory.New(nil, region.EU, []byte("key"), now, slog.New(slog.DiscardHandler)),
	}
	return NewRecorder(d, func(context.Context) Client { return Client{"192.0.2.1", "agent", "request"} })
}

func TestAuditedOperations(t *testing.T) {
	t.Parallel()
	all := auditedOperations()
	for procedure, want := range map[string]struct{ audited, reads bool }{
		"/plaza.v1.UserService/UpdateUser":            {audited: true},
		"/plaza.v1.UserService/BanUser":               {audited: true},
		"/plaza.v1.UserService/ListUsers":             {},
		"/plaza.v1.PostService/GetPost":               {},
		"/plaza.v1.AuditService/ListAuditEvents":      {audited: true, reads: true},
		"/plaza.v1.PostService/DoesNotExist":          {},
		"/plaza.v1.FlagService/ClaimFlagItem":         {audited: true},
		"/plaza.v1.SessionService/CreateSession":      {audited: true},
		"/plaza.v1.SessionService/VerifySession":      {},
		"/plaza.v1.NetworkSettingService/GetSettings": {},
	} {
		got, audited := all[procedure]
		require.Equal(t, want.audited, audited, procedure)
		require.Equal(t, want.reads, got.reads, procedure)
	}
	for procedure, operation := range all {
		require.Contains(t, []string{"", "user", network.AuditSettings}, operation.Target, procedure)
	}
}

// privileged returns a user who exercised a permission.
func privileged(t *testing.T, p auth.Permission, s auth.Scope, roles ...string) *auth.Caller {
	t.Helper()
	caller := servicetest.User(t, "u", roles...)
	caller.PublicID = "anna"
	require.NoError(t, auth.Require(caller, p, s))
	return caller
}

func TestActor(t *testing.T) {
	t.Parallel()
	signedIn := &auth.Caller{KeyID: "api-key"}
	signedIn.SignedIn("u", "anna", []string{auth.RoleModerator})
	without := &auth.Caller{KeyID: "api-key"}
	without.SignedIn("u", "anna", nil)
	moderates := auth.Scope{Membership: &auth.Membership{Member: true, Roles: []string{auth.RoleCommunityModerator}}}
	member := auth.Scope{OwnerID: "u", Membership: &auth.Membership{Member: true}}
	serverKey, media := auth.Access{Caller: plazav1.Access_CALLER_SERVER_KEY}, auth.Access{Caller: plazav1.Access_CALLER_MEDIA_SERVER}
	for name, test := range map[string]struct {
		caller *auth.Caller
		access auth.Access
		want   network.AuditEvent // zero if nothing is recorded
		userID string
	}{
		"administrator": {servicetest.Admin(), auth.Access{}, network.AuditEvent{ActorKind: network.ActorAdministrator, Actor: "admin"}, ""},
		"network role": {
			privileged(t, auth.BanUser, auth.Scope{}, auth.RoleSuperModerator),
			auth.Access{},
			network.AuditEvent{ActorKind: network.ActorUser, Actor: "u", Roles: []string{auth.RoleSuperModerator}, Permission: "BAN_USER"},
			"anna",
		},
		"role in a community": {
			privileged(t, auth.DeleteCommunityPost, moderates),
			auth.Access{},
			network.AuditEvent{
				ActorKind: network.ActorUser, Actor: "u", Roles: []string{auth.RoleCommunityModerator},
				Permission: "DELETE_COMMUNITY_POST",
			},
			"anna",
		},
		"author of a post": {privileged(t, auth.DeleteCommunityPost, member), auth.Access{}, network.AuditEvent{}, ""},
		"reading by a role": {
			privileged(t, auth.ViewCommunity, auth.Scope{}, auth.RoleModerator),
			auth.Access{},
			network.AuditEvent{},
			"",
		},
		"user without a privilege":    {servicetest.User(t, "u"), auth.Access{}, network.AuditEvent{}, ""},
		"role that was not exercised": {servicetest.User(t, "u", auth.RoleGlobalAdmin), auth.Access{}, network.AuditEvent{}, ""},
		"sign-in of a role holder": {
			signedIn, auth.Access{}, network.AuditEvent{
				ActorKind: network.ActorUser, Actor: "u", Roles: []string{auth.RoleModerator},
				KeyID: "api-key",
			}, "anna",
		},
		"sign-in of another user": {without, auth.Access{}, network.AuditEvent{}, ""},
		"server key": {
			&auth.Caller{KeyID: "k"}, serverKey,
			network.AuditEvent{ActorKind: network.ActorServerKey, Actor: "k", KeyID: "k"},
			"",
		},
		"media server": {&auth.Caller{}, media, network.AuditEvent{ActorKind: network.ActorMediaServer}, ""},
		"anonymous":    {&auth.Caller{}, auth.Access{}, network.AuditEvent{}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			e := newRecorder().newEvent(auth.WithCaller(t.Context(), test.caller), "/plaza.v1.UserService/BanUser", operation{Access: test.access},
				nil)
			row, source, recorded := e.actor()
			require.Equal(t, test.want.ActorKind != "", recorded)
			test.want.Operation, test.want.RequestID, test.want.At = "UserService/BanUser", "request", servicetest.Noon
			require.Equal(t, test.want, row)
			require.Equal(t, network.AuditSource{UserID: test.userID, Address: "192.0.2.1", UserAgent: "agent"}, source)
		})
	}
}

func TestTargets(t *testing.T) {
	t.Parallel()
	r := newRecorder()
	pseudonym, channel, internal := r.deps.Directory.Pseudonym("anna"), r.deps.Directory.ChannelID("general"), region.NewID(region.SG)
	for name, test := range map[string]struct {
		operation string
		request   proto.Message
		want      []network.AuditTarget
	}{
		"one object":      {"PostService/DeletePost", &plazav1.DeletePostRequest{PostId: "p"}, []network.AuditTarget{{Type: "post", ID: "p"}}},
		"an unknown user": {"UserService/BanUser", &plazav1.BanUserRequest{UserId: "anna"}, []network.AuditTarget{{Type: "user", ID: pseudonym}}},
		"an internal id": {
			"UserService/BanUser", &plazav1.BanUserRequest{UserId: internal},
			[]network.AuditTarget{{Type: "user", ID: internal}},
		},
		"a public channel": {
			"ChannelService/DeleteChannel", &plazav1.DeleteChannelRequest{ChannelId: "general"},
			[]network.AuditTarget{{Type: "channel", ID: channel}},
		},
		"several users": {
			"MemberService/BanMembers", &plazav1.BanMembersRequest{CommunityId: "c", UserIds: []string{internal, "", "anna"}},
			[]network.AuditTarget{{Type: "community", ID: "c"}, {Type: "user", ID: internal}, {Type: "user", ID: pseudonym}},
		},
		"webhooks": {
			"WebhookService/UpdateWebhookSettings", &plazav1.UpdateWebhookSettingsRequest{},
			[]network.AuditTarget{{Type: network.AuditSettings, ID: "network"}},
		},
		"settings": {
			"NetworkSettingService/UpdateSocialSettings", &plazav1.UpdateSocialSettingsRequest{},
			[]network.AuditTarget{{Type: network.AuditSettings, ID: "network"}},
		},
		"the pre-hook": {
			"PrehookService/ReplaceManagedPrehook", &plazav1.ReplaceManagedPrehookRequest{},
			[]network.AuditTarget{{Type: network.AuditSettings, ID: "network"}},
		},
		"a scheduled post": {
			"ScheduledPostService/CancelScheduledPost", &plazav1.CancelScheduledPostRequest{Id: "p"},
			[]network.AuditTarget{{Type: "scheduledPost", ID: "p"}},
		},
		"several roles": {
			"RoleService/UpdateRoles", &plazav1.UpdateRolesRequest{PublicIds: []string{"a", "b"}},
			[]network.AuditTarget{{Type: "role", ID: "a"}, {Type: "role", ID: "b"}},
		},
		"an item of flags": {
			"FlagService/ClaimFlagItem", &plazav1.ClaimFlagItemRequest{TargetId: "p"},
			[]network.AuditTarget{{Type: "flagItem", ID: "p"}},
		},
		"a typed target": {
			"X/Y", &plazav1.ListAuditEventsRequest{TargetType: "story", TargetId: "s"},
			[]network.AuditTarget{{Type: "story", ID: "s"}},
		},
		"without its type":  {"X/Y", &plazav1.ListAuditEventsRequest{TargetId: "s"}, []network.AuditTarget{{Type: "network", ID: "network"}}},
		"no object":         {"RoleService/CreateRole", &plazav1.CreateRoleRequest{}, []network.AuditTarget{{Type: "network", ID: "network"}}},
		"no request":        {"X/Y", nil, []network.AuditTarget{{Type: "network", ID: "network"}}},
		"the caller itself": {"UserService/UpdateUser", nil, []network.AuditTarget{{Type: "user", ID: "me"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			procedure := "/plaza.v1." + test.operation
			e := r.newEvent(auth.WithCaller(t.Context(), servicetest.User(t, "me")), procedure, r.operations[procedure], test.request)
			require.ElementsMatch(t, test.want, e.allTargets())
		})
	}
}

func TestTargetsWithCreatedObjects(t *testing.T) {
	t.Parallel()
	ctx := auth.WithCaller(t.Context(), servicetest.User(t, "me"))
	e := newRecorder().newEvent(ctx, "/plaza.v1.PostService/DeletePost", operation{}, &plazav1.DeletePostRequest{PostId: "p"})
	auth.Created(ctx, "role", "r")
	auth.Created(ctx, "post", "p")
	require.Equal(t, []network.AuditTarget{{Type: "post", ID: "p"}, {Type: "role", ID: "r"}}, e.allTargets(), "each once")
}

func TestLimitOfTargets(t *testing.T) {
	t.Parallel()
	ids := func(n int) (ids []string) {
		for i := range n {
			ids = append(ids, fmt.Sprintf("user %d", i))
		}
		return ids
	}
	for n, want := range map[int]int{maxTargets - 1: maxTargets, maxTargets: maxTargets, maxTargets + 1: maxTargets} {
		e := newRecorder().newEvent(t.Context(), "/plaza.v1.X/Y", operation{}, &plazav1.BanMembersRequest{CommunityId: "c", UserIds: ids(n)})
		require.Len(t, e.allTargets(), want, "the community and %d users", n)
	}
}

func TestTextsOf(t *testing.T) {
	t.Parallel()
	m := (&plazav1.BanMembersRequest{CommunityId: "c", UserIds: []string{"a", "b"}}).ProtoReflect()
	require.Equal(t, []string{"c"}, textsOf(m, "community_id"))
	require.Equal(t, []string{"a", "b"}, textsOf(m, "user_ids"))
	require.Nil(t, textsOf(m, "post_id"), "no such field")
	require.Nil(t, textsOf((&plazav1.ListAuditEventsRequest{}).ProtoReflect(), "from"), "not a string")
	require.Empty(t, first(nil))
}
