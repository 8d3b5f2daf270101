package db_test

import (
	"context"
	"errors"
	"io"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/faults/proxy"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/db"
	"github.com/plaza-social/plaza/platform/store/db/dbtest"
)

// The statements of a table for these tests.
const (
	makeThings = `CREATE TABLE things (home TEXT NOT NULL, id TEXT NOT NULL, name TEXT NOT NULL, n BIGINT NOT NULL DEFAULT 0,
		CONSTRAINT things_pkey PRIMARY KEY (home, id), CONSTRAINT things_name UNIQUE (home, name))`
	addThing    = `INSERT INTO things (home, id, name) VALUES ($1, $2, $3)`
	raiseThing  = `UPDATE things SET n = n + 1 WHERE home = $1 AND id = $2`
	thereIsOne  = `SELECT 1 / count(*) FROM things WHERE home = $1 AND id = $2`
	fewerThan   = `SELECT 1 / CASE WHEN (SELECT count(*) FROM things WHERE home = $1) < $2::bigint THEN 1 ELSE 0 END`
	noSuchTable = `DELETE FROM nothing WHERE home = $1`
)

// withThings opens a store on a database with things.
func withThings(t *testing.T, change ...func(*db.Config)) *db.DB {
	t.Helper()
	url := dbtest.New(t)
	_, err := connect(t, url).Exec(t.Context(), makeThings)
	require.NoError(t, err)
	return open(t, url, change...)
}

// countThings returns how many things there are in us, and the sum of their n.
func countThings(t *testing.T, s *db.DB) (things, sum int64) {
	t.Helper()
	r := s.NewBatch()
	r.Add(region.US, raw(`SELECT count(*), COALESCE(sum(n), 0)::bigint FROM things WHERE home = $1`), scanRow(&things, &sum))
	run(t, r)
	return things, sum
}

func sqlError(code string) error { return &pgconn.PgError{Code: code} }

var (
	refused  = fail.New(fail.CodeForbidden, "not you")
	errPlain = errors.New("without a code")
)

func TestWriteStoresAllOrNothing(t *testing.T) {
	s := withThings(t)
	for name, tc := range map[string]struct {
		add  func(w *db.Tx)
		want error // nil to compare the SQLSTATE
		code string
	}{
		"a guard refuses":                {func(w *db.Tx) { w.Guard(raw(thereIsOne), refused, "none") }, refused, ""},
		"a guard refuses without a code": {func(w *db.Tx) { w.Guard(raw(thereIsOne), errPlain, "none") }, errPlain, ""},
		"a conflict has an answer": {
			func(w *db.Tx) { w.Exec(raw(addThing), "2", "first").OnConflict("things_name", refused) }, refused,
			"",
		},
		"a conflict of another name": {
			func(w *db.Tx) { w.Exec(raw(addThing), "2", "first").OnConflict("things_pkey", refused) }, nil,
			"23505",
		},
		"a conflict without an answer":    {func(w *db.Tx) { w.Exec(raw(addThing), "2", "first") }, nil, "23505"},
		"a division by zero is no guard":  {func(w *db.Tx) { w.Exec(raw(thereIsOne), "none") }, nil, "22012"},
		"a statement that cannot be sent": {func(w *db.Tx) { w.Exec(raw(noSuchTable)) }, nil, "42P01"},
		"another error of a guard":        {func(w *db.Tx) { w.Guard(raw(addThing), refused, "2", "first") }, nil, "23505"},
	} {
		t.Run(name, func(t *testing.T) {
			w := s.NewTx(region.US)
			w.Exec(raw(addThing), "1", "first")
			tc.add(w)
			w.Exec(raw(addThing), "3", "third")
			err := w.Commit(t.Context())
			if tc.want != nil {
				require.Equal(t, tc.want, err)
			} else {
				requireState(t, tc.code, err)
			}
			things, _ := countThings(t, s)
			require.Zero(t, things)
		})
	}
	w := s.NewTx(region.US)
	w.Guard(raw(fewerThan), refused, 1)
	w.Exec(raw(addThing), "1", "first")
	w.Guard(raw(thereIsOne), refused, "1")
	w.Exec(raw(addThing), "2", "second").OnConflict("things_name", refused)
	commit(t, w)
	things, _ := countThings(t, s)
	require.Equal(t, int64(2), things)
}

func requireState(t *testing.T, code string, err error) {
	t.Helper()
	var pg *pgconn.PgError
	require.ErrorAs(t, err, &pg)
	require.Equal(t, code, pg.Code)
}

// TestWriteKeepsItsConnection checks that the connection of a refused transaction is reused.
func TestWriteKeepsItsConnection(t *testing.T) {
	url := dbtest.New(t)
	p := proxy.New(t, url)
	s := open(t, p.Through(url), func(c *db.Config) { c.PoolSize = 1 })
	for range 5 {
		w := s.NewTx(region.US)
		w.Guard(raw(`SELECT 1 / count(*) FROM posts WHERE home = $1`), refused)
		require.Equal(t, refused, w.Commit(t.Context()))
	}
	require.Equal(t, 1, p.Connections())
}

func TestWriteRunsAgain(t *testing.T) {
	broken := errors.New("broken")
	for name, tc := range map[string]struct {
		fault error
		times int64
		once  string
		want  error
		tries int64
	}{
		"after a serialization failure":      {sqlError("40001"), 3, "", nil, 4},
		"after a deadlock":                   {sqlError("40P01"), 1, "", nil, 2},
		"not forever":                        {sqlError("40001"), 1 << 30, "", sqlError("40001"), 41},
		"not after another error":            {broken, 1, "", broken, 1},
		"not after another state":            {sqlError("42601"), 1, "", sqlError("42601"), 1},
		"after a lost connection, where it":  {io.ErrUnexpectedEOF, 2, "things_pkey", nil, 3},
		"not after one, where it cannot":     {io.ErrUnexpectedEOF, 1, "", fail.Unavailable("", nil), 1},
		"nor where the database was stopped": {sqlError("57P01"), 1, "", fail.Unavailable("", nil), 1},
	} {
		t.Run(name, func(t *testing.T) {
			var tries atomic.Int64
			s := withThings(t, func(c *db.Config) {
				c.Fault = func() error {
					if tries.Add(1) <= tc.times {
						return tc.fault
					}
					return nil
				}
			})
			w := s.NewTx(region.US)
			w.Exec(raw(addThing), "1", "first")
			w.IdempotentBy(tc.once)
			err := w.Commit(t.Context())
			require.Equal(t, tc.tries, tries.Load())
			if tc.want == nil {
				require.NoError(t, err)
			} else {
				require.Equal(t, fail.From(tc.want).Kind, fail.From(err).Kind)
				require.ErrorIs(t, err, causeOf(tc.want, tc.fault))
			}
			things, _ := countThings(t, s)
			require.Equal(t, tc.want == nil, things == 1)
		})
	}
}

// causeOf returns the error that must be wrapped: the injected fault.
func causeOf(want, fault error) error {
	if want != nil {
		return fault
	}
	return nil
}

// TestWriteAfterALostAnswer drops the response to a committed transaction.
func TestWriteAfterALostAnswer(t *testing.T) {
	for name, tc := range map[string]struct {
		once string
		want error
	}{
		"one that can run again is stored once": {"things_pkey", nil},
		"one that cannot is in doubt":           {"", fail.Unavailable("", nil)},
	} {
		t.Run(name, func(t *testing.T) {
			url := dbtest.New(t)
			_, err := connect(t, url).Exec(t.Context(), makeThings)
			require.NoError(t, err)
			p := proxy.New(t, url)
			s := open(t, p.Through(url), func(c *db.Config) { c.PoolSize = 1 })
			write := func(id string) error {
				w := s.NewTx(region.US)
				w.IdempotentBy(tc.once)
				w.Exec(raw(addThing), id, id)
				return w.Commit(t.Context())
			}
			require.NoError(t, write("first")) // now the statements are prepared
			p.LoseAnswers(1)
			err = write("second")
			if tc.want == nil {
				require.NoError(t, err)
			} else {
				require.ErrorIs(t, err, tc.want)
			}
			things, _ := countThings(t, s)
			require.Equal(t, int64(2), things)
			require.NoError(t, write("third"), "the breaker is closed")
		})
	}
}

// TestWritesAreSerial runs concurrent transactions whose guards depend on each other's rows.
func TestWritesAreSerial(t *testing.T) {
	s := withThings(t)
	const writers, room = 12, 5
	var stored atomic.Int64
	var all sync.WaitGroup
	for i := range writers {
		all.Go(func() {
			w := s.NewTx(region.US)
			w.Guard(raw(fewerThan), refused, room)
			w.Exec(raw(addThing), strconv.Itoa(i), strconv.Itoa(i))
			switch err := w.Commit(t.Context()); {
			case err == nil:
				stored.Add(1)
			case !errors.Is(err, refused):
				t.Error(err)
			}
		})
	}
	all.Wait()
	things, _ := countThings(t, s)
	require.Equal(t, int64(room), things)
	require.Equal(t, int64(room), stored.Load())
}

// TestWritesThatBlockEachOther locks rows in opposite orders, which causes deadlocks that are retried.
func TestWritesThatBlockEachOther(t *testing.T) {
	s := withThings(t)
	w := s.NewTx(region.US)
	w.Exec(raw(addThing), "a", "a")
	w.Exec(raw(addThing), "b", "b")
	commit(t, w)
	const rounds = 10
	var all sync.WaitGroup
	for _, order := range [][]string{{"a", "b"}, {"b", "a"}} {
		all.Go(func() {
			for range rounds {
				w := s.NewTx(region.US)
				w.Exec(raw(raiseThing), order[0])
				w.Exec(raw(raiseThing), order[1])
				if err := w.Commit(t.Context()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	_, sum := countThings(t, s)
	require.Equal(t, int64(2*2*rounds), sum)
}

func TestWriteOfACallerWhoLeft(t *testing.T) {
	s := withThings(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	w := s.NewTx(region.US)
	w.Exec(raw(addThing), "1", "first")
	require.ErrorIs(t, w.Commit(ctx), context.Canceled)
	things, _ := countThings(t, s)
	require.Zero(t, things)
}
