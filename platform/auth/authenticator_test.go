package auth_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

func TestIdentify(t *testing.T) {
	t.Parallel()
	issuer := newIssuer(t, newClock())
	for name, tc := range map[string]struct {
		header http.Header
		cause  error
	}{
		"valid token":    {header("Authorization", "Bearer "+mint(t, issuer)), nil},
		"no header":      {header(), auth.ErrNoCredentials},
		"another scheme": {header("Authorization", "Basic "+mint(t, issuer)), auth.ErrNoCredentials},
		"two headers":    {header("Authorization", "Bearer a", "Authorization", "Bearer b"), auth.ErrNoCredentials},
		"invalid token":  {header("Authorization", "Bearer x"), auth.ErrTokenMalformed},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, err := issuer.Identify(t.Context(), tc.header)
			if tc.cause != nil {
				requireCause(t, err, fail.Unauthorized(), tc.cause)
				return
			}
			require.NoError(t, err)
			require.Equal(t, aliceID, auth.CallerFrom(ctx).UserID)
			require.False(t, auth.Confirmed(ctx), "the database was not asked yet")
		})
	}
}

// TestMediaKey calls the operations of the media server, which a secret in the configuration admits.
func TestMediaKey(t *testing.T) {
	t.Parallel()
	const secret = "the secret of the media server"
	issuer := newIssuer(t, newClock())
	set, _ := openKeySet(t, keys([3]string{"k1", keyOne, ""}))
	media := auth.Access{Caller: plazav1.Access_CALLER_MEDIA_SERVER}
	for name, tc := range map[string]struct {
		configured string
		header     http.Header
		admitted   bool
	}{
		"right secret":     {secret, header("X-Media-Key", secret), true},
		"wrong secret":     {secret, header("X-Media-Key", secret+"x"), false},
		"no secret":        {secret, header(), false},
		"two secrets":      {secret, header("X-Media-Key", secret, "X-Media-Key", secret), false},
		"not configured":   {"", header("X-Media-Key", secret), false},
		"empty, both ways": {"", header("X-Media-Key", ""), false},
		"admin instead":    {secret, header("Authorization", "Bearer "+mint(t, issuer)), false},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGate(t, auth.NewInterceptorFor(issuer, set, set, always(media), auth.WithMediaKey(tc.configured)))
			g.handle = nothing
			for _, stream := range []bool{false, true} {
				err := g.call(t, stream, tc.header)
				require.Equal(t, tc.admitted, g.reach == 1)
				if tc.admitted {
					require.NoError(t, err)
				} else {
					requireCause(t, err, fail.Unauthorized(), auth.ErrWrongKey)
				}
			}
		})
	}
}
