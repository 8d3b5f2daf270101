package store_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db/dbtest"
	"github.com/plaza-social/plaza/platform/store/notify"
)

// aTrayAct is what an actor has done to an object of a user at some seconds after now.
func aTrayAct(userID, reference, actorID string, seconds int) notify.TrayAct {
	i := notify.TrayItem{UserID: userID, Kind: "reaction", ReferenceType: "post", ReferenceID: reference, ActionID: actorID}
	i.Identify(later(seconds))
	return notify.TrayAct{Item: i, ActorID: actorID}
}

func putTrayActs(t *testing.T, s *store.Store, acts ...notify.TrayAct) {
	t.Helper()
	w := s.NewTx(region.EU)
	w.PutTrayActs(acts[0].Item.UserID, acts)
	commit(t, w)
}

func listTray(t *testing.T, s *store.Store, l notify.TrayList) (rows []notify.TrayRow) {
	t.Helper()
	r := s.NewReadBatch()
	r.ListTray(l, &rows)
	run(t, r)
	return rows
}

// TestActorsOfATrayItem keeps the latest actors of an item. Those of other items and of other users stay.
func TestActorsOfATrayItem(t *testing.T) {
	url := dbtest.New(t)
	s, conn := open(t, url), connect(t, url)
	user, other := region.NewID(region.EU), region.NewID(region.EU)
	actor := func(i int) string { return fmt.Sprintf("actor %03d", i) }
	// These are older, and have the actor that the item loses.
	putTrayActs(t, s, aTrayAct(user, "another", actor(0), -9), aTrayAct(user, "another", actor(1), -9))
	putTrayActs(t, s, aTrayAct(other, "post", actor(0), -9))
	for i := range notify.MaxTrayActors + 1 {
		putTrayActs(t, s, aTrayAct(user, "post", actor(i), i/2)) // two at the same time
	}
	rows := listTray(t, s, notify.TrayList{UserID: user, Limit: 9})
	require.Len(t, rows, 2)
	require.Equal(t, []int64{2, notify.MaxTrayActors}, []int64{rows[0].Actors, rows[1].Actors})
	require.Equal(t, int64(1), listTray(t, s, notify.TrayList{UserID: other, Limit: 9})[0].Actors)
	putTrayActs(t, s, aTrayAct(user, "post", actor(1), 2)) // again: then the oldest one is that of the same time as the one that was removed
	putTrayActs(t, s, aTrayAct(user, "post", actor(500), 500))
	var actors []notify.TrayActor
	r := s.NewReadBatch()
	r.TrayActors(user, []string{rows[0].ID, rows[1].ID}, &actors)
	run(t, r)
	var latest, another []string
	for _, a := range actors {
		if a.ItemID == rows[1].ID {
			latest = append(latest, a.ActorID)
		} else {
			another = append(another, a.ActorID)
		}
	}
	require.Equal(t, []string{
		actor(500), actor(100), actor(99), actor(98), actor(97), actor(96), actor(95), actor(94), actor(93),
		actor(92),
	}, latest)
	require.Equal(t, []string{actor(1), actor(0)}, another)
	var left, removed int
	require.NoError(t, conn.QueryRow(t.Context(),
		`SELECT count(*), count(*) FILTER (WHERE actor_id = ANY($2::text[])) FROM tray_actors WHERE item_id = $1`,
		rows[1].ID, []string{actor(0), actor(2)}).Scan(&left, &removed))
	require.Equal(t, []int{notify.MaxTrayActors, 0}, []int{left, removed})
}

// TestItemsOfATray keeps the latest items of a user, with their actors. Those of other users stay.
func TestItemsOfATray(t *testing.T) {
	url := dbtest.New(t)
	s, conn := open(t, url), connect(t, url)
	user, other := region.NewID(region.EU), region.NewID(region.EU)
	_,
		err := conn.Exec(t.Context(),
		`INSERT INTO tray_items (home, user_id, id, kind, target_type, target_id, target_public_id, reference_type, reference_id, action_id,
			parent_id, root_id, comment_id, day, last_occurred_at)
		SELECT 'eu', $1, 'eu' || lpad(n::text, 22, '0'), 'reaction', '', '', '', '', '', '', '', '', '', $2::timestamptz, $2::timestamptz + n / 2
		* INTERVAL '1 second'
		FROM generate_series(1, $3::bigint) AS n`, user, now, notify.MaxTrayItems)
	require.NoError(t, err)
	_,
		err = conn.Exec(t.Context(),
		`INSERT INTO tray_actors (home, user_id, item_id, actor_id, acted_at) SELECT home, user_id, id, 'anna', last_occurred_at FROM tray_items`)
	require.NoError(t, err)
	putTrayActs(t, s, aTrayAct(other, "post", "anna", -9))
	id := func(n int) string { return fmt.Sprintf("eu%022d", n) }
	oldest := func() []string {
		t.Helper()
		var ids []string
		for _, row := range listTray(t, s, notify.TrayList{UserID: user, Limit: 3}) {
			ids = append(ids, row.ID)
		}
		return ids
	}
	require.Equal(t, []string{id(1), id(2), id(3)}, oldest())
	for i, want := range [][]string{{id(2), id(3), id(4)}, {id(3), id(4), id(5)}} {
		putTrayActs(t, s, aTrayAct(user, fmt.Sprint("new ", i), "ben", 1000+i))
		require.Equal(t, want, oldest(), "the oldest one is removed, of two at the same time that with the lower id")
	}
	putTrayActs(t, s, aTrayAct(user, "new 1", "carl", 1001))
	require.Equal(t, []string{id(3), id(4), id(5)}, oldest(), "no new item")
	var items, actors int
	require.NoError(t, conn.QueryRow(t.Context(),
		`SELECT (SELECT count(*) FROM tray_items WHERE user_id = $1), (SELECT count(*) FROM tray_actors WHERE user_id = $1)`, user).
		Scan(&items, &actors))
	require.Equal(t, []int{notify.MaxTrayItems, notify.MaxTrayItems + 1}, []int{items, actors})
	require.Len(t, listTray(t, s, notify.TrayList{UserID: other, Limit: 9}), 1)
}

// TestPagesOfTrays lists the items of a user by the times of their latest actions.
func TestPagesOfTrays(t *testing.T) {
	s := openNew(t)
	user := region.NewID(region.EU)
	ids := listIDs(region.EU)
	for i, id := range ids {
		for _, owner := range []string{user, region.NewID(region.EU)} {
			act := aTrayAct(owner, id, "anna", listSeconds[i])
			act.Item.ID = id
			putTrayActs(t, s, act)
		}
	}
	requirePages(t, ids, func(after core.Position, desc bool) []core.Position {
		rows := listTray(t, s, notify.TrayList{UserID: user, Desc: desc, After: after.Time, AfterID: after.ID, Limit: 2})
		return positions(rows, func(row notify.TrayRow) (time.Time, string) {
			require.Equal(t, int64(1), row.Actors)
			return row.LastOccurredAt, row.ID
		})
	})
}
