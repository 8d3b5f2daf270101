package keyring_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/keyring"
	"github.com/plaza-social/plaza/platform/auth"
)

const hush = "hush-hush-hush-hush"

var files = map[string]struct {
	text   string
	reason string // empty: it is a file
	keys   int
}{
	"empty":         {text: ""},
	"blank":         {text: " \n"},
	"null":          {text: "null"},
	"no keys":       {text: "{}"},
	"an empty list": {text: `{"keys": []}`},
	"one":           {text: `{"keys":[{"id":"a","key":"` + hush + `"}]}`, keys: 1},
	"two, one with an end": {text: `{"keys":[{"id":"a","key":"` + hush + `1"},{"id":"b","key":"` + hush +
		`2","notAfter":"2026-01-01T00:00:00.5+01:00"}]}`, keys: 2},
	"the last year":  {text: `{"keys":[{"id":"a","key":"` + hush + `","notAfter":"9999-12-31T23:59:59-01:00"}]}`, keys: 1},
	"the first year": {text: `{"keys":[{"id":"a","key":"` + hush + `","notAfter":"0000-01-01T00:00:00+01:00"}]}`, keys: 1},
	"no time at all": {text: `{"keys":[{"id":"a","key":"` + hush + `","notAfter":"0001-01-01T00:00:00Z"}]}`, keys: 1},
	"signs of HTML":  {text: `{"keys":[{"id":"<&>","key":"` + hush + `<&>"}]}`, keys: 1},
	"no JSON":        {text: hush, reason: "not valid JSON of a key file near byte"},
	"half":           {text: `{"keys":[{"id":"a","key":"` + hush, reason: "not valid JSON of a key file"},
	"twice":          {text: `{"keys":[]}{"keys":[]}`, reason: "data after the JSON"},
	"another field":  {text: `{"keys":[],"hush":1}`, reason: "not valid JSON of a key file"},
	"another field of one": {
		text:   `{"keys":[{"id":"a","key":"` + hush + `","not_after":"` + hush + `"}]}`,
		reason: "not valid JSON of a key file",
	},
	"a list":             {text: `["` + hush + `"]`, reason: "not valid JSON of a key file"},
	"a number for a key": {text: `{"keys":[{"id":"a","key":1234567890123456789}]}`, reason: "not valid JSON of a key file"},
	"no id":              {text: `{"keys":[{"key":"` + hush + `"}]}`, reason: "key 1: the id must be"},
	"a blank in the id":  {text: `{"keys":[{"id":"a b","key":"` + hush + `"}]}`, reason: "key 1: the id must be"},
	"a long id":          {text: `{"keys":[{"id":"` + strings.Repeat("a", 65) + `","key":"` + hush + `"}]}`, reason: "key 1: the id must be"},
	"the longest id":     {text: `{"keys":[{"id":"` + strings.Repeat("a", 64) + `","key":"` + hush + `"}]}`, keys: 1},
	"a short key":        {text: `{"keys":[{"id":"a","key":"hush-hush-hush-"}]}`, reason: "key 1: the key must be"},
	"the shortest key":   {text: `{"keys":[{"id":"a","key":"hush-hush-hush-h"}]}`, keys: 1},
	"the longest key":    {text: `{"keys":[{"id":"a","key":"` + strings.Repeat("hush", 256) + `"}]}`, keys: 1},
	"visible ASCII":      {text: `{"keys":[{"id":"!~","key":"!~` + hush + `!~"}]}`, keys: 1},
	"no visible ASCII":   {text: `{"keys":[{"id":"a","key":"` + hush + `\u007f"}]}`, reason: "key 1: the key must be"},
	"a long key":         {text: `{"keys":[{"id":"a","key":"` + strings.Repeat("hush", 257) + `"}]}`, reason: "key 1: the key must be"},
	"a key with a blank": {text: `{"keys":[{"id":"a","key":"hush and hush and hush"}]}`, reason: "key 1: the key must be"},
	"a date":             {text: `{"keys":[{"id":"a","key":"` + hush + `","notAfter":"2026-01-01"}]}`, reason: "key 1: notAfter is not"},
	"an id twice": {
		text:   `{"keys":[{"id":"a","key":"` + hush + `1"},{"id":"a","key":"` + hush + `2"}]}`,
		reason: "key 2: the id occurs twice",
	},
	"a key twice": {text: `{"keys":[{"id":"a","key":"` + hush + `"},{"id":"b","key":"` + hush + `"}]}`, reason: "key 2: the key occurs twice"},
}

func TestParseFile(t *testing.T) {
	for name, c := range files {
		t.Run(name, func(t *testing.T) {
			file, err := keyring.ParseFile(keyring.NewSecret(c.text))
			if c.reason != "" {
				var broken *keyring.BrokenError
				require.ErrorAs(t, err, &broken)
				require.ErrorContains(t, err, c.reason)
				require.NotContains(t, err.Error(), "hush")
				require.Nil(t, file)
			} else {
				require.NoError(t, err)
				require.Len(t, file, c.keys)
			}
			agrees(t, c.text)
		})
	}
}

// agrees checks that the servers accept the same files, and that a file is unchanged after parsing and encoding.
func agrees(t *testing.T, text string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "keys.json")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	servers, refused := auth.OpenKeySet(path)
	file, err := keyring.ParseFile(keyring.NewSecret(text))
	if err != nil && strings.Contains(err.Error(), "the id is a key") {
		return // only rejected here: the status would show it
	}
	require.Equal(t, refused != nil, err != nil || len(file) == 0, "servers: %v, operator: %v", refused, err)
	if refused != nil {
		return
	}
	again, err := keyring.ParseFile(file.Content())
	require.NoError(t, err)
	require.Len(t, again, len(file))
	for i, entry := range file {
		require.Equal(t, servers.IDs()[i].ID, entry.ID)
		require.True(t, servers.IDs()[i].NotAfter.Equal(entry.NotAfter))
		require.Equal(t, entry.ID, again[i].ID)
		require.True(t, entry.Key.Equal(again[i].Key))
		require.True(t, entry.NotAfter.Equal(again[i].NotAfter))
	}
}

func FuzzParseFile(f *testing.F) {
	for _, c := range files {
		f.Add(c.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		agrees(t, text)
		content := keyring.NewSecret(text)
		result, err := keyring.Step(keyring.Input{
			Content: content, Now: dawn, Random: rand.NewChaCha8([32]byte{1}), RotateEvery: day, Overlap: time.Hour,
		})
		if err != nil {
			require.ErrorAs(t, err, new(*keyring.BrokenError))
			require.False(t, result.Changed, "a broken file is never overwritten")
			return
		}
		require.NotEmpty(t, result.Keys)
		_, found, err := keyring.Candidate(result.Content, result.Annotations)
		require.NoError(t, err)
		require.True(t, found)
	})
}

func TestIDThatIsAKey(t *testing.T) {
	_,
		err := keyring.ParseFile(keyring.NewSecret(`{"keys":[{"id":"a","key":"` + hush + `"},{"id":"` + hush + `","key":"` + hush + hush +
		`"}]}`))
	require.EqualError(t, err, "the key file is invalid: key 2: the id is a key")
}

func TestBrokenFileIsLeftAlone(t *testing.T) {
	in := keyring.Input{Content: keyring.NewSecret(`{"keys":[{"id":"a","key":"` + hush), Now: dawn, Random: strings.NewReader("")}
	result, err := keyring.Step(in)
	require.ErrorAs(t, err, new(*keyring.BrokenError))
	require.Zero(t, result)
	_, _, err = keyring.Candidate(in.Content, nil)
	require.ErrorAs(t, err, new(*keyring.BrokenError))
	_, _, err = keyring.Existing(in.Content, dawn)
	require.ErrorAs(t, err, new(*keyring.BrokenError))
}

func TestNoRandomness(t *testing.T) {
	for n := range 36 {
		_, err := keyring.Step(keyring.Input{Now: dawn, Random: io.LimitReader(rand.NewChaCha8([32]byte{}), int64(n))})
		require.ErrorContains(t, err, "reading random bytes")
	}
	w := newWorld(t, 6)
	w.settle()
	w.random = bytes.NewReader(make([]byte, 1000)) // repeats itself
	w.in.Request = "one"
	w.settle()
	in := w.in
	in.Content, in.Annotations, in.Now, in.Random, in.Request = w.content, w.notes, w.now, bytes.NewReader(make([]byte, 1000)), "two"
	_, err := keyring.Step(in)
	require.ErrorContains(t, err, "repeats itself")
	for n := range 40 {
		_, err := keyring.NewSigningKeys(io.LimitReader(zeros{}, int64(n)))
		require.Error(t, err)
	}
	for n := range 36 {
		_, err := keyring.NewAPIKeys(io.LimitReader(zeros{}, int64(n)))
		require.Error(t, err)
	}
	for n := range 44 {
		_, err := keyring.NewIdentity(io.LimitReader(zeros{}, int64(n)))
		require.Error(t, err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

func TestExisting(t *testing.T) {
	key := func(id, end string) string {
		return fmt.Sprintf(`{"id":%q,"key":"hush-hush-hush-hush-%s","notAfter":%q}`, id, id, end)
	}
	for name, c := range map[string]struct{ keys, want, candidate, broken string }{
		"one": {keys: key("a", ""), want: "a Active", candidate: "a"},
		"several": {
			keys: key("z", "2026-11-30T00:00:00Z") + "," + key("a", "") + "," + key("b", ""),
			want: "z Retiring, a Active, b Active", candidate: "a",
		},
		"over": {keys: key("z", "2026-10-30T00:00:00Z") + "," + key("a", ""), want: "a Active", candidate: "a"},
		"all with an end": {
			keys: key("a", "2026-11-30T00:00:00Z") + "," + key("b", "2026-12-30T00:00:00Z"), want: "a Retiring, b Active",
			candidate: "b",
		},
		"the endless one first": {keys: key("a", "") + "," + key("z", "2026-11-30T00:00:00Z"), want: "a Active, z Retiring", candidate: "a"},
		"the later one first": {
			keys: key("b", "2026-12-30T00:00:00Z") + "," + key("a", "2026-11-30T00:00:00Z"), want: "b Active, a Retiring", candidate: "b",
		},
		"all over": {keys: key("a", "2026-10-30T00:00:00Z"), broken: "the key file is invalid: it has no valid key"},
		"none":     {broken: "the key file is invalid: it has no valid key"},
	} {
		t.Run(name, func(t *testing.T) {
			states, candidate, err := keyring.Existing(keyring.NewSecret(`{"keys":[`+c.keys+`]}`), dawn)
			if c.broken != "" {
				require.EqualError(t, err, c.broken)
				return
			}
			require.NoError(t, err)
			var shown []string
			for _, state := range states {
				shown = append(shown, state.ID+" "+string(state.State))
			}
			require.Equal(t, c.want, strings.Join(shown, ", "))
			require.Equal(t, c.candidate, candidate.ID)
		})
	}
}

// TestServersAcceptCreatedFiles parses every file with the platform's own parsers.
func TestServersAcceptCreatedFiles(t *testing.T) {
	random := rand.NewChaCha8([32]byte{7})
	dir := t.TempDir()
	write := func(name string, content keyring.Secret) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(content.Reveal()), 0o600))
		return path
	}
	signing, err := keyring.NewSigningKeys(random)
	require.NoError(t, err)
	ring, err := auth.OpenKeyring(write(keyring.SigningKeysFile, signing))
	require.NoError(t, err)
	identity, err := keyring.NewIdentity(random)
	require.NoError(t, err)
	require.NoError(t, identity.Check())
	_, _, err = auth.NewIssuer(identity.NetworkID, ring).MintAdmin("test", time.Minute)
	require.NoError(t, err)
	api, err := keyring.NewAPIKeys(random)
	require.NoError(t, err)
	set, err := auth.OpenKeySet(write(keyring.APIKeysFile, api))
	require.NoError(t, err)
	file, err := keyring.ParseFile(api)
	require.NoError(t, err)
	id, ok := set.Check(file[0].Key.Reveal())
	require.True(t, ok)
	require.Equal(t, file[0].ID, id)
	w := newWorld(t, 8)
	w.settle()
	_, err = auth.OpenKeySet(write(keyring.ServerKeysFile, w.content))
	require.NoError(t, err)
}

func TestIdentityCheck(t *testing.T) {
	good := keyring.Identity{DirectoryKey: keyring.NewSecret(hush), NetworkID: "0123456789abcdef01234567"}
	require.NoError(t, good.Check())
	for _, bad := range []keyring.Identity{
		{},
		{NetworkID: good.NetworkID},
		{DirectoryKey: good.DirectoryKey},
		{DirectoryKey: good.DirectoryKey, NetworkID: "0123456789ABCDEF01234567"},
		{DirectoryKey: good.DirectoryKey, NetworkID: hush},
	} {
		require.ErrorAs(t, bad.Check(), new(*keyring.BrokenError))
		require.NotContains(t, bad.Check().Error(), "hush")
	}
}

// TestNothingPrintsAKey prints values that contain keys, directly and in unexported fields, in every way.
func TestNothingPrintsAKey(t *testing.T) {
	secret := keyring.NewSecret(hush)
	require.Equal(t, hush, secret.Reveal())
	require.Empty(t, keyring.Secret{}.Reveal())
	w := newWorld(t, 9)
	w.settle()
	file := keyring.File{{ID: "a", Key: secret, NotAfter: dawn}}
	in := keyring.Input{
		Content: file.Content(), Annotations: w.notes, Now: dawn, Random: rand.NewChaCha8([32]byte{1}), RotateEvery: day,
		Overlap: time.Hour,
	}
	result, err := keyring.Step(in)
	require.NoError(t, err)
	made, err := keyring.ParseFile(result.Content)
	require.NoError(t, err)
	secrets := []string{hush, made[0].Key.Reveal()}
	type hiding struct{ a, b, c, d, e any }
	type within struct {
		secret   keyring.Secret
		entry    keyring.Entry
		file     keyring.File
		in       keyring.Input
		result   keyring.Result
		identity keyring.Identity
		pointer  *keyring.Secret
	}
	identity := keyring.Identity{DirectoryKey: secret, NetworkID: "n"}
	all := []any{
		secret, &secret, file, file[0], in, &in, result, &result, made, identity, &identity,
		within{secret, file[0], file, in, result, identity, &secret},
		&within{secret, file[0], file, in, result, identity, &secret},
		hiding{secret, file, in, result, identity},
		[]any{secret, file},
		map[string]any{"x": in},
		errors.Join(fmt.Errorf("a %v", file), fmt.Errorf("b %+v", result)),
	}
	for _, v := range all {
		var out bytes.Buffer
		for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d", "%p"} {
			fmt.Fprintf(&out, verb+"\n", v)
		}
		slog.New(slog.NewTextHandler(&out, nil)).Info("x", "v", v)
		slog.New(slog.NewJSONHandler(&out, nil)).Info("x", "v", v)
		if text, err := json.Marshal(v); err == nil {
			out.Write(text)
		}
		for _, s := range secrets {
			require.NotContains(t, out.String(), s)
			require.NotContains(t, out.String(), fmt.Sprintf("%x", s))
		}
	}
	for _, event := range result.Events {
		require.NotContains(t, event.String(), secrets[1])
	}
}

func TestEventString(t *testing.T) {
	for what, want := range map[v1alpha1.Reason]string{
		v1alpha1.ReasonKeysCreated:     "created the first server key k",
		v1alpha1.ReasonRotationStarted: "started a rotation with the new server key k",
		v1alpha1.ReasonKeyAdopted:      "the server key k, which was added by hand, becomes the active one",
		v1alpha1.ReasonKeyActivated:    "every server accepts the server key k, which is active now",
		v1alpha1.ReasonKeyRetiring:     "the server key k is accepted until 2026-11-01T09:00:00Z",
		v1alpha1.ReasonKeyRevoked:      "the server key k expired and was removed",
		"Other":                        "Other k",
	} {
		require.Equal(t, want, keyring.Event{Reason: what, KeyID: "k", Until: dawn}.String())
	}
	revoked := keyring.Event{Reason: v1alpha1.ReasonKeyRevoked, Kind: keyring.APIKeys, KeyID: "k", Until: dawn, Requested: true}
	require.Equal(t, "the API key k was revoked on request", revoked.String())
	for reason, want := range map[v1alpha1.Reason]string{
		v1alpha1.ReasonKeysCreated:     "created the authority of control calls a",
		v1alpha1.ReasonRotationStarted: "started a rotation with the new authority of control calls a",
		v1alpha1.ReasonKeyActivated:    "the authority of control calls a issues the certificates now",
		v1alpha1.ReasonKeyRevoked:      "the authority of control calls a is no longer trusted",
	} {
		require.Equal(t, want, keyring.AuthorityEvent{Reason: reason, ID: "a"}.String())
	}
}
