//go:build cluster

package clustertest

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// writeEvery is the interval of the writes in each region.
const writeEvery = 150 * time.Millisecond

// traffic is one user per region who writes continuously and never retries.
type traffic struct {
	writers map[string]*writer
	ended   chan struct{}
	wait    sync.WaitGroup
}

// writer writes posts. Every second one uses a new connection.
type writer struct {
	mu     sync.Mutex // held for the whole request
	person *person
	paused bool
	posts  []string
	failed []string
}

// startTraffic starts the writers.
func (s *suite) startTraffic(t *testing.T) {
	t.Helper()
	s.traffic = &traffic{writers: map[string]*writer{}, ended: make(chan struct{})}
	for code, p := range s.people {
		w := &writer{person: p}
		s.traffic.writers[code] = w
		s.traffic.wait.Go(func() { w.write(s.traffic.ended) })
	}
}

func (w *writer) write(ended <-chan struct{}) {
	tick := time.NewTicker(writeEvery)
	defer tick.Stop()
	for n := 0; ; n++ {
		select {
		case <-ended:
			return
		case <-tick.C:
			w.one(n)
		}
	}
}

func (w *writer) one(n int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.paused {
		return
	}
	over := []*http.Client{kept, fresh}[n%2]
	began := time.Now()
	id, err := w.person.post(over, fmt.Sprintf("post %d", n))
	if err != nil {
		w.failed = append(w.failed, fmt.Sprintf("%s at %s, after %s (new connection: %t): %v",
			w.person.code, began.Format("15:04:05.000"), time.Since(began).Round(time.Millisecond), over == fresh, err))
		return
	}
	w.posts = append(w.posts, id)
}

// pause stops the writers of regions until resume.
func (s *suite) pause(codes ...string) {
	for _, code := range codes {
		w := s.traffic.writers[code]
		w.mu.Lock()
		w.paused = true
		w.mu.Unlock()
	}
	kept.CloseIdleConnections()
}

// resume starts the writers of regions again, at the regions' current addresses.
func (s *suite) resume(t *testing.T, codes ...string) {
	t.Helper()
	for _, code := range codes {
		base := s.base(t, code)
		w := s.traffic.writers[code]
		w.mu.Lock()
		w.paused, w.person.base = false, base
		w.mu.Unlock()
	}
}

// sent returns how many requests the writer has sent, and whether it is paused.
func (w *writer) sent() (int, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.posts) + len(w.failed), w.paused
}

// moreWrites waits until every writer that is not paused has sent some more requests.
func (s *suite) moreWrites(t *testing.T) {
	t.Helper()
	const more = 30
	for _, code := range codes {
		w := s.traffic.writers[code]
		before, paused := w.sent()
		if paused {
			continue
		}
		s.within(t, "users of "+code+" go on writing", func() string {
			if now, _ := w.sent(); now < before+more {
				return fmt.Sprintf("%d requests since", now-before)
			}
			return ""
		})
	}
}

// nothingFailed checks that every write so far has succeeded.
func (s *suite) nothingFailed(t *testing.T) {
	t.Helper()
	for _, code := range codes {
		w := s.traffic.writers[code]
		w.mu.Lock()
		wrote, failed := len(w.posts), w.failed
		w.mu.Unlock()
		require.Empty(t, failed, "requests that failed, of %d", wrote+len(failed))
		s.sayf("    %s: %d requests were sent, 0 failed", code, wrote)
	}
}

// nothingLost reads every tenth post and the last ones.
func (s *suite) nothingLost(t *testing.T) {
	t.Helper()
	for _, code := range codes {
		w := s.traffic.writers[code]
		require.NotEmpty(t, w.posts, code)
		read := 0
		for i, id := range w.posts {
			if i%10 == 0 || i >= len(w.posts)-20 {
				require.NoError(t, w.person.read("/api/v3/posts/"+id))
				read++
			}
		}
		s.sayf("    %s: of %d posts that were acknowledged, %d were read, 0 are lost", code, len(w.posts), read)
	}
}
