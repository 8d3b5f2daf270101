package devdb

import (
	"context"
	"errors"
	"net"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/stretchr/testify/require"
)

// playCockroach simulates cockroach for the flags that devdb uses: "start" listens once the cluster is initialized,
// which "init" does. The real program is tested by `make test-cockroach`.
func playCockroach(args []string) int {
	flags := map[string]string{}
	for _, arg := range args[1:] {
		name, value, _ := strings.Cut(arg, "=")
		flags[name] = value
	}
	if args[0] == "init" {
		return playInit()
	}
	store := flags["--store"]
	if os.MkdirAll(store, 0o700) != nil || os.WriteFile(flags["--pid-file"], []byte(strconv.Itoa(os.Getpid())), 0o600) != nil {
		return 1
	}
	if err := os.WriteFile(filepath.Join(store, "locality"), []byte(flags["--locality"]), 0o600); err != nil {
		return 1
	}
	l, err := net.Listen("tcp", flags["--listen-addr"])
	if err != nil {
		return 1
	}
	go acceptSQL(l)
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	<-stop
	return 0
}

// playInit runs in the cluster's directory, as devdb starts it.
func playInit() int {
	f, err := os.OpenFile("initialised", os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		_, _ = os.Stderr.WriteString("ERROR: cluster has already been initialized\n")
		return 1
	}
	return map[bool]int{true: 0, false: 1}[err == nil && f.Close() == nil]
}

// acceptSQL responds to every statement with an empty result, which is sufficient for readiness checks.
func acceptSQL(l net.Listener) {
	for {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		go answerSQL(conn)
	}
}

func answerSQL(conn net.Conn) {
	defer func() { _ = conn.Close() }()
	backend := pgproto3.NewBackend(conn, conn)
	if _, err := backend.ReceiveStartupMessage(); err != nil {
		return
	}
	backend.Send(&pgproto3.AuthenticationOk{})
	backend.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
	for backend.Flush() == nil {
		message, err := backend.Receive()
		if err != nil {
			return
		}
		if q, ok := message.(*pgproto3.Query); ok {
			backend.Send(&pgproto3.CommandComplete{CommandTag: []byte(strings.Fields(q.String)[0])})
			backend.Send(&pgproto3.ReadyForQuery{TxStatus: 'I'})
		}
	}
}

func cockroachFinder(t *testing.T) finder {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	t.Setenv("DEVDB_TEST_COCKROACH", "1")
	return machine{env: map[string]string{"COCKROACH_BINARY": self}}.finder()
}

func TestCockroachHasOneNodePerRegion(t *testing.T) {
	find, dir := cockroachFinder(t), t.TempDir()
	for _, when := range []string{"first start", "second start"} {
		db, err := start(t.Context(), Options{Dir: dir}, find)
		require.NoError(t, err, when)
		require.Equal(t, CockroachDB, db.Engine())
		require.Contains(t, db.URL(), "/"+DatabaseName)
		require.NoError(t, execOn(t.Context(), db.URL(), "SELECT 1"))
		for _, name := range nodeRegions {
			eventually(t, func() bool { // only the first node is ready for certain
				locality, err := os.ReadFile(filepath.Join(dir, "cockroach", name, dataName, "locality"))
				return err == nil && string(locality) == "region="+name
			}, "the node of "+name)
		}
		stopDB(t, db)
		require.Error(t, execOn(t.Context(), db.URL(), "SELECT 1"))
	}
}

func TestCockroachWithoutRegions(t *testing.T) {
	dir := t.TempDir()
	find := cockroachFinder(t)
	find.getenv, find.glob = withEnv(find.getenv, "COCKROACH_NODES", "1"), filepath.Glob
	for _, when := range []string{"first start", "second start"} {
		db, err := start(t.Context(), Options{Dir: dir}, find)
		require.NoError(t, err, when)
		require.NoError(t, execOn(t.Context(), db.URL(), "SELECT 1"))
		locality, err := os.ReadFile(filepath.Join(dir, "cockroach", singleNode, dataName, "locality"))
		require.NoError(t, err)
		require.Empty(t, locality)
		require.NoDirExists(t, filepath.Join(dir, "cockroach", nodeRegions[0]))
		stopDB(t, db)
	}
}

func withEnv(getenv func(string) string, name, value string) func(string) string {
	return func(asked string) string {
		if asked == name {
			return value
		}
		return getenv(asked)
	}
}

func TestCockroachEphemeralLeavesNothing(t *testing.T) {
	tmp := t.TempDir()
	t.Setenv("TMPDIR", tmp)
	db, err := start(t.Context(), Options{Ephemeral: true}, cockroachFinder(t))
	require.NoError(t, err)
	require.NotEmpty(t, entries(t, tmp))
	stopDB(t, db)
	require.Empty(t, entries(t, tmp))
}

func TestCockroachFailsToStart(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	_, err := start(ctx, Options{Dir: t.TempDir()}, machine{env: map[string]string{"COCKROACH_BINARY": "/bin/false"}}.finder())
	require.ErrorContains(t, err, "starting CockroachDB")
}
