package notification

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/servicetest"
	"github.com/plaza-social/plaza/platform/store/people"
	"github.com/plaza-social/plaza/platform/view"
)

// TestFailedGroupIsDeliveredOneByOne makes the delivery of several notices fail once: each of them is then delivered alone. A notice that
// is alone is left to the outbox.
func TestFailedGroupIsDeliveredOneByOne(t *testing.T) {
	t.Parallel()
	w := servicetest.NewWorld(t)
	w.Deps.View = &view.Builder{Now: service.Millis, Catalog: &auth.Catalog{}}
	s := New(w.Deps)
	asker, fan := region.NewID(region.EU), region.NewID(region.US)
	for _, id := range []string{asker, fan} {
		tx := w.Store.NewTx(w.Deps.HomeOf(id))
		tx.InsertUser(people.User{ID: id, PublicID: id, DisplayName: id}, servicetest.Noon)
		require.NoError(t, tx.Commit(t.Context()))
	}
	community, actor := region.NewID(region.EU), region.NewID(region.EU)
	notices := []service.Notice{
		{Event: service.NoticeJoinApproved, ID: community, OtherID: asker, ActorID: actor, At: servicetest.Noon},
		{Event: service.NoticeJoinRejected, ID: community, OtherID: fan, ActorID: actor, At: servicetest.Noon},
		// A deleted user.
		{Event: service.NoticeJoinApproved, ID: community, OtherID: region.NewID(region.EU), ActorID: actor, At: servicetest.Noon},
		{Event: service.NoticeJoinApproved, ID: community, OtherID: actor, ActorID: actor, At: servicetest.Noon},
		{Event: service.NoticeJoinApproved, ID: community, OtherID: fan, At: servicetest.Noon}, // by an administrator
	}
	items := func() string {
		return w.Text(t, `SELECT COALESCE(string_agg(kind, ' ' ORDER BY kind), '') FROM tray_items`)
	}
	w.FailAt(1)
	require.ErrorIs(t, errors.Join(s.deliverGroup(t.Context(), notices[:1])...), servicetest.ErrLost)
	require.Empty(t, items())
	w.FailAt(1)
	require.NoError(t, errors.Join(s.deliverGroup(t.Context(), notices)...))
	require.Equal(t, "joinApproved joinRejected", items())
	require.NoError(t, errors.Join(s.deliverGroup(t.Context(), notices)...))
	require.Equal(t, "joinApproved joinRejected", items(), "a notice that arrives twice changes nothing")
}
