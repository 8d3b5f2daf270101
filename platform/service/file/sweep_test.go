package file_test

import (
	"context"
	"encoding/base64"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/directory"
	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/file"
	"github.com/plaza-social/plaza/platform/storage"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/db"
	"github.com/plaza-social/plaza/platform/store/db/dbtest"
	"github.com/plaza-social/plaza/platform/store/media"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// patience is how long tests wait for what must happen. Only a test that fails waits that long.
const patience = 2 * time.Minute

// world is a server of region eu with a clock that stands still, and a folder.
type world struct {
	*file.Service
	t      *testing.T
	clock  atomic.Int64 // milliseconds
	folder string
	url    string                // of the database
	fault  atomic.Pointer[error] // what each transaction meets; none when nil
	admin  context.Context
	dbtest.Interruption
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, folder: t.TempDir()}
	w.clock.Store(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC).UnixMilli())
	quiet := slog.New(slog.DiscardHandler)
	w.url = dbtest.New(t)
	st, err := store.Open(t.Context(), db.Config{
		URLs: map[region.Code]string{"": w.url}, StatementTimeout: patience, Log: quiet, Sent: w.Sent, Fault: func() error {
			if err := w.fault.Load(); err != nil {
				return *err
			}
			return nil
		},
	})
	require.NoError(t, err)
	t.Cleanup(st.Close)
	kept, err := storage.Open(t.Context(), map[region.Code]string{region.EU: "file://" + w.folder})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, kept.Close()) })
	keys, err := auth.ParseKeyring([]byte(`{"keys":[{"kid":"s1","seed":"` + base64.StdEncoding.EncodeToString(make([]byte, 32)) + `"}]}`))
	require.NoError(t, err)
	links, err := file.NewLinks("https://example.com", strings.Repeat("a", 24), []byte("secret"), keys, time.Hour, w.now)
	require.NoError(t, err)
	w.Service = file.New(&service.Deps{
		Store: st, View: &view.Builder{FileURL: links.URL}, Region: region.EU, Now: w.now, NewID: region.NewID, Log: quiet,
		Directory: directory.New(st, region.EU, []byte("key"), w.now, quiet), Outbox: events.NewOutbox(st, w.now, quiet),
	}, file.Options{Storage: kept, Links: links, MaxBytes: 1 << 20, MaxPixels: 1000, UploadTimeout: time.Hour, SettleTime: settleTime})
	w.admin = auth.WithCaller(t.Context(), &auth.Caller{Kind: auth.Admin})
	return w
}

func (w *world) now() time.Time { return time.UnixMilli(w.clock.Load()).UTC() }

func (w *world) pass(d time.Duration) { w.clock.Add(d.Milliseconds()) }

// start begins an upload of a file.
func (w *world) start(content string) *file.Upload {
	w.t.Helper()
	u, err := w.StartUpload(w.admin, "file")
	require.NoError(w.t, err)
	require.NoError(w.t, u.Add(w.admin, "a", strings.NewReader(content)))
	return u
}

// objects is how many files are in the folder.
func (w *world) objects() int {
	w.t.Helper()
	n := 0
	require.NoError(w.t, filepath.WalkDir(w.folder, func(_ string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			n++
		}
		return err
	}))
	return n
}

func (w *world) sweep() {
	w.t.Helper()
	for {
		more, err := w.SweepUploads(w.t.Context(), region.EU)
		require.NoError(w.t, err)
		if !more {
			return
		}
	}
}

// TestSweep: what a server that died left is removed, and what is under way or whole is not.
func TestSweep(t *testing.T) {
	w := newWorld(t)
	files, err := w.start("whole").Finish(w.admin, file.Form{})
	require.NoError(t, err)
	left := w.start("left by a server that died")
	require.Equal(t, 2, w.objects())
	w.sweep()
	require.Equal(t, 2, w.objects(), "it may be under way still")
	w.pass(2 * time.Hour)
	w.sweep()
	require.Equal(t, 1, w.objects())
	_, err = left.Finish(w.admin, file.Form{})
	require.ErrorIs(t, err, fail.Unavailable("", nil), "an upload that was swept can become no file")
	_, err = w.GetFile(w.admin, &plazav1.GetFileRequest{FileId: files[0].GetFileId()})
	require.NoError(t, err)
}

// TestLostCommit checks that the objects of a commit whose result is unknown stay until the sweep decides.
func TestLostCommit(t *testing.T) {
	w := newWorld(t)
	u := w.start("x")
	lost := errors.New("the connection is gone")
	w.fault.Store(&lost)
	_, err := u.Finish(w.admin, file.Form{})
	require.Error(t, err)
	u.Abort(w.admin)
	require.Equal(t, 1, w.objects())
	w.fault.Store(nil)
	w.pass(2 * time.Hour)
	w.sweep()
	require.Zero(t, w.objects())
}

// TestAbort: an upload that failed leaves nothing, also where the database is away for a while.
func TestAbort(t *testing.T) {
	w := newWorld(t)
	u := w.start("x")
	require.ErrorContains(t, u.Add(w.admin, "b", io.MultiReader(strings.NewReader("half"), failing{})), "broken off")
	u.Abort(w.admin)
	require.Zero(t, w.objects())
	u = w.start("x")
	away := errors.New("away")
	w.fault.Store(&away)
	u.Abort(w.admin)
	w.fault.Store(nil)
	w.pass(2 * time.Hour)
	w.sweep()
	require.Zero(t, w.objects())
}

type failing struct{}

func (failing) Read([]byte) (int, error) { return 0, errors.New("broken off") }

// TestDeletedByWorker: the bytes of a deleted file go although the server that deleted it died before it got to them.
func TestDeletedByWorker(t *testing.T) {
	w := newWorld(t)
	files, err := w.start("x").Finish(w.admin, file.Form{})
	require.NoError(t, err)
	id := files[0].GetFileId()
	tx := w.Store.NewTx(region.EU)
	row := tx.DeleteFile(media.File{ID: id}, fail.NotFound(), w.now(), w.now())
	require.NoError(t, tx.Commit(t.Context()))
	require.Equal(t, 1, w.objects())
	require.NoError(t, w.Outbox.Job().Once(t.Context(), region.EU))
	require.Zero(t, w.objects())
	w.Outbox.Deliver(w.admin, region.EU, row) // twice is fine
}

// TestSignedAddress: an address holds for its file, its network and its time, and for nothing else.
func TestSignedAddress(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	clock := func() time.Time { return now }
	linksOf := func(network, secret string) *file.Links {
		l, err := file.NewLinks("https://example.com", network, []byte(secret), nil, time.Hour, clock)
		require.NoError(t, err)
		return l
	}
	links := linksOf("net", "secret")
	f := media.File{ID: region.NewID(region.EU), AccessType: media.AccessNetwork}
	address := links.URL(f, view.FileObject{}, &auth.Caller{})
	_, token, _ := strings.Cut(address, "?t=")
	require.True(t, links.Valid(f.ID, token))
	require.True(t, linksOf("net", "secret").Valid(f.ID, token), "at every server")
	require.False(t, linksOf("other", "secret").Valid(f.ID, token))
	require.False(t, linksOf("net", "other").Valid(f.ID, token))
	require.False(t, links.Valid(region.NewID(region.EU), token))
	now = now.Add(time.Minute)
	require.Equal(t, address, links.URL(f, view.FileObject{}, &auth.Caller{}), "the same for a while, for what browsers keep")
	now = now.Add(59*time.Minute - time.Second)
	require.True(t, links.Valid(f.ID, token), "for its lifetime at least")
	now = now.Add(time.Hour / 4)
	require.False(t, links.Valid(f.ID, token))
	require.NotContains(t, links.URL(media.File{ID: f.ID, AccessType: media.AccessPublic}, view.FileObject{}, &auth.Caller{}), "?")
}
