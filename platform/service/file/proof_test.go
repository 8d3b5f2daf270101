package file

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/media"
	"github.com/plaza-social/plaza/platform/view"
)

// keyring returns signing keys with the given names, in this order.
func keyring(t *testing.T, names ...string) *auth.Keyring {
	t.Helper()
	keys := make([]string, len(names))
	for i, name := range names {
		seed := base64.StdEncoding.EncodeToString([]byte(strings.Repeat(name, 32)))
		keys[i] = fmt.Sprintf(`{"kid":%q,"seed":%q}`, name, seed)
	}
	ring, err := auth.ParseKeyring([]byte(`{"keys":[` + strings.Join(keys, ",") + `]}`))
	require.NoError(t, err)
	return ring
}

// TestProof decodes a proof with other keys, for other files and networks, later and after changes.
func TestProof(t *testing.T) {
	made := time.Date(2026, 11, 22, 12, 0, 0, 0, time.UTC)
	network := strings.Repeat("a", 24)
	links := func(network string, keys *auth.Keyring, now time.Time) *Links {
		l, err := NewLinks("", network, []byte("secret"), keys, time.Hour, func() time.Time { return now })
		require.NoError(t, err)
		return l
	}
	id, other := region.NewID(region.EU), region.NewID(region.EU)
	p := proof{
		expires: made.Add(time.Hour), object: view.FileObject{Kind: core.UseMessage, ID: region.NewID(region.SG)},
		viewer: region.NewID(region.US),
	}
	text, ok := links(network, keyring(t, "o"), made).encode(p, id)
	require.True(t, ok)
	changed := func(at int, to byte) string {
		raw, err := base64.RawURLEncoding.DecodeString(text)
		require.NoError(t, err)
		raw[at] ^= to
		return base64.RawURLEncoding.EncodeToString(raw)
	}
	for name, c := range map[string]struct {
		text    string
		file    string
		network string
		keys    []string
		after   time.Duration
		want    bool
	}{
		"as made":                     {want: true},
		"at the limit":                {after: time.Hour - time.Millisecond, want: true},
		"expired":                     {after: time.Hour},
		"after a rotation":            {keys: []string{"n", "o"}, want: true},
		"after the key is removed":    {keys: []string{"n"}},
		"another file":                {file: other},
		"another network":             {network: strings.Repeat("b", 24)},
		"version":                     {text: changed(0, 3)},
		"expiry":                      {text: changed(1, 1)},
		"kind":                        {text: changed(5, 1)},
		"unknown kind":                {text: changed(5, 128)},
		"object":                      {text: changed(6, 1)},
		"viewer":                      {text: changed(18, 1)},
		"signature":                   {text: changed(30, 1)},
		"end of the signature":        {text: changed(61, 1)},
		"no signature":                {text: text[:40]},
		"shorter signature":           {text: text[:len(text)-4]},
		"longer":                      {text: text + "AAAA"},
		"empty":                       {text: "="},
		"other letters for same bits": {text: text[:len(text)-1] + string(text[len(text)-1]+1)},
	} {
		t.Run(name, func(t *testing.T) {
			if c.text == "" {
				c.text = text
			}
			if c.file == "" {
				c.file = id
			}
			if c.network == "" {
				c.network = network
			}
			if c.keys == nil {
				c.keys = []string{"o"}
			}
			got, ok := links(c.network, keyring(t, c.keys...), made.Add(c.after)).decode(c.text, c.file)
			require.Equal(t, c.want, ok)
			if c.want {
				require.Equal(t, p.object, got.object)
				require.Equal(t, p.viewer, got.viewer)
			}
		})
	}
}

// TestRestrictedURL checks that the address of a restricted file stays the same for a while, and names its viewer.
func TestRestrictedURL(t *testing.T) {
	now := time.Date(2026, 11, 22, 12, 0, 1, 0, time.UTC)
	l, err := NewLinks("https://x", "n", []byte("secret"), keyring(t, "o"), 8*time.Hour, func() time.Time { return now })
	require.NoError(t, err)
	f := media.File{ID: region.NewID(region.EU), AccessType: media.AccessPublic, Restricted: true}
	object := view.FileObject{Kind: core.UsePost, ID: region.NewID(region.EU)}
	alice, bob := &auth.Caller{Kind: auth.User, UserID: region.NewID(region.EU)},
		&auth.Caller{Kind: auth.User, UserID: region.NewID(region.EU)}
	first := l.URL(f, object, alice)
	require.NotEqual(t, first, l.URL(f, object, bob))
	now = now.Add(59 * time.Minute)
	require.Equal(t, first, l.URL(f, object, alice))
	now = now.Add(time.Minute)
	require.NotEqual(t, first, l.URL(f, object, alice))
	plain := "https://x/api/v3/files/" + f.ID + "/download"
	require.Equal(t, plain, l.URL(f, object, &auth.Caller{}), "there is no viewer to sign for")
	f.Restricted = false
	require.Equal(t, plain, l.URL(f, object, alice))
	decode := func(address string) bool {
		_, ok := l.decode(strings.TrimPrefix(address, plain+"/"), f.ID)
		return ok
	}
	now = now.Add(7 * time.Hour)
	require.True(t, decode(first), "at least as long as configured")
	now = now.Add(2 * time.Hour)
	require.False(t, decode(first))
}

// FuzzProof decodes arbitrary texts: none is valid, and none panics.
func FuzzProof(f *testing.F) {
	f.Add("AQ")
	f.Add(base64.RawURLEncoding.EncodeToString(make([]byte, proofSize+32)))
	f.Fuzz(func(t *testing.T, text string) {
		l, err := NewLinks("", "n", []byte("secret"), keyring(t, "o"), time.Hour, time.Now)
		require.NoError(t, err)
		_, ok := l.decode(text, region.NewID(region.EU))
		require.False(t, ok)
	})
}
