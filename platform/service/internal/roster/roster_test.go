package roster

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/people"
)

var errBanned = errors.New("banned")

// newRoster returns a roster of a member, a banned and a former member, and a user without an entry, all of whom the
// request names.
func newRoster(userIDs ...string) *Roster[communities.Member, communities.MemberChange] {
	deleted := time.Now()
	change := func(state string) func(people.User, *communities.Member) communities.MemberChange {
		return func(u people.User, m *communities.Member) communities.MemberChange {
			return communities.MemberChange{Old: m, New: communities.Member{UserID: u.ID, State: state}}
		}
	}
	if userIDs == nil {
		userIDs = []string{"member", "banned", "former", "new"}
	}
	return &Roster[communities.Member, communities.MemberChange]{
		Rules: Rules[communities.Member, communities.MemberChange]{
			UserID: func(m communities.Member) string { return m.UserID }, ErrBanned: errBanned,
			IsMember: (*communities.Member).IsMember, IsBanned: (*communities.Member).IsBanned,
			Join: change(communities.StateMember), Ban: change(communities.StateBanned),
			Remove: func(m communities.Member) communities.MemberChange {
				return communities.MemberChange{Old: &m, New: communities.Member{UserID: m.UserID, State: communities.StateRemoved}}
			},
		},
		CallerID: "caller", UserIDs: userIDs,
		Entries: []communities.Member{
			{UserID: "member", State: communities.StateMember, Roles: []string{"a"}},
			{UserID: "banned", State: communities.StateBanned},
			{UserID: "former", State: communities.StateLeft},
		},
		Users: []people.User{{ID: "member"}, {ID: "banned"}, {ID: "former"}, {ID: "new"}, {ID: "deleted", DeletedAt: &deleted}, {ID: "caller"}},
	}
}

// states returns the new states of changes by user, with a star if the user had an entry.
func states(changes []communities.MemberChange) map[string]string {
	found := map[string]string{}
	for _, c := range changes {
		found[c.New.UserID] = c.New.State
		if c.Old != nil {
			found[c.New.UserID] += "*"
		}
	}
	return found
}

func TestAdd(t *testing.T) {
	for name, c := range map[string]struct {
		ids  []string
		want map[string]string
		err  error
	}{
		"new and former members": {
			[]string{"new", "former", "member"},
			map[string]string{"new": "member", "former": "member*", "member": "member*"},
			nil,
		},
		"banned":  {[]string{"new", "banned"}, nil, errBanned},
		"unknown": {[]string{"new", "unknown"}, nil, fail.NotFound()},
		"deleted": {[]string{"deleted"}, nil, fail.NotFound()},
	} {
		t.Run(name, func(t *testing.T) {
			changes, err := newRoster(c.ids...).Add()
			require.ErrorIs(t, err, c.err)
			if c.err == nil {
				require.Equal(t, c.want, states(changes))
			}
		})
	}
}

func TestBan(t *testing.T) {
	for name, c := range map[string]struct {
		ids  []string
		want map[string]string
		err  error
	}{
		"all":     {nil, map[string]string{"member": "banned*", "banned": "banned*", "former": "banned*", "new": "banned"}, nil},
		"deleted": {[]string{"deleted"}, map[string]string{"deleted": "banned"}, nil},
		"unknown": {[]string{"member", "unknown"}, nil, fail.NotFound()},
		"self":    {[]string{"member", "caller"}, nil, errBanSelf},
	} {
		t.Run(name, func(t *testing.T) {
			changes, err := newRoster(c.ids...).Ban()
			require.ErrorIs(t, err, c.err)
			if c.err == nil {
				require.Equal(t, c.want, states(changes))
			}
		})
	}
}

// TestBanEntryWithoutUser tests that a member whose user could not be read can be banned.
func TestBanEntryWithoutUser(t *testing.T) {
	r := newRoster("member")
	r.Users = nil
	changes, err := r.Ban()
	require.NoError(t, err)
	require.Equal(t, map[string]string{"member": "banned*"}, states(changes))
}

func TestRemove(t *testing.T) {
	require.Equal(t, map[string]string{"member": "removed*", "banned": "banned*", "former": "left*"}, states(newRoster().Remove()))
	require.Equal(t, map[string]string{"member": "member*", "banned": "removed*", "former": "left*"}, states(newRoster().Unban()))
	for _, c := range newRoster().Remove() {
		require.Equal(t, c.New.UserID == "member", c.Needed(), c.New.UserID)
	}
}

func TestEdit(t *testing.T) {
	edit := func(m communities.Member) communities.MemberChange {
		edited := m
		edited.Roles = WithRoles(m.Roles, []string{"b"})
		return communities.MemberChange{Old: &m, New: edited}
	}
	changes, err := newRoster("member").Edit(edit)
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b"}, changes[0].New.Roles)
	require.Equal(t, []string{"a"}, changes[0].Old.Roles)
	for _, id := range []string{"banned", "former", "new", "unknown"} {
		_, err := newRoster("member", id).Edit(edit)
		require.ErrorIs(t, err, fail.NotFound(), id)
	}
}

func TestRoles(t *testing.T) {
	for _, c := range []struct{ have, roles, with, without []string }{
		{nil, nil, nil, nil},
		{nil, []string{"a"}, []string{"a"}, nil},
		{[]string{"a"}, []string{"a"}, []string{"a"}, []string{}},
		{[]string{"b", "a"}, []string{"a", "c"}, []string{"b", "a", "c"}, []string{"b"}},
		{[]string{"a", "b"}, nil, []string{"a", "b"}, []string{"a", "b"}},
	} {
		require.Equal(t, c.with, WithRoles(c.have, c.roles))
		require.Equal(t, c.without, WithoutRoles(c.have, c.roles))
	}
}
