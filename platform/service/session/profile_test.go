package session

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/servicetest"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

func TestAuthenticated(t *testing.T) {
	t.Parallel()
	empty, token := "", "token"
	for name, test := range map[string]struct {
		token *string
		want  bool
	}{
		"without": {nil, false}, "empty": {&empty, true}, "given": {&token, true}, // an empty one is checked, and refused
	} {
		require.Equal(t, test.want, authenticated(&plazav1.CreateSessionRequest{AuthToken: test.token}), name)
	}
}

func TestNewUserHasAName(t *testing.T) {
	t.Parallel()
	p := signInProfile{userID: "internal"}
	empty, name := "", "Anna"
	for _, test := range []struct {
		displayName *string
		want        string
	}{{nil, "anna"}, {&empty, "anna"}, {&name, "Anna"}} {
		u := p.newUser(&plazav1.CreateSessionRequest{UserId: "anna", DisplayName: test.displayName})
		require.Equal(t, [3]string{"internal", "anna", test.want}, [3]string{u.ID, u.PublicID, u.DisplayName})
		require.Empty(t, u.ProfileHandle)
	}
}

func TestProfileKeepsItsNameWithoutANewOne(t *testing.T) {
	t.Parallel()
	empty, name := "", "Anna"
	require.Nil(t, signInProfile{}.change(&plazav1.CreateSessionRequest{}).DisplayName)
	require.Nil(t, signInProfile{}.change(&plazav1.CreateSessionRequest{DisplayName: &empty}).DisplayName)
	require.Equal(t, &name, signInProfile{}.change(&plazav1.CreateSessionRequest{DisplayName: &name}).DisplayName)
}

func TestDeviceHash(t *testing.T) {
	t.Parallel()
	require.Len(t, deviceHash(""), 32)
	require.NotEqual(t, deviceHash("phone"), deviceHash("Phone"))
}

func TestUserIDOfSessionIsNoInternalID(t *testing.T) {
	t.Parallel()
	_, err := New(&service.Deps{}, nil, nil).CreateSession(t.Context(), &plazav1.CreateSessionRequest{UserId: region.NewID(region.EU)})
	require.Equal(t, fail.KindValidation, fail.From(err).Kind, "it could be mistaken for another user")
}

func TestAdministratorsNameTheUser(t *testing.T) {
	t.Parallel()
	ctx := auth.WithCaller(t.Context(), servicetest.Admin())
	_, err := New(&service.Deps{}, nil, nil).DeleteSession(ctx, &plazav1.DeleteSessionRequest{})
	require.Equal(t, fail.KindValidation, fail.From(err).Kind)
}

func TestLookupByInternalID(t *testing.T) {
	t.Parallel()
	s, public, id := New(&service.Deps{}, nil, nil), false, region.NewID(region.US)
	got, err := s.lookup(t.Context(), id, &public)
	require.NoError(t, err)
	require.Equal(t, id, got)
	got, err = s.lookup(t.Context(), "anna", &public)
	require.NoError(t, err)
	require.Empty(t, got, "a public id where an internal one is announced names no user")
}

// TestSettingsAreUnavailable signs no user in without an authToken while it is not known whether the network is in secure mode.
func TestSettingsAreUnavailable(t *testing.T) {
	t.Parallel()
	w := servicetest.NewWorld(t)
	req := &plazav1.CreateSessionRequest{UserId: "alice"}
	require.ErrorIs(t, New(w.Deps, nil, nil).checkAuthToken(t.Context(), req), errSecureMode, "a new network is in secure mode")
	require.ErrorIs(t, New(w.Without(t, region.EU), nil, nil).checkAuthToken(t.Context(), req), fail.Unavailable("", nil))
}
