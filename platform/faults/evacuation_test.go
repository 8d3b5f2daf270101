//go:build faults

package faults

import (
	"bytes"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/config"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/db"
)

// lines is a log that is safe to read while it is written.
type lines struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.buf.Write(p)
}

func (l *lines) has(text string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Contains(l.buf.String(), text)
}

// evacuation is a network whose region eu has server keys of its own, and can be evacuated to us.
type evacuation struct {
	*apptest.Network

	key  string // the server key of eu
	file string // the evacuation file of us
	log  *lines
}

func newEvacuation(t *testing.T) *evacuation {
	t.Helper()
	dir := t.TempDir()
	e := &evacuation{file: filepath.Join(dir, "evacuation.json"), log: &lines{}}
	keys := filepath.Join(dir, "eu.json")
	var err error
	e.key, err = auth.GenerateKeySet(keys, "k-eu")
	require.NoError(t, err)
	e.Network = startAll(t, apptest.WithLog(slog.New(slog.NewTextHandler(e.log, nil))), apptest.WithConfig(func(cfg *config.Config) {
		switch cfg.Region {
		case region.EU:
			cfg.ServerKeysFile = keys
		case region.US:
			cfg.EvacuationFile = e.file
		case region.SG:
		}
	}))
	return e
}

// evacuate writes the file as the operator does.
func (e *evacuation) evacuate(t *testing.T) {
	t.Helper()
	key := auth.NewEvacuatedKey("k-eu", e.key, time.Time{})
	content := auth.EvacuationFile{Regions: []auth.EvacuatedRegion{{Region: "eu", ServerKeys: []auth.EvacuatedKey{key}}}}.Content()
	require.NoError(t, os.WriteFile(e.file, content, 0o600))
}

// token requests a token with the server key of eu.
func (e *evacuation) token(t *testing.T, code region.Code) int {
	t.Helper()
	return e.Anonymous(code).With("X-Server-Key", e.key).Do(t, http.MethodPost, "/api/v4/authentication/token",
		object{"userId": "alice"}).Status
}

// TestEvacuatedRegion loses the servers of eu, but not its database. Servers of us then accept the server key of eu, publish the
// posts that were scheduled in eu, and deliver its outbox, until eu is not evacuated any more.
func TestEvacuatedRegion(t *testing.T) {
	t.Parallel()
	e := newEvacuation(t)
	author := e.NewUser(t, region.EU, "author")
	community := author.NewCommunity(t)
	require.Equal(t, http.StatusOK, e.token(t, region.EU))
	require.Equal(t, http.StatusUnauthorized, e.token(t, region.US))
	e.Stop(region.EU)

	at := time.Now().Add(time.Hour).UTC().Format(time.RFC3339Nano)
	r := author.At(region.US).Do(t, http.MethodPost, "/api/v1/posts/schedule", object{
		"scheduledAt": at, "postData": object{"targetType": "community", "targetId": community, "data": object{"text": "later"}},
	})
	require.Equal(t, http.StatusCreated, r.Status, "%s", r.Body)
	scheduled := author.At(region.US).Do(t, http.MethodGet, "/api/v1/posts/schedule", nil).OK(t).String(t, "data.0.postData.postId")
	e.insertUndeliverable(t)
	conn := connect(t, e.Network)
	_, err := conn.Exec(t.Context(), `UPDATE scheduled_posts SET scheduled_at = created_at, due_at = created_at WHERE home = 'eu'`)
	require.NoError(t, err)
	require.Empty(t, rows(t, conn, `SELECT 1 FROM posts WHERE home = 'eu' AND id = $1`, scheduled))

	e.evacuate(t)
	require.Equal(t, http.StatusOK, e.token(t, region.US), "the key is accepted immediately")
	require.Equal(t, http.StatusUnauthorized, e.token(t, region.SG), "eu is evacuated to us only")
	require.Eventually(t, func() bool {
		return author.At(region.US).Do(t, http.MethodGet, "/api/v3/posts/"+scheduled, nil).Status == http.StatusOK
	}, apptest.Patience, 20*time.Millisecond, "the scheduled post of eu")
	require.Eventually(t, func() bool {
		return len(rows(t, conn, `SELECT 1 FROM outbox WHERE home = 'eu' AND topic = 'unknown-topic' AND attempts > 0`)) == 1
	}, apptest.Patience, 20*time.Millisecond, "the outbox of eu")

	require.NoError(t, os.Remove(e.file))
	require.Eventually(t, func() bool { return e.log.has("its background work has ended") }, apptest.Patience, 20*time.Millisecond)
	require.Equal(t, http.StatusUnauthorized, e.token(t, region.US))
}

// insertUndeliverable inserts a row into the outbox of eu that no handler accepts: a worker counts its attempts.
func (e *evacuation) insertUndeliverable(t *testing.T) {
	t.Helper()
	st, err := store.Open(t.Context(), db.Config{URLs: map[region.Code]string{"": e.DatabaseURL}})
	require.NoError(t, err)
	t.Cleanup(st.Close)
	w := st.NewTx(region.EU)
	w.Emit("unknown-topic", object{}, time.Now(), time.Now())
	require.NoError(t, w.Commit(t.Context()))
}
