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
	"github.com/plaza-social/plaza/platform/region"
)

// TestHotPost holds a lock on a post's row in another connection, as a stuck transaction would, while many requests write
// to the post. They fail in time; all other requests succeed, also those to the same community.
func TestHotPost(t *testing.T) {
	n := startAll(t, apptest.WithConfig(func(cfg *config.Config) { cfg.StatementTimeout = config.Duration(2 * time.Second) }))
	author, reader := n.NewUser(t, region.US, "author"), n.NewUser(t, region.US, "reader")
	community := author.NewCommunity(t)
	reader.Join(t, community)
	hot, other := author.NewPost(t, community), author.NewPost(t, community)
	conn := connect(t, n)
	held, err := conn.Begin(t.Context())
	require.NoError(t, err)
	_, err = held.Exec(t.Context(), `SELECT id FROM posts WHERE home = 'us' AND id = $1 FOR UPDATE`, hot)
	require.NoError(t, err)

	var writers, others sync.WaitGroup
	answers := make(chan int, 3*40)
	for range 40 {
		writers.Go(func() {
			answers <- author.Do(t, http.MethodPost, "/api/v3/posts/"+hot+"/flag", object{"reason": "Others"}).Status
			answers <- reader.Do(t, http.MethodPut, "/api/v4/posts/"+hot, object{"data": object{"text": "edited"}}).Status
		})
	}
	done := make(chan struct{})
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
			for try := 0; ; try++ {
				if r := request(try); r.Status != http.StatusOK {
					t.Errorf("request %d of kind %d: %d %s", try, i, r.Status, r.Body)
					return
				}
				select {
				case <-done:
					return
				default:
				}
			}
		})
	}
	writers.Wait()
	close(done)
	others.Wait()
	close(answers)
	for status := range answers {
		require.Contains(t, []int{http.StatusServiceUnavailable, http.StatusForbidden}, status)
	}
	require.NoError(t, held.Rollback(t.Context()))
	author.Do(t, http.MethodPost, "/api/v3/posts/"+hot+"/flag", object{"reason": "Others"}).OK(t)
}
