//go:build faults

package faults

import (
	"net/http"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/config"
	"github.com/plaza-social/plaza/platform/devdb/testdb"
	"github.com/plaza-social/plaza/platform/faults/proxy"
	"github.com/plaza-social/plaza/platform/region"
)

// TestHotPost holds a lock on a post's row in another connection, as a stuck transaction would, while many requests write
// to the post. They wait until it is released, and all other requests succeed in the meantime, also those to the same community. On
// CockroachDB, reads of the post wait as well; a proxy makes them wait on PostgreSQL.
func TestHotPost(t *testing.T) {
	if testdb.Cockroach(t) {
		testHotPost(t, true, nil)
		return
	}
	t.Run("readers do not wait", func(t *testing.T) { testHotPost(t, false, nil) })
	t.Run("readers wait", func(t *testing.T) {
		var p *proxy.Proxy
		var once sync.Once
		lock := newRowLock(50 * time.Millisecond)
		through := apptest.WithDatabaseURLs(map[region.Code]func(string) string{region.US: func(url string) string {
			once.Do(func() { p = proxy.New(t, url).Filter(lock.filter) })
			return p.Through(url)
		}})
		testHotPost(t, true, lock, through)
	})
}

// testHotPost is TestHotPost where the lock of a row does or does not make reads of the row wait. lock makes them wait, unless it is nil.
func testHotPost(t *testing.T, readersWait bool, lock *rowLock, opts ...apptest.Option) {
	t.Helper()
	n := startAll(t, append(opts, apptest.WithConfig(func(cfg *config.Config) {
		cfg.StatementTimeout, cfg.RequestTimeout = config.Duration(apptest.Patience), config.Duration(apptest.Patience)
	}))...)
	author, reader := n.NewUser(t, region.US, "author"), n.NewUser(t, region.US, "reader")
	community := author.NewCommunity(t)
	reader.Join(t, community)
	hot, other := author.NewPost(t, community), author.NewPost(t, community)
	conn, watch := connect(t, n), connect(t, n)
	held, err := conn.Begin(t.Context())
	require.NoError(t, err)
	_, err = held.Exec(t.Context(), `SELECT id FROM posts WHERE home = 'us' AND id = $1 FOR UPDATE`, hot)
	require.NoError(t, err)
	unlock := func() { require.NoError(t, held.Rollback(t.Context())) }
	// areWaiting reports whether requests wait for the lock.
	areWaiting := func() bool { return len(rows(t, watch, `SELECT 1 FROM pg_locks WHERE NOT granted`)) > 0 }
	if testdb.Cockroach(t) { // which does not tell who waits
		areWaiting = func() bool { return true }
	}
	const writes = 40
	if lock != nil {
		lock.set(hot)
		areWaiting = func() bool { return lock.refused() >= writes }
		release := unlock
		unlock = func() { lock.unlock(); release() }
	}

	var writers, readers, others sync.WaitGroup
	flags, edits, reads := make(chan int, writes), make(chan int, writes), make(chan int, writes)
	for range writes {
		writers.Go(func() {
			flags <- author.Do(t, http.MethodPost, "/api/v3/posts/"+hot+"/flag", object{"reason": "Others"}).Status
			edits <- reader.Do(t, http.MethodPut, "/api/v4/posts/"+hot, object{"data": object{"text": "edited"}}).Status
		})
	}
	require.Eventually(t, areWaiting, apptest.Patience, time.Millisecond)
	for range writes {
		readers.Go(func() { reads <- reader.Do(t, http.MethodGet, "/api/v3/posts/"+hot, nil).Status })
	}
	if !readersWait {
		readers.Wait()
	}
	for i, request := range []func(i int) *apptest.Response{
		func(int) *apptest.Response { return reader.Do(t, http.MethodGet, "/api/v3/posts/"+other, nil) },
		func(i int) *apptest.Response {
			return reader.Do(t, http.MethodPost, "/api/v3/comments",
				object{"referenceId": other, "referenceType": "post", "data": object{"text": strconv.Itoa(i)}})
		},
		func(i int) *apptest.Response {
			return reader.Do(t, []string{http.MethodPost, http.MethodDelete}[i%2], "/api/v3/posts/"+other+[]string{"/flag", "/unflag"}[i%2],
				object{})
		},
	} {
		others.Go(func() {
			for try := range 20 {
				if r := request(try); r.Status != http.StatusOK {
					t.Errorf("request %d of kind %d: %d %s", try, i, r.Status, r.Body)
					return
				}
			}
		})
	}
	others.Wait()
	require.Empty(t, flags, "the row is locked")
	unlock()
	writers.Wait()
	readers.Wait()
	for range writes {
		require.Equal(t, http.StatusOK, <-flags)
		require.Equal(t, http.StatusForbidden, <-edits)
		require.Equal(t, http.StatusOK, <-reads)
	}
}
