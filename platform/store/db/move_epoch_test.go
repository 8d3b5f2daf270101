package db_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/db"
)

// TestFollowed checks that a server follows a route once the statements that it sent without knowing it have ended: reads,
// transactions and interactive ones.
func TestFollowed(t *testing.T) {
	user := region.NewID(region.EU)
	for name, run := range map[string]func(context.Context, *db.DB, func()) error{
		"read": func(ctx context.Context, s *db.DB, inside func()) error {
			r := s.NewBatch()
			r.Add(region.EU, raw(anything), func(rows pgx.Rows) error { inside(); return discard(rows) })
			return r.Run(ctx)
		},
		"transaction": func(ctx context.Context, s *db.DB, inside func()) error {
			w := s.NewTx(region.EU)
			w.Query(raw(`SELECT $1::text`), func(rows pgx.Rows) error { inside(); return discard(rows) })
			return w.Commit(ctx)
		},
		"interactive transaction": func(ctx context.Context, s *db.DB, inside func()) error {
			return s.RunInteractive(ctx, region.EU, func(context.Context, *db.InteractiveTx) error { inside(); return nil })
		},
	} {
		t.Run(name, func(t *testing.T) {
			s := openNew(t)
			require.Empty(t, s.Routes().Followed())
			require.NoError(t, run(t.Context(), s, func() {
				s.Routes().Put(db.Route{UserID: user, Home: region.EU, To: region.SG, State: db.MoveMoving, Version: 7}, nil)
				require.Empty(t, s.Routes().Followed(), "a statement is in progress")
				require.True(t, s.Routes().Unfinished())
			}))
			require.Equal(t, db.Followed{user: 7}, s.Routes().Followed())
			require.NoError(t, run(t.Context(), s, func() {
				require.Equal(t, db.Followed{user: 7}, s.Routes().Followed(), "it began when the route was known")
			}))
			s.Routes().Put(db.Route{UserID: user, Home: region.EU, To: region.SG, State: db.MoveDone, Version: 8}, nil)
			require.Empty(t, s.Routes().Followed())
			require.False(t, s.Routes().Unfinished())
		})
	}
}

// TestErasureIsFollowed checks that a server follows an erasure once the requests that began without knowing it have ended, and a
// move of another user before.
func TestErasureIsFollowed(t *testing.T) {
	s := openNew(t)
	erased, user := region.NewID(region.EU), region.NewID(region.US)
	erase := func(state db.MoveState, version int64) {
		s.Routes().Put(db.Route{UserID: erased, Home: region.EU, To: region.EU, State: state, Version: version}, nil)
	}
	endFirst, endSecond := s.Routes().BeginRequest(), s.Routes().BeginRequest()
	require.False(t, s.Routes().Erased(erased))
	erase(db.RouteErasing, 5)
	require.True(t, s.Routes().Erased(erased))
	s.Routes().Put(db.Route{UserID: user, Home: region.US, To: region.SG, State: db.MoveAnnounced, Version: 1}, nil)
	endLater := s.Routes().BeginRequest()
	require.Equal(t, db.Followed{user: 1}, s.Routes().Followed())
	endFirst()
	require.Equal(t, db.Followed{user: 1}, s.Routes().Followed(), "the second request is in progress")
	endSecond()
	require.Equal(t, db.Followed{user: 1, erased: 5}, s.Routes().Followed(), "the third one began later")
	endLater()

	s.Routes().Put(db.Route{UserID: user, Home: region.US, To: region.SG, State: db.MoveDone, Version: 2}, nil)
	require.True(t, s.Routes().Unfinished())
	now := time.Now()
	s.Routes().SetClock(func() time.Time { return now })
	erase(db.RouteErased, 6)
	require.False(t, s.Routes().Unfinished())
	require.True(t, s.Routes().Erased(erased))
	_, known := s.Routes().Route(erased)
	require.False(t, known, "nothing needs the route")
	now = now.Add(2*time.Minute - time.Nanosecond)
	require.True(t, s.Routes().Erased(erased))
	require.False(t, s.Routes().Erased(user))
	now = now.Add(time.Nanosecond)
	require.False(t, s.Routes().Erased(erased), "no server remembers the public id any more")
}

// TestErasureOfMovedUser checks that the ids of a moved user lead to the new home while the user is erased, and afterwards.
func TestErasureOfMovedUser(t *testing.T) {
	s := openNew(t)
	user, post := region.NewID(region.EU), region.NewID(region.EU)
	put := func(from, to region.Code, state db.MoveState, version int64) {
		s.Routes().Put(db.Route{UserID: user, Home: from, To: to, State: state, Version: version}, []string{post})
	}
	put(region.EU, region.SG, db.MoveDone, 4)
	for version, state := range []db.MoveState{db.RouteErasing, db.RouteErased} {
		put(region.SG, region.SG, state, int64(5+version))
		for _, id := range []string{user, post} {
			home, err := s.HomeOf(id)
			require.NoError(t, err)
			require.Equal(t, region.SG, home)
		}
	}
}

// TestMovedMeanwhile checks that nothing is sent to a home that was looked up before the rows left it, in a batch, a transaction
// and an attempt of a request, and that the next attempt is.
func TestMovedMeanwhile(t *testing.T) {
	s := openNew(t)
	user, other := region.NewID(region.EU), region.NewID(region.EU)
	batch := func(id string) *db.Batch {
		b := s.NewBatch()
		b.Add(region.EU, raw(`SELECT $1::text, $2::text`), discard, id)
		return b
	}
	tx := func(id string) *db.Tx {
		w := s.NewTx(region.EU)
		w.Exec(raw(`SELECT $1::text, $2::text`), id)
		return w
	}
	ctx, committed := s.WithAttempt(t.Context())
	reads, writes := []*db.Batch{batch(user), batch(other)}, []*db.Tx{tx(user), tx(other)}
	s.Routes().Put(db.Route{UserID: user, Home: region.EU, To: region.SG, State: db.MoveAnnounced, Version: 1}, nil)
	require.NoError(t, batch(user).Run(ctx), "the rows are still there")
	s.Routes().Put(db.Route{UserID: user, Home: region.EU, To: region.SG, State: db.MoveDone, Version: 2}, nil)
	requireMoving := func(err error) {
		t.Helper()
		require.Equal(t, user, movingUser(err))
		require.True(t, fail.From(err).Planned)
	}
	requireMoving(reads[0].Run(t.Context()))
	requireMoving(writes[0].Commit(t.Context()))
	requireMoving(batch(user).Run(ctx))
	requireMoving(tx(user).Commit(ctx))
	require.False(t, committed())
	require.NoError(t, reads[1].Run(t.Context()))
	require.NoError(t, writes[1].Commit(ctx))
	require.True(t, committed())

	again, committed := s.WithAttempt(t.Context())
	require.NoError(t, batch(user).Run(again))
	unrecorded := tx(user)
	unrecorded.WithoutRecord()
	require.NoError(t, unrecorded.Commit(again))
	require.False(t, committed(), "the next attempt does not repeat it")
	require.NoError(t, tx(user).Commit(again))
	require.True(t, committed())
}

// TestWritable follows whether the rows of a user can be written.
func TestWritable(t *testing.T) {
	s := openNew(t)
	user := region.NewID(region.EU)
	for i, state := range []db.MoveState{db.MoveAnnounced, db.MoveFrozen, db.MoveMoving, db.MoveAnnounced, db.MoveMoving, db.MoveDone} {
		_, changed := s.Routes().Writable(user)
		s.Routes().Put(db.Route{UserID: user, Home: region.EU, To: region.SG, State: state, Version: int64(i) + 1}, nil)
		if changed != nil {
			<-changed
		}
		ok, _ := s.Routes().Writable(user)
		require.Equal(t, state == db.MoveAnnounced || state == db.MoveDone, ok, state)
		ok, _ = s.Routes().Writable(region.NewID(region.EU))
		require.True(t, ok)
	}
}

// TestCommittedAttemptsFinish checks that an attempt of a request that has committed a transaction is not refused by a move that
// begins afterwards, within a limit, and that the server does not follow the move before the attempt has ended.
func TestCommittedAttemptsFinish(t *testing.T) {
	s := openNew(t)
	now := time.Now()
	s.Routes().SetClock(func() time.Time { return now })
	user, other := region.NewID(region.EU), region.NewID(region.US)
	version := int64(0)
	enter := func(state db.MoveState) {
		version++
		s.Routes().Put(db.Route{UserID: user, Home: region.EU, To: region.SG, State: state, Version: version}, nil)
	}
	write := func(ctx context.Context, id string) error {
		w := s.NewTx(region.EU)
		w.Exec(raw(`SELECT $1::text, $2::text`), id)
		return w.Commit(ctx)
	}
	read := func(ctx context.Context) error {
		b := s.NewBatch()
		b.Add(region.EU, raw(`SELECT $1::text, $2::text`), discard, user)
		return b.Run(ctx)
	}
	ctx, end := s.WithAttempt(t.Context())
	require.NoError(t, write(ctx, other))
	uncommitted, endUncommitted := s.WithAttempt(t.Context())
	enter(db.MoveMoving)
	require.NoError(t, read(ctx))
	require.NoError(t, write(ctx, user))
	require.Equal(t, user, movingUser(read(uncommitted)))
	require.Equal(t, user, movingUser(write(t.Context(), user)))
	require.Empty(t, s.Routes().Followed(), "the attempt is in progress")
	require.False(t, endUncommitted())
	now = now.Add(db.FinishCommitted)
	require.Equal(t, user, movingUser(read(ctx)), "it takes too long")
	require.True(t, end())
	require.Equal(t, db.Followed{user: version}, s.Routes().Followed())
	end()
	require.Equal(t, db.Followed{user: version}, s.Routes().Followed(), "it ends once")

	enter(db.MoveAnnounced)
	enter(db.MoveFrozen)
	ctx, end = s.WithAttempt(t.Context())
	require.NoError(t, write(ctx, other))
	enter(db.MoveMoving)
	require.NoError(t, read(ctx))
	require.Equal(t, user, movingUser(write(ctx, user)), "it was refused before")
	require.True(t, end())
	require.NoError(t, write(ctx, other), "work that continues keeps nothing from ending")
	require.Equal(t, db.Followed{user: version}, s.Routes().Followed())
}
