package member_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/directory"
	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/category"
	"github.com/plaza-social/plaza/platform/service/community"
	"github.com/plaza-social/plaza/platform/service/joinrequest"
	"github.com/plaza-social/plaza/platform/service/member"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
	"github.com/plaza-social/plaza/platform/store/db/dbtest"
	"github.com/plaza-social/plaza/platform/store/eventlog"
	"github.com/plaza-social/plaza/platform/store/people"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// patience is how long tests wait for what must happen. Only a test that fails waits that long.
const patience = 2 * time.Minute

// server is one region's services.
type server struct {
	deps       *service.Deps
	community  *community.Service
	member     *member.Service
	request    *joinrequest.Service
	categories *category.Service
}

// world is a network of three regions on one database.
type world struct {
	t       *testing.T
	url     string
	servers map[region.Code]*server
	fault   atomic.Pointer[func() error]
	admin   context.Context
	clock   atomic.Int64 // milliseconds; every reading of it is a new one
}

func newWorld(t *testing.T) *world {
	t.Helper()
	w := &world{t: t, url: dbtest.New(t), servers: map[region.Code]*server{}}
	w.clock.Store(time.Date(2026, 11, 20, 0, 0, 0, 0, time.UTC).UnixMilli())
	for _, code := range region.All() {
		w.servers[code] = w.serve(code)
	}
	w.admin = auth.WithCaller(t.Context(), &auth.Caller{Kind: auth.Admin, Name: "root"})
	return w
}

func (w *world) now() time.Time { return time.UnixMilli(w.clock.Add(1)).UTC() }

func (w *world) serve(code region.Code) *server {
	quiet := slog.New(slog.DiscardHandler)
	st, err := store.Open(w.t.Context(), db.Config{
		URLs: map[region.Code]string{"": w.url}, PoolSize: 4, StatementTimeout: patience, Log: quiet,
		Fault: func() error {
			if f := w.fault.Load(); f != nil {
				return (*f)()
			}
			return nil
		},
	})
	require.NoError(w.t, err)
	w.t.Cleanup(st.Close)
	d := &service.Deps{
		Store: st, View: &view.Builder{NetworkID: strings.Repeat("a", 24)}, Region: code, NetworkID: strings.Repeat("a", 24),
		Directory: directory.New(st, code, []byte("key"), w.now, quiet), Outbox: events.NewOutbox(st, w.now, quiet),
		Now: w.now, NewID: region.NewID, Log: quiet,
	}
	member.Register(d)
	d.Outbox.Handle(eventlog.TopicRealtime, func(context.Context, core.OutboxRow) error { return nil }) // none of these is under test
	d.Outbox.Handle(service.TopicNotice, func(context.Context, core.OutboxRow) error { return nil })
	d.Outbox.Handle(communities.TopicCommunityBan, func(context.Context, core.OutboxRow) error { return nil })
	return &server{d, community.New(d), member.New(d), joinrequest.New(d), category.New(d)}
}

// user signs a user in at a region for the first time and returns the context of their calls.
func (w *world) user(code region.Code, publicID string, roles ...string) context.Context {
	w.t.Helper()
	d := w.servers[code].deps
	id, err := d.Directory.Claim(w.t.Context(), publicID, region.NewID(code))
	require.NoError(w.t, err)
	device := sha256.Sum256([]byte(publicID))
	tx := d.Store.NewTx(code)
	tx.InsertUser(people.User{ID: id, PublicID: publicID, DisplayName: publicID}, w.now())
	tx.InsertSession(people.Session{
		ID: "s", UserID: id, DeviceHash: device[:], CreatedAt: w.now(), ExpiresAt: w.now().Add(time.Hour),
		Authenticated: true,
	})
	require.NoError(w.t, tx.Commit(w.t.Context()))
	if len(roles) > 0 {
		var changed *people.User
		tx := d.Store.NewTx(code)
		tx.UpdateUser(id, people.UserChange{Roles: roles}, w.now(), &changed)
		require.NoError(w.t, tx.Commit(w.t.Context()))
	}
	return auth.WithCaller(w.t.Context(), &auth.Caller{Kind: auth.User, UserID: id, PublicID: publicID, SessionID: "s", Home: code})
}

func idOf(ctx context.Context) string { return auth.CallerFrom(ctx).UserID }

// fresh is the same user in a new request: a caller is confirmed once a request.
func fresh(ctx context.Context) context.Context {
	c := auth.CallerFrom(ctx)
	return auth.WithCaller(ctx, &auth.Caller{
		Kind: c.Kind, UserID: c.UserID, PublicID: c.PublicID, SessionID: c.SessionID, Home: c.Home,
		Name: c.Name,
	})
}

// call makes one request.
func call[T, U any](ctx context.Context, op func(context.Context, *T) (*U, error), m *T) (*U, error) {
	resp, err := op(fresh(ctx), m)
	if err != nil {
		return nil, err
	}
	return resp, nil
}

// must is call for requests that succeed.
func must[T, U any](t *testing.T, ctx context.Context, op func(context.Context, *T) (*U, error), m *T) *U {
	t.Helper()
	resp, err := call(ctx, op, m)
	require.NoError(t, err)
	return resp
}

// codeOf is the code that err has on the wire; 0 for none.
func codeOf(err error) fail.Code {
	if err == nil {
		return 0
	}
	if f, ok := errors.AsType[*fail.Error](err); ok {
		return f.Code
	}
	return fail.CodeUnexpected
}

//nolint:revive // a test's own t comes first
func refused[T, U any](t *testing.T, code fail.Code, ctx context.Context, op func(context.Context, *T) (*U, error), m *T) {
	t.Helper()
	_, err := call(ctx, op, m)
	require.Equal(t, code, codeOf(err), "%v", err)
}

// newCommunity makes a community through a region's server and returns its id.
//
//nolint:revive // the context is who calls
func (w *world) newCommunity(code region.Code, creator context.Context, m *plazav1.CreateCommunityRequest) string {
	w.t.Helper()
	if m.GetDisplayName() == "" {
		m.DisplayName = "Gardening"
	}
	got := must(w.t, creator, w.servers[code].community.CreateCommunity, m)
	return got.GetCommunities()[0].GetCommunityId()
}

// get reads a community as a user sees it.
func (w *world) get(ctx context.Context, id string) *plazav1.CommunityResponse {
	w.t.Helper()
	return must(w.t, ctx, w.servers[region.SG].community.GetCommunity, &plazav1.GetCommunityRequest{CommunityId: id})
}

// drain delivers what waits in the outboxes, as workers of a later time would, until nothing does. What meets a
// connection that was killed a moment ago is retried.
func (w *world) drain() {
	w.t.Helper()
	conn := w.connect()
	require.Eventually(w.t, func() bool {
		w.clock.Add(time.Hour.Milliseconds())
		for _, home := range region.All() {
			_ = w.servers[region.US].deps.Outbox.Job().Once(w.t.Context(), home)
		}
		var waiting int
		return conn.QueryRow(w.t.Context(), `SELECT count(*) FROM outbox`).Scan(&waiting) == nil && waiting == 0
	}, patience, 20*time.Millisecond)
}

// connect opens a connection of the test's own.
func (w *world) connect() *pgx.Conn {
	w.t.Helper()
	conn, err := pgx.Connect(w.t.Context(), w.url)
	require.NoError(w.t, err)
	w.t.Cleanup(func() { _ = conn.Close(context.WithoutCancel(w.t.Context())) })
	return conn
}

// requireNoDrift compares every count and every mirror with the memberships that it comes from.
func (w *world) requireNoDrift() {
	w.t.Helper()
	conn := w.connect()
	for what, query := range map[string]string{
		"members": `SELECT count(*) FROM communities c WHERE
			(SELECT count(*) FROM community_members m WHERE m.community_id = c.id AND m.state = 'member') <>
			(SELECT COALESCE(sum(n), 0) FROM counters k WHERE k.ref = c.id AND k.kind = 'members')`,
		"moderators": `SELECT count(*) FROM communities c WHERE
			(SELECT count(*) FROM community_members m WHERE m.community_id = c.id AND m.is_moderator) <>
			(SELECT COALESCE(sum(n), 0) FROM counters k WHERE k.ref = c.id AND k.kind = 'moderators')`,
		"is_moderator": `SELECT count(*) FROM community_members
			WHERE is_moderator <> (state = 'member' AND 'community-moderator' = ANY(roles))`,
		"mirrors": `SELECT count(*) FROM community_members m FULL JOIN user_communities u
			ON u.user_id = m.user_id AND u.community_id = m.community_id
			WHERE u.state IS DISTINCT FROM m.state OR u.version IS DISTINCT FROM m.version`,
		"categories": `SELECT count(*) FROM communities c WHERE
			(SELECT COALESCE(array_agg(k.category_id ORDER BY k.category_id), '{}') FROM community_categories k
				WHERE k.community_id = c.id AND k.name_key = c.name_key) <>
			(SELECT COALESCE(array_agg(x ORDER BY x), '{}') FROM unnest(c.category_ids) x)`,
		"homes": `SELECT count(*) FROM community_members m JOIN communities c ON c.id = m.community_id WHERE m.home <> c.home`,
	} {
		var wrong int
		require.NoError(w.t, conn.QueryRow(w.t.Context(), query).Scan(&wrong), what)
		require.Zero(w.t, wrong, what)
	}
}
