package auth_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/region"
)

// evacuating returns the content of a file with region eu, whose key is keyOne until notAfter.
func evacuating(notAfter time.Time) string {
	file := auth.EvacuationFile{Regions: []auth.EvacuatedRegion{{
		Region:     "eu",
		ServerKeys: []auth.EvacuatedKey{auth.NewEvacuatedKey("k1", keyOne, notAfter)},
	}}}
	return string(file.Content())
}

// TestEvacuation follows a file that does not exist, is created, becomes invalid and is removed.
func TestEvacuation(t *testing.T) {
	t.Parallel()
	c, path := newClock(), filepath.Join(t.TempDir(), "evacuation.json")
	e, err := auth.OpenEvacuation(path, quietly, auth.WithClock(c.Now))
	require.NoError(t, err)
	require.Empty(t, e.Regions())
	_, ok := e.Check(keyOne)
	require.False(t, ok)

	content := evacuating(start.Add(time.Hour))
	require.NotContains(t, content, keyOne)
	writeFile(t, path, content)
	id, ok := e.Check(keyOne)
	require.True(t, ok, "a key that was added to the file is accepted immediately")
	require.Equal(t, "k1", id)
	_, ok = e.Check(keyTwo)
	require.False(t, ok)
	_, ok = e.Check(auth.KeyDigest(keyOne))
	require.False(t, ok, "a digest is not a key")
	require.Equal(t, []region.Code{region.EU}, e.Regions())
	keys, status := e.Status()
	require.Len(t, keys[region.EU], 1)
	require.Empty(t, status.Error)

	writeFile(t, path, `{"regions": [{"region": "mars"}]}`)
	c.Move(2 * time.Second)
	require.Equal(t, []region.Code{region.EU}, e.Regions(), "the previous content stays in use")
	_, status = e.Status()
	require.Contains(t, status.Error, "region 1 of the file: unknown region")

	writeFile(t, path, content)
	c.Move(time.Hour)
	_, ok = e.Check(keyOne)
	require.False(t, ok, "the key has expired")

	require.NoError(t, os.Remove(path))
	c.Move(2 * time.Second)
	require.Empty(t, e.Regions())
}

func TestOpenEvacuationRejectsInvalidFiles(t *testing.T) {
	t.Parallel()
	const digest = "cd5e0eb5e6bc2ed02ba44f6d0bcd0a2e4ac7ea4f3a5eb7f6a1b3d83bb8a2c8d4"
	const long = `{"regions": [{"region": "eu", "serverKeys": [{"id": "k1", "digest": "` + digest + `00"}]}]}`
	for content, says := range map[string]string{
		`{"regions": [{"region": "eu"}`:               "not a JSON key file",
		`{"regions": [{"region": "eu", "keys": []}]}`: "not a JSON key file",
		`{"regions": [{"region": "eu"}, {"region": "EU"}]}`: "region 2 of the file: the region " +
			"occurs twice",
		`{"regions": [{"region": "eu", "serverKeys": [{"id": "k1", "digest": "` + digest[1:] +
			`"}]}]}`: "key 1: the digest must be 64 hexadecimal digits",
		long: "key 1: the digest must be 64 hexadecimal digits",
		`{"regions": [{"region": "eu", "serverKeys": [{"id": "", "digest": "` + digest + `"}]}]}`: "key 1: the id must be",
		`{"regions": [{"region": "eu", "serverKeys": [{"id": "k1", "digest": "` + digest +
			`", "notAfter": "never"}]}]}`: "key 1: notAfter is not an RFC 3339 time",
	} {
		path := filepath.Join(t.TempDir(), "evacuation.json")
		writeFile(t, path, content)
		_, err := auth.OpenEvacuation(path, quietly)
		require.ErrorContains(t, err, says, content)
	}
}

// TestNoEvacuation uses a server without a file.
func TestNoEvacuation(t *testing.T) {
	t.Parallel()
	var e *auth.Evacuation
	require.Empty(t, e.Regions())
	_, ok := e.Check(keyOne)
	require.False(t, ok)
	keys, _ := e.Status()
	require.Empty(t, keys)
}
