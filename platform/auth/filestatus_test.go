package auth_test

import (
	"os"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/auth"
)

func TestFileStatus(t *testing.T) {
	t.Parallel()
	c := newClock()
	set, path := openKeySet(t, keys([3]string{"k1", keyOne, ""}), auth.WithClock(c.Now), quietly)
	want := auth.FileStatus{Keys: []auth.KeyInfo{{ID: "k1"}}, LoadedAt: start, CheckedAt: start}
	require.Equal(t, want, set.Status())

	c.Move(time.Minute)
	want.CheckedAt = c.Now()
	require.Equal(t, want, set.Status(), "unchanged content is not reloaded")

	require.NoError(t, os.Remove(path))
	c.Move(time.Minute)
	broken := set.Status()
	require.NotEmpty(t, broken.Error)
	require.NotContains(t, broken.Error, keyOne)
	broken.Error = ""
	require.Equal(t, want, broken, "the previous keys and their status stay")

	writeFile(t, path, keys([3]string{"k1", keyOne, ""}))
	c.Move(time.Minute)
	want.CheckedAt = c.Now()
	require.Equal(t, want, set.Status(), "the same content is back")

	writeFile(t, path, keys([3]string{"k2", keyTwo, "2030-01-01T00:00:00Z"}, [3]string{"k1", keyOne, ""}))
	c.Move(time.Minute)
	status := set.Status()
	require.Empty(t, status.Error)
	require.Equal(t, c.Now(), status.LoadedAt)
	info, found := status.Info("k2")
	require.True(t, found)
	require.Equal(t, 2030, info.NotAfter.Year())
	_, found = status.Info("k3")
	require.False(t, found)
}

func TestParseKeyring(t *testing.T) {
	t.Parallel()
	path := t.TempDir() + "/signing.json"
	require.NoError(t, auth.GenerateKeyring(path))
	content, err := os.ReadFile(path)
	require.NoError(t, err)
	memory, err := auth.ParseKeyring(content)
	require.NoError(t, err)
	require.NoError(t, os.Remove(path))
	require.Len(t, memory.Status().Keys, 1)
	token, _, err := auth.NewIssuer(networkID, memory).MintAdmin("operator", time.Minute)
	require.NoError(t, err)
	require.NotEmpty(t, token)
	_, err = auth.ParseKeyring([]byte(`{"keys":[]}`))
	require.Error(t, err)
}
