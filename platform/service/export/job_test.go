package export_test

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service/export"
	"github.com/plaza-social/plaza/platform/service/internal/servicetest"
	"github.com/plaza-social/plaza/platform/storage"
	"github.com/plaza-social/plaza/platform/store/lifecycle"
	"github.com/plaza-social/plaza/platform/store/people"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// Posts of two users: more than two pages each.
const posts = 1100

// world is the database of a user who is being exported.
type world struct {
	*servicetest.World
	t       *testing.T
	storage *storage.Storage
	user    string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	files, err := storage.Open(t.Context(), map[region.Code]string{region.EU: (&url.URL{Scheme: "file", Path: t.TempDir()}).String()})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, files.Close()) })
	w := &world{servicetest.NewWorld(t), t, files, region.NewID(region.EU)}
	w.fill()
	return w
}

// fill stores posts of the user and of another one, and the export.
func (w *world) fill() {
	w.t.Helper()
	tx := w.Store.NewTx(region.EU)
	tx.InsertUser(people.User{ID: w.user, PublicID: "alice", DisplayName: "Alice"}, servicetest.Noon)
	for i := range 2 * posts {
		servicetest.InsertWallPost(tx, w.user, []string{w.user, region.NewID(region.US)}[i%2], i)
	}
	var started *lifecycle.Export
	tx.StartExport(lifecycle.Export{ID: w.user, PublicID: "alice"}, servicetest.Noon, servicetest.Noon.Add(-24*time.Hour), &started)
	require.NoError(w.t, tx.Commit(w.t.Context()))
	require.Equal(w.t, lifecycle.ExportCollecting, started.State)
}

func (w *world) export() *lifecycle.Export {
	w.t.Helper()
	var e *lifecycle.Export
	reads := w.Store.NewReadBatch()
	reads.Export(w.user, &e)
	require.NoError(w.t, reads.Run(w.t.Context()))
	return e
}

// requireArchive checks that the archive has every post of the user once.
func (w *world) requireArchive() {
	w.t.Helper()
	e := w.export()
	require.Equal(w.t, lifecycle.ExportReady, e.State)
	require.JSONEq(w.t, fmt.Sprintf(`{"users":1,"posts":%d}`, posts), string(e.Exported))
	from, err := w.storage.Open(w.t.Context(), w.user, "archive.zip")
	require.NoError(w.t, err)
	content, err := io.ReadAll(from)
	require.NoError(w.t, errors.Join(err, from.Close()))
	require.Len(w.t, content, int(e.Bytes))
	archive, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	require.NoError(w.t, err)
	list, err := archive.Open("posts.json")
	require.NoError(w.t, err)
	var rows []struct{ ID, AuthorID string }
	require.NoError(w.t, json.NewDecoder(list).Decode(&rows))
	require.Len(w.t, rows, posts)
	ids := map[string]bool{}
	for _, row := range rows {
		require.Equal(w.t, w.user, row.AuthorID)
		ids[row.ID] = true
	}
	require.Len(w.t, ids, posts)
}

// TestJob takes an export from its request to the end of its archive.
func TestJob(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	_, err := w.storage.Write(t.Context(), w.user, "rows-posts-000000001.jsonl", strings.NewReader(`{"id":"of an earlier export"}`))
	require.NoError(t, err)
	s := export.New(w.Deps, w.storage)
	more, err := s.Continue(t.Context(), region.EU)
	require.NoError(t, err)
	require.True(t, more)
	w.requireArchive()
	parts, err := w.storage.Parts(t.Context(), w.user, "")
	require.NoError(t, err)
	require.Equal(t, []string{"archive.zip"}, parts)
	more, err = s.Continue(t.Context(), region.EU)
	require.NoError(t, err)
	require.False(t, more)

	w.Set(servicetest.Noon.Add(7*24*time.Hour - time.Second))
	more, err = s.Continue(t.Context(), region.EU)
	require.NoError(t, err)
	require.False(t, more, "the archive is kept for a week")
	admin := auth.WithCaller(t.Context(), &auth.Caller{Kind: auth.Admin, Home: region.EU})
	_, err = w.Deps.Directory.ClaimAll(t.Context(), map[string]string{"alice": w.user})
	require.NoError(t, err)
	archive, err := s.Download(admin, "alice")
	require.NoError(t, err)
	require.NoError(t, archive.Close())
	w.Set(servicetest.Noon.Add(7 * 24 * time.Hour))
	_, err = s.Download(admin, "alice")
	require.ErrorIs(t, err, fail.NotFound(), "also before the job has removed it")
	_, err = s.Continue(t.Context(), region.EU)
	require.NoError(t, err)
	require.Nil(t, w.export())
}

// TestPartsThatRemain has the storage fail once the archive is ready, which is kept for a week all the same.
func TestPartsThatRemain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.storage.SetHomeOf(func(id string) (region.Code, error) {
		if w.export().State == lifecycle.ExportReady {
			return "", errors.New("the storage does not answer")
		}
		return region.HomeOf(id)
	})
	_, err := export.New(w.Deps, w.storage).Continue(t.Context(), region.EU)
	require.NoError(t, err)
	require.Equal(t, lifecycle.ExportReady, w.export().State)
	require.WithinDuration(t, servicetest.Noon.Add(7*24*time.Hour), w.export().DueAt, time.Second)
}

// TestJobResumes fails at each of the transactions of an export in turn, packing included. The next attempt continues.
func TestJobResumes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := export.New(w.Deps, w.storage)
	failures := 0
	for at := int64(2); w.export().State != lifecycle.ExportReady; at += 7 {
		w.FailAt(at)
		_, err := s.Continue(t.Context(), region.EU)
		w.FailAt(-1)
		if err != nil {
			require.ErrorIs(t, err, servicetest.ErrLost)
			failures++
		}
		w.Set(w.Deps.Now().Add(10 * time.Minute))
	}
	require.Greater(t, failures, 3)
	w.requireArchive()
}

// TestRepeatedPages stops the server again and again when it stores the progress of a page whose part was written: the part of the repeated
// page replaces it.
func TestRepeatedPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := export.New(w.Deps, w.storage)
	const update = "exports.update"
	for attempt := 0; w.export().State != lifecycle.ExportReady; attempt++ {
		require.Less(t, attempt, 2000, "the export makes no progress")
		ctx, stop := context.WithCancel(t.Context())
		left := 2 + attempt%3 // the first one renews the lease
		var count func()
		count = func() {
			if left--; left == 0 {
				stop()
				return
			}
			w.Before(update, count)
		}
		w.Before(update, count)
		_, err := s.Continue(ctx, region.EU)
		require.True(t, err == nil || ctx.Err() != nil, "%v", err)
		stop()
		w.Set(w.Deps.Now().Add(10 * time.Minute))
	}
	w.requireArchive()
}

// TestStartExport checks when an export starts again.
func TestStartExport(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	start := func(now time.Time) lifecycle.Export {
		var e *lifecycle.Export
		tx := w.Store.NewTx(region.EU)
		tx.StartExport(lifecycle.Export{ID: w.user, PublicID: "alice"}, now, now.Add(-24*time.Hour), &e)
		require.NoError(t, tx.Commit(t.Context()))
		return *e
	}
	require.Equal(t, servicetest.Noon, start(servicetest.Noon.Add(48*time.Hour)).RequestedAt.UTC(), "an export in progress does not restart")
	_, err := export.New(w.Deps, w.storage).Continue(t.Context(), region.EU)
	require.NoError(t, err)
	require.Equal(t, lifecycle.ExportReady, start(servicetest.Noon.Add(24*time.Hour-time.Millisecond)).State)
	again := start(servicetest.Noon.Add(24 * time.Hour))
	require.Equal(t, lifecycle.ExportCollecting, again.State)
	require.JSONEq(t, `{}`, string(again.Exported))
}

// TestExportAgain checks that a request within a day after the last one returns the same export, and that the archive of the next
// one has another tag.
func TestExportAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	s := export.New(w.Deps, w.storage)
	admin := auth.WithCaller(t.Context(), &auth.Caller{Kind: auth.Admin, Home: region.EU})
	_, err := w.Deps.Directory.ClaimAll(t.Context(), map[string]string{"alice": w.user})
	require.NoError(t, err)
	tags := map[string]bool{}
	for range 2 {
		_, err = s.Continue(t.Context(), region.EU)
		require.NoError(t, err)
		archive, err := s.Download(admin, "alice")
		require.NoError(t, err)
		require.NoError(t, archive.Close())
		tags[archive.Tag] = true
		for _, tc := range []struct {
			after time.Duration
			want  string
		}{{24*time.Hour - time.Millisecond, lifecycle.ExportReady}, {time.Millisecond, lifecycle.ExportCollecting}} {
			w.Set(w.Deps.Now().Add(tc.after))
			started, err := s.StartExport(admin, &plazav1.StartExportRequest{UserId: "alice"})
			require.NoError(t, err)
			require.Equal(t, tc.want, started.GetExport().GetState())
		}
	}
	require.Len(t, tags, 2)
}

// TestJobOnSeveralServers runs the job four times concurrently: one server gets the lease, the others leave the export.
func TestJobOnSeveralServers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var g sync.WaitGroup
	var errs [4]error
	for i := range errs {
		g.Go(func() { _, errs[i] = export.New(w.Deps, w.storage).Continue(t.Context(), region.EU) })
	}
	g.Wait()
	require.NoError(t, errors.Join(errs[:]...))
	w.requireArchive()
}
