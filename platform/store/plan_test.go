package store_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/devdb/testdb"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/db"
	"github.com/plaza-social/plaza/platform/store/db/dbtest"
)

// TestPlans holds, in a world of some size, that no statement of the program scans a table, sorts what it does not
// return, or reads much that it does not need. Prepared statements are planned with their first arguments and, after a
// few runs, without any: both plans have to do. Every index has a statement that uses it.
func TestPlans(t *testing.T) {
	url := dbtest.New(t)
	conn := connect(t, url)
	samples := newCollector(t, open(t, url)).collect()
	requireEveryStatement(t, samples)
	fillWorld(t, conn, full)
	record := recordPlans(t, "full")
	if testdb.Cockroach(t) {
		runSamples(t, conn, samples)
		explainOnCockroach(t, conn, samples, record)
		return
	}
	explainOnPostgres(t, conn, samples, record)
}

// TestPlansOfSmallTables checks that statements read rows of their home only, by an index that starts with it, whatever
// the statistics of the tables are. CockroachDB, when it takes the rows wanted for all rows of an index, would otherwise
// scan the index in every region.
func TestPlansOfSmallTables(t *testing.T) {
	for name, shape := range map[string]func(string) string{"empty": nil, "one row each": oneRow, "skewed": skewed} {
		t.Run(name, func(t *testing.T) {
			url := dbtest.New(t)
			conn := connect(t, url)
			samples := newCollector(t, open(t, url)).collect()
			_, err := conn.Exec(t.Context(), emptyTables())
			require.NoError(t, err)
			if shape != nil {
				fillWorld(t, conn, shape)
			}
			if name == "skewed" {
				keepOneHome(t, conn)
			}
			runSamples(t, conn, samples)
			if testdb.Cockroach(t) {
				explainOnCockroach(t, conn, samples, recordPlans(t, name))
				return
			}
			requireHomeOnPostgres(t, conn, samples, recordPlans(t, name))
		})
	}
}

// keepOneHome removes the rows of the other homes.
func keepOneHome(t *testing.T, conn *pgx.Conn) {
	t.Helper()
	for _, table := range db.Tables() {
		_, err := conn.Exec(t.Context(), "DELETE FROM "+table+" WHERE home <> 'us'")
		require.NoError(t, err)
	}
}

// requireHomeOnPostgres fails for statements that cannot be run without reading rows of another home. PostgreSQL scans
// small tables, so scans are made expensive.
func requireHomeOnPostgres(t *testing.T, conn *pgx.Conn, samples []sample, record func(sample, string)) {
	t.Helper()
	analyze(t, conn)
	_, err := conn.Exec(t.Context(), "SET enable_seqscan = off; SET plan_cache_mode = force_custom_plan")
	require.NoError(t, err)
	e := &explainer{t: t, conn: conn, prepared: map[string]string{}, used: map[string]bool{}}
	for _, s := range samples {
		plan := e.plan(conn, s, "EXPLAIN (FORMAT JSON)")
		record(s, plan.String())
		plan.each(func(n *planNode) {
			if n.Type == "Seq Scan" || (n.scansIndex() && !strings.Contains(n.IndexCond, "home = ")) {
				t.Errorf("%s: %s of %s%s has no condition on home\narguments %v\n%s", s.name, n.Type, n.Relation, n.Index, s.Args, plan)
			}
		})
	}
}

// analyze gathers the statistics of all tables.
func analyze(t *testing.T, conn *pgx.Conn) {
	t.Helper()
	for _, table := range db.Tables() {
		_, err := conn.Exec(t.Context(), "ANALYZE "+table)
		require.NoError(t, err)
	}
}

// emptyTables removes what collecting the samples has stored.
func emptyTables() string { return "TRUNCATE " + strings.Join(db.Tables(), ", ") }

func requireEveryStatement(t *testing.T, samples []sample) {
	t.Helper()
	missing := map[string]bool{}
	for _, s := range store.Statements() {
		missing[s.Name] = true
	}
	for _, s := range samples {
		delete(missing, s.name)
	}
	require.Empty(t, slices.Sorted(maps.Keys(missing)), "statements without sample arguments: add them with planned")
}

// runSamples runs each sample as the program sends it, after what its transaction runs before it. Nothing of it stays. The guards of
// transactions may refuse: they divide by the number of rows that they find.
func runSamples(t *testing.T, conn *pgx.Conn, samples []sample) {
	t.Helper()
	for _, s := range samples {
		tx, err := conn.Begin(t.Context())
		require.NoError(t, err)
		for _, q := range append(slices.Clone(s.before), s.Queued) {
			if _, err = tx.Exec(t.Context(), q.SQL, q.Args...); err != nil {
				break
			}
		}
		pgErr, ok := errors.AsType[*pgconn.PgError](err)
		require.True(t, err == nil || ok && pgErr.Code == divisionByZero, "%s: %v", s.name, err)
		require.NoError(t, tx.Rollback(t.Context()))
	}
}

// divisionByZero is the code of the error of a guard that refuses.
const divisionByZero = "22012"

// explainOnCockroach looks for full scans, which the sessions of servers forbid. Its plans are estimates, so that is what they
// tell for certain.
func explainOnCockroach(t *testing.T, conn *pgx.Conn, samples []sample, record func(sample, string)) {
	t.Helper()
	analyze(t, conn)
	_, err := conn.Exec(t.Context(), "SET disallow_full_table_scans = on; SET large_full_scan_rows = 0")
	require.NoError(t, err)
	for _, s := range samples {
		rows, err := conn.Query(t.Context(), "EXPLAIN "+s.SQL, s.Args...)
		require.NoError(t, err, s.name)
		plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err, s.name)
		text := strings.Join(plan, "\n")
		record(s, text)
		require.NotContains(t, text, "FULL SCAN", "%s\n%s", s.name, text)
	}
}

func explainOnPostgres(t *testing.T, conn *pgx.Conn, samples []sample, record func(sample, string)) {
	t.Helper()
	_, err := conn.Exec(t.Context(), "VACUUM ANALYZE")
	require.NoError(t, err)
	e := &explainer{t: t, conn: conn, prepared: map[string]string{}, used: map[string]bool{}, small: smallTables(t, conn)}
	for _, mode := range []string{"force_custom_plan", "force_generic_plan"} {
		_, err := conn.Exec(t.Context(), "SET random_page_cost = 1.1; SET plan_cache_mode = "+mode)
		require.NoError(t, err)
		for _, s := range samples {
			plan := e.explain(s)
			record(s, mode+"\n"+plan.String())
			for _, wrong := range e.judge(s.name, plan) {
				t.Errorf("%s (%s): %s\narguments %v\n%s", s.name, mode, wrong, s.Args, plan)
			}
		}
	}
	e.requireEveryIndex()
}

// requireEveryIndex fails for indexes that no statement uses. Those of constraints are needed for these.
func (e *explainer) requireEveryIndex() {
	e.t.Helper()
	rows, err := e.conn.Query(e.t.Context(), `SELECT i.indexname FROM pg_indexes AS i WHERE i.schemaname = 'public' AND i.tablename = ANY($1)
		AND NOT EXISTS (SELECT 1 FROM pg_constraint AS c WHERE c.conname = i.indexname)`, db.Tables())
	require.NoError(e.t, err)
	names, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(e.t, err)
	names = slices.DeleteFunc(names, func(name string) bool { return e.used[name] || slices.Contains(retiredIndexes, name) })
	require.Empty(e.t, slices.Sorted(slices.Values(names)), "indexes that no statement uses")
}

// retiredIndexes are those that only servers of the previous version use, like the table backfills. They can be dropped when none runs.
var retiredIndexes = []string{"flags_unqueued", "users_unclaimed_handles"}

// smallTables are those that a scan reads as fast as an index.
func smallTables(t *testing.T, conn *pgx.Conn) map[string]bool {
	t.Helper()
	const smallest = 1000
	small := map[string]bool{}
	for _, table := range db.Tables() {
		var n int
		require.NoError(t, conn.QueryRow(t.Context(), "SELECT count(*) FROM "+table).Scan(&n))
		small[table] = n <= smallest
		require.True(t, n > smallest || table == "settings" || table == "roles" || table == "moderation_lists" || table == "realtime_heads" ||
			table == "schema_versions" ||
			table == "backfills", "%s has %d rows", table, n)
	}
	return small
}

type explainer struct {
	t        *testing.T
	conn     *pgx.Conn
	prepared map[string]string // name by text
	used     map[string]bool   // indexes of plans
	small    map[string]bool
}

// explain runs a sample, and what its transaction runs before it, and returns the plan. Nothing of it stays.
func (e *explainer) explain(s sample) *planNode {
	e.t.Helper()
	ctx := e.t.Context()
	tx, err := e.conn.Begin(ctx)
	require.NoError(e.t, err)
	defer func() { require.NoError(e.t, tx.Rollback(context.WithoutCancel(ctx))) }()
	for _, q := range s.before {
		_, err := tx.Exec(ctx, q.SQL, q.Args...)
		require.NoError(e.t, err, "before %s: %s", s.name, q.SQL)
	}
	return e.plan(tx, s, "EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON)")
}

// rowQuerier is a connection or a transaction.
type rowQuerier interface {
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// plan returns the plan of a sample.
func (e *explainer) plan(conn rowQuerier, s sample, explain string) *planNode {
	e.t.Helper()
	var raw []byte
	err := conn.QueryRow(e.t.Context(), explain+" EXECUTE "+e.prepare(s.SQL)+e.literals(s.Args)).Scan(&raw)
	require.NoError(e.t, err, s.name)
	var plans []struct {
		Plan planNode `json:"Plan"`
	}
	require.NoError(e.t, json.Unmarshal(raw, &plans))
	plans[0].Plan.each(func(n *planNode) { e.used[n.Index] = true })
	return &plans[0].Plan
}

// prepare makes a prepared statement of text once, and returns its name.
func (e *explainer) prepare(text string) string {
	if e.prepared[text] == "" {
		e.prepared[text] = fmt.Sprintf("s%d", len(e.prepared))
		_, err := e.conn.Exec(e.t.Context(), "PREPARE "+e.prepared[text]+" AS "+text)
		require.NoError(e.t, err, text)
	}
	return e.prepared[text]
}

// literals writes arguments as SQL: EXECUTE takes no parameters.
func (e *explainer) literals(args []any) string {
	e.t.Helper()
	if len(args) == 0 {
		return ""
	}
	texts := make([]string, len(args))
	for i, arg := range args {
		texts[i] = e.literal(arg)
	}
	return "(" + strings.Join(texts, ", ") + ")"
}

func (e *explainer) literal(arg any) string {
	e.t.Helper()
	switch v := arg.(type) {
	case []byte:
		if v == nil {
			return "NULL"
		}
		if !json.Valid(v) {
			return fmt.Sprintf(`'\x%x'`, v)
		}
		arg = string(v)
	case time.Time:
		return "'" + v.Format("2006-01-02 15:04:05.999999Z07:00") + "'"
	case db.Others:
		arg = []string(v)
	case []string:
		if v == nil {
			return "NULL"
		}
	}
	m := pgtype.NewMap()
	dataType, ok := m.TypeForValue(arg)
	if !ok { // a named type or a pointer: as text
		dataType, _ = m.TypeForName("text")
	}
	text, err := m.Encode(dataType.OID, pgtype.TextFormatCode, arg, []byte{})
	require.NoError(e.t, err, "%T", arg)
	if text == nil {
		return "NULL"
	}
	return "'" + strings.ReplaceAll(string(text), "'", "''") + "'"
}

// planNode is a step of a plan as PostgreSQL's JSON has it. Rows are those of one loop.
type planNode struct {
	Type         string      `json:"Node Type"`
	Relation     string      `json:"Relation Name"`
	Index        string      `json:"Index Name"`
	IndexCond    string      `json:"Index Cond"`
	Filter       string      `json:"Filter"`
	Rows         float64     `json:"Actual Rows"`
	Loops        float64     `json:"Actual Loops"`
	Filtered     float64     `json:"Rows Removed by Filter"`
	JoinFiltered float64     `json:"Rows Removed by Join Filter"`
	Rechecked    float64     `json:"Rows Removed by Index Recheck"`
	BuffersHit   float64     `json:"Shared Hit Blocks"`
	BuffersRead  float64     `json:"Shared Read Blocks"`
	Plans        []*planNode `json:"Plans"`
}

// String shows a plan to people.
func (n *planNode) String() string {
	var b strings.Builder
	n.show(&b, 0)
	return b.String()
}

func (n *planNode) show(b *strings.Builder, depth int) {
	fmt.Fprintf(b, "%s%s %s %s rows=%v loops=%v removed=%v blocks=%v\n", strings.Repeat("  ", depth), n.Type, n.Relation, n.Index,
		n.Rows, n.Loops, n.removed(), n.BuffersHit+n.BuffersRead)
	for _, child := range n.Plans {
		child.show(b, depth+1)
	}
}

// scansIndex reports whether the step reads an index.
func (n *planNode) scansIndex() bool { return n.Index != "" && strings.Contains(n.Type, "Index") }

func (n *planNode) returned() float64 { return n.Rows * n.Loops }

func (n *planNode) removed() float64 { return (n.Filtered + n.JoinFiltered + n.Rechecked) * n.Loops }

// result is how many rows the statement returns or changes.
func (n *planNode) result() float64 {
	rows := n.Rows
	n.each(func(n *planNode) {
		if n.Type == "ModifyTable" {
			rows = max(rows, n.Plans[0].returned())
		}
	})
	return rows
}

// window returns the part of the plan that reads the rows of a window; what follows finds those among them that match a filter.
func (n *planNode) window() *planNode {
	found := n
	n.each(func(n *planNode) {
		if n.Type == "Limit" && found.Type != "Limit" {
			found = n
		}
	})
	return found
}

// each calls visit with every step of the plan.
func (n *planNode) each(visit func(*planNode)) {
	visit(n)
	for _, child := range n.Plans {
		child.each(visit)
	}
}

// What a plan may cost.
const (
	maxRemoved   = 50  // rows read and not used for each that is used
	blocksOfCall = 400 // blocks that any statement may touch, and
	blocksOfRow  = 40  // as many more for each row of its result
)

// judge returns what is wrong with a plan.
func (e *explainer) judge(name string, plan *planNode) []string {
	var wrong []string
	if strings.Contains(name, ".window") {
		plan = plan.window()
	}
	plan.each(func(n *planNode) {
		if n.Type == "Seq Scan" && !e.small[n.Relation] && n.Loops > 0 {
			wrong = append(wrong, "scans "+n.Relation)
		}
		if n.scansIndex() && n.Loops > 0 && !strings.Contains(n.IndexCond, "home = ") {
			wrong = append(wrong, "reads "+n.Index+" without a condition on home")
		}
		if strings.HasSuffix(n.Type, "Sort") && n.Plans[0].returned() > n.returned() {
			wrong = append(wrong, fmt.Sprintf("sorts %v rows and returns %v", n.Plans[0].returned(), n.returned()))
		}
		if n.removed() > maxRemoved*max(n.returned(), n.Loops) && readsInVain[name] == "" {
			wrong = append(wrong, fmt.Sprintf("%s reads %v rows of %s without use for %v", n.Type, n.removed(), n.Relation, n.returned()))
		}
	})
	if blocks, rows := plan.BuffersHit+plan.BuffersRead, plan.result(); blocks > blocksOfCall+blocksOfRow*rows && readsInVain[name] == "" {
		wrong = append(wrong, fmt.Sprintf("touches %v blocks for %v rows", blocks, rows))
	}
	return wrong
}

// readsInVain are the statements that may read much that they do not return, each with the reason.
var readsInVain = reasons(map[string][]string{
	"a sweep of the event log looks at its 500 oldest events, and leaves those that are young": {"realtime.sweep"},
	"a window looks at some posts of others: TestFeedsReadAFewRows holds how many":             {"feeds.listed", "feeds.probed"},
	"a count reads what it counts; a server counts the users in a room once in five seconds":   {"presences.count"},
	"a count of what waits for an answer in one place reads at most 10,000 rows of an index":   {"invitations.count", "joinRequests.count"},
	"an outbox is almost empty":          {"erasure.outbox"},
	"an erasure reads the log of events": {"erasure.events"},
	"what waits on one post is few; a plan that knows whose it is reads the index of authors": {"comments.listOwnWaiting"},
	"a list of live events looks at those that started in the last 31 days":                   {"plannedEvents.listLive"},
})

// reasons spreads reasons over the statements whose names begin so.
func reasons(prefixes map[string][]string) map[string]string {
	all := map[string]string{}
	for reason, names := range prefixes {
		for _, st := range store.Statements() {
			if slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(st.Name, name) }) {
				all[st.Name] = reason
			}
		}
	}
	return all
}
