package retention_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/post"
	"github.com/plaza-social/plaza/platform/service/retention"
	"github.com/plaza-social/plaza/platform/service/story"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/db"
	"github.com/plaza-social/plaza/platform/store/db/dbtest"
	"github.com/plaza-social/plaza/platform/store/network"
)

func TestMain(m *testing.M) { os.Exit(apptest.Main(m)) }

type object = apptest.Object

// fixture is a network with a retention service whose clock the test sets.
type fixture struct {
	n     *apptest.Network
	s     *retention.Service
	store *store.Store
	conn  *pgx.Conn
	now   time.Time
	dbtest.Interruption
}

func newFixture(t *testing.T) *fixture {
	t.Helper()
	n := apptest.Start(t)
	f := &fixture{n: n, now: time.Now()}
	st, err := store.Open(t.Context(), db.Config{URLs: map[region.Code]string{"": n.DatabaseURL}, Sent: f.Sent})
	require.NoError(t, err)
	t.Cleanup(st.Close)
	d := &service.Deps{
		Store: st, Region: region.EU, Now: func() time.Time { return f.now }, NewID: region.NewID,
		Log: slog.New(slog.DiscardHandler),
	}
	f.store = st
	f.s = retention.New(d, nil, retention.Kinds(d, 30*24*time.Hour, post.New(d).Purge, story.New(d).PurgeByID)...)
	f.conn, err = pgx.Connect(t.Context(), n.DatabaseURL)
	require.NoError(t, err)
	t.Cleanup(func() { _ = f.conn.Close(context.WithoutCancel(t.Context())) })
	return f
}

func (f *fixture) set(t *testing.T, settings object) {
	t.Helper()
	f.n.Admin(region.EU).Do(t, http.MethodPut, "/api/v3/network-settings", settings).OK(t)
}

// sweep sweeps a kind in eu until nothing is left, a given number of days from now.
func (f *fixture) sweep(t *testing.T, kind string, days float64) {
	t.Helper()
	f.now = time.Now().Add(time.Duration(days * 24 * float64(time.Hour)))
	for more := true; more; {
		var err error
		more, err = f.s.Sweep(t.Context(), region.EU, f.s.KindNamed(kind))
		require.NoError(t, err)
	}
}

// count returns the number of rows that a query counts.
func (f *fixture) count(t *testing.T, sql string, args ...any) (n int) {
	t.Helper()
	require.NoError(t, f.conn.QueryRow(t.Context(), sql, args...).Scan(&n))
	return n
}

const messagesPath = "/api/v5/messages"

// TestMessages deletes messages whose retention has ended. They keep their segments, and the counts of replies hold.
func TestMessages(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	alice := f.n.NewUser(t, region.EU, "alice")
	channel := alice.Do(t, http.MethodPost, "/api/v3/channels", object{"type": "community", "displayName": "c"}).OK(t).String(t,
		"channels.0.channelId")
	send := func(fields object) string {
		return alice.Do(t, http.MethodPost, messagesPath,
			apptest.Merge(object{"messageFeedId": channel, "dataType": "text", "data": object{"text": "secret"}}, fields)).
			OK(t).String(t, "messages.0.messageId")
	}
	parent := send(nil)
	send(object{"parentId": parent})
	for range retention.PageSize + 1 {
		_,
			err := f.conn.Exec(t.Context(),
			`INSERT INTO messages (home, id, feed_id, channel_id, channel_public_id, channel_type, parent_id, creator_id,
			creator_public_id, reference_id, reference_hash, segment, data_type, data, file_id, created_at, updated_at, edited_at)
			SELECT home, '02' || substr(md5(random()::text), 1, 22), feed_id, channel_id, channel_public_id, channel_type, '', creator_id,
			creator_public_id, '',
			decode(md5(random()::text), 'hex'), (SELECT max(segment) + 1 FROM messages), data_type, data, '', created_at, updated_at, edited_at FROM
			messages WHERE id = $1`, parent)
		require.NoError(t, err)
	}
	all := retention.PageSize + 3
	alice.Do(t, http.MethodPost, "/api/v2/reactions", object{"referenceType": "message", "referenceId": parent, "reactionName": "like"}).OK(t)
	f.sweep(t, "messages", 1000)
	require.Equal(t, all, f.count(t, "SELECT count(*) FROM messages WHERE deleted_at IS NULL"), "0 days means for ever")
	f.set(t, object{"retentionMessageDays": 7})
	f.sweep(t, "messages", 6.99)
	require.Equal(t, all, f.count(t, "SELECT count(*) FROM messages WHERE deleted_at IS NULL"))
	f.sweep(t, "messages", 7.01)
	require.Zero(t, f.count(t, "SELECT count(*) FROM messages WHERE deleted_at IS NULL OR data::text <> '{}'"))
	require.Equal(t, all, f.count(t, "SELECT count(DISTINCT segment) FROM messages"), "no gaps")
	require.Zero(t, f.count(t, "SELECT count(*) FROM reactions"))
	require.Zero(t, f.count(t, "SELECT COALESCE(sum(n), 0) FROM counters WHERE ref = $1 AND kind = 'replies'", parent))
	f.sweep(t, "messages", 8)
	require.Zero(t, f.count(t, "SELECT COALESCE(sum(n), 0) FROM counters WHERE ref = $1 AND kind = 'replies'", parent), "once")
	shown := alice.Do(t, http.MethodGet, messagesPath+"/"+parent, nil).OK(t)
	require.True(t, shown.Bool(t, "messages.0.isDeleted"))
	require.NotContains(t, string(shown.Body), "secret")
}

// TestMessageIsDeletedFirst deletes a reply after the sweep has read it: the reply is counted once.
func TestMessageIsDeletedFirst(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	alice := f.n.NewUser(t, region.EU, "alice")
	channel := alice.Do(t, http.MethodPost, "/api/v3/channels", object{"type": "community", "displayName": "c"}).OK(t).String(t,
		"channels.0.channelId")
	send := func(fields object) string {
		return alice.Do(t, http.MethodPost, messagesPath,
			apptest.Merge(object{"messageFeedId": channel, "dataType": "text", "data": object{"text": "secret"}}, fields)).
			OK(t).String(t, "messages.0.messageId")
	}
	parent := send(nil)
	reply := send(object{"parentId": parent})
	f.set(t, object{"retentionMessageDays": 7})
	f.Before("messages.guardAllLive", func() { alice.Do(t, http.MethodDelete, messagesPath+"/"+reply, nil).OK(t) })
	f.sweep(t, "messages", 8)
	require.False(t, f.Pending())
	require.Zero(t, f.count(t, "SELECT COALESCE(sum(n), 0) FROM counters WHERE ref = $1 AND kind LIKE '%repl%'", parent))
}

// TestDeletedRows removes what was deleted. Comments and messages remain as empty rows, and counters equal the facts.
func TestDeletedRows(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	alice := f.n.NewUser(t, region.EU, "alice")
	community := alice.NewCommunity(t)
	kept, gone := alice.NewPost(t, community), alice.NewPost(t, community)
	alice.NewComment(t, gone)
	for _, reference := range []string{gone, kept} {
		alice.Do(t, http.MethodPost, "/api/v2/reactions", object{"referenceType": "post", "referenceId": reference, "reactionName": "like"}).OK(t)
	}
	comment := alice.NewComment(t, kept)
	reply := alice.NewComment(t, kept, object{"parentId": comment})
	channel := alice.Do(t, http.MethodPost, "/api/v3/channels", object{"type": "community", "displayName": "c"}).OK(t).String(t,
		"channels.0.channelId")
	file := alice.Upload(t, "file", "secret.txt", []byte("secret")).OK(t).String(t, "0.fileId")
	message := alice.Do(t, http.MethodPost, messagesPath,
		object{"messageFeedId": channel, "dataType": "file", "fileId": file, "data": object{"text": "secret"}}).
		OK(t).String(t, "messages.0.messageId")
	require.Equal(t, 1, f.count(t, "SELECT count(*) FROM file_uses WHERE file_id = $1", file))
	shownStory := alice.NewStory(t, community)
	for _, path := range []string{
		"/api/v4/posts/" + gone, "/api/v4/comments/" + comment, messagesPath + "/" + message,
		"/api/v4/stories/" + shownStory,
	} {
		alice.Do(t, http.MethodDelete, path, nil).OK(t)
	}
	sweepAll := func(days float64) {
		for _, kind := range []string{"deleted posts", "deleted comments", "deleted messages", "deleted stories"} {
			f.sweep(t, kind, days)
		}
	}
	f.set(t, object{"retentionDeletedDays": 30})
	sweepAll(29.99)
	require.Equal(t, 1, f.count(t, "SELECT count(*) FROM posts WHERE id = $1", gone))
	require.Equal(t, 1, f.count(t, "SELECT count(*) FROM messages WHERE id = $1 AND data::text <> '{}'", message))
	sweepAll(30.01)
	require.Zero(t, f.count(t, "SELECT count(*) FROM posts WHERE id = $1", gone))
	require.Zero(t, f.count(t, "SELECT count(*) FROM stories WHERE id = $1", shownStory))
	require.Zero(t, f.count(t, "SELECT count(*) FROM comments WHERE reference_id = $1", gone))
	require.Zero(t, f.count(t, "SELECT count(*) FROM reactions WHERE reference_id = $1", gone))
	require.Equal(t, 1, f.count(t, "SELECT count(*) FROM reactions WHERE reference_id = $1", kept))
	require.Equal(t, 1, f.count(t, "SELECT count(*) FROM comments WHERE id = $1 AND data::text = '{}'", comment))
	require.Equal(t, 1, f.count(t, "SELECT count(*) FROM comments WHERE id = $1 AND data::text <> '{}'", reply))
	require.Equal(t, 1, f.count(t, "SELECT count(*) FROM messages WHERE id = $1 AND data::text = '{}'", message))
	require.Zero(t, f.count(t, "SELECT count(*) FROM file_uses WHERE file_id = $1", file))
	require.Equal(t, 1, f.count(t, "SELECT sum(n) FROM counters WHERE ref = $1 AND kind = 'published'", community))
	require.Equal(t, 1, f.count(t, "SELECT sum(n) FROM counters WHERE ref = $1 AND kind = 'replies'", comment))
	require.Equal(t, 1, f.count(t, "SELECT sum(n) FROM counters WHERE ref = $1 AND kind = 'comments'", kept))
	require.Zero(t, f.count(t, "SELECT count(*) FROM counters WHERE ref = $1", gone))
}

// copies inserts copies of a row with ids of their own.
func (f *fixture) copies(t *testing.T, table, id string, n int) {
	t.Helper()
	var columns string
	require.NoError(t, f.conn.QueryRow(t.Context(), `SELECT string_agg(column_name, ', ') FROM information_schema.columns
		WHERE table_schema = current_schema() AND table_name = $1 AND is_generated = 'NEVER' AND column_name <> 'id'`, table).Scan(&columns))
	_,
		err := f.conn.Exec(t.Context(), fmt.Sprintf(`INSERT INTO %[1]s (id, %[2]s) SELECT left(id, 2) || substr(md5(random()::text), 1, 22), %[2]s
		FROM %[1]s, generate_series(1, $2::bigint) WHERE id = $1`, table, columns), id, n)
	require.NoError(t, err)
}

// TestPagesOfDeletedRows removes more deleted rows than a page. A page says that there may be more only if it is full.
func TestPagesOfDeletedRows(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	alice := f.n.NewUser(t, region.EU, "alice")
	community := alice.NewCommunity(t)
	f.set(t, object{"retentionDeletedDays": 30})
	kept := alice.NewPost(t, community)
	for kind, row := range map[string]struct{ table, id, path, left string }{
		"deleted comments": {"comments", alice.NewComment(t, kept), "/api/v4/comments/", "data::text <> '{}'"},
		"deleted posts":    {"posts", alice.NewPost(t, community), "/api/v4/posts/", "deleted_at IS NOT NULL"},
		"deleted stories":  {"stories", alice.NewStory(t, community), "/api/v4/stories/", "true"},
	} {
		alice.Do(t, http.MethodDelete, row.path+row.id, nil).OK(t)
		f.copies(t, row.table, row.id, retention.PageSize)
		f.now = time.Now().Add(31 * 24 * time.Hour)
		for _, left := range []int{1, 0} {
			more, err := f.s.Sweep(t.Context(), region.EU, f.s.KindNamed(kind))
			require.NoError(t, err, kind)
			require.Equal(t, left > 0, more, kind)
			require.Equal(t, left, f.count(t, "SELECT count(*) FROM "+row.table+" WHERE "+row.left), kind)
		}
	}
}

// TestSessionsEventsAndAudit deletes rows at the limits of their retention.
func TestSessionsEventsAndAudit(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.n.NewUser(t, region.EU, "alice")
	f.sweep(t, "sessions", 29)
	require.Equal(t, 1, f.count(t, "SELECT count(*) FROM sessions"))
	f.set(t, object{"retentionSessionDays": 2, "retentionAuditDays": 30})
	f.sweep(t, "sessions", 1.99)
	require.Equal(t, 1, f.count(t, "SELECT count(*) FROM sessions"))
	f.sweep(t, "sessions", 2.01)
	require.Zero(t, f.count(t, "SELECT count(*) FROM sessions"))
	for age, id := range map[string]string{"29 days 23 hours": "young", "30 days 1 hour": "old"} {
		_,
			err := f.conn.Exec(t.Context(),
			`INSERT INTO audit_events (home, at, id, actor_kind, actor, key_id, roles, permission, operation, targets, request_id)
			VALUES ('eu', now() - $1::text::interval, $2, '', '', '', '{}', '', '', '[]', '')`, age, id)
		require.NoError(t, err)
	}
	f.sweep(t, "audit", 0)
	require.Equal(t, 1, f.count(t, "SELECT count(*) FROM audit_events WHERE id IN ('young', 'old')"))
	require.Equal(t, 1, f.count(t, "SELECT count(*) FROM audit_events WHERE id = 'young'"))
	f.sweep(t, "events", 0)
	for field, values := range map[string][2]int{
		"retentionMessageDays": {36500, 36501}, "retentionDeletedDays": {36500, 36501}, "retentionSessionDays": {36500, 36501},
		"retentionEventDays": {30, 31}, "retentionAuditDays": {30, 29},
	} {
		f.set(t, object{field: values[0]})
		admin := f.n.Admin(region.US)
		require.Equal(t, http.StatusUnprocessableEntity,
			admin.Do(t, http.MethodPut, "/api/v3/network-settings", object{field: values[1]}).Status, field)
		require.Equal(t, values[0], f.n.Admin(region.EU).Do(t, http.MethodGet, "/api/v3/network-settings", nil).OK(t).Int(t, field))
	}
}

// TestMessagesOfManySubchannels deletes the messages of more than one page of subchannels.
func TestMessagesOfManySubchannels(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	alice := f.n.NewUser(t, region.EU, "alice")
	made := alice.Do(t, http.MethodPost, "/api/v3/channels", object{"type": "community", "displayName": "c"}).OK(t)
	body := object{"messageFeedId": made.String(t, "channels.0.channelId"), "dataType": "text", "data": object{"text": "secret"}}
	message := alice.Do(t, http.MethodPost, messagesPath, body).OK(t).String(t, "messages.0.messageId")
	f.set(t, object{"retentionMessageDays": 7})
	for _, feeds := range []int{retention.FeedsPerPage, retention.FeedsPerPage + 1} { // one full page, after which the walk begins again
		for f.count(t, "SELECT count(*) FROM message_feeds") < feeds {
			_, err := f.conn.Exec(t.Context(), `INSERT INTO message_feeds SELECT (jsonb_populate_record(f,
				jsonb_build_object('id', '02' || substr(md5(random()::text), 1, 22)))).* FROM message_feeds f LIMIT 1`)
			require.NoError(t, err)
		}
		_, err := f.conn.Exec(t.Context(), `INSERT INTO messages (home, id, feed_id, channel_id, channel_public_id, channel_type, parent_id,
			creator_id, creator_public_id, reference_id, reference_hash, segment, data_type, data, file_id, created_at, updated_at, edited_at)
			SELECT m.home, '02' || substr(md5(random()::text), 1, 22), f.id, m.channel_id, m.channel_public_id, m.channel_type, '', m.creator_id,
			m.creator_public_id, '', decode(md5(random()::text), 'hex'), $2, m.data_type, m.data, '', m.created_at, m.updated_at, m.edited_at
			FROM messages m, message_feeds f WHERE m.id = $1`, message, feeds)
		require.NoError(t, err)
		f.sweep(t, "messages", 8)
		require.Zero(t, f.count(t, "SELECT count(*) FROM messages WHERE deleted_at IS NULL"))
	}
}

// TestDaysOfKinds checks which setting is the retention of each kind of rows.
func TestDaysOfKinds(t *testing.T) {
	t.Parallel()
	settings := network.Settings{
		RetentionMessageDays: 1, RetentionDeletedDays: 2, RetentionSessionDays: 3, RetentionEventDays: 4, RetentionAuditDays: 5,
	}
	days := map[string]int{}
	for _, kind := range retention.Kinds(&service.Deps{}, time.Hour, nil, nil) {
		days[kind.Name] = kind.Days(settings)
	}
	require.Equal(t, map[string]int{
		"messages": 1, "deleted messages": 2, "deleted comments": 2, "deleted posts": 2, "deleted stories": 2,
		"sessions": 3, "events": 4, "audit": 5,
	}, days)
}

// TestPagesOfSessionsAndAudit deletes more rows than one page.
func TestPagesOfSessionsAndAudit(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	f.n.NewUser(t, region.EU, "alice")
	f.set(t, object{"retentionSessionDays": 2, "retentionAuditDays": 30})
	_, err := f.conn.Exec(t.Context(), `INSERT INTO sessions SELECT (jsonb_populate_record(s,
		jsonb_build_object('id', '02' || substr(md5(n::text), 1, 22)))).* FROM sessions s, generate_series(1, 501) n`)
	require.NoError(t, err)
	_, err = f.conn.Exec(t.Context(), `INSERT INTO audit_events (home, at, id, actor_kind, actor, key_id, roles, permission, operation,
		targets, request_id) SELECT 'eu', now() - interval '31 days', 'old' || n, '', '', '', '{}', '', '', '[]', ''
		FROM generate_series(1, $1) n`, retention.PageSize+1)
	require.NoError(t, err)
	f.sweep(t, "sessions", 2.01)
	require.Zero(t, f.count(t, "SELECT count(*) FROM sessions"))
	f.sweep(t, "audit", 0)
	require.Zero(t, f.count(t, "SELECT count(*) FROM audit_events WHERE id LIKE 'old%'"))
}

// TestRetentionMetrics checks the metrics after a page, and after the retention was set to for ever.
func TestRetentionMetrics(t *testing.T) {
	t.Parallel()
	f := newFixture(t)
	days := 2
	d := &service.Deps{Store: f.store, Region: region.EU, Now: func() time.Time { return f.now }, Log: slog.New(slog.DiscardHandler)}
	kind := retention.Kind{Name: "x", Days: func(network.Settings) int { return days }}
	kind.Sweep = func(_ context.Context, _ region.Code, before time.Time) (retention.Swept, error) {
		require.Equal(t, f.now.Add(-48*time.Hour), before)
		return retention.Swept{Rows: 3, Oldest: before.Add(-time.Minute)}, nil
	}
	registry := prometheus.NewRegistry()
	s := retention.New(d, registry, kind)
	sweep := func(wantDeleted, wantLag float64) {
		t.Helper()
		_, err := s.Sweep(t.Context(), region.EU, kind)
		require.NoError(t, err)
		found, err := registry.Gather()
		require.NoError(t, err)
		require.Len(t, found, 2)
		require.Equal(t, "plaza_retention_deleted_total", found[0].GetName())
		require.InDelta(t, wantDeleted, found[0].GetMetric()[0].GetCounter().GetValue(), 0)
		require.InDelta(t, wantLag, found[1].GetMetric()[0].GetGauge().GetValue(), 0)
	}
	sweep(3, 60)
	sweep(6, 60)
	days = 0
	sweep(6, 0)
}
