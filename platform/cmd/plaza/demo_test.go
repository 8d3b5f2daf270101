package main

import (
	"context"
	"slices"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/region"
)

// TestDemoContentIsConsistent checks that the content refers to existing users only.
func TestDemoContentIsConsistent(t *testing.T) {
	homes := map[string]region.Code{}
	for _, p := range demoPeople {
		require.NotContains(t, homes, p.id)
		homes[p.id] = p.home
	}
	for _, c := range demoCommunities {
		require.Equal(t, c.home, homes[c.founder], "a community's home is its founder's")
		members := append([]string{c.founder}, c.members...)
		for _, member := range members {
			require.Contains(t, homes, member)
		}
		require.True(t, slices.ContainsFunc(members, func(m string) bool { return homes[m] != c.home }), "a member from another region")
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

// TestDevDemo fills a network and checks that a second start does not change it.
func TestDevDemo(t *testing.T) {
	dir, port := t.TempDir(), freePorts(t)
	for range 2 {
		p, _ := startDev(t, dir, port, "--demo")
		url := p.facts(t).DatabaseURL
		for _, home := range region.All() {
			require.Equal(t, 1, count(t, url, "communities", home))
			require.Equal(t, 3, count(t, url, "users", home))
			require.Equal(t, postsAt(home), count(t, url, "posts", home))
		}
		p.stop(t, syscall.SIGTERM)
	}
}

// postsAt returns the number of demo posts at home, which is the home of their community.
func postsAt(home region.Code) int {
	n := 0
	for _, c := range demoCommunities {
		if c.home == home {
			n += len(c.posts)
		}
	}
	return n
}

func count(t *testing.T, url, table string, home region.Code) int {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	defer func() { _ = conn.Close(context.WithoutCancel(t.Context())) }()
	var n int
	sql := "SELECT count(*) FROM " + pgx.Identifier{table}.Sanitize() + " WHERE home = $1"
	require.NoError(t, conn.QueryRow(t.Context(), sql, home.String()).Scan(&n))
	return n
}
