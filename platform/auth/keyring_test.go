package auth_test

import (
	"encoding/base64"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
)

func TestOpenKeyringRejectsInvalidFiles(t *testing.T) {
	t.Parallel()
	short := base64.StdEncoding.EncodeToString([]byte(strings.Repeat("a", 31)))
	for name, tc := range map[string]struct{ content, says string }{
		"empty":        {"", "not a JSON"},
		"server keys":  {keys([3]string{"k1", keyOne, ""}), "not a JSON"},
		"no keys":      {`{"keys":[]}`, "no keys"},
		"no kid":       {seeds([3]string{"", "a", ""}), "the id"},
		"kid twice":    {seeds([3]string{"s1", "a", ""}, [3]string{"s1", "b", ""}), "key 2 of the file: the id occurs twice"},
		"seed twice":   {seeds([3]string{"s1", "a", ""}, [3]string{"s2", "a", ""}), "the key occurs twice"},
		"short seed":   {`{"keys":[{"kid":"s1","seed":"` + short + `"}]}`, "base64 of 32 bytes"},
		"not base64":   {`{"keys":[{"kid":"s1","seed":"` + keyOne + `"}]}`, "base64 of 32 bytes"},
		"not a time":   {seeds([3]string{"s1", "a", "tomorrow"}), "notAfter"},
		"no seed":      {`{"keys":[{"kid":"s1"}]}`, "base64 of 32 bytes"},
		"extra fields": {`{"keys":[{"kid":"s1","private":"` + keyOne + `"}]}`, "not a JSON"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "signing.json")
			writeFile(t, path, tc.content)
			_, err := auth.OpenKeyring(path)
			require.ErrorContains(t, err, tc.says)
			for _, secret := range []string{keyOne, seed("a"), short} {
				require.NotContains(t, printed(t, err), secret)
			}
		})
	}
}

func TestFirstValidKeySigns(t *testing.T) {
	t.Parallel()
	c := newClock()
	ring, _ := openKeyring(t, seeds(
		[3]string{"past", "a", "2026-11-20T11:00:00Z"},
		[3]string{"soon", "b", "2026-11-20T13:00:00Z"},
		[3]string{"last", "c", ""},
	), auth.WithClock(c.Now))
	issuer := auth.NewIssuer(networkID, ring, auth.WithIssuerClock(c.Now))
	for _, tc := range []struct {
		after time.Duration
		want  string
	}{{0, "soon"}, {59 * time.Minute, "soon"}, {time.Hour, "last"}} {
		issuer := auth.NewIssuer(networkID, ring, auth.WithIssuerClock(func() time.Time { return start.Add(tc.after) }))
		claims, err := issuer.Verify(mint(t, issuer))
		require.NoError(t, err)
		require.Equal(t, tc.want, claims.KeyID)
	}

	token, _, expires, err := issuer.MintAccess(alice())
	require.NoError(t, err)
	require.Equal(t, time.Date(2026, 11, 20, 13, 0, 0, 0, time.UTC), expires, "a token expires with its key")
	c.Move(time.Hour)
	_, err = issuer.Verify(token)
	requireCause(t, err, fail.Unauthorized(), auth.ErrTokenUnsigned)
	require.Equal(t, []string{"past", "soon", "last"}, ids(ring.IDs()))
}

func TestSigningKeysRotate(t *testing.T) {
	t.Parallel()
	c := newClock()
	ring, path := openKeyring(t, seeds([3]string{"s1", "a", ""}), auth.WithClock(c.Now))
	issuer := auth.NewIssuer(networkID, ring, auth.WithIssuerClock(c.Now))
	old := mint(t, issuer)

	writeFile(t, path, seeds([3]string{"s2", "b", ""}, [3]string{"s1", "a", ""}))
	other, err := auth.OpenKeyring(path, auth.WithClock(c.Now))
	require.NoError(t, err)
	fresh := mint(t, auth.NewIssuer(networkID, other, auth.WithIssuerClock(c.Now)))
	claims, err := issuer.Verify(fresh)
	require.NoError(t, err, "another server's new key is read immediately")
	require.Equal(t, "s2", claims.KeyID)
	_, err = issuer.Verify(old)
	require.NoError(t, err, "the old key still verifies")

	writeFile(t, path, seeds([3]string{"s2", "b", ""}))
	c.Move(time.Second)
	_, err = issuer.Verify(old)
	requireCause(t, err, fail.Unauthorized(), auth.ErrTokenUnsigned)
}

func TestNoValidSigningKey(t *testing.T) {
	t.Parallel()
	c := newClock()
	ring, path := openKeyring(t, seeds([3]string{"s1", "a", "2026-11-20T11:00:00Z"}), auth.WithClock(c.Now))
	issuer := auth.NewIssuer(networkID, ring, auth.WithIssuerClock(c.Now))
	_, _, _, err := issuer.MintAccess(alice())
	require.ErrorIs(t, err, auth.ErrNoSigningKey)
	_, _, err = issuer.MintAdmin("ops", time.Hour)
	require.ErrorIs(t, err, auth.ErrNoSigningKey)
	_, err = issuer.MintAuthToken("alice")
	require.ErrorIs(t, err, auth.ErrNoSigningKey)

	writeFile(t, path, seeds([3]string{"s2", "b", ""}))
	require.NotEmpty(t, mint(t, issuer), "a new key signs immediately")
}

func TestKeyringPrintsNoKey(t *testing.T) {
	t.Parallel()
	c := newClock()
	ring, _ := openKeyring(t, seeds([3]string{"s1", "a", ""}), auth.WithClock(c.Now))
	issuer := auth.NewIssuer(networkID, ring, auth.WithIssuerClock(c.Now))
	text := printed(t, ring, *ring, issuer, *issuer, ring.IDs())
	for name, secret := range map[string]string{
		"base64":  seed("a"),
		"plain":   "aaaaaaaa",
		"hex":     strings.Repeat("61", 8),
		"decimal": "97 97 97 97",
		"private": "private",
	} {
		require.NotContains(t, text, secret, name)
	}
	require.Contains(t, text, "1 signing keys")
	require.NotPanics(t, func() { printed(t, (*auth.Keyring)(nil), auth.Keyring{}) })
}

func TestGenerateKeyring(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "signing.json")
	require.NoError(t, auth.GenerateKeyring(path))
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o600), info.Mode().Perm())
	require.ErrorIs(t, auth.GenerateKeyring(path), fs.ErrExist)

	before, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, auth.EnsureKeyring(path))
	after, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, before, after)

	ring, err := auth.OpenKeyring(path)
	require.NoError(t, err)
	issuer := auth.NewIssuer(networkID, ring)
	_, err = issuer.Verify(mint(t, issuer))
	require.NoError(t, err)

	fresh := filepath.Join(t.TempDir(), "signing.json")
	require.NoError(t, auth.EnsureKeyring(fresh))
	require.FileExists(t, fresh)
	require.ErrorIs(t, auth.EnsureKeyring(filepath.Join(t.TempDir(), "absent", "signing.json")), fs.ErrNotExist)
}

func ids(infos []auth.KeyInfo) []string {
	var all []string
	for _, info := range infos {
		all = append(all, info.ID)
	}
	return all
}
