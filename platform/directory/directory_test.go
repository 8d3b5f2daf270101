package directory_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/directory"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/faults/proxy"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/db"
	"github.com/plaza-social/plaza/platform/store/db/dbtest"
)

// patience is how long tests wait for what must happen. Only a test that fails waits that long.
const patience = 2 * time.Minute

var (
	key = []byte("the same in every region")
	now = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
)

// network is a database with a proxy in front of each home.
type network struct {
	t       *testing.T
	url     string
	proxies map[region.Code]*proxy.Proxy
}

func newNetwork(t *testing.T) *network {
	t.Helper()
	n := &network{t: t, url: dbtest.New(t), proxies: map[region.Code]*proxy.Proxy{}}
	for _, home := range region.All() {
		n.proxies[home] = proxy.New(t, n.url)
	}
	return n
}

// at returns the directory of a new server of a region, with an empty cache.
func (n *network) at(local region.Code) *directory.Directory {
	n.t.Helper()
	d, _ := n.serverAt(local)
	return d
}

// serverAt is at, with the store of the server.
func (n *network) serverAt(local region.Code) (*directory.Directory, *store.Store) {
	n.t.Helper()
	cfg := db.Config{URLs: map[region.Code]string{}, Log: slog.New(slog.DiscardHandler), StatementTimeout: patience}
	for home, p := range n.proxies {
		cfg.URLs[home] = p.Through(n.url)
	}
	st, err := store.Open(n.t.Context(), cfg)
	require.NoError(n.t, err)
	n.t.Cleanup(func() {
		for _, p := range n.proxies {
			p.Restore()
		}
		st.Close()
	})
	return directory.New(st, local, key, func() time.Time { return now }, slog.New(slog.DiscardHandler)), st
}

// homesOf returns the user id in the row of a public id at each home that has one.
func (n *network) homesOf(publicID string) map[region.Code]string {
	n.t.Helper()
	conn, err := pgx.Connect(n.t.Context(), n.url)
	require.NoError(n.t, err)
	defer func() { _ = conn.Close(n.t.Context()) }()
	const byHash = `SELECT home, user_id FROM directory WHERE user_hash = $1`
	found, err := conn.Query(n.t.Context(), byHash, hash(publicID)) //nolint:rowserrcheck // ForEachRow checks it
	require.NoError(n.t, err)
	rows := map[region.Code]string{}
	var home, id string
	_, err = pgx.ForEachRow(found, []any{&home, &id}, func() error {
		rows[region.Code(home)] = id
		return nil
	})
	require.NoError(n.t, err)
	return rows
}

func hash(publicID string) []byte {
	mac := hmac.New(sha256.New, key)
	mac.Write([]byte(publicID))
	return mac.Sum(nil)
}

// nameDecidedAt returns a user id whose authoritative row is at home.
func nameDecidedAt(home region.Code) string { return nameLike("user", home) }

func nameLike(name string, home region.Code) string {
	for i := 0; ; i++ {
		name := fmt.Sprintf("%s-%d", name, i)
		if region.All()[hash(name)[0]%3] == home {
			return name
		}
	}
}

func lookup(t *testing.T, d *directory.Directory, publicID string) string {
	t.Helper()
	id, err := d.Lookup(t.Context(), publicID)
	require.NoError(t, err)
	return id
}

func claim(t *testing.T, d *directory.Directory, publicID string) string {
	t.Helper()
	id, err := d.Claim(t.Context(), publicID, region.NewID(region.US))
	require.NoError(t, err)
	return id
}

func TestRowsOfAUserID(t *testing.T) {
	n := newNetwork(t)
	us, sg := n.at(region.US), n.at(region.SG)
	anna := nameDecidedAt(region.EU)
	require.Empty(t, lookup(t, us, anna))
	require.Empty(t, n.homesOf(anna), "a lookup stores nothing")

	id := claim(t, us, anna)
	require.Equal(t, map[region.Code]string{region.EU: id, region.US: id}, n.homesOf(anna), "the authoritative row and a copy")
	require.Equal(t, id, claim(t, sg, anna), "claims are idempotent")
	require.Equal(t, id, lookup(t, us, anna))
	require.Equal(t, map[region.Code]string{region.EU: id, region.US: id, region.SG: id}, n.homesOf(anna))

	ben := nameDecidedAt(region.US)
	id = claim(t, us, ben)
	require.Equal(t, map[region.Code]string{region.US: id}, n.homesOf(ben))
	require.Equal(t, id, lookup(t, sg, ben))
	require.Equal(t, map[region.Code]string{region.US: id, region.SG: id}, n.homesOf(ben), "a lookup stores a copy")
}

// TestClaimsAgree claims the same user ids concurrently in all regions, each with a different internal id.
func TestClaimsAgree(t *testing.T) {
	n := newNetwork(t)
	var servers []*directory.Directory
	for _, home := range region.All() {
		servers = append(servers, n.at(home), n.at(home))
	}
	for i := range 6 {
		name := fmt.Sprintf("concurrent %d", i)
		given := make([]string, len(servers))
		var all sync.WaitGroup
		for j, d := range servers {
			all.Go(func() {
				var err error
				if given[j], err = d.Claim(t.Context(), name, region.NewID(region.All()[j%3])); err != nil {
					t.Error(err)
				}
			})
		}
		all.Wait()
		for j, d := range servers {
			require.Equal(t, given[0], given[j])
			require.Equal(t, given[0], lookup(t, d, name))
		}
		for _, id := range n.homesOf(name) {
			require.Equal(t, given[0], id)
		}
	}
}

func TestUnavailableHome(t *testing.T) {
	n := newNetwork(t)
	anna, ben := nameDecidedAt(region.EU), nameDecidedAt(region.SG)
	first := n.at(region.US)
	annaID, benID := claim(t, first, anna), claim(t, n.at(region.SG), ben)
	n.proxies[region.EU].Cut()
	us, sg, eu := n.at(region.US), n.at(region.SG), n.at(region.EU)
	for _, d := range []*directory.Directory{us, sg, eu} {
		require.Eventually(t, func() bool { return knowsAway(t, d) }, patience, time.Millisecond)
	}
	require.Equal(t, annaID, lookup(t, us, anna), "found in the copy")
	require.Equal(t, benID, lookup(t, us, ben))
	require.Equal(t, benID, lookup(t, eu, ben), "without the local home the authoritative row is read")
	require.NotEmpty(t, claim(t, us, nameLike("new", region.US)))
	require.NotEmpty(t, claim(t, us, nameLike("new", region.SG)))

	require.Equal(t, annaID, lookup(t, sg, anna), "found in another home's copy")
	require.Equal(t, annaID, n.homesOf(anna)[region.SG])
	stranger := nameLike("new", region.EU)
	for _, d := range []*directory.Directory{us, sg, eu} {
		_, err := d.Resolve(t.Context(), anna, stranger)
		requireAway(t, err) // only the authoritative row can prove that
		_, err = d.Claim(t.Context(), stranger, region.NewID(region.US))
		requireAway(t, err)
	}
	n.proxies[region.EU].Restore()
	require.Eventually(t, func() bool {
		id, err := sg.Lookup(t.Context(), stranger)
		return err == nil && id == ""
	}, patience, 10*time.Millisecond)
}

// knowsAway asks a server for a user whom eu decides, and reports whether it has found out that eu does not answer. A server that has
// not waits as long as its caller, but a home counts as away only if it was given a second.
func knowsAway(t *testing.T, d *directory.Directory) bool {
	t.Helper()
	brief, cancel := context.WithTimeout(t.Context(), 1100*time.Millisecond)
	defer cancel()
	_, err := d.Lookup(brief, nameLike("unknown", region.EU))
	require.Error(t, err)
	return strings.Contains(err.Error(), "did not answer a moment ago")
}

func requireAway(t *testing.T, err error) {
	t.Helper()
	require.ErrorIs(t, err, fail.Unavailable("", nil))
	require.Equal(t, []string{"home region eu did not answer in time"}, fail.From(err).Details)
}

func TestResolve(t *testing.T) {
	n := newNetwork(t)
	d := n.at(region.US)
	anna, ben := claim(t, d, "anna"), claim(t, d, "ben")
	stranger, looksLikeBen := region.NewID(region.EU), ben
	mallory := claim(t, d, looksLikeBen) // a public id that equals another user's internal id
	fresh := n.at(region.SG)
	for name, tc := range map[string]struct {
		ids  []string
		want map[string]string
	}{
		"no ids":         {nil, map[string]string{}},
		"public ids":     {[]string{"anna", "ben"}, map[string]string{"anna": anna, "ben": ben}},
		"duplicate":      {[]string{"anna", "anna"}, map[string]string{"anna": anna}},
		"unknown":        {[]string{"anna", "zoe"}, map[string]string{"anna": anna}},
		"an internal id": {[]string{stranger, anna}, map[string]string{stranger: stranger, anna: anna}},
		"public id wins": {[]string{looksLikeBen}, map[string]string{looksLikeBen: mallory}},
	} {
		t.Run(name, func(t *testing.T) {
			for _, server := range []*directory.Directory{d, fresh} {
				got, err := server.Resolve(t.Context(), tc.ids...)
				require.NoError(t, err)
				require.Equal(t, tc.want, got)
			}
		})
	}
	one, err := fresh.ResolveOne(t.Context(), "anna")
	require.NoError(t, err)
	require.Equal(t, anna, one)
	require.Empty(t, lookup(t, d, anna), "signing in does not accept internal ids")
	require.Empty(t, lookup(t, d, stranger))
}

// TestCache counts round trips: cached entries are not read again, absent ones are.
func TestCache(t *testing.T) {
	n := newNetwork(t)
	name := nameDecidedAt(region.EU)
	id := claim(t, n.at(region.EU), name)
	d := n.at(region.US)
	trips := func(publicID string) int64 {
		ctx, count := db.CountRoundTrips(t.Context())
		got, err := d.Lookup(ctx, publicID)
		require.NoError(t, err)
		require.Equal(t, publicID == name, got == id)
		return count.Load()
	}
	require.Equal(t, int64(3), trips(name), "local copy, authoritative row, storing a copy")
	require.Zero(t, trips(name))
	require.Equal(t, int64(2), trips(nameDecidedAt(region.SG)))
	require.Equal(t, int64(2), trips(nameDecidedAt(region.SG)), "unknown users are not cached")
	require.Equal(t, int64(1), trips(nameDecidedAt(region.US)), "the authoritative row is local")
}

// TestRelease frees a public id everywhere. Servers that cached the old entry notice within a minute, or at once when
// they look the id up without the cache, and a later owner of the id keeps it.
func TestRelease(t *testing.T) {
	n := newNetwork(t)
	eu, us := n.at(region.EU), n.at(region.US)
	first, err := eu.Claim(t.Context(), "alice", region.NewID(region.EU))
	require.NoError(t, err)
	found, err := us.Lookup(t.Context(), "alice")
	require.NoError(t, err)
	require.Equal(t, first, found)

	require.NoError(t, eu.Release(t.Context(), "alice", first))
	for _, home := range region.All() {
		found, err := n.at(home).Lookup(t.Context(), "alice")
		require.NoError(t, err)
		require.Empty(t, found, home)
	}
	found, err = us.Lookup(t.Context(), "alice")
	require.NoError(t, err)
	require.Equal(t, first, found, "cached")
	require.Empty(t, us.Refresh(t.Context(), "alice"))

	second, err := us.Claim(t.Context(), "alice", region.NewID(region.US))
	require.NoError(t, err)
	require.NotEqual(t, first, second)
	require.NoError(t, eu.Release(t.Context(), "alice", first))
	found, err = eu.Lookup(t.Context(), "alice")
	require.NoError(t, err)
	require.Equal(t, second, found)
}
