package subscription_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service/internal/servicetest"
	"github.com/plaza-social/plaza/platform/service/subscription"
	"github.com/plaza-social/plaza/platform/store/db"
)

// TestRoundTripsOfPlaces reads the access of a user to many places, as many clients subscribe when they connect.
func TestRoundTripsOfPlaces(t *testing.T) {
	t.Parallel()
	w := servicetest.NewWorld(t)
	var places []events.Place
	for _, kind := range []string{events.PlaceCommunity, events.PlaceChannel, events.PlaceProfile, events.PlaceRoom, events.PlaceStream} {
		for range 20 {
			places = append(places, events.Place{Kind: kind, ID: region.NewID(region.EU)})
		}
	}
	ctx, trips := db.CountRoundTrips(t.Context())
	user := region.NewID(region.EU)
	reader := subscription.NewReader(auth.Claims{UserID: user, SessionID: region.NewID(region.EU), ExpiresAt: w.Deps.Now().Add(time.Hour)})
	access, err := subscription.New(w.Deps).ResolvePlaces(ctx, reader, places)
	require.NoError(t, err)
	require.Len(t, access, len(places))
	for _, a := range access {
		require.False(t, a.Sees())
		require.False(t, a.Unknown())
	}
	require.Equal(t, int64(2), trips.Load(), "the rooms and streams, and everything else")
}
