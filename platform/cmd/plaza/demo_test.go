package main

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/region"
)

// TestDemoContentHoldsTogether finds a name that is nobody's before a start does.
func TestDemoContentHoldsTogether(t *testing.T) {
	homes := map[string]region.Code{}
	for _, p := range demoPeople {
		require.NotContains(t, homes, p.id)
		homes[p.id] = p.home
	}
	for _, c := range demoCommunities {
		require.Equal(t, c.home, homes[c.founder], "a community lives where it is made")
		members := append([]string{c.founder}, c.members...)
		for _, member := range members {
			require.Contains(t, homes, member)
		}
		require.True(t, slices.ContainsFunc(members, func(m string) bool { return homes[m] != c.home }), "somebody from elsewhere")
		for _, p := range c.posts {
			require.Subset(t, members, append([]string{p.author}, p.flaggedBy...))
			requireMembers(t, members, p.comments)
		}
	}
	for _, home := range region.All() {
		require.True(t, slices.ContainsFunc(demoPeople, func(p demoPerson) bool { return p.home == home }))
		require.True(t, slices.ContainsFunc(demoCommunities, func(c demoCommunity) bool { return c.home == home }))
	}
}

func requireMembers(t *testing.T, members []string, comments []demoComment) {
	t.Helper()
	for _, c := range comments {
		require.Subset(t, members, append([]string{c.author}, c.flaggedBy...))
		requireMembers(t, members, c.answers)
	}
}
