package community

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/service/internal/membership"
	"github.com/plaza-social/plaza/platform/service/internal/servicetest"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/people"
)

func TestRequireCategories(t *testing.T) {
	t.Parallel()
	rows := []communities.Category{{ID: "a"}, {ID: "b"}, {ID: "gone", DeletedAt: &servicetest.Noon}}
	for name, test := range map[string]struct {
		wanted []string
		ok     bool
	}{
		"none": {nil, true}, "known": {[]string{"b", "a"}, true}, "unknown": {[]string{"a", "c"}, false}, "deleted": {[]string{"gone"}, false},
	} {
		require.Equal(t, test.ok, requireCategories(test.wanted, rows) == nil, name)
	}
}

func TestFirstMembers(t *testing.T) {
	t.Parallel()
	d := &draft{users: []people.User{{ID: "creator"}, {ID: "anna"}}}
	changes := d.members(communities.Community{ID: "c", CreatorID: "creator"}, servicetest.Noon)
	require.Len(t, changes, 2, "the creator once")
	require.Equal(t, "creator", changes[0].New.UserID)
	require.Equal(t, membership.CreatorRoles(), changes[0].New.Roles)
	require.Equal(t, "anna", changes[1].New.UserID)
	require.Equal(t, membership.MemberRoles(), changes[1].New.Roles)
}

func TestMembersInCommunities(t *testing.T) {
	t.Parallel()
	got := membersIn([]communities.Member{{CommunityID: "a"}, {CommunityID: "hidden"}, {CommunityID: "b"}},
		[]communities.Community{{ID: "b"}, {ID: "a"}})
	require.Equal(t, []communities.Member{{CommunityID: "a"}, {CommunityID: "b"}}, got)
}
