package member_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

func (w *world) counts(ctx context.Context, id string) [2]int32 {
	c := w.get(ctx, id).GetCommunities()[0]
	return [2]int32{c.GetMembersCount(), c.GetModeratorMemberCount()}
}

func TestJoinAndLeave(t *testing.T) {
	w := newWorld(t)
	ann, bob := w.user(region.US, "ann"), w.user(region.EU, "bob")
	id := w.newCommunity(region.US, ann, &plazav1.CreateCommunityRequest{})
	s := w.servers[region.SG].member
	require.Equal(t, "neverJoined", membershipIn(w.get(bob, id), idOf(bob)).GetNotMemberReason())
	for range 2 {
		got := must(t, bob, s.JoinCommunity, &plazav1.JoinCommunityRequest{CommunityId: id})
		require.Equal(t, "member", membershipIn(got, idOf(bob)).GetCommunityMembership())
		require.Equal(t, int32(2), got.GetCommunities()[0].GetMembersCount())
	}
	refused(t, fail.CodeForbidden, ann, s.LeaveCommunity, &plazav1.LeaveCommunityRequest{CommunityId: id})
	for range 2 {
		got := must(t, bob, s.LeaveCommunity, &plazav1.LeaveCommunityRequest{CommunityId: id})
		require.Equal(t, "left", membershipIn(got, idOf(bob)).GetNotMemberReason())
		require.Equal(t, int32(1), got.GetCommunities()[0].GetMembersCount())
	}
	must(t, ann, s.LeaveCommunity, &plazav1.LeaveCommunityRequest{CommunityId: id})
	require.Equal(t, [2]int32{0, 0}, w.counts(bob, id))
	must(t, bob, s.JoinCommunity, &plazav1.JoinCommunityRequest{CommunityId: id})
	must(t, bob, s.LeaveCommunity, &plazav1.LeaveCommunityRequest{CommunityId: id})
	refused(t, fail.CodeForbidden, w.admin, s.JoinCommunity, &plazav1.JoinCommunityRequest{CommunityId: id})
	refused(t, fail.CodeNotFound, bob, s.JoinCommunity, &plazav1.JoinCommunityRequest{CommunityId: region.NewID(region.EU)})
	refused(t, fail.CodeNotFound, bob, s.LeaveCommunity, &plazav1.LeaveCommunityRequest{CommunityId: "junk"})
	for name, c := range map[string]struct {
		m    *plazav1.CreateCommunityRequest
		want fail.Code
	}{
		"needs approval": {&plazav1.CreateCommunityRequest{RequiresJoinApproval: true}, fail.CodeForbidden},
		"discoverable":   {&plazav1.CreateCommunityRequest{IsPublic: new(false), IsDiscoverable: new(true)}, fail.CodeForbidden},
		"hidden":         {&plazav1.CreateCommunityRequest{IsPublic: new(false)}, fail.CodeNotFound},
	} {
		t.Run(name, func(t *testing.T) {
			id := w.newCommunity(region.EU, ann, c.m)
			refused(t, c.want, bob, s.JoinCommunity, &plazav1.JoinCommunityRequest{CommunityId: id})
		})
	}
	w.drain()
	w.requireNoDrift()
}

func TestModeratorsRunTheirCommunity(t *testing.T) {
	w := newWorld(t)
	ann, bob, cem := w.user(region.US, "ann"), w.user(region.EU, "bob"), w.user(region.SG, "cem")
	id := w.newCommunity(region.EU, ann, &plazav1.CreateCommunityRequest{})
	s := w.servers[region.SG].member
	both := []string{"bob", "cem"}
	refused(t, fail.CodeForbidden, bob, s.AddMembers, &plazav1.AddMembersRequest{CommunityId: id, UserIds: both})
	refused(t, fail.CodeNotFound, ann, s.AddMembers, &plazav1.AddMembersRequest{CommunityId: id, UserIds: []string{"bob", "nobody"}})
	added := must(t, ann, s.AddMembers, &plazav1.AddMembersRequest{CommunityId: id, UserIds: both})
	require.Equal(t, int32(3), added.GetCommunities()[0].GetMembersCount())
	require.Len(t, added.GetCommunityUsers(), 3)
	require.Len(t, added.GetUsers(), 3)

	promote := &plazav1.AddMemberRolesRequest{CommunityId: id, Roles: []string{auth.RoleCommunityModerator}, UserIds: []string{"bob"}}
	got := must(t, ann, s.AddMemberRoles, promote)
	require.Equal(t, int32(2), got.GetCommunities()[0].GetModeratorMemberCount())
	require.Contains(t, membershipIn(got, idOf(bob)).GetPermissions(), "BAN_COMMUNITY_USER")
	refused(t, fail.CodeForbidden, cem, s.AddMemberRoles, promote)
	refused(t, fail.CodeUnexpected, ann, s.AddMemberRoles,
		&plazav1.AddMemberRolesRequest{CommunityId: id, Role: auth.RoleGlobalAdmin, UserIds: both})
	refused(t, fail.CodeUnexpected, ann, s.AddMemberRoles, &plazav1.AddMemberRolesRequest{CommunityId: id, UserIds: both})

	refused(t, fail.CodeForbidden, bob, s.BanMembers, &plazav1.BanMembersRequest{CommunityId: id, UserIds: []string{"bob"}})
	refused(t, fail.CodeForbidden, bob, s.BanMembers, &plazav1.BanMembersRequest{CommunityId: id, UserIds: []string{"cem", "ann"}})
	ended := must(t, w.admin, s.BanMembers, &plazav1.BanMembersRequest{CommunityId: id, UserIds: []string{"ann"}})
	require.Empty(t, membershipIn(ended, idOf(ann)).GetRoles())
	banned := must(t, bob, s.BanMembers, &plazav1.BanMembersRequest{CommunityId: id, UserIds: []string{"cem"}})
	require.Equal(t, [2]int32{1, 1}, w.counts(bob, id))
	require.True(t, membershipIn(banned, idOf(cem)).GetIsBanned())
	refused(t, fail.CodeBanned, cem, s.JoinCommunity, &plazav1.JoinCommunityRequest{CommunityId: id})
	refused(t, fail.CodeBanned, bob, s.AddMembers, &plazav1.AddMembersRequest{CommunityId: id, UserIds: []string{"cem"}})
	refused(t, fail.CodeNotFound, bob, s.AddMemberRoles,
		&plazav1.AddMemberRolesRequest{CommunityId: id, Role: auth.RoleChannelMember, UserIds: []string{"cem"}})
	unbanned := must(t, bob, s.UnbanMembers, &plazav1.UnbanMembersRequest{CommunityId: id, UserIds: []string{"cem"}})
	require.Equal(t, "removed", membershipIn(unbanned, idOf(cem)).GetNotMemberReason())
	must(t, cem, s.JoinCommunity, &plazav1.JoinCommunityRequest{CommunityId: id})

	last := []string{auth.RoleCommunityModerator}
	refused(t, fail.CodeForbidden, bob, s.RemoveMemberRoles,
		&plazav1.RemoveMemberRolesRequest{CommunityId: id, Roles: last, UserIds: []string{"bob"}})
	refused(t, fail.CodeForbidden, bob, s.RemoveMembers, &plazav1.RemoveMembersRequest{CommunityId: id, UserIds: []string{"bob"}})
	removed := must(t, w.admin, s.RemoveMembers, &plazav1.RemoveMembersRequest{CommunityId: id, UserIds: []string{"cem", "ann"}})
	require.Equal(t, "removed", membershipIn(removed, idOf(cem)).GetNotMemberReason())
	require.True(t, membershipIn(removed, idOf(ann)).GetIsBanned())
	must(t, w.admin, s.BanMembers, &plazav1.BanMembersRequest{CommunityId: id, UserIds: []string{"bob"}})
	require.Equal(t, [2]int32{0, 0}, w.counts(cem, id))
	w.drain()
	w.requireNoDrift()
}

func TestListMembers(t *testing.T) {
	w := newWorld(t)
	ann := w.user(region.US, "ann")
	var ids []string
	for i := range 5 {
		name := fmt.Sprintf("u%d", 4-i)
		w.user(region.All()[i%3], name)
		ids = append(ids, name)
	}
	id := w.newCommunity(region.SG, ann, &plazav1.CreateCommunityRequest{})
	s := w.servers[region.EU].member
	for _, user := range ids {
		must(t, ann, s.AddMembers, &plazav1.AddMembersRequest{CommunityId: id, UserIds: []string{user}})
	}
	must(t, ann, s.BanMembers, &plazav1.BanMembersRequest{CommunityId: id, UserIds: []string{"u0"}})
	for name, c := range map[string]struct {
		m    *plazav1.ListMembersRequest
		want []string
	}{
		"newest first": {&plazav1.ListMembersRequest{}, []string{"u1", "u2", "u3", "u4", "ann"}},
		"oldest first": {&plazav1.ListMembersRequest{SortBy: "firstCreated"}, []string{"ann", "u4", "u3", "u2", "u1"}},
		"by public id": {&plazav1.ListMembersRequest{SortBy: "displayName"}, []string{"ann", "u1", "u2", "u3", "u4"}},
		"banned":       {&plazav1.ListMembersRequest{Memberships: []string{"banned"}}, []string{"u0"}},
		"both": {
			&plazav1.ListMembersRequest{Memberships: []string{"member", "banned", "member"}},
			[]string{"u0", "u1", "u2", "u3", "u4", "ann"},
		},
		"search":     {&plazav1.ListMembersRequest{Search: "U3"}, []string{"u3"}},
		"moderators": {&plazav1.ListMembersRequest{Roles: []string{auth.RoleCommunityModerator}}, []string{"ann"}},
		"but moderator": {
			&plazav1.ListMembersRequest{ExcludingRoles: []string{auth.RoleCommunityModerator}, SortBy: "displayName"},
			[]string{"u1", "u2", "u3", "u4"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			got := walk(t, func(o *plazav1.PageOptions) ([]string, *plazav1.Paging) {
				m := c.m
				m.CommunityId, m.Options = id, o
				page := must(t, ann, s.ListMembers, m)
				require.True(t, page.GetCommunities()[0].GetIsJoined())
				var users []string
				for _, m := range page.GetCommunityUsers() {
					users = append(users, m.GetUserId())
				}
				return users, page.GetPaging()
			})
			require.Equal(t, c.want, got)
		})
	}
}

func TestJoinRequests(t *testing.T) {
	w := newWorld(t)
	ann, bob, cem := w.user(region.US, "ann"), w.user(region.EU, "bob"), w.user(region.SG, "cem")
	s, members := w.servers[region.SG].request, w.servers[region.SG].member
	closed := w.newCommunity(region.US, ann, &plazav1.CreateCommunityRequest{RequiresJoinApproval: true})
	open := w.newCommunity(region.EU, ann, &plazav1.CreateCommunityRequest{})
	ask := func(id string) *plazav1.RequestJoinRequest { return &plazav1.RequestJoinRequest{CommunityId: id} }

	got := must(t, bob, s.RequestJoin, ask(open)).GetJoinRequests()[0]
	require.Equal(t, "approved", got.GetStatus())
	require.Equal(t, got.GetPrivateId(), must(t, bob, s.RequestJoin, ask(open)).GetJoinRequests()[0].GetPrivateId(), "asked again")
	require.True(t, w.get(bob, open).GetCommunities()[0].GetIsJoined())
	refused(t, fail.CodeAlreadyExists, ann, s.RequestJoin, ask(open))
	refused(t, fail.CodeNotFound, bob, s.RequestJoin,
		ask(w.newCommunity(region.EU, ann, &plazav1.CreateCommunityRequest{IsPublic: new(false)})))

	mine := &plazav1.GetMyJoinRequestRequest{CommunityId: closed}
	require.Empty(t, must(t, bob, s.GetMyJoinRequest, mine).GetJoinRequests())
	require.Equal(t, "pending", must(t, bob, s.RequestJoin, ask(closed)).GetJoinRequests()[0].GetStatus())
	refused(t, fail.CodeAlreadyExists, bob, s.RequestJoin, ask(closed))
	require.Equal(t, "pending", must(t, bob, s.GetMyJoinRequest, mine).GetJoinRequests()[0].GetStatus())
	require.True(t, must(t, bob, s.CancelJoin, &plazav1.CancelJoinRequest{CommunityId: closed}).GetSuccess())
	refused(t, fail.CodeNotFound, bob, s.CancelJoin, &plazav1.CancelJoinRequest{CommunityId: closed})
	require.Equal(t, "cancelled", must(t, bob, s.GetMyJoinRequest, mine).GetJoinRequests()[0].GetStatus())

	must(t, bob, s.RequestJoin, ask(closed))
	must(t, cem, s.RequestJoin, ask(closed))
	refuse := func(user string) *plazav1.RejectJoinRequest {
		return &plazav1.RejectJoinRequest{CommunityId: closed, UserId: user}
	}
	refused(t, fail.CodeForbidden, cem, s.RejectJoin, refuse(idOf(bob)))
	refused(t, fail.CodeNotFound, ann, s.RejectJoin, refuse("nobody"))
	refused(t, fail.CodeNotFound, ann, s.RejectJoin, &plazav1.RejectJoinRequest{CommunityId: region.NewID(region.SG), UserId: "bob"})
	require.True(t, must(t, ann, s.RejectJoin, refuse(idOf(bob))).GetSuccess())
	refused(t, fail.CodeNotFound, ann, s.RejectJoin, refuse("bob"))
	require.True(t, must(t, ann, s.ApproveJoin, &plazav1.ApproveJoinRequest{CommunityId: closed, UserId: "cem"}).GetSuccess())
	require.Equal(t, [2]int32{2, 1}, w.counts(cem, closed))
	answered := must(t, cem, s.GetMyJoinRequest, mine).GetJoinRequests()[0]
	require.Equal(t, []string{"approved", "ann"}, []string{answered.GetStatus(), answered.GetResponderPublicId()})

	must(t, bob, s.RequestJoin, ask(closed))
	must(t, ann, members.BanMembers, &plazav1.BanMembersRequest{CommunityId: closed, UserIds: []string{"bob"}})
	require.Equal(t, "rejected", must(t, bob, s.GetMyJoinRequest, mine).GetJoinRequests()[0].GetStatus())
	refused(t, fail.CodeBanned, bob, s.RequestJoin, ask(closed))

	refused(t, fail.CodeForbidden, cem, s.ListJoinRequests, &plazav1.ListJoinRequestsRequest{CommunityId: closed})
	for name, c := range map[string]struct {
		m    *plazav1.ListJoinRequestsRequest
		want []string
	}{
		"all": {&plazav1.ListJoinRequestsRequest{}, []string{"bob rejected", "cem approved", "bob rejected", "bob cancelled"}},
		"oldest": {
			&plazav1.ListJoinRequestsRequest{SortBy: "createdAt", SortOrder: "asc"},
			[]string{"bob cancelled", "bob rejected", "cem approved", "bob rejected"},
		},
		"some": {
			&plazav1.ListJoinRequestsRequest{Statuses: []string{"rejected", "approved"}},
			[]string{"bob rejected", "cem approved", "bob rejected"},
		},
		"pending": {&plazav1.ListJoinRequestsRequest{Status: "pending"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.want, walk(t, func(o *plazav1.PageOptions) ([]string, *plazav1.Paging) {
				m := c.m
				m.CommunityId, m.Options = closed, o
				page := must(t, ann, s.ListJoinRequests, m)
				var all []string
				for _, j := range page.GetJoinRequests() {
					all = append(all, j.GetRequestorPublicId()+" "+j.GetStatus())
				}
				return all, page.GetPaging()
			}))
		})
	}
	w.drain()
	w.requireNoDrift()
}

// TestNothingDrifts lets all users change the same memberships concurrently, in all regions, while the database rejects
// one transaction in four and connections die, and then compares every count and mirror with its facts. Before, each operation
// succeeds once.
func TestNothingDrifts(t *testing.T) {
	w := newWorld(t)
	boss := w.user(region.US, "boss", auth.RoleSuperModerator)
	id := w.newCommunity(region.EU, boss, &plazav1.CreateCommunityRequest{})
	closed := w.newCommunity(region.SG, boss, &plazav1.CreateCommunityRequest{RequiresJoinApproval: true})
	users := make([]context.Context, 6)
	for i := range users {
		users[i] = w.user(region.All()[i%3], fmt.Sprintf("u%d", i)) //nolint:fatcontext // each is a user of its own
	}
	acts := w.acts(boss, id, closed)
	for _, act := range acts {
		require.NoError(t, act.do(w.servers[region.EU], users[0], []string{"u0", "u0"}), act.name)
	}
	w.injectFaults()
	stop := w.killConnections()
	var g sync.WaitGroup
	for worker := range 8 {
		g.Go(func() {
			random := rand.New(rand.NewPCG(uint64(worker), 1))
			for range 25 {
				n := random.IntN(len(acts))
				err := acts[n].do(w.servers[region.All()[random.IntN(3)]], users[random.IntN(len(users))],
					[]string{fmt.Sprintf("u%d", random.IntN(len(users))), fmt.Sprintf("u%d", random.IntN(len(users)))})
				if !isExpected(err) {
					t.Errorf("%s: %v", acts[n].name, err)
				}
			}
		})
	}
	g.Wait()
	stop()
	w.fault.Store(nil)
	w.drain()
	w.requireNoDrift()
}

// isExpected reports whether an operation may end with an error while memberships change and connections die.
func isExpected(err error) bool {
	switch codeOf(err) {
	case 0, fail.CodeForbidden, fail.CodeBanned, fail.CodeNotFound, fail.CodeAlreadyExists, fail.CodeConflict:
		return true
	default:
		return errors.Is(err, fail.Unavailable("", nil))
	}
}

// act is an operation on one or two users.
type act struct {
	name string
	do   func(s *server, a context.Context, two []string) error
}

// acts returns what the users of TestNothingDrifts do, in an order in which all succeed.
func (w *world) acts(boss context.Context, id, closed string) []act {
	join := func(s *server, a context.Context, _ []string) error {
		return errOf(a, s.member.JoinCommunity, &plazav1.JoinCommunityRequest{CommunityId: id})
	}
	return []act{
		{"add", func(s *server, _ context.Context, two []string) error {
			return errOf(boss, s.member.AddMembers, &plazav1.AddMembersRequest{CommunityId: id, UserIds: two})
		}},
		{"promote", func(s *server, _ context.Context, two []string) error {
			return errOf(boss, s.member.AddMemberRoles,
				&plazav1.AddMemberRolesRequest{CommunityId: id, Role: auth.RoleCommunityModerator, UserIds: two})
		}},
		{"remove", func(s *server, _ context.Context, two []string) error {
			return errOf(boss, s.member.RemoveMembers, &plazav1.RemoveMembersRequest{CommunityId: id, UserIds: two})
		}},
		{"join", join},
		{"ban", func(s *server, _ context.Context, two []string) error {
			return errOf(boss, s.member.BanMembers, &plazav1.BanMembersRequest{CommunityId: id, UserIds: two})
		}},
		{"unban", func(s *server, _ context.Context, two []string) error {
			return errOf(boss, s.member.UnbanMembers, &plazav1.UnbanMembersRequest{CommunityId: id, UserIds: two})
		}},
		{"join again", join},
		{"leave", func(s *server, a context.Context, _ []string) error {
			return errOf(a, s.member.LeaveCommunity, &plazav1.LeaveCommunityRequest{CommunityId: id})
		}},
		{"ask and approve", func(s *server, a context.Context, _ []string) error {
			if err := errOf(a, s.request.RequestJoin, &plazav1.RequestJoinRequest{CommunityId: closed}); !isExpected(err) {
				return err
			}
			return errOf(boss, s.request.ApproveJoin, &plazav1.ApproveJoinRequest{CommunityId: closed, UserId: idOf(a)})
		}},
		{"leave the closed one", func(s *server, a context.Context, _ []string) error {
			return errOf(a, s.member.LeaveCommunity, &plazav1.LeaveCommunityRequest{CommunityId: closed})
		}},
	}
}

// errOf returns the error of a request.
func errOf[T, U any](ctx context.Context, op func(context.Context, *T) (*U, error), m *T) error {
	_, err := call(ctx, op, m)
	return err
}

func (w *world) injectFaults() {
	refuse := func() error {
		if rand.IntN(4) == 0 {
			return &pgconn.PgError{Code: "40001", Message: "injected"}
		}
		return nil
	}
	w.fault.Store(&refuse)
}

// killConnections repeatedly ends connections of the servers until the returned function is called.
func (w *world) killConnections() func() {
	conn := w.connect()
	done := make(chan struct{})
	var g sync.WaitGroup
	g.Go(func() {
		for {
			select {
			case <-done:
				return
			default:
				_, _ = conn.Exec(w.t.Context(), `SELECT count(pg_terminate_backend(pid)) FROM (SELECT pid FROM pg_stat_activity
					WHERE datname = current_database() AND pid <> pg_backend_pid() AND state = 'active' LIMIT 1) AS victim`)
				_, _ = conn.Exec(w.t.Context(), `SELECT pg_sleep(0.05)`)
			}
		}
	})
	return func() {
		close(done)
		g.Wait()
	}
}

// TestTheLastModeratorStays lets two moderators demote each other at once: one of them stays.
func TestTheLastModeratorStays(t *testing.T) {
	w := newWorld(t)
	ann, bob := w.user(region.US, "ann"), w.user(region.EU, "bob")
	s := w.servers[region.EU].member
	for range 5 {
		id := w.newCommunity(region.EU, ann, &plazav1.CreateCommunityRequest{UserIds: []string{"bob"}})
		roles := []string{auth.RoleCommunityModerator}
		must(t, ann, s.AddMemberRoles, &plazav1.AddMemberRolesRequest{CommunityId: id, Roles: roles, UserIds: []string{"bob"}})
		var g sync.WaitGroup
		for me, other := range map[string]context.Context{"bob": ann, "ann": bob} {
			g.Go(func() {
				_, _ = call(other, s.RemoveMemberRoles, &plazav1.RemoveMemberRolesRequest{CommunityId: id, Roles: roles, UserIds: []string{me}})
			})
		}
		g.Wait()
		require.Equal(t, [2]int32{2, 1}, w.counts(ann, id))
	}
	w.drain()
	w.requireNoDrift()
}
