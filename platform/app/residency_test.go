package app_test

import (
	"cmp"
	"context"
	"io"
	"maps"
	"net"
	"net/url"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/config"
	"github.com/plaza-social/plaza/platform/dburl"
	"github.com/plaza-social/plaza/platform/devdb/testdb"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/db"
)

// sqlRecorder forwards connections to a database and records the text of every statement.
type sqlRecorder struct {
	target string
	mu     sync.Mutex
	texts  map[string]int // how often a statement was parsed, by its text
	sent   map[string]int // how often a prepared statement was sent, by its text
	opened map[string]int // connections by their application name
}

// recordSQL starts a recorder and returns the database URL with its address.
func recordSQL(t *testing.T, databaseURL string) (*sqlRecorder, dburl.URL) {
	t.Helper()
	u, err := url.Parse(databaseURL)
	require.NoError(t, err)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = l.Close() })
	r := &sqlRecorder{target: u.Host, texts: map[string]int{}, sent: map[string]int{}, opened: map[string]int{}}
	go func() {
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			go r.forward(client)
		}
	}()
	u.Host = l.Addr().String()
	return r, dburl.MustParse(u.String())
}

func (r *sqlRecorder) forward(client net.Conn) {
	defer client.Close()
	server, err := net.Dial("tcp", r.target)
	if err != nil {
		return
	}
	go func() {
		_, _ = io.Copy(client, server)
		_ = client.Close()
	}()
	defer server.Close()
	messages := pgproto3.NewBackend(io.TeeReader(client, server), io.Discard)
	for started := false; !started; {
		first, err := messages.ReceiveStartupMessage()
		if err != nil {
			return
		}
		var startup *pgproto3.StartupMessage
		if startup, started = first.(*pgproto3.StartupMessage); started {
			r.open(startup.Parameters["application_name"])
		}
	}
	prepared := map[string]string{}
	for {
		message, err := messages.Receive()
		if err != nil {
			return
		}
		switch m := message.(type) {
		case *pgproto3.Parse:
			r.add(m.Query)
			prepared[m.Name] = m.Query
		case *pgproto3.Bind:
			r.send(prepared[m.PreparedStatement])
		case *pgproto3.Query:
			r.add(m.String)
		}
	}
}

// recorded returns the statements so far.
func (r *sqlRecorder) recorded() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Collect(maps.Keys(r.texts))
}

func (r *sqlRecorder) send(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sent[text]++
}

func (r *sqlRecorder) open(application string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.opened[application]++
}

// connections returns the number of connections that were opened, by their application name.
func (r *sqlRecorder) connections() map[string]int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return maps.Clone(r.opened)
}

// times returns how often a registered statement was parsed and sent.
func (r *sqlRecorder) times(name string) (parsed, sent int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range store.Statements() {
		if s.Name == name {
			parsed, sent = parsed+r.texts[s.SQL], sent+r.sent[s.SQL]
		}
	}
	return parsed, sent
}

func (r *sqlRecorder) add(text string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.texts[text]++
}

// localities are the tables of the program by locality, and its statements by text.
type localities struct {
	tables     map[string]string
	statements map[string]string
	word       *regexp.Regexp
}

var locality = regexp.MustCompile(`(?s)CREATE TABLE (?:IF NOT EXISTS )?(\w+).*\n\)(.*);`)

func newLocalities() *localities {
	const primary = "REGIONAL BY TABLE IN PRIMARY REGION"
	l := &localities{
		tables:     map[string]string{"goose_db_version": primary, "goose_lock": primary}, // made by goose, without a locality
		statements: map[string]string{}, word: regexp.MustCompile(`\w+`),
	}
	for _, m := range db.RenderedMigrations(db.CockroachDB) {
		if found := locality.FindStringSubmatch(m.SQL); found != nil {
			l.tables[found[1]] = cmp.Or(strings.TrimPrefix(strings.TrimSpace(found[2]), "LOCALITY "), primary)
		}
	}
	for _, s := range store.Statements() {
		l.statements[s.SQL] = s.Name
	}
	return l
}

// tablesOf returns the tables that a statement names.
func (l *localities) tablesOf(sql string) []string {
	found := map[string]bool{}
	for _, word := range l.word.FindAllString(sql, -1) {
		if l.tables[word] != "" {
			found[word] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

// needsOneRegion reports whether a statement reads or writes rows that one region has for all others.
func (l *localities) needsOneRegion(sql string) bool {
	return slices.ContainsFunc(l.tablesOf(sql), func(table string) bool { return l.tables[table] != "REGIONAL BY ROW AS region" })
}

// describe returns the line of a statement: its name, or its text if it is not registered, and its tables.
func (l *localities) describe(sql string) string {
	return strings.TrimSpace(cmp.Or(l.statements[sql], strings.Join(strings.Fields(sql), " ")) + ": " + strings.Join(l.tablesOf(sql), " "))
}

// list returns the lines of all tables and of the recorded statements that name any.
func (l *localities) list(recorded []string) string {
	var lines []string
	for table, locality := range l.tables {
		lines = append(lines, "table "+table+": "+locality+"\n")
	}
	for _, sql := range recorded {
		if len(l.tablesOf(sql)) > 0 {
			lines = append(lines, "statement "+l.describe(sql)+"\n")
		}
	}
	for sql, name := range l.statements {
		if name == "store.probe" { // is sent after time-outs only
			lines = append(lines, "statement "+l.describe(sql)+"\n")
		}
	}
	slices.Sort(lines)
	return strings.Join(slices.Compact(lines), "")
}

// await returns the list once it is the wanted one, or after some time: some measurements are taken in the background.
func (r *sqlRecorder) await(t *testing.T, l *localities, want string) string {
	t.Helper()
	ctx, stop := context.WithTimeout(t.Context(), patience)
	defer stop()
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for {
		have := l.list(r.recorded())
		if have == want || ctx.Err() != nil {
			return have
		}
		select {
		case <-ctx.Done():
		case <-again.C:
		}
	}
}

// TestRunTimeStatementsNeedTheirHomeOnly compares the locality of every table, and every statement that a server sends at
// start-up and in the background, with a list. A table of which one region has all rows may only be used by migrations.
// PLAZA_UPDATE=1 rewrites the list. The statements with which jobs handle the rows that they find are registered, so that
// their tables are checked as well.
func TestRunTimeStatementsNeedTheirHomeOnly(t *testing.T) {
	if testdb.Cockroach(t) {
		t.Skip("the list has the statements that are sent to PostgreSQL")
	}
	l := newLocalities()
	for _, s := range store.Statements() {
		require.False(t, l.needsOneRegion(s.SQL), "%s names tables of one region: %v", s.Name, l.tablesOf(s.SQL))
	}
	address := testdb.New(t)
	require.NoError(t, db.Migrate(t.Context(), db.MigrateOptions{URL: address}))
	recorder, recordedURL := recordSQL(t, address)
	cfg := fullConfig(t, recordedURL.Reveal())
	cfg.StorageURL = config.StorageURL("file://" + t.TempDir())
	r := run(t, cfg)
	require.Eventually(t, func() bool { return r.Ready(t.Context()).Ready }, patience, 10*time.Millisecond)
	require.Empty(t, r.DrainJobs(t.Context()))
	const path = "testdata/residency.txt"
	want, err := os.ReadFile(path)
	require.NoError(t, err)
	have := recorder.await(t, l, string(want))
	if os.Getenv("PLAZA_UPDATE") != "" {
		require.NoError(t, os.WriteFile(path, []byte(have), 0o600))
	} else {
		require.Equal(t, string(want), have, "PLAZA_UPDATE=1 rewrites the list")
	}
	for _, sql := range recorder.recorded() {
		require.False(t, l.needsOneRegion(sql), "%s names tables of one region: %v", l.describe(sql), l.tablesOf(sql))
		registered := l.statements[sql] != "" || len(l.tablesOf(sql)) == 0 || strings.Contains(sql, "WHERE home = $1")
		require.True(t, registered, "%s is neither registered nor limited to one home", sql)
	}
}
