package conformance

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/config"
	"github.com/plaza-social/plaza/platform/limits"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/db"
)

// guardRow is a change between what an operation reads and its transaction, which makes a condition of the transaction fail.
type guardRow struct {
	condition    string // as conditionsOf names it
	procedure    string // "PostService/FlagPost"
	by           principal
	name         string                                       // of the authorization row of the operation that builds the request
	request      func(t *testing.T, g *fixture) object        // instead of an authorization row
	change       change                                       // by another caller
	want         int                                          // code of the answer; 0 for an operation that reads again and succeeds
	inBackground bool                                         // whether the transaction is one that the operation leaves to the server
	send         func(t *testing.T, g *fixture, r object) int // instead of calling an operation; returns the code of the answer
	writes       []string                                     // tables that an operation which is refused has changed before
}

// change is what happens before the transaction of a request is sent.
type change func(t *testing.T, g *fixture, procedure string, request object)

// Callers of guardRow in addition to the principals.
const (
	theAuthor principal = "the author"
	theBoss   principal = "the owner of the communities"
	userOfRow principal = "a user of the row" // who is set by the request
)

// guardRows returns the rows of all nouns.
func guardRows() []guardRow {
	return slices.Concat(postGuardRows(), commentGuardRows(), reactionGuardRows(), pollGuardRows(), storyGuardRows(), flagGuardRows(),
		pinGuardRows(),
		eventGuardRows(), communityGuardRows(), invitationGuardRows(), channelGuardRows(), messageGuardRows(), streamGuardRows(), roomGuardRows(),
		userGuardRows(), followGuardRows(), networkGuardRows())
}

// unforced are the conditions that no row makes fail, and why.
var unforced = map[string]string{
	"store/content.ChangeVotes poll_votes_pkey": "the condition before it reads the same rows; only a transaction at the same moment " +
		"passes it",
	"store/messaging.MoveFeedMarkers user_feed_markers_pkey": "the transaction reads the same rows first; only a transaction at the same " +
		"moment passes it",
	"store/eventlog.InsertEvents realtime_events_id_key": "needs a delivery whose success was not recorded; tested by package store",

	// Background work that no request starts.
	"service/file.settle GuardFileUnused":                    "files are released after a time; tested by service/file",
	"store/media.GuardFileUnused sqlFileGuardUnused":         "files are released after a time; tested by service/file",
	"store/lifecycle.DeleteOldMessages sqlMessagesGuardLive": "a sweep by age; tested by service/retention",
	"store/network.OwnWebhook sqlWebhookCursorOwn":           "needs two servers and the end of a lease; tested by package delivery",
	"service/importer.insertChannelMembers GuardChannel":     "a command, not an operation",
	"service/importer.insertMessages GuardChannel":           "a command, not an operation",
}

// calls is the change of an administrator who calls an operation with fields of the request; "postId=referenceId" renames a field.
func calls(procedure string, fields ...string) change {
	return callsAs(adminToken, procedure, nil, fields...)
}

// callsAs is calls of another caller, with further fields.
func callsAs(by principal, procedure string, more object, fields ...string) change {
	return func(t *testing.T, g *fixture, _ string, request object) {
		t.Helper()
		body := object{}
		for _, f := range fields {
			name, of, _ := strings.Cut(f, "=")
			body[name] = request[cmp.Or(of, name)]
		}
		require.Zero(t, g.call(t, g.principals[by], row{procedure: procedure}, with(body, more)), "%s: %v", procedure, body)
	}
}

// again is the change of a caller who makes the same request, with further fields.
func again(by principal, more ...object) change {
	return func(t *testing.T, g *fixture, procedure string, request object) {
		t.Helper()
		require.Zero(t, g.call(t, g.principals[by], row{procedure: procedure}, with(request, more...)), procedure)
	}
}

// exec changes rows of the network that no operation changes in this way.
func (g *fixture) exec(t *testing.T, sql string, args ...any) {
	t.Helper()
	changed, err := connectTo(t, g.n).Exec(t.Context(), sql, args...)
	require.NoError(t, err)
	require.Positive(t, changed.RowsAffected(), sql)
}

// TestGuards makes every condition of a transaction fail: what it depends on changes after the operation has read it.
func TestGuards(t *testing.T) {
	t.Parallel()
	transactions := &guards{}
	g := newFixture(t, apptest.WithTransactions(transactions.sent, transactions.refuse), apptest.WithConfig(func(cfg *config.Config) {
		cfg.MediaKey, cfg.MediaIngestURL, cfg.DailyChannels = mediaSecret, "rtmp://ingest.test:1935/live/in", mostChannels
		cfg.RequestTimeout, cfg.StatementTimeout = config.Duration(apptest.Patience), config.Duration(apptest.Patience) // include the changes
	}), apptest.WithLimits(func(l *limits.Limits) { l.FollowErasure = 0 })) // erasures would wait for the requests that they interrupt
	g.guards = transactions
	g.principals[theAuthor], g.principals[theBoss], g.principals[theMedia] = g.author, g.boss, mediaServer(g.n)
	g.principals[apiKey] = g.n.Anonymous(region.EU).With("X-API-Key", g.n.APIKey)
	conn, all, failed, ran := connectTo(t, g.n), map[string]condition{}, map[string]bool{}, 0
	for _, c := range conditionsOf(t) {
		all[c.name] = c
	}
	for _, r := range guardRows() {
		t.Run(r.condition+" in "+r.procedure, func(t *testing.T) {
			ran++
			c, known := all[r.condition]
			require.True(t, known, "a row for an unknown condition")
			for _, place := range g.interrupt(t, conn, r, c) {
				for name, other := range all {
					failed[name] = failed[name] || other.covers(place)
				}
			}
		})
	}
	for name := range unforced {
		require.Contains(t, all, name, "a reason for an unknown condition")
		require.False(t, failed[name], "%s has a row: remove the reason why it has none", name)
	}
	if ran == len(guardRows()) { // otherwise some were not selected
		require.Empty(t, missingRows(all, failed), "conditions of transactions that no row makes fail: change what they depend on, in a guardRow")
	}
}

// missingRows returns the conditions that no row made fail, without those that have a reason.
func missingRows(all map[string]condition, failed map[string]bool) []string {
	return slices.DeleteFunc(slices.Sorted(maps.Keys(all)), func(name string) bool {
		_, known := unforced[name]
		return failed[name] || known
	})
}

// interrupt sends the request of a row, changes what it depends on, and returns the places of the conditions that failed. A refused
// operation must have changed nothing.
func (g *fixture) interrupt(t *testing.T, conn *pgx.Conn, r guardRow, c condition) []string {
	t.Helper()
	request := r.build(t, g)
	var code int
	var before map[string]string
	without := append([]string{"directory"}, r.writes...) // servers copy the entries that they look up
	atFirst := stateOf(t, conn, without)
	refusals := g.guards.interrupt(t, c.covers, func() {
		if r.send != nil {
			code = r.send(t, g, request)
		} else {
			code = g.call(t, g.principals[r.by], row{procedure: r.procedure}, request)
		}
		if r.inBackground {
			require.Eventually(t, func() bool { return len(placesOf(g.guards.refusals(), c)) > 0 }, apptest.Patience, 5*time.Millisecond)
		}
	}, func() {
		if r.want != 0 {
			require.Equal(t, atFirst, stateOf(t, conn, without), "what is refused writes nothing before the condition")
		}
		r.change(t, g, r.procedure, request)
		if r.want != 0 {
			before = stateOf(t, conn, r.writes)
		}
	})
	require.Equal(t, r.want, code, "the answer of %s", r.procedure)
	places := placesOf(refusals, c)
	require.NotEmpty(t, places, "the condition did not fail, but these: %v", refusals)
	if r.want != 0 {
		require.Equal(t, before, stateOf(t, conn, r.writes), "a refused operation changes nothing")
	}
	return places
}

// placesOf returns the places of the refusals by a condition.
func placesOf(refusals []refusal, c condition) []string {
	var places []string
	for _, refusal := range refusals {
		if slices.ContainsFunc(refusal.places, c.covers) {
			places = append(places, refusal.places...)
		}
	}
	return places
}

// build returns the request of a row.
func (r guardRow) build(t *testing.T, g *fixture) object {
	t.Helper()
	if r.request != nil {
		return r.request(t, g)
	}
	for _, a := range authorizationRows() {
		if a.procedure == r.procedure && a.name == r.name {
			return a.request(t, g)
		}
	}
	require.Fail(t, "no authorization row", "%s %q", r.procedure, r.name)
	return nil
}

// unstable are the tables that servers change in the background.
var unstable = []string{"outbox", "realtime_heads", "servers", "webhook_cursors"}

// stateOf returns a digest of each table once all outbox rows are delivered, without the tables that servers change in the background.
// Reservations of what posts embed end later, without a change.
func stateOf(t *testing.T, conn *pgx.Conn, without []string) map[string]string {
	t.Helper()
	require.Eventually(t, func() bool {
		var waiting int
		require.NoError(t, conn.QueryRow(t.Context(), `SELECT count(*) FROM outbox WHERE topic <> 'reserved'`).Scan(&waiting))
		return waiting == 0
	}, apptest.Patience, 5*time.Millisecond)
	var digests []string
	for _, table := range db.Tables() {
		if !slices.Contains(unstable, table) && !slices.Contains(without, table) {
			const digest = `SELECT '%[1]s', count(*) || ' rows ' || COALESCE(md5(string_agg(r::text, '|' ORDER BY r::text)), '') FROM %[1]s AS r`
			digests = append(digests, fmt.Sprintf(digest, table))
		}
	}
	rows, err := conn.Query(t.Context(), strings.Join(digests, " UNION ALL "))
	require.NoError(t, err)
	state := map[string]string{}
	var table, digest string
	_, err = pgx.ForEachRow(rows, []any{&table, &digest}, func() error { state[table] = digest; return nil })
	require.NoError(t, err)
	require.NoError(t, rows.Err())
	return state
}
