package service

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/people"
)

func TestLists(t *testing.T) {
	for _, c := range []struct{ list, distinct, sorted []string }{
		{nil, nil, nil},
		{[]string{}, nil, nil},
		{[]string{"b"}, []string{"b"}, []string{"b"}},
		{[]string{"b", "a", "b", "", "a"}, []string{"b", "a", ""}, []string{"", "a", "b"}},
	} {
		require.Equal(t, c.distinct, Distinct(c.list))
		require.Equal(t, c.sorted, SortedSet(c.list))
	}
}

func TestFind(t *testing.T) {
	users := []people.User{{ID: "a"}, {ID: "b", DisplayName: "first"}, {ID: "b"}}
	require.Same(t, &users[1], UserByID(users, "b"))
	require.Nil(t, UserByID(users, "c"))
	require.Nil(t, UserByID(nil, "a"))
}

func TestReplaceList(t *testing.T) {
	current := []int{1}
	require.Equal(t, []int{2}, ReplaceList([]int{2}, current, nil, "list"), "a list replaces")
	require.Equal(t, current, ReplaceList(nil, current, nil, "list"), "an absent list does not")
	require.Equal(t, current, ReplaceList(nil, current, []string{"other"}, "list"))
	require.Empty(t, ReplaceList(nil, current, []string{"other", "list"}, "list"), "a cleared one does")
	require.Equal(t, []int{2}, ReplaceList([]int{2}, current, []string{"list"}, "list"))
}

func TestMap(t *testing.T) {
	require.Equal(t, []string{"b", "a"}, Map([]people.User{{ID: "b"}, {ID: "a"}}, func(u people.User) string { return u.ID }))
	require.Empty(t, Map(nil, func(u people.User) string { return u.ID }))
}

func TestSortByID(t *testing.T) {
	users := []people.User{{ID: "a"}, {ID: "b"}, {ID: "c"}}
	SortByID(users, []string{"c", "a", "b"}, func(u people.User) string { return u.ID })
	require.Equal(t, []people.User{{ID: "c"}, {ID: "a"}, {ID: "b"}}, users)
}

func TestFilters(t *testing.T) {
	yes, no := true, false
	for name, test := range map[string]struct {
		hasFlag   *bool
		moderates bool
		want      core.Flagged
		err       error
	}{
		"none":             {nil, false, core.FlaggedAny, nil},
		"none, moderator":  {nil, true, core.FlaggedAny, nil},
		"true":             {&yes, false, core.FlaggedAny, fail.NotAllowed()},
		"true, moderator":  {&yes, true, core.FlaggedOnly, nil},
		"false as default": {&no, false, core.FlaggedAny, nil},
		"false, moderator": {&no, true, core.FlaggedNone, nil},
	} {
		got, err := FlaggedOf(test.hasFlag, test.moderates)
		require.Equal(t, test.want, got, name)
		require.Equal(t, test.err, err, name)
	}
	require.Equal(t, []core.Deleted{core.DeletedAny, core.DeletedOnly, core.DeletedNone},
		[]core.Deleted{DeletedOf(nil), DeletedOf(&yes), DeletedOf(&no)})
	for sortBy, want := range map[string]Order{
		"": {Desc: true}, "lastCreated": {Desc: true}, "firstCreated": {}, "lastUpdated": {ByUpdate: true, Desc: true},
		"firstUpdated": {ByUpdate: true},
	} {
		require.Equal(t, want, OrderOf(sortBy), sortBy)
	}
}
