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
	"github.com/plaza-social/plaza/platform/region"
)

// TestHotPost holds a lock on a post's row in another connection, as a stuck transaction would, while many requests write
// to the post. They wait until it is released, and all other requests succeed in the meantime, also those to the same community.
func TestHotPost(t *testing.T) {
	n := startAll(t, apptest.WithConfig(func(cfg *config.Config) {
		cfg.StatementTimeout, cfg.RequestTimeout = config.Duration(apptest.Patience), config.Duration(apptest.Patience)
	}))
	author, reader := n.NewUser(t, region.US, "author"), n.NewUser(t, region.US, "reader")
	community := author.NewCommunity(t)
	reader.Join(t, community)
	hot, other := author.NewPost(t, community), author.NewPost(t, community)
	conn, watch := connect(t, n), connect(t, n)
	held, err := conn.Begin(t.Context())
	require.NoError(t, err)
	_, err = held.Exec(t.Context(), `SELECT id FROM posts WHERE home = 'us' AND id = $1 FOR UPDATE`, hot)
	require.NoError(t, err)

	const writes = 40
	var writers, others sync.WaitGroup
	flags, edits := make(chan int, writes), make(chan int, writes)
	for range writes {
		writers.Go(func() {
			flags <- author.Do(t, http.MethodPost, "/api/v3/posts/"+hot+"/flag", object{"reason": "Others"}).Status
			edits <- reader.Do(t, http.MethodPut, "/api/v4/posts/"+hot, object{"data": object{"text": "edited"}}).Status
		})
	}
	if !testdb.Cockroach(t) { // which does not tell who waits
		require.Eventually(t, func() bool {
			return len(rows(t, watch, `SELECT 1 FROM pg_locks WHERE NOT granted`)) > 0
		}, apptest.Patience, time.Millisecond)
	}
	for i, request := range []func(i int) *apptest.Response{
		func(int) *apptest.Response { return reader.Do(t, http.MethodGet, "/api/v3/posts/"+hot, nil) },
		func(int) *apptest.Response { return reader.Do(t, http.MethodGet, "/api/v3/posts/"+other, nil) },
		func(i int) *apptest.Response {
			return reader.Do(t, http.MethodPost, "/api/v3/comments", object{"referenceId": other, "referenceType": "post", "data": object{"text": strconv.Itoa(i)}})
		},
		func(i int) *apptest.Response {
			return reader.Do(t, []string{http.MethodPost, http.MethodDelete}[i%2], "/api/v3/posts/"+other+[]string{"/flag", "/unflag"}[i%2], object{})
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
	require.NoError(t, held.Rollback(t.Context()))
	writers.Wait()
	for range writes {
		require.Equal(t, http.StatusOK, <-flags)
		require.Equal(t, http.StatusForbidden, <-edits)
	}
}
