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
	content, err := loadDemo()
	require.NoError(t, err)
	homes := map[string]region.Code{}
	for _, p := range content.People {
		require.NotContains(t, homes, p.ID)
		homes[p.ID] = p.Home
	}
	for _, c := range content.Communities {
		require.Equal(t, c.Home, homes[c.Founder], "a community's home is its founder's")
		members := append([]string{c.Founder}, c.Members...)
		for _, member := range members {
			require.Contains(t, homes, member)
		}
		require.True(t, slices.ContainsFunc(members, func(m string) bool { return homes[m] != c.Home }), "a member from another region")
		for _, p := range c.Posts {
			require.Subset(t, members, append([]string{p.Author}, p.FlaggedBy...))
			requireMembers(t, members, p.Comments)
		}
	}
	for _, home := range region.All() {
		require.True(t, slices.ContainsFunc(content.People, func(p demoPerson) bool { return p.Home == home }))
		require.True(t, slices.ContainsFunc(content.Communities, func(c demoCommunity) bool { return c.Home == home }))
	}
}

func requireMembers(t *testing.T, members []string, comments []demoComment) {
	t.Helper()
	for _, c := range comments {
		require.Subset(t, members, append([]string{c.Author}, c.FlaggedBy...))
		requireMembers(t, members, c.Answers)
	}
}

// TestDevDemo fills a network and checks that a second start does not change it.
func TestDevDemo(t *testing.T) {
	dir := t.TempDir()
	for range 2 {
		p, _ := startDev(t, dir, "--demo")
		url := p.facts(t).DatabaseURL
		for _, home := range region.All() {
			require.Equal(t, 1, count(t, url, "communities", home))
			require.Equal(t, 3, count(t, url, "users", home))
			require.Equal(t, postsAt(t, home), count(t, url, "posts", home))
		}
		p.stop(t, syscall.SIGTERM)
	}
}

// postsAt returns the number of demo posts at home, which is the home of their community.
func postsAt(t *testing.T, home region.Code) int {
	t.Helper()
	content, err := loadDemo()
	require.NoError(t, err)
	n := 0
	for _, c := range content.Communities {
		if c.Home == home {
			n += len(c.Posts)
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
