package store_test

import (
	"context"
	"errors"
	"io"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/faults/proxy"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
)

// things is a table of the tests' own.
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
func withThings(t *testing.T, change ...func(*store.Config)) *store.Store {
	t.Helper()
	url := schema.New(t)
	_, err := connect(t, url).Exec(t.Context(), makeThings)
	require.NoError(t, err)
	return open(t, url, change...)
}

// countThings returns how many things there are in us, and the sum of their n.
func countThings(t *testing.T, s *store.Store) (things, sum int64) {
	t.Helper()
	r := s.NewReadBatch()
	r.AddSQL(region.US, `SELECT count(*), COALESCE(sum(n), 0)::bigint FROM things WHERE home = $1`, scanRow(&things, &sum))
	run(t, r)
	return things, sum
}

func sqlError(code string) error { return &pgconn.PgError{Code: code} }

var refused = fail.New(fail.CodeForbidden, "not you")

func TestWriteStoresAllOrNothing(t *testing.T) {
	s := withThings(t)
	for name, tc := range map[string]struct {
		add  func(w *store.Tx)
		want error // nil where only SQLSTATE tells
		code string
	}{
		"a guard refuses":                 {func(w *store.Tx) { w.GuardSQL(refused, thereIsOne, "none") }, refused, ""},
		"a guard refuses without a code":  {func(w *store.Tx) { w.GuardSQL(store.ErrChanged, thereIsOne, "none") }, store.ErrChanged, ""},
		"a conflict has an answer":        {func(w *store.Tx) { w.ConflictSQL("things_name", refused, addThing, "2", "first") }, refused, ""},
		"a conflict of another name":      {func(w *store.Tx) { w.ConflictSQL("things_pkey", refused, addThing, "2", "first") }, nil, "23505"},
		"a conflict without an answer":    {func(w *store.Tx) { w.ExecSQL(addThing, "2", "first") }, nil, "23505"},
		"a division by zero is no guard":  {func(w *store.Tx) { w.ExecSQL(thereIsOne, "none") }, nil, "22012"},
		"a statement that cannot be sent": {func(w *store.Tx) { w.ExecSQL(noSuchTable) }, nil, "42P01"},
		"another error of a guard":        {func(w *store.Tx) { w.GuardSQL(refused, addThing, "2", "first") }, nil, "23505"},
	} {
		t.Run(name, func(t *testing.T) {
			w := s.NewTx(region.US)
			w.ExecSQL(addThing, "1", "first")
			tc.add(w)
			w.ExecSQL(addThing, "3", "third")
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
	w.GuardSQL(refused, fewerThan, 1)
	w.ExecSQL(addThing, "1", "first")
	w.GuardSQL(refused, thereIsOne, "1")
	w.ConflictSQL("things_name", refused, addThing, "2", "second")
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

// TestWriteKeepsItsConnection holds that a refused transaction costs no connection.
func TestWriteKeepsItsConnection(t *testing.T) {
	url := schema.New(t)
	p := proxy.New(t, url)
	s := open(t, p.Through(url), func(c *store.Config) { c.PoolSize = 1 })
	for range 5 {
		w := s.NewTx(region.US)
		w.GuardSQL(refused, `SELECT 1 / count(*) FROM posts WHERE home = $1`)
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
			s := withThings(t, func(c *store.Config) {
				c.StatementTimeout = time.Minute
				c.Fault = func() error {
					if tries.Add(1) <= tc.times {
						return tc.fault
					}
					return nil
				}
			})
			w := s.NewTx(region.US)
			w.ExecSQL(addThing, "1", "first")
			w.Once(tc.once)
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

// causeOf is what an error has to lead to: the injected fault, however it was worded.
func causeOf(want, fault error) error {
	if want != nil {
		return fault
	}
	return nil
}

// TestWriteAfterALostAnswer takes the answer of a transaction away after the database got it.
func TestWriteAfterALostAnswer(t *testing.T) {
	for name, tc := range map[string]struct {
		once string
		want error
	}{
		"one that can run again is stored once": {"things_pkey", nil},
		"one that cannot is in doubt":           {"", fail.Unavailable("", nil)},
	} {
		t.Run(name, func(t *testing.T) {
			url := schema.New(t)
			_, err := connect(t, url).Exec(t.Context(), makeThings)
			require.NoError(t, err)
			p := proxy.New(t, url)
			s := open(t, p.Through(url), func(c *store.Config) { c.PoolSize = 1; c.StatementTimeout = time.Minute })
			write := func(id string) error {
				w := s.NewTx(region.US)
				w.Once(tc.once)
				w.ExecSQL(addThing, id, id)
				return w.Commit(t.Context())
			}
			require.NoError(t, write("first")) // from here on the connection knows the statements
			p.LoseAnswers(1)
			err = write("second")
			if tc.want == nil {
				require.NoError(t, err)
			} else {
				require.ErrorIs(t, err, tc.want)
			}
			things, _ := countThings(t, s)
			require.Equal(t, int64(2), things)
			require.NoError(t, write("third"), "the home is not taken for lost")
		})
	}
}

// TestNewContentIsStoredOnce does the same to what the program makes: counts follow.
func TestNewContentIsStoredOnce(t *testing.T) {
	url := schema.New(t)
	p := proxy.New(t, url)
	s := open(t, p.Through(url), func(c *store.Config) { c.PoolSize = 1; c.StatementTimeout = time.Minute })
	community := newCommunity(t, s, region.US)
	for name, write := range map[string]func(w *store.Tx){
		"community":    func(w *store.Tx) { w.InsertCommunity(aCommunity(region.US), nil, now) },
		"category":     func(w *store.Tx) { w.InsertCategory(aCategory(region.US, "News"), now) },
		"join request": func(w *store.Tx) { w.InsertJoinRequest(aJoinRequest(community), refused) },
		"post":         func(w *store.Tx) { w.InsertPost(aPost(community)) },
		"comment":      func(w *store.Tx) { w.InsertComment(aComment(aPost(community))) },
	} {
		t.Run(name, func(t *testing.T) {
			warm := s.NewTx(region.US)
			write(warm)
			commit(t, warm)
			p.LoseAnswers(1)
			w := s.NewTx(region.US)
			write(w)
			commit(t, w)
		})
	}
	post := aPost(community)
	warm := s.NewTx(region.US)
	warm.InsertComment(aComment(post))
	commit(t, warm)
	p.LoseAnswers(1)
	w := s.NewTx(region.US)
	w.InsertComment(aComment(post))
	commit(t, w)
	require.Equal(t, int64(2), countsOf(t, s, post.ID).Of(post.ID, store.CountComments))
}

// TestWritesAreSerial runs transactions whose decisions depend on each other's rows: as many get through as may.
func TestWritesAreSerial(t *testing.T) {
	s := withThings(t, func(c *store.Config) { c.StatementTimeout = time.Minute })
	const writers, room = 12, 5
	var stored atomic.Int64
	var all sync.WaitGroup
	for i := range writers {
		all.Go(func() {
			w := s.NewTx(region.US)
			w.GuardSQL(refused, fewerThan, room)
			w.ExecSQL(addThing, strconv.Itoa(i), strconv.Itoa(i))
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

// TestWritesThatBlockEachOther takes rows in opposite orders, which ends in deadlocks that the store has to resolve.
func TestWritesThatBlockEachOther(t *testing.T) {
	s := withThings(t, func(c *store.Config) { c.StatementTimeout = time.Minute })
	w := s.NewTx(region.US)
	w.ExecSQL(addThing, "a", "a")
	w.ExecSQL(addThing, "b", "b")
	commit(t, w)
	const rounds = 10
	var all sync.WaitGroup
	for _, order := range [][]string{{"a", "b"}, {"b", "a"}} {
		all.Go(func() {
			for range rounds {
				w := s.NewTx(region.US)
				w.ExecSQL(raiseThing, order[0])
				w.ExecSQL(raiseThing, order[1])
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
	w.ExecSQL(addThing, "1", "first")
	require.ErrorIs(t, w.Commit(ctx), context.Canceled)
	things, _ := countThings(t, s)
	require.Zero(t, things)
}
