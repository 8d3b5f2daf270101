package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
)

func readCommunity(t *testing.T, s *store.Store, id string) *communities.Community {
	t.Helper()
	var c *communities.Community
	r := s.NewReadBatch()
	r.Community(id, &c)
	run(t, r)
	return c
}

// categoriesOf reads which categories list a community, by the table that the lists walk.
func categoriesOf(t *testing.T, s *store.Store, c communities.Community) []string {
	t.Helper()
	var ids []string
	r := s.NewReadBatch()
	r.Add(homeOf(c.ID), &db.Statement{SQL: `SELECT COALESCE(array_agg(category_id ORDER BY category_id), '{}') FROM community_categories
		WHERE home = $1 AND community_id = $2`}, scanRow(&ids), c.ID)
	run(t, r)
	return ids
}

func TestCommunities(t *testing.T) {
	s := openNew(t)
	first, second := region.NewID(region.US), region.NewID(region.EU)
	c := newCommunity(t, s, region.US, func(c *communities.Community) { c.CategoryIDs = []string{first, second} })
	require.ElementsMatch(t, []string{first, second}, categoriesOf(t, s, c))
	name := "Cloud watchers"
	var changed *communities.Community
	w := s.NewTx(region.US)
	w.UpdateCommunity(c.ID, communities.CommunityChange{DisplayName: &name, CategoryIDs: []string{second}}, later(1), &changed)
	commit(t, w)
	require.Equal(t, name, changed.DisplayName)
	require.True(t, changed.IsPublic, "what is not named stays")
	require.Equal(t, []string{second}, categoriesOf(t, s, c))

	w = s.NewTx(region.US)
	w.DeleteCommunity(c.ID, later(2))
	commit(t, w)
	require.Equal(t, later(2), readCommunity(t, s, c.ID).DeletedAt.UTC())
	for what, write := range map[string]func(w *store.Tx){
		"change": func(w *store.Tx) {
			w.UpdateCommunity(c.ID, communities.CommunityChange{DisplayName: &name}, now, &changed)
		},
		"delete":       func(w *store.Tx) { w.DeleteCommunity(c.ID, now) },
		"need":         func(w *store.Tx) { w.GuardCommunity(c.ID) },
		"another need": func(w *store.Tx) { w.GuardTarget("community", c.ID, fail.NotFound()) },
	} {
		w := s.NewTx(region.US)
		write(w)
		require.ErrorIs(t, w.Commit(t.Context()), fail.NotFound(), what)
	}
}

func TestNamesThatAreTaken(t *testing.T) {
	s := openNew(t)
	c := newCommunity(t, s, region.US)
	create := func(home region.Code, name string) error {
		fresh := aCommunity(home)
		fresh.DisplayName = name
		w := s.NewTx(home)
		w.InsertCommunity(fresh, refused, now)
		return w.Commit(t.Context())
	}
	require.ErrorIs(t, create(region.US, c.DisplayName), refused)
	require.NoError(t, create(region.US, c.DisplayName+"!"), "the same beginning")
	require.NoError(t, create(region.EU, c.DisplayName), "each home knows its own")
	w := s.NewTx(region.US)
	w.DeleteCommunity(c.ID, now)
	commit(t, w)
	require.NoError(t, create(region.US, c.DisplayName), "the name is free again")
}

// member reads one membership.
func member(t *testing.T, s *store.Store, communityID, userID string) *communities.Member {
	t.Helper()
	var m *communities.Member
	r := s.NewReadBatch()
	r.Member(communityID, userID, &m)
	run(t, r)
	return m
}

func joining(c communities.Community, userID string, old *communities.Member, roles ...string) communities.MemberChange {
	return communities.MemberChange{Old: old, New: communities.Member{
		CommunityID: c.ID, UserID: userID, UserPublicID: "p", State: communities.StateMember, Roles: roles, JoinedAt: now,
	}}
}

func leaving(old *communities.Member) communities.MemberChange {
	ended := *old
	ended.State, ended.Roles = communities.StateLeft, nil
	return communities.MemberChange{Old: old, New: ended}
}

func TestMembersAreCounted(t *testing.T) {
	s := openNew(t)
	c := newCommunity(t, s, region.US)
	users := []string{region.NewID(region.US), region.NewID(region.EU), region.NewID(region.SG)}
	change := func(changes ...communities.MemberChange) ([]core.OutboxRow, error) {
		w := s.NewTx(region.US)
		rows := w.ChangeMembers(c.ID, changes, now, now)
		return rows, w.Commit(t.Context())
	}
	requireCounts := func(members, moderators int64) {
		t.Helper()
		counts := countsOf(t, s, c.ID)
		require.Equal(t, members, counts.Of(c.ID, core.CountMembers))
		require.Equal(t, moderators, counts.Of(c.ID, core.CountModerators))
	}
	rows, err := change(joining(c, users[0], nil, "community-moderator"), joining(c, users[1], nil), joining(c, users[2], nil))
	require.NoError(t, err)
	require.Len(t, rows, 2, "the mirrors of other homes")
	requireCounts(3, 1)
	_, err = change(joining(c, users[0], nil))
	require.ErrorIs(t, err, core.ErrConflict, "there is a row already")

	var twice []communities.Member
	r := s.NewReadBatch()
	r.Members(c.ID, append(users, users...), &twice)
	run(t, r)
	require.Len(t, twice, 3, "each once")

	read := member(t, s, c.ID, users[0])
	require.True(t, read.IsModerator())
	_, err = change(leaving(read))
	require.NoError(t, err)
	requireCounts(2, 0)
	_, err = change(leaving(read))
	require.ErrorIs(t, err, core.ErrConflict, "it is not what was read")
	requireCounts(2, 0)
	_, err = change(leaving(member(t, s, c.ID, users[0])), joining(c, users[1], member(t, s, c.ID, users[1])))
	require.NoError(t, err, "nothing changes")
	requireCounts(2, 0)
	require.Equal(t, int64(2), member(t, s, c.ID, users[0]).Version)
	require.Nil(t, member(t, s, c.ID, region.NewID(region.US)))

	w := s.NewTx(region.US)
	w.GuardModerator(c.ID, refused)
	require.ErrorIs(t, w.Commit(t.Context()), refused)
	_, err = change(leaving(member(t, s, c.ID, users[1])), leaving(member(t, s, c.ID, users[2])))
	require.NoError(t, err)
	w = s.NewTx(region.US)
	w.GuardModerator(c.ID, refused)
	require.NoError(t, w.Commit(t.Context()), "no member is left")
}

// TestMirrorsAreTheNewest delivers the states of a membership in every order, each twice: the newest stands.
func TestMirrorsAreTheNewest(t *testing.T) {
	s := openNew(t)
	states := []string{communities.StateMember, communities.StateLeft, communities.StateMember, communities.StateBanned}
	for _, order := range permutations(4) {
		userID, communityID := region.NewID(region.SG), region.NewID(region.US)
		for _, i := range append(order, order...) {
			w := s.NewTx(region.SG)
			w.MirrorMembers([]communities.MirroredMember{{
				UserID: userID, CommunityID: communityID, State: states[i], Version: int64(i + 1),
				ChangedAt: later(i),
			}})
			commit(t, w)
		}
		var ids []string
		var state string
		r := s.NewReadBatch()
		r.CommunitiesOfUser(userID, &ids)
		r.Add(region.SG, &db.Statement{SQL: `SELECT state FROM user_communities WHERE home = $1 AND user_id = $2`}, scanRow(&state), userID)
		run(t, r)
		require.Equal(t, communities.StateBanned, state, "%v", order)
		require.Empty(t, ids)
	}
}

// permutations returns every order of 0 to n-1.
func permutations(n int) [][]int {
	if n == 0 {
		return [][]int{nil}
	}
	var all [][]int
	for _, p := range permutations(n - 1) {
		for at := range n {
			q := append([]int{}, p[:at]...)
			all = append(all, append(append(q, n-1), p[at:]...))
		}
	}
	return all
}

func TestJoinRequests(t *testing.T) {
	s := openNew(t)
	c := newCommunity(t, s, region.US)
	first := aJoinRequest(c)
	write := func(f func(w *store.Tx)) error {
		w := s.NewTx(region.US)
		f(w)
		return w.Commit(t.Context())
	}
	request := func(j communities.JoinRequest) error {
		return write(func(w *store.Tx) { w.InsertJoinRequest(j, refused) })
	}
	pending := func() *communities.JoinRequest {
		var j *communities.JoinRequest
		r := s.NewReadBatch()
		r.PendingJoinRequest(c.ID, first.RequestorID, &j)
		run(t, r)
		return j
	}
	answer := func(status string) error {
		return write(func(w *store.Tx) {
			w.AnswerJoinRequest(c.ID, first.RequestorID, communities.JoinAnswer{Status: status, ResponderID: c.CreatorID, ResponderPublicID: "anna"},
				later(5))
		})
	}
	require.NoError(t, request(first))
	second := first
	second.ID, second.CreatedAt = region.NewID(region.US), later(1)
	require.ErrorIs(t, request(second), refused, "one pending request at a time")
	require.Equal(t, first.ID, pending().ID)
	require.NoError(t, answer(communities.JoinRejected))
	require.ErrorIs(t, answer(communities.JoinApproved), fail.NotFound(), "answered already")
	require.Nil(t, pending())

	require.NoError(t, request(second))
	var latest *communities.JoinRequest
	r := s.NewReadBatch()
	r.LatestJoinRequest(c.ID, first.RequestorID, &latest)
	run(t, r)
	require.Equal(t, second.ID, latest.ID)

	require.NoError(t, write(func(w *store.Tx) {
		w.ResolveJoinRequests(c.ID, []string{first.RequestorID, region.NewID(region.SG)},
			communities.JoinAnswer{Status: communities.JoinApproved}, later(6))
	}))
	require.Nil(t, pending())
	var all []communities.JoinRequest
	r = s.NewReadBatch()
	r.ListJoinRequests(communities.JoinRequestList{
		CommunityID: c.ID, Statuses: []string{communities.JoinApproved, communities.JoinRejected},
		AfterTime: now.AddDate(-1, 0, 0), Limit: 9,
	}, &all)
	run(t, r)
	require.Len(t, all, 2)
	require.Equal(t, []string{second.ID, first.ID}, []string{all[0].ID, all[1].ID})
	require.Equal(t, "anna", all[1].ResponderPublicID)
	require.Equal(t, later(6), all[0].RespondedAt.UTC())
}
