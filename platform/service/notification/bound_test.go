package notification_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service/internal/servicetest"
	"github.com/plaza-social/plaza/platform/service/notification"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/notify"
)

// TestTrayBounds fills a tray to its limits, and one past them: the oldest item and the oldest actor of an item are deleted.
func TestTrayBounds(t *testing.T) {
	t.Parallel()
	w := servicetest.NewWorld(t)
	user := region.NewID(region.EU)
	put := func(reference, actor string, at time.Time) {
		t.Helper()
		item := notify.TrayItem{UserID: user, Kind: "kind", ReferenceType: content.ReferencePost, ReferenceID: reference}
		item.Identify(at)
		tx := w.Store.NewTx(region.EU)
		tx.PutTrayActs(user, []notify.TrayAct{{Item: item, ActorID: actor}})
		require.NoError(t, tx.Commit(t.Context()))
	}
	count := func() (items []notify.TrayRow) {
		t.Helper()
		reads := w.Store.NewReadBatch()
		reads.ListTray(notify.TrayList{UserID: user, Limit: 2 * notify.MaxTrayItems}, &items)
		require.NoError(t, reads.Run(t.Context()))
		return items
	}
	for i := range notify.MaxTrayItems {
		put(strconv.Itoa(i), "actor", servicetest.Noon.Add(time.Duration(i)*time.Second))
	}
	require.Len(t, count(), notify.MaxTrayItems)
	require.Equal(t, "0", count()[0].ReferenceID)
	for i := range notify.MaxTrayActors {
		put("new", fmt.Sprint("actor", i), servicetest.Noon.Add(time.Hour+time.Duration(i)*time.Second))
	}
	items := count()
	require.Len(t, items, notify.MaxTrayItems)
	require.Equal(t, "1", items[0].ReferenceID)
	require.EqualValues(t, notify.MaxTrayActors, items[len(items)-1].Actors)
	put("new", "one more", servicetest.Noon.Add(2*time.Hour))
	items = count()
	require.EqualValues(t, notify.MaxTrayActors, items[len(items)-1].Actors)
	w.Exec(t,
		`SELECT 1 / (SELECT (count(*) = 0)::int FROM tray_actors AS a WHERE NOT EXISTS (SELECT 1 FROM tray_items AS i WHERE i.id = a.item_id))`)
}

// TestOldItemsAreDeleted runs the job that deletes items 90 days after their latest action.
func TestOldItemsAreDeleted(t *testing.T) {
	t.Parallel()
	w := servicetest.NewWorld(t)
	user := region.NewID(region.EU)
	for _, age := range []time.Duration{0, time.Hour} {
		item := notify.TrayItem{UserID: user, Kind: "kind", ReferenceType: content.ReferencePost, ReferenceID: age.String()}
		item.Identify(servicetest.Noon.Add(-age))
		tx := w.Store.NewTx(region.EU)
		tx.PutTrayActs(user, []notify.TrayAct{{Item: item, ActorID: "actor"}})
		require.NoError(t, tx.Commit(t.Context()))
	}
	for passed, want := range []string{"2", "1", "0"} {
		w.Set(servicetest.Noon.Add(90*24*time.Hour + time.Duration(passed-1)*time.Hour - time.Millisecond))
		_, err := notification.New(w.Deps).Job().Drain(t.Context(), region.EU, 0)
		require.NoError(t, err)
		require.Equal(t, want, w.Text(t, `SELECT count(*)::text FROM tray_items`))
	}
}
