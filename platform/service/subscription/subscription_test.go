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
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/db"
	"github.com/plaza-social/plaza/platform/store/people"
	"github.com/plaza-social/plaza/platform/view"
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

// TestPlacesAreReadInChunks reads more places than one round trip reads.
func TestPlacesAreReadInChunks(t *testing.T) {
	t.Parallel()
	w := servicetest.NewWorld(t)
	w.Deps.View = &view.Builder{}
	reader := newReader(t, w, region.EU)
	places := make([]events.Place, 201)
	for i := range places {
		places[i] = events.Place{Kind: events.PlaceProfile, ID: region.NewID(region.EU)}
	}
	ctx, trips := db.CountRoundTrips(t.Context())
	access, err := subscription.New(w.Deps).ResolvePlaces(ctx, reader, places)
	require.NoError(t, err)
	require.Equal(t, int64(2), trips.Load())
	for _, a := range access {
		require.True(t, a.Sees())
	}
}

// TestDeletedCommunity checks that those who saw a community receive the event of its deletion, and no others.
func TestDeletedCommunity(t *testing.T) {
	t.Parallel()
	w := servicetest.NewWorld(t)
	w.Deps.View = &view.Builder{}
	reader := newReader(t, w, region.EU)
	for _, public := range []bool{true, false} {
		place := events.Place{Kind: events.PlaceCommunity, ID: region.NewID(region.EU)}
		tx := w.Store.NewTx(region.EU)
		community := communities.Community{ID: place.ID, IsPublic: public, Metadata: []byte("{}"), CreatedAt: servicetest.Noon}
		tx.InsertCommunity(community, nil, servicetest.Noon)
		require.NoError(t, tx.Commit(t.Context()))
		for _, deleted := range []bool{false, true} {
			if deleted {
				tx := w.Store.NewTx(region.EU)
				tx.DeleteCommunity(place.ID, servicetest.Noon)
				require.NoError(t, tx.Commit(t.Context()))
				reader.Forget()
			}
			access, err := subscription.New(w.Deps).Resolve(t.Context(), place, []*subscription.Reader{reader})
			require.NoError(t, err)
			require.Equal(t, public && !deleted, access[0].Sees())
			require.Equal(t, public, access[0].Saw())
		}
	}
}

// TestUnknownAccess checks for which users and places a home that does not answer leaves access unknown.
func TestUnknownAccess(t *testing.T) {
	t.Parallel()
	w := servicetest.NewWorld(t)
	deps := w.Without(t, region.US)
	deps.View = &view.Builder{}
	resolver := subscription.New(deps)
	for _, tc := range []struct {
		user, place region.Code
		unknown     bool
	}{{region.EU, region.EU, false}, {region.EU, region.US, true}, {region.US, region.EU, true}, {region.SG, region.SG, false}} {
		place := events.Place{Kind: events.PlaceProfile, ID: region.NewID(tc.place)}
		access, err := resolver.Resolve(t.Context(), place, []*subscription.Reader{newReader(t, w, tc.user)})
		require.NoError(t, err)
		require.Equal(t, tc.unknown, access[0].Unknown(), "%s %s", tc.user, tc.place)
		require.True(t, tc.unknown || access[0].Sees(), "%s %s", tc.user, tc.place)
	}
}

// newReader inserts a user with a session.
func newReader(t *testing.T, w *servicetest.World, home region.Code) *subscription.Reader {
	t.Helper()
	now := w.Deps.Now()
	claims := auth.Claims{
		UserID: region.NewID(home), PublicID: "alice", SessionID: region.NewID(home), IssuedAt: now, ExpiresAt: now.Add(time.Hour),
	}
	tx := w.Store.NewTx(home)
	tx.InsertUser(people.User{ID: claims.UserID, PublicID: claims.PublicID, DisplayName: "Alice"}, now)
	tx.InsertSession(people.Session{
		ID: claims.SessionID, UserID: claims.UserID, DeviceHash: []byte("x"), CreatedAt: now, ExpiresAt: claims.ExpiresAt,
	})
	require.NoError(t, tx.Commit(t.Context()))
	return subscription.NewReader(claims)
}
