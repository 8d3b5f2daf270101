package presence

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service/internal/servicetest"
	"github.com/plaza-social/plaza/platform/store/network"
	"github.com/plaza-social/plaza/platform/store/people"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// TestListPresences has users of all homes send heartbeats one after the other, some of whom are then deleted or hide their presence.
func TestListPresences(t *testing.T) {
	t.Parallel()
	w := servicetest.NewWorld(t)
	s := New(w.Deps)
	lasts := network.DefaultSettings().PresenceDuration()
	require.Equal(t, 90*time.Second, lasts, "one and a half intervals of a minute")
	for i, name := range []string{"first", "deleted", "second", "hidden", "third"} {
		home := region.All()[i%3]
		id, at := region.NewID(home), servicetest.Noon.Add(time.Duration(i)*time.Second)
		tx := w.Store.NewTx(home)
		tx.InsertUser(people.User{ID: id, PublicID: name, DisplayName: name}, at)
		require.NoError(t, tx.Commit(t.Context()))
		require.NoError(t, s.beats.add(home, people.Presence{
			Place: onlineIn(home), UserID: id, JoinedAt: servicetest.Noon,
			Until: at.Add(lasts),
		}))
		_, err := s.store(t.Context(), home)
		require.NoError(t, err)
	}
	w.Exec(t, `UPDATE users SET deleted_at = now() WHERE display_name = 'deleted'`)
	w.Exec(t, `UPDATE users SET is_presence_hidden = true WHERE display_name = 'hidden'`)
	ctx := auth.WithCaller(t.Context(), servicetest.Admin())
	listed := func(order string) (names []string) {
		t.Helper()
		r, err := s.ListPresences(ctx, &plazav1.ListPresencesRequest{OrderBy: order})
		require.NoError(t, err)
		for _, p := range r.GetPresences() {
			names = append(names, p.GetUserId()+" "+p.GetLastHeartbeat().AsTime().Sub(servicetest.Noon).String())
		}
		return names
	}
	require.Equal(t, []string{"third 4s", "second 2s", "first 0s"}, listed(""))
	require.Equal(t, []string{"first 0s", "second 2s", "third 4s"}, listed("asc"))
	w.Set(servicetest.Noon.Add(lasts + time.Second))
	require.Equal(t, []string{"third 4s", "second 2s"}, listed("desc"))
}
