//go:build faults

package faults

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/devdb"
	"github.com/plaza-social/plaza/platform/faults/proxy"
	"github.com/plaza-social/plaza/platform/region"
)

// database is a PostgreSQL server with a folder that a test can kill and restart.
type database struct {
	t   *testing.T
	dir string
	db  *devdb.DB
}

func startDatabase(t *testing.T) *database {
	t.Helper()
	d := &database{t: t, dir: t.TempDir()}
	d.start()
	t.Cleanup(func() { require.NoError(t, d.db.Stop(context.WithoutCancel(t.Context()))) })
	return d
}

func (d *database) start() {
	d.t.Helper()
	var err error
	d.db, err = devdb.Start(d.t.Context(), devdb.Options{Dir: d.dir})
	require.NoError(d.t, err)
}

// kill ends the server as a power failure would, as far as a process can tell.
func (d *database) kill() {
	d.t.Helper()
	text, err := os.ReadFile(filepath.Join(d.dir, "postgres", "data", "postmaster.pid"))
	require.NoError(d.t, err)
	line, _, _ := strings.Cut(string(text), "\n")
	pid, err := strconv.Atoi(line)
	require.NoError(d.t, err)
	require.NoError(d.t, syscall.Kill(pid, syscall.SIGKILL))
	<-d.db.Died()
	require.NoError(d.t, d.db.Stop(d.t.Context()))
}

// acknowledged are the ids of acknowledged writes.
type acknowledged struct {
	mu    sync.Mutex
	ids   map[string][]string // by table
	count atomic.Int64
}

func (a *acknowledged) add(table, id string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ids[table] = append(a.ids[table], id)
	a.count.Add(1)
}

// TestAcknowledgedWritesSurviveCrash kills the database under a load of writes. Every acknowledged write is there
// after the restart. No other test runs in the meantime, because the time limits are those of production.
func TestAcknowledgedWritesSurviveCrash(t *testing.T) {
	d := startDatabase(t)
	if d.db.Engine() != devdb.PostgreSQL {
		t.Log("only a PostgreSQL server that was started here can be killed")
		return
	}
	require.NoError(t, migrate(t.Context(), d.db.URL()))
	p := proxy.New(t, d.db.URL())
	through := func(string) string { return p.Through(d.db.URL()) }
	urls := apptest.WithDatabaseURLs(map[region.Code]func(string) string{region.US: through, region.EU: through, region.SG: through})
	n := startAll(t, apptest.WithProductionLimits(), urls)
	acked := &acknowledged{ids: map[string][]string{}}
	stop := write(t, n, acked)
	atLeast := func(more int64) {
		t.Helper()
		goal := acked.count.Load() + more
		require.Eventually(t, func() bool { return acked.count.Load() >= goal }, apptest.Patience, time.Millisecond)
	}
	atLeast(50)
	d.kill()
	d.start()
	p.Aim(t, d.db.URL())
	atLeast(50)
	stop()
	conn, err := pgx.Connect(t.Context(), d.db.URL())
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(t.Context()) })
	for table, ids := range acked.ids {
		var lost []string
		require.NoError(t, conn.QueryRow(t.Context(), `SELECT COALESCE(array_agg(a.id), '{}') FROM unnest($1::text[]) AS a (id)
			WHERE NOT EXISTS (SELECT 1 FROM `+table+` AS x WHERE x.id = a.id)`, ids).Scan(&lost))
		require.Empty(t, lost, "%d %s were acknowledged", len(ids), table)
	}
	require.Eventually(t, func() bool { return len(rows(t, conn, `SELECT 1 FROM outbox`)) == 0 }, apptest.Patience, 50*time.Millisecond)
	for name, sql := range driftQueries {
		require.Empty(t, rows(t, conn, sql), name)
	}
}

// write has users of every region write until stop, and records the acknowledged writes.
func write(t *testing.T, n *apptest.Network, acked *acknowledged) (stop func()) {
	t.Helper()
	var ended atomic.Bool
	var all sync.WaitGroup
	for _, home := range region.All() {
		c := n.NewUser(t, home, "writer")
		community := c.NewCommunity(t)
		acked.add("users", c.InternalID)
		acked.add("communities", community)
		all.Go(func() {
			for !ended.Load() {
				writeOnce(t, c, community, acked)
			}
		})
	}
	return func() {
		ended.Store(true)
		all.Wait()
	}
}

// writeOnce creates a post and a comment. If a request fails, it waits for the servers.
func writeOnce(t *testing.T, c *apptest.Client, community string, acked *acknowledged) {
	t.Helper()
	posted := c.Do(t, http.MethodPost, "/api/v4/posts",
		object{"targetType": "community", "targetId": community, "data": object{"text": "hello"}})
	if posted.Status != http.StatusOK {
		c.Network.AwaitReady(t)
		return
	}
	id := posted.String(t, "posts.0.postId")
	acked.add("posts", id)
	commented := c.Do(t, http.MethodPost, "/api/v3/comments",
		object{"referenceType": "post", "referenceId": id, "data": object{"text": "well"}})
	if commented.Status == http.StatusOK {
		acked.add("comments", commented.String(t, "comments.0.commentId"))
	}
	if c.Do(t, http.MethodPost, "/api/v3/posts/"+id+"/flag", nil).Status == http.StatusOK {
		acked.add("(SELECT target_id AS id FROM flags)", id)
	}
}
