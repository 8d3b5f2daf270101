package db_test

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/limits"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/db"
)

// TestHomeOfMovedIDs checks where the rows of a user and of an id that moves with the user are in each state, and that
// older routes change nothing.
func TestHomeOfMovedIDs(t *testing.T) {
	s := openNew(t)
	user, post, other := region.NewID(region.EU), region.NewID(region.EU), region.NewID(region.EU)
	homeOf := func(id string) region.Code {
		home, err := s.HomeOf(id)
		require.NoError(t, err)
		return home
	}
	version := int64(0)
	route := func(state db.MoveState) db.Route {
		version++
		return db.Route{UserID: user, Home: region.EU, To: region.SG, State: state, Version: version}
	}
	for _, state := range []db.MoveState{db.MoveFrozen, db.MoveMoving} {
		s.Routes().Put(route(state), []string{post})
		require.Equal(t, []region.Code{region.EU, region.EU}, []region.Code{homeOf(user), homeOf(post)}, state)
	}
	s.Routes().Put(route(db.MoveDone), []string{post})
	s.Routes().Put(db.Route{UserID: user, Home: region.EU, To: region.SG, State: db.MoveMoving, Version: version - 1}, nil)
	require.Equal(t, []region.Code{region.SG, region.SG, region.EU}, []region.Code{homeOf(user), homeOf(post), homeOf(other)})
	require.Equal(t, map[region.Code][]string{region.SG: {post}, region.EU: {other}}, s.ByHome([]string{post, "bad", other}))
	_, err := s.HomeOf("bad")
	require.ErrorIs(t, err, region.ErrBadID)
}

// TestMovingIDsAreUnavailable sends statements about an id in each state of its move, alone and in a list.
func TestMovingIDsAreUnavailable(t *testing.T) {
	s := openNew(t)
	user := region.NewID(region.EU)
	read := func(arg any) error {
		r := s.NewBatch()
		r.Add(region.EU, raw(`SELECT $1::text, $2::text`), discard, arg)
		return r.Run(t.Context())
	}
	readList := func(r *db.Batch) (rows int, missing []region.Code) {
		ctx, missed := region.WithMissing(t.Context())
		r.Add(region.EU, raw(`SELECT $1::text, $2::text[]`), func(found pgx.Rows) error {
			rows++
			return discard(found)
		}, []string{user, region.NewID(region.EU)})
		if err := r.Run(ctx); err != nil {
			require.ErrorIs(t, err, fail.Unavailable("", nil))
			return -1, nil
		}
		return rows, missed()
	}
	write := func(arg any) error {
		w := s.NewTx(region.EU)
		w.Exec(raw(`SELECT $1::text, $2::text`), arg)
		return w.Commit(t.Context())
	}
	for i, c := range []struct {
		state                db.MoveState
		readable, isWritable bool
	}{{db.MoveFrozen, true, false}, {db.MoveMoving, false, false}, {db.MoveDone, true, true}} {
		s.Routes().Put(db.Route{UserID: user, Home: region.EU, To: region.SG, State: c.state, Version: int64(i) + 1}, nil)
		for want, err := range map[*bool]error{&c.readable: read(user), &c.isWritable: write(user)} {
			if *want {
				require.NoError(t, err, c.state)
			} else {
				require.ErrorIs(t, err, fail.Unavailable("", nil), c.state)
				require.Positive(t, fail.From(err).RetryAfter, c.state)
			}
		}
		rows, _ := readList(s.NewBatch())
		require.Equal(t, c.readable, rows == 1, "%s: a list without some of its rows looks complete", c.state)
		bestEffort := s.NewBestEffortBatch()
		rows, missing := readList(bestEffort)
		require.Equal(t, !c.readable, bestEffort.Incomplete(), c.state)
		require.Equal(t, 1, rows, c.state)
		require.Equal(t, !c.readable, slices.Equal(missing, []region.Code{region.EU}), c.state)
		require.NoError(t, write(region.NewID(region.EU)), c.state)
	}
}

// TestBestEffortWithoutMovingIDs leaves the statements about a moving id out of a batch, and sends nothing to a home without others: a
// canceled context does not matter then.
func TestBestEffortWithoutMovingIDs(t *testing.T) {
	s := openNew(t)
	user := region.NewID(region.EU)
	s.Routes().Put(db.Route{UserID: user, Home: region.EU, To: region.SG, State: db.MoveMoving, Version: 1}, nil)
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	for name, tc := range map[string]struct {
		ctx       context.Context
		ids, want []string
	}{
		"alone":       {canceled, []string{user}, nil},
		"with others": {t.Context(), []string{user, "other"}, []string{"other"}},
	} {
		ctx, missing := region.WithMissing(tc.ctx)
		r := s.NewBestEffortBatch()
		var read []string
		for _, id := range tc.ids {
			r.Add(region.EU, raw(`SELECT $1::text, $2::text`), func(rows pgx.Rows) error {
				read = append(read, id)
				return discard(rows)
			}, id)
		}
		require.NoError(t, r.Run(ctx), name)
		require.Equal(t, tc.want, read, name)
		require.True(t, r.Incomplete(), name)
		require.Equal(t, []region.Code{region.EU}, missing(), name)
	}
}

// TestMovedBetweenHomes counts the users whose rows are at another home than their ids say, and tells from which homes any have moved.
func TestMovedBetweenHomes(t *testing.T) {
	s := openNew(t)
	first, second := region.NewID(region.EU), region.NewID(region.EU)
	put := func(user string, from, to region.Code, state db.MoveState, version int64) {
		t.Helper()
		s.Routes().Put(db.Route{UserID: user, Home: from, To: to, State: state, Version: version}, nil)
	}
	require.False(t, s.Routes().Left(region.EU, region.SG))
	require.Zero(t, s.Routes().Moved(region.EU, region.SG))
	put(first, region.EU, region.SG, db.MoveMoving, 1)
	require.True(t, s.Routes().Left(region.EU, region.SG), "they are moving")
	require.False(t, s.Routes().Left(region.SG, region.EU))
	require.False(t, s.Routes().Left(region.EU, region.US))
	require.Zero(t, s.Routes().Moved(region.EU, region.SG))
	put(first, region.EU, region.SG, db.MoveDone, 2)
	put(second, region.EU, region.SG, db.MoveDone, 1)
	require.EqualValues(t, 2, s.Routes().Moved(region.EU, region.SG))
	put(first, region.SG, region.US, db.MoveDone, 3)
	require.EqualValues(t, 1, s.Routes().Moved(region.EU, region.SG))
	require.EqualValues(t, 1, s.Routes().Moved(region.EU, region.US))
	require.Zero(t, s.Routes().Moved(region.SG, region.US), "the id is of eu")
	put(first, region.US, region.EU, db.MoveDone, 4)
	require.Zero(t, s.Routes().Moved(region.EU, region.US), "they are back")
}

// TestRoutesLease checks that a server sends no statement once its routes are older than the lease, by either clock.
func TestRoutesLease(t *testing.T) {
	s := openNew(t)
	now := time.Now()
	s.Routes().SetClock(func() time.Time { return now })
	send := func() error {
		r := s.NewBatch()
		r.Add(region.EU, raw(anything), discard)
		w := s.NewTx(region.EU)
		w.Exec(raw(`SELECT $1::text`))
		read, write := r.Run(t.Context()), w.Commit(t.Context())
		require.Equal(t, read == nil, write == nil)
		return read
	}
	require.NoError(t, send(), "nothing follows the routes")
	s.Routes().Refreshed(now)
	now = now.Add(limits.Production().MoveLease)
	require.NoError(t, send())
	now = now.Add(time.Nanosecond)
	require.ErrorIs(t, send(), fail.Unavailable("", nil))
	s.Routes().Refreshed(now)
	require.NoError(t, send())
	now = now.Round(0).Add(limits.Production().MoveLease + time.Nanosecond) // without the monotonic clock
	require.ErrorIs(t, send(), fail.Unavailable("", nil))
}

// TestAnnounceLease checks that a server which other servers may take for one that has stopped does not write, and reads.
func TestAnnounceLease(t *testing.T) {
	s := openNew(t)
	now := time.Now()
	s.Routes().SetClock(func() time.Time { return now })
	write := func() error {
		w := s.NewTx(region.EU)
		w.Exec(raw(`SELECT $1::text`))
		return w.Commit(t.Context())
	}
	require.NoError(t, write(), "it need not be announced")
	s.Routes().Announced(now)
	now = now.Add(limits.Production().AnnounceLease)
	require.NoError(t, write())
	now = now.Add(time.Nanosecond)
	require.ErrorIs(t, write(), fail.Unavailable("", nil))
	r := s.NewBatch()
	r.Add(region.EU, raw(anything), discard)
	require.NoError(t, r.Run(t.Context()))
	s.Routes().Announced(now)
	require.NoError(t, write())
}

// movingUser returns the user whose rows are why a statement was not sent; "" if they are not.
func movingUser(err error) string {
	moving, ok := errors.AsType[*db.MovingError](err)
	if !ok {
		return ""
	}
	return moving.UserID
}
