package scheduledpost_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"log/slog"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/types/known/structpb"
	"google.golang.org/protobuf/types/known/timestamppb"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/directory"
	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/jobs"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/community"
	"github.com/plaza-social/plaza/platform/service/scheduledpost"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/db"
	"github.com/plaza-social/plaza/platform/store/db/dbtest"
	"github.com/plaza-social/plaza/platform/store/people"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// world is a database with servers of region eu on it, which share a clock that stands still.
type world struct {
	t     *testing.T
	url   string
	clock atomic.Int64 // milliseconds
	conn  *pgxpool.Pool
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, url: dbtest.New(t)}
	w.clock.Store(time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC).UnixMilli())
	conn, err := pgxpool.New(t.Context(), w.url)
	require.NoError(t, err)
	t.Cleanup(conn.Close)
	w.conn = conn
	w.upload(picture)
	return w
}

// picture is an image that is there.
const picture = "02aaaaaaaaaaaaaaaaaaaaaa"

func (w *world) upload(id string) {
	w.t.Helper()
	_,
		err := w.conn.Exec(w.t.Context(),
		`INSERT INTO files (home, id, owner_id, owner_public_id, type, access_type, feed_type, alt_text, name, extension,
		mime_type, size, width, height, exif, gps, sizes, sizes_mime_type, created_at, updated_at)
		VALUES ('eu', $1, '', '', 'image', 'public', '', '', 'a', '', 'image/png', 1, 1, 1, '{}', '{}', '{}', '', now(), now())`, id)
	require.NoError(w.t, err)
}

func (w *world) now() time.Time { return time.UnixMilli(w.clock.Load()).UTC() }

// server makes a server with a store of its own, whose connections have a name. fault may be nil.
func (w *world) server(name string, fault func() error) (*service.Deps, *store.Store) {
	w.t.Helper()
	return w.serverAt(name, map[region.Code]string{"": w.url}, fault)
}

// without makes a server that cannot reach a home.
func (w *world) without(home region.Code) *service.Deps {
	w.t.Helper()
	d, _ := w.serverAt("without", map[region.Code]string{"": w.url, home: "postgresql://plaza@127.0.0.1:1/plaza?connect_timeout=1"}, nil)
	return d
}

// serverAt is server with the databases of the homes.
func (w *world) serverAt(name string, urls map[region.Code]string, fault func() error) (*service.Deps, *store.Store) {
	w.t.Helper()
	quiet := slog.New(slog.DiscardHandler)
	st, err := store.Open(w.t.Context(), db.Config{
		URLs: urls, PoolSize: 4, StatementTimeout: patience, Log: quiet, Fault: fault,
	})
	require.NoError(w.t, err)
	w.t.Cleanup(st.Close)
	return &service.Deps{
		Store: st, View: &view.Builder{NetworkID: strings.Repeat("a", 24)}, Region: region.EU, NetworkID: strings.Repeat("a", 24),
		Directory: directory.New(st, region.EU, []byte("key"), w.now, quiet), Outbox: events.NewOutbox(st, w.now, quiet),
		Now: w.now, NewID: region.NewID, Log: quiet.With("server", name),
	}, st
}

// user signs a user in for the first time and returns the context of each call.
func (w *world) user(d *service.Deps, publicID string) func() context.Context {
	w.t.Helper()
	id, err := d.Directory.Claim(w.t.Context(), publicID, region.NewID(region.EU))
	require.NoError(w.t, err)
	device := sha256.Sum256([]byte(publicID))
	tx := d.Store.NewTx(region.EU)
	tx.InsertUser(people.User{ID: id, PublicID: publicID, DisplayName: publicID}, w.now())
	tx.InsertSession(people.Session{
		ID: "s", UserID: id, DeviceHash: device[:], CreatedAt: w.now(), ExpiresAt: w.now().Add(time.Hour),
		Authenticated: true,
	})
	require.NoError(w.t, tx.Commit(w.t.Context()))
	return func() context.Context {
		return auth.WithCaller(w.t.Context(), &auth.Caller{Kind: auth.User, UserID: id, PublicID: publicID, SessionID: "s", Home: region.EU})
	}
}

// newCommunity makes a community and returns its id.
func newCommunity(ctx context.Context, t *testing.T, d *service.Deps) string {
	t.Helper()
	made, err := community.New(d).CreateCommunity(ctx, &plazav1.CreateCommunityRequest{DisplayName: "Gardening"})
	require.NoError(t, err)
	return made.GetCommunities()[0].GetCommunityId()
}

func request(at time.Time, communityID, text string) *plazav1.SchedulePostRequest {
	return &plazav1.SchedulePostRequest{ScheduledAt: timestamppb.New(at), PostData: &plazav1.CreatePostRequest{
		TargetType: "community", TargetId: communityID,
		Data:        &structpb.Struct{Fields: map[string]*structpb.Value{"text": structpb.NewStringValue(text)}},
		Attachments: []*plazav1.Attachment{{Type: "image", FileId: picture}},
	}}
}

func (w *world) count(query string, args ...any) int {
	w.t.Helper()
	var n int
	require.NoError(w.t, w.conn.QueryRow(w.t.Context(), query, args...).Scan(&n))
	return n
}

const parentsOf = `SELECT count(*) FROM posts WHERE target_id = $1 AND is_parent`

// patience is how long tests wait for what must happen. Only a test that fails waits that long.
const patience = 2 * time.Minute

// TestScheduleBounds schedules posts at the first and at the last time that is allowed, and beyond.
func TestScheduleBounds(t *testing.T) {
	w := newWorld(t)
	d, _ := w.server("only", nil)
	author := w.user(d, "author")
	communityID := newCommunity(author(), t, d)
	for _, test := range []struct {
		after time.Duration
		ok    bool
	}{{-time.Millisecond, false}, {0, true}, {30 * 24 * time.Hour, true}, {30*24*time.Hour + time.Millisecond, false}} {
		_, err := scheduledpost.New(d).SchedulePost(author(), request(w.now().Add(test.after), communityID, "x"))
		require.Equal(t, test.ok, err == nil, "%s: %v", test.after, err)
	}
}

// TestPublishOnce has two servers publish 1,000 posts that are due at the same second. The connections of
// both are cut in the middle of what they do, and midway both stop until one is killed. The other one's transactions fail now and then.
func TestPublishOnce(t *testing.T) {
	const posts = 1000
	w := newWorld(t)
	d, _ := w.server("first", nil)
	author := w.user(d, "author")
	communityID := newCommunity(author(), t, d)
	due := w.now().Add(time.Hour)
	for i := range posts {
		_, err := scheduledpost.New(d).SchedulePost(author(), request(due, communityID, strconv.Itoa(i)))
		require.NoError(t, err)
	}
	ctx, end := context.WithCancel(t.Context())
	defer end()
	var tries, sent atomic.Int64
	var killed atomic.Bool
	midway := make(chan struct{})
	stopMidway := func() {
		if sent.Add(1) > posts/2 {
			<-midway
		}
	}
	doomed, doomedStore := w.server("doomed", func() error {
		stopMidway()
		if killed.Load() {
			return errors.New("killed")
		}
		return nil
	})
	survivor, _ := w.server("survivor", func() error {
		stopMidway()
		if tries.Add(1)%20 == 0 {
			return errors.New("connection reset by peer")
		}
		return nil
	})
	doomedCtx, kill := context.WithCancel(ctx)
	defer kill()
	workers := make(chan struct{}, 2)
	var rounds atomic.Int64
	run := func(ctx context.Context, d *service.Deps) {
		job := scheduledpost.New(d).Job()
		job.Every = 10 * time.Millisecond
		poll := job.Poll
		job.Poll = func(ctx context.Context, home region.Code, lanes []int64) (map[int64]jobs.Work, error) {
			defer rounds.Add(1)
			return poll(ctx, home, lanes)
		}
		job.Run(ctx, region.EU)
		workers <- struct{}{}
	}
	go run(doomedCtx, doomed)
	go run(ctx, survivor)
	require.Eventually(t, func() bool { return rounds.Load() > 20 }, patience, time.Millisecond)
	require.Zero(t, w.count(parentsOf, communityID), "not before their time")

	w.clock.Store(due.UnixMilli())
	require.Eventually(t, func() bool { return sent.Load() > posts/4 }, patience, time.Millisecond)
	w.cut()
	require.Eventually(t, func() bool { return sent.Load() > posts/2 }, patience, time.Millisecond)
	left := posts - w.count(parentsOf, communityID)
	require.Positive(t, left)
	killed.Store(true)
	kill()
	close(midway)
	<-workers
	doomedStore.Close()
	require.Eventually(t, func() bool {
		w.clock.Add(1000) // those that met a failure are tried again a little later
		return w.count(`SELECT count(*) FROM scheduled_posts WHERE status = 'WAIT'`) == 0
	}, patience, 20*time.Millisecond)
	t.Logf("%d posts, %d of them left at the kill", posts, left)
	end()
	<-workers

	require.Equal(t, posts, w.count(`SELECT count(*) FROM scheduled_posts WHERE status = 'posted'`))
	require.Equal(t, posts, w.count(parentsOf, communityID))
	require.Equal(t, posts, w.count(`SELECT count(DISTINCT data->>'text') FROM posts WHERE target_id = $1 AND is_parent`, communityID))
	require.Equal(t, posts, w.count(`SELECT count(*) FROM posts WHERE target_id = $1 AND NOT is_parent`, communityID), "one child each")
	require.Equal(t, posts, w.count(`SELECT sum(n) FROM counters WHERE ref = $1 AND kind = 'published'`, communityID))
}

// cut ends the connections of all servers in the middle of whatever they do.
func (w *world) cut() {
	w.t.Helper()
	_, err := w.conn.Exec(w.t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
		WHERE application_name = 'plaza-eu' AND datname = current_database()`)
	require.NoError(w.t, err)
}

// TestPublishDueWithoutItsAuthor gives up posts of authors who are gone, and publishes those of others.
func TestPublishDueWithoutItsAuthor(t *testing.T) {
	w := newWorld(t)
	d, st := w.server("only", nil)
	author, gone := w.user(d, "author"), w.user(d, "gone")
	communityID := newCommunity(author(), t, d)
	due := w.now().Add(time.Minute)
	s := scheduledpost.New(d)
	_, err := s.SchedulePost(author(), request(due, communityID, "stays"))
	require.NoError(t, err)
	_, err = s.SchedulePost(gone(), &plazav1.SchedulePostRequest{
		ScheduledAt: timestamppb.New(due), PostData: &plazav1.CreatePostRequest{Text: "goes"},
	})
	require.NoError(t, err)
	var banned *people.User
	tx := st.NewTx(region.EU)
	tx.BanUser(auth.CallerFrom(gone()).UserID, true, w.now(), &banned)
	require.NoError(t, tx.Commit(t.Context()))
	w.clock.Store(due.UnixMilli())
	require.NoError(t, s.Job().Once(t.Context(), region.EU))
	require.Equal(t, 1, w.count(`SELECT count(*) FROM scheduled_posts WHERE status = 'posted'`))
	require.Equal(t, 1, w.count(`SELECT count(*) FROM scheduled_posts WHERE status = 'failed' AND description <> ''`))
	require.Equal(t, 1, w.count(`SELECT count(*) FROM posts WHERE is_parent`))
}

// TestPublishWithoutItsTarget gives up posts whose target or author does not exist any more when they are due, and says why.
func TestPublishWithoutItsTarget(t *testing.T) {
	const noTarget = "The community or user that it was for is gone, or not for its author to see"
	for name, test := range map[string]struct{ ends, want string }{
		"wall":      {`UPDATE users SET deleted_at = now() WHERE public_id = 'owner'`, noTarget},
		"user":      {`DELETE FROM users WHERE public_id = 'owner'`, noTarget},
		"community": {`DELETE FROM communities`, noTarget},
		"author":    {`DELETE FROM users WHERE public_id = 'author'`, "Its author is gone"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			d, _ := w.server("only", nil)
			author, owner := w.user(d, "author"), w.user(d, "owner")
			due := w.now().Add(time.Minute)
			scheduled := request(due, newCommunity(author(), t, d), "x")
			if name == "wall" || name == "user" {
				scheduled.PostData.TargetType, scheduled.PostData.TargetId = "user", auth.CallerFrom(owner()).PublicID
			}
			s := scheduledpost.New(d)
			_, err := s.SchedulePost(author(), scheduled)
			require.NoError(t, err)
			_, err = w.conn.Exec(t.Context(), test.ends)
			require.NoError(t, err)
			w.clock.Store(due.UnixMilli())
			require.NoError(t, s.Job().Once(t.Context(), region.EU))
			require.Equal(t, 1, w.count(`SELECT count(*) FROM scheduled_posts WHERE status = 'failed' AND description = $1`, test.want))
			require.Zero(t, w.count(`SELECT count(*) FROM posts`))
		})
	}
}

// TestPublishDuringMove leaves posts of an author who is moving to another home, and publishes them afterwards. Those of others do not
// wait.
func TestPublishDuringMove(t *testing.T) {
	w := newWorld(t)
	d, st := w.server("only", nil)
	author, other := w.user(d, "author"), w.user(d, "other")
	due := w.now().Add(time.Minute)
	s := scheduledpost.New(d)
	for range 8 { // several for each lane
		for _, by := range []func() context.Context{author, other} {
			_,
				err := s.SchedulePost(by(), &plazav1.SchedulePostRequest{
				ScheduledAt: timestamppb.New(due),
				PostData:    &plazav1.CreatePostRequest{Text: "hello"},
			})
			require.NoError(t, err)
		}
	}
	w.clock.Store(due.UnixMilli())
	route := db.Route{UserID: auth.CallerFrom(author()).UserID, Home: region.EU, To: region.SG, State: db.MoveMoving, Version: 1}
	st.Routes().Put(route, nil)
	for range 25 { // more often than a post is tried
		require.NoError(t, s.Job().Once(t.Context(), region.EU))
		w.clock.Add(time.Minute.Milliseconds())
	}
	require.Equal(t, 8, w.count(`SELECT count(*) FROM scheduled_posts WHERE status = 'WAIT' AND author_id = $1`, route.UserID))
	require.Equal(t, 8, w.count(`SELECT count(*) FROM scheduled_posts WHERE status = 'posted' AND author_id <> $1`, route.UserID))
	route.State, route.Version = db.MoveAnnounced, 2
	st.Routes().Put(route, nil)
	require.NoError(t, s.Job().Once(t.Context(), region.EU))
	require.Equal(t, 16, w.count(`SELECT count(*) FROM scheduled_posts WHERE status = 'posted'`))
}

// TestPublishWithoutAHome leaves a post for as long as the home of its author or of its target does not answer, and publishes it
// afterwards.
func TestPublishWithoutAHome(t *testing.T) {
	for _, column := range []string{"author_id", "target_id"} {
		w := newWorld(t)
		d, _ := w.server("all", nil)
		author := w.user(d, "author")
		due := w.now().Add(time.Minute)
		community := newCommunity(author(), t, d)
		_, err := scheduledpost.New(d).SchedulePost(author(), request(due, community, "x"))
		require.NoError(t, err)
		set := func(id string) {
			_, err := w.conn.Exec(t.Context(), `UPDATE scheduled_posts SET `+column+` = $1`, id)
			require.NoError(t, err)
		}
		set(region.NewID(region.SG))
		w.clock.Store(due.UnixMilli())
		cut := scheduledpost.New(w.without(region.SG))
		for range 25 { // more often than a post that meets another failure is tried
			require.NoError(t, cut.Job().Once(t.Context(), region.EU))
			w.clock.Add(time.Minute.Milliseconds())
		}
		require.Equal(t, 1, w.count(`SELECT count(*) FROM scheduled_posts WHERE status = 'WAIT' AND attempts >= 20`), column)
		set(map[string]string{"author_id": auth.CallerFrom(author()).UserID, "target_id": community}[column])
		require.NoError(t, scheduledpost.New(d).Job().Once(t.Context(), region.EU))
		require.Equal(t, 1, w.count(`SELECT count(*) FROM scheduled_posts WHERE status = 'posted'`), column)
	}
}

// TestPublishRetries leaves a post that meets a failure for later, and gives it up in the end.
func TestPublishRetries(t *testing.T) {
	w := newWorld(t)
	d, _ := w.server("only", nil)
	author := w.user(d, "author")
	communityID := newCommunity(author(), t, d)
	due := w.now().Add(time.Minute)
	_, err := scheduledpost.New(d).SchedulePost(author(), request(due, communityID, "x"))
	require.NoError(t, err)
	_, err = w.conn.Exec(t.Context(), `UPDATE scheduled_posts SET draft = '{"text": 1}'`)
	require.NoError(t, err, "a draft that no program can read")
	w.clock.Store(due.UnixMilli())
	for range 25 {
		require.NoError(t, scheduledpost.New(d).Job().Once(t.Context(), region.EU))
		w.clock.Add(time.Minute.Milliseconds())
	}
	require.Equal(t, 1, w.count(`SELECT count(*) FROM scheduled_posts WHERE status = 'failed' AND attempts = 19`))
	require.Zero(t, w.count(`SELECT count(*) FROM posts`))
}
