package channel

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/servicetest"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
	"github.com/plaza-social/plaza/platform/store/messaging"
	"github.com/plaza-social/plaza/platform/view"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// TestListChannels lists channels of two homes in their order, and reads them in one round trip with what they refer to.
func TestListChannels(t *testing.T) {
	t.Parallel()
	w := servicetest.NewWorld(t)
	w.Deps.View = &view.Builder{Now: service.Millis, Catalog: &auth.Catalog{}}
	var want []string
	for i, home := range []region.Code{region.SG, region.EU, region.SG} {
		name := fmt.Sprint("channel ", i)
		want = append(want, name)
		id, at := region.NewID(home), servicetest.Noon.Add(time.Duration(i)*time.Minute)
		tx := w.Store.NewTx(home)
		tx.InsertChannel(messaging.Channel{
			ID: id, PublicID: id, Type: messaging.ChannelCommunity, DisplayName: name, IsPublic: true, Metadata: []byte(`{}`),
			NotificationMode: "default",
		}, core.ErrConflict, at)
		require.NoError(t, tx.Commit(t.Context()))
	}
	ctx, trips := db.CountRoundTrips(auth.WithCaller(t.Context(), servicetest.Admin()))
	got, err := (&Service{Deps: w.Deps}).ListChannels(ctx, &plazav1.ListChannelsRequest{SortBy: "firstCreated"})
	require.NoError(t, err)
	require.Equal(t, want, service.Map(got.GetChannels(), (*plazav1.Channel).GetDisplayName))
	require.Equal(t, int64(3), trips.Load(), "the settings, the keys, and the channels with what they refer to")
}
