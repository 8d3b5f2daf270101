package auth_test

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/auth"
)

func TestKeySetCheck(t *testing.T) {
	t.Parallel()
	const ends = "2026-11-20T13:00:00Z"
	content := keys([3]string{"k1", keyOne, ""}, [3]string{"k2", keyTwo, ends})
	for name, tc := range map[string]struct {
		presented string
		after     time.Duration
		want      string
	}{
		"first key":              {presented: keyOne, want: "k1"},
		"second key":             {presented: keyTwo, want: "k2"},
		"no expiry, years later": {presented: keyOne, after: 10 * 365 * 24 * time.Hour, want: "k1"},
		"just before expiry":     {presented: keyTwo, after: 59*time.Minute + 59*time.Second, want: "k2"},
		"at expiry":              {presented: keyTwo, after: time.Hour - 250*time.Millisecond},
		"after expiry":           {presented: keyTwo, after: 2 * time.Hour},
		"nothing":                {presented: ""},
		"an id":                  {presented: "k1"},
		"a prefix":               {presented: keyOne[:len(keyOne)-1]},
		"one character more":     {presented: keyOne + "0"},
		"different case":         {presented: strings.ToUpper(keyOne)},
		"very long":              {presented: strings.Repeat("x", 1<<16)},
		"not text":               {presented: "\x00\xff"},
		"surrounded by a space":  {presented: " " + keyOne},
	} {
		t.Run(name, func(t *testing.T) {
			c := newClock()
			set, _ := openKeySet(t, content, auth.WithClock(c.Now))
			c.Move(tc.after)
			id, ok := set.Check(tc.presented)
			require.Equal(t, tc.want != "", ok)
			require.Equal(t, tc.want, id)
		})
	}
}

func TestOpenKeySetRejectsInvalidFiles(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ content, says string }{
		"empty":             {"", "not a JSON"},
		"cut off":           {`{"keys":[{"id":"k1","key":"` + keyOne, "not a JSON"},
		"another document":  {`["` + keyOne + `"]`, "not a JSON"},
		"wrong type":        {`{"keys":[{"id":"k1","key":12345678901234567890}]}`, "not a JSON"},
		"misspelt field":    {`{"keys":[{"id":"k1","key":"` + keyOne + `","not_after":"2020-01-01T00:00:00Z"}]}`, "not a JSON"},
		"two documents":     {keys([3]string{"k1", keyOne, ""}) + `{"keys":[]}`, "unexpected data after"},
		"no keys":           {`{"keys":[]}`, "no keys"},
		"no list":           {`{}`, "no keys"},
		"no id":             {keys([3]string{"", keyOne, ""}), "key 1 of the file: the id"},
		"id with a space":   {keys([3]string{"k 1", keyOne, ""}), "the id"},
		"id too long":       {keys([3]string{strings.Repeat("k", 65), keyOne, ""}), "the id"},
		"short key":         {keys([3]string{"k1", "0123456789abcde", ""}), "16 to 1024"},
		"long key":          {keys([3]string{"k1", strings.Repeat("k", 1025), ""}), "16 to 1024"},
		"key with newline":  {keys([3]string{"k1", keyOne + "\n", ""}), "visible ASCII"},
		"key not ASCII":     {keys([3]string{"k1", keyOne + "é", ""}), "visible ASCII"},
		"id twice":          {keys([3]string{"k1", keyOne, ""}, [3]string{"k1", keyTwo, ""}), "key 2 of the file: the id occurs twice"},
		"key twice":         {keys([3]string{"k1", keyOne, ""}, [3]string{"k2", keyOne, ""}), "the key occurs twice"},
		"not a time":        {keys([3]string{"k1", keyOne, keyTwo}), "notAfter"},
		"larger than 1 MiB": {keys([3]string{"k1", keyOne, ""}) + strings.Repeat(" ", 1<<20), "larger"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "keys.json")
			writeFile(t, path, tc.content)
			_, err := auth.OpenKeySet(path)
			require.ErrorContains(t, err, tc.says)
			require.ErrorContains(t, err, path)
			require.NotContains(t, printed(t, err), keyOne)
			require.NotContains(t, printed(t, err), keyTwo)
		})
	}
	_, err := auth.OpenKeySet(filepath.Join(t.TempDir(), "absent.json"))
	require.ErrorIs(t, err, fs.ErrNotExist)
	path, content := filepath.Join(t.TempDir(), "keys.json"), keys([3]string{"k1", keyOne, ""})
	writeFile(t, path, content+strings.Repeat(" ", 1<<20-len(content)))
	_, err = auth.OpenKeySet(path)
	require.NoError(t, err, "a file of 1 MiB")
}

func TestKeyLengthLimits(t *testing.T) {
	t.Parallel()
	set, _ := openKeySet(t, keys(
		[3]string{strings.Repeat("i", 64), "0123456789abcdef", ""},
		[3]string{"~", strings.Repeat("k", 1024), "2026-11-20T13:00:00.5+01:00"},
	))
	require.Len(t, set.IDs(), 2)
	content := keys([3]string{"k1", keyOne, ""})
	set, _ = openKeySet(t, content+strings.Repeat(" ", auth.MaxFileBytes-len(content)))
	require.Len(t, set.IDs(), 1, "the largest file")
}

func TestKeySetFollowsItsFile(t *testing.T) {
	t.Parallel()
	c, log := newClock(), &logBuffer{}
	set, path := openKeySet(t, keys([3]string{"k1", keyOne, ""}), auth.WithClock(c.Now), auth.WithLogger(log.Logger()))

	writeFile(t, path, keys([3]string{"k2", keyTwo, ""}))
	id, ok := set.Check(keyTwo)
	require.True(t, ok, "a new key works immediately, even if the file was just read")
	require.Equal(t, "k2", id)
	_, ok = set.Check(keyOne)
	require.False(t, ok)

	writeFile(t, path, keys([3]string{"k1", keyOne, ""}))
	_, ok = set.Check(keyTwo)
	require.True(t, ok, "the content is used for a second")
	c.Move(time.Second)
	_, ok = set.Check(keyTwo)
	require.False(t, ok, "then the file is read again")
	require.Equal(t, []auth.KeyInfo{{ID: "k1"}}, set.IDs())
	c.Move(time.Second)
	require.Len(t, set.IDs(), 1)
	require.Equal(t, 2, log.Lines(), "each change is logged once: %s", log)
	require.Equal(t, 2, strings.Count(log.String(), "key file reloaded"))
	require.NotContains(t, log.String(), keyOne)
	require.NotContains(t, log.String(), keyTwo)
}

func TestKeySetRefreshesAfterTheClockWasSetBack(t *testing.T) {
	t.Parallel()
	c := newClock()
	set, path := openKeySet(t, keys([3]string{"k1", keyOne, ""}), auth.WithClock(c.Now))
	writeFile(t, path, keys([3]string{"k2", keyTwo, ""}))
	c.Move(-time.Hour)
	require.Equal(t, []auth.KeyInfo{{ID: "k2"}}, set.IDs())
}

func TestKeySetKeepsItsKeysWhileTheFileIsInvalid(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(path string) error{
		"broken": func(path string) error { return os.WriteFile(path, []byte(keyTwo), 0o600) },
		"empty":  func(path string) error { return os.Truncate(path, 0) },
		"gone":   os.Remove,
	} {
		t.Run(name, func(t *testing.T) {
			c, log := newClock(), &logBuffer{}
			set, path := openKeySet(t, keys([3]string{"k1", keyOne, ""}), auth.WithClock(c.Now), auth.WithLogger(log.Logger()))
			require.NoError(t, spoil(path))
			for range 5 {
				c.Move(time.Second)
				_, ok := set.Check(keyOne)
				require.True(t, ok)
			}
			require.Equal(t, 1, log.Lines(), "logged once: %s", log)
			require.Contains(t, log.String(), `"level":"ERROR"`)
			require.NotContains(t, log.String(), keyTwo)

			writeFile(t, path, keys([3]string{"k2", keyTwo, ""}))
			c.Move(time.Second)
			_, ok := set.Check(keyTwo)
			require.True(t, ok, "a valid file is loaded again")
			require.Equal(t, 2, log.Lines(), "and logged: %s", log)
			for _, content := range []string{keyOne, keys([3]string{"k2", keyTwo, ""}), keyOne} {
				writeFile(t, path, content)
				c.Move(time.Second)
				require.Equal(t, []auth.KeyInfo{{ID: "k2"}}, set.IDs())
			}
			require.Equal(t, 4, log.Lines(), "the same error is logged again after the file was valid: %s", log)
		})
	}
}

func TestKeySetFollowsASwappedSymlink(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for version, content := range map[string]string{
		"v1": keys([3]string{"k1", keyOne, ""}),
		"v2": keys([3]string{"k2", keyTwo, ""}),
	} {
		require.NoError(t, os.Mkdir(filepath.Join(root, version), 0o700))
		writeFile(t, filepath.Join(root, version, "keys.json"), content)
	}
	require.NoError(t, os.Symlink("v1", filepath.Join(root, "..data")))
	require.NoError(t, os.Symlink("..data/keys.json", filepath.Join(root, "keys.json")))
	set, err := auth.OpenKeySet(filepath.Join(root, "keys.json"), quietly)
	require.NoError(t, err)

	require.NoError(t, os.Symlink("v2", filepath.Join(root, "..new")))
	require.NoError(t, os.Rename(filepath.Join(root, "..new"), filepath.Join(root, "..data")))
	id, ok := set.Check(keyTwo)
	require.True(t, ok)
	require.Equal(t, "k2", id)
}

func TestWrongKeysCauseFewReads(t *testing.T) {
	t.Parallel()
	c := newClock()
	set, path := openKeySet(t, keys([3]string{"k1", keyOne, ""}), auth.WithClock(c.Now))
	for range auth.MaxExtraReads {
		_, ok := set.Check("wrong")
		require.False(t, ok)
	}
	writeFile(t, path, keys([3]string{"k2", keyTwo, ""}))
	_, ok := set.Check(keyTwo)
	require.False(t, ok, "the reads of this second are used up")
	c.Move(time.Second)
	_, ok = set.Check(keyTwo)
	require.True(t, ok)

	c.Move(time.Second)
	for range auth.MaxExtraReads - 1 {
		_, ok = set.Check("wrong")
		require.False(t, ok)
	}
	writeFile(t, path, keys([3]string{"k1", keyOne, ""}))
	_, ok = set.Check(keyOne)
	require.True(t, ok, "the last read of this second")
	_, ok = set.Check("wrong")
	require.False(t, ok)
	c.Move(time.Second)
	_, ok = set.Check("wrong")
	require.False(t, ok)
	writeFile(t, path, keys([3]string{"k2", keyTwo, ""}))
	_, ok = set.Check(keyTwo)
	require.True(t, ok, "the reads are counted from zero after a second")

	for range auth.MaxExtraReads {
		_, ok = set.Check("wrong")
		require.False(t, ok)
	}
	c.Move(-time.Hour)
	require.Len(t, set.IDs(), 1, "the file is read because of the new time")
	writeFile(t, path, keys([3]string{"k1", keyOne, ""}))
	_, ok = set.Check(keyOne)
	require.True(t, ok, "the reads are counted from zero after the clock was set back")
}

// TestDigestOfAKey checks that only a valid key has a digest, and that a new key has one immediately.
func TestDigestOfAKey(t *testing.T) {
	t.Parallel()
	c := newClock()
	set, path := openKeySet(t, keys([3]string{"k1", keyOne, start.Add(time.Hour).Format(time.RFC3339)}), auth.WithClock(c.Now))
	digest := func(hash [sha256.Size]byte) string { return hex.EncodeToString(hash[:]) }
	got, ok := set.Digest("k1", digest)
	require.True(t, ok)
	require.Equal(t, auth.KeyDigest(keyOne), got)
	_, ok = set.Digest("k2", digest)
	require.False(t, ok)
	writeFile(t, path, keys([3]string{"k1", keyOne, start.Add(time.Hour).Format(time.RFC3339)}, [3]string{"k2", keyTwo, ""}))
	got, ok = set.Digest("k2", digest)
	require.True(t, ok, "a key that was just added")
	require.Equal(t, auth.KeyDigest(keyTwo), got)
	c.Move(time.Hour)
	_, ok = set.Digest("k1", digest)
	require.False(t, ok, "the key has expired")
}

func TestKeySetUnderConcurrentUse(t *testing.T) {
	t.Parallel()
	set, path := openKeySet(t, keys([3]string{"k1", keyOne, ""}, [3]string{"k2", keyTwo, ""}))
	var wait sync.WaitGroup
	for range 8 {
		wait.Go(func() {
			for range 200 {
				_, known := set.Check(keyOne)
				_, unknown := set.Check("wrong")
				if !known || unknown || len(set.IDs()) == 0 {
					t.Error("a key was lost or found while the file changed")
				}
			}
		})
	}
	for i := range 20 {
		second := [3]string{"k2", keyTwo, []string{"", "2030-01-01T00:00:00Z"}[i%2]}
		fresh := path + ".new"
		writeFile(t, fresh, keys([3]string{"k1", keyOne, ""}, second))
		require.NoError(t, os.Rename(fresh, path))
	}
	wait.Wait()
}

func TestKeySetPrintsNoKey(t *testing.T) {
	t.Parallel()
	set, _ := openKeySet(t, keys([3]string{"k1", keyOne, ""}))
	text := printed(t, set, *set, set.IDs())
	require.NotContains(t, text, keyOne)
	require.NotContains(t, text, "digest")
	require.Contains(t, text, "1 keys")
	require.NotPanics(t, func() { printed(t, (*auth.KeySet)(nil), auth.KeySet{}) })
}

func TestGenerateKeySet(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "keys.json")
	key, err := auth.GenerateKeySet(path, "dev")
	require.NoError(t, err)
	require.Len(t, key, 64)
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, fs.FileMode(0o600), info.Mode().Perm())

	set, err := auth.OpenKeySet(path)
	require.NoError(t, err)
	id, ok := set.Check(key)
	require.True(t, ok)
	require.Equal(t, "dev", id)

	_, err = auth.GenerateKeySet(path, "dev")
	require.ErrorIs(t, err, fs.ErrExist)
	_, err = auth.GenerateKeySet(filepath.Join(t.TempDir(), "keys.json"), "bad id")
	require.Error(t, err)
	_, err = auth.GenerateKeySet(filepath.Join(t.TempDir(), "no", "folder", "keys.json"), "dev")
	require.ErrorIs(t, err, fs.ErrNotExist)
	left, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, left, 1, "no temporary file remains")
}

func TestEnsureKeySet(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "keys.json")
	first, err := auth.EnsureKeySet(path, "dev")
	require.NoError(t, err)
	second, err := auth.EnsureKeySet(path, "dev")
	require.NoError(t, err)
	require.Equal(t, first, second)

	_, err = auth.EnsureKeySet(path, "other")
	require.ErrorContains(t, err, `no key has the id "other"`)
	require.NotContains(t, err.Error(), first)
	writeFile(t, path, first)
	_, err = auth.EnsureKeySet(path, "dev")
	require.Error(t, err)
	require.NotContains(t, err.Error(), first)
}
