//go:build faults

package faults

import (
	"net/http"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/devdb"
	"github.com/plaza-social/plaza/platform/devdb/testdb"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/db"
)

// restoredWorld is a network with content, whose database is backed up and restored as controllers/BACKUP.md says.
type restoredWorld struct {
	*apptest.Network
	t             *testing.T
	founder       *apptest.Client // of eu
	guest         *apptest.Client // of us
	file          string
	community     string
	post, channel string
	segment       int
}

func newRestoredWorld(t *testing.T) *restoredWorld {
	t.Helper()
	w := &restoredWorld{Network: startAll(t), t: t}
	require.NoError(t, db.Migrate(t.Context(), db.MigrateOptions{URL: w.DatabaseURL, Identity: w.identity()}))
	w.founder, w.guest = w.NewUser(t, region.EU, "founder"), w.NewUser(t, region.US, "guest")
	w.file = w.founder.Upload(t, "file", "notes.txt", []byte("the content of a file")).OK(t).String(t, "0.fileId")
	w.community = w.founder.NewCommunity(t)
	w.guest.Join(t, w.community)
	w.post = post(t, w.founder, "/api/v4/posts", object{
		"targetType": "community", "targetId": w.community, "data": object{"text": "look"},
		"attachments": []object{{"type": "file", "fileId": w.file}},
	}).String(t, "posts.0.postId")
	channel := object{"type": "community", "displayName": "chat", "userIds": []string{w.guest.UserID}}
	w.channel = post(t, w.founder, "/api/v3/channels", channel).String(t, "channels.0._id")
	w.segment = w.write("before")
	return w
}

func (w *restoredWorld) identity() string {
	return db.NetworkIdentity(w.NetworkID, apptest.DirectoryKey)
}

// write sends a message and returns its number in the channel.
func (w *restoredWorld) write(text string) int {
	w.t.Helper()
	return post(w.t, w.guest, "/api/v5/messages", object{"messageFeedId": w.channel, "data": object{"text": text}}).Int(w.t,
		"messages.0.segment")
}

// restore restores the newest database dump into a new database, with which it starts the servers again.
func (w *restoredWorld) restore(dump string) {
	w.t.Helper()
	restored := testdb.New(w.t)
	run(w.t, "pg_restore", "--no-owner", "--exit-on-error", "--single-transaction", "--dbname", restored, dump)
	conn, err := pgx.Connect(w.t.Context(), restored)
	require.NoError(w.t, err)
	defer func() { require.NoError(w.t, conn.Close(w.t.Context())) }()
	require.NotEmpty(w.t, rows(w.t, conn, `SELECT 1 FROM outbox WHERE home = 'eu'`), "the backup has events that wait")
	w.UseDatabase(w.t, restored)
}

// run runs a program of PostgreSQL.
func run(t *testing.T, name string, args ...string) {
	t.Helper()
	program, err := devdb.PostgresProgram(name)
	require.NoError(t, err)
	out, err := exec.CommandContext(t.Context(), program, args...).CombinedOutput()
	require.NoError(t, err, "%s: %s", name, out)
}

// TestRestore backs up the database of a network that is written to, and of which a region is away, with pg_dump, restores it with
// pg_restore, and continues with it.
func TestRestore(t *testing.T) {
	t.Parallel()
	if testdb.Cockroach(t) {
		t.Skip("CockroachDB has backups of its own")
	}
	w := newRestoredWorld(t)
	dump := filepath.Join(t.TempDir(), "plaza.dump")
	w.Stop(region.EU) // so that the outbox of eu has events that are not worked on
	w.founder.At(region.US).NewComment(t, w.post)
	w.founder.At(region.SG).Do(t, http.MethodPost, "/api/v3/posts/"+w.post+"/flag", nil).OK(t)
	stop := writeWhile(w)
	run(t, "pg_dump", "--format=custom", "--no-owner", "--file", dump, w.DatabaseURL)
	stop()
	lost := w.guest.NewPost(t, w.community)

	w.restore(dump)
	conn := connect(t, w.Network)
	t.Run("everyone is still signed in", func(t *testing.T) {
		for _, at := range region.All() {
			for _, c := range []*apptest.Client{w.founder, w.guest} {
				c.At(at).Do(t, http.MethodGet, "/api/v3/sessions", nil).OK(t)
			}
		}
	})
	t.Run("the records of files match their content", func(t *testing.T) {
		content := w.guest.Do(t, http.MethodGet, "/api/v3/files/"+w.file+"/download", nil).OK(t)
		require.Equal(t, "the content of a file", string(content.Body))
	})
	t.Run("the database belongs to the network", func(t *testing.T) {
		identities := rows(t, conn, `SELECT DISTINCT value #>> '{}' AS identity FROM settings WHERE name = 'networkIdentity'`)
		require.Equal(t, []map[string]any{{"identity": w.identity()}}, identities)
		require.NoError(t, db.Migrate(t.Context(), db.MigrateOptions{URL: w.DatabaseURL, Identity: w.identity()}))
		other := db.MigrateOptions{URL: w.DatabaseURL, Identity: db.NetworkIdentity(w.NetworkID, "another key")}
		require.ErrorIs(t, db.Migrate(t.Context(), other), db.ErrOtherNetwork)
	})
	t.Run("what was written after the backup is lost, and ids and numbers continue", func(t *testing.T) {
		require.Equal(t, http.StatusNotFound, w.guest.Do(t, http.MethodGet, "/api/v3/posts/"+lost, nil).Status)
		w.guest.NewPost(t, w.community)
		largest := rows(t, conn, `SELECT max(segment) AS n FROM messages`)[0]["n"]
		require.EqualValues(t, w.write("after"), largest.(int64)+1)
		require.Greater(t, w.write("after"), w.segment+1)
	})
	t.Run("the outbox is worked on", func(t *testing.T) {
		require.Eventually(t, func() bool { return len(rows(t, conn, `SELECT 1 FROM outbox`)) == 0 }, apptest.Patience, 50*time.Millisecond)
		for name, sql := range driftQueries {
			require.Empty(t, rows(t, conn, sql), name)
		}
	})
}

// writeWhile sends messages until stop.
func writeWhile(w *restoredWorld) (stop func()) {
	ended, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-ended:
				return
			default:
				w.guest.Do(w.t, http.MethodPost, "/api/v5/messages",
					object{"messageFeedId": w.channel, "data": object{"text": "while the backup is taken"}})
			}
		}
	}()
	return func() { close(ended); <-done }
}
