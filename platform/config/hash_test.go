package config_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/config"
	"github.com/plaza-social/plaza/platform/dburl"
)

func TestHash(t *testing.T) {
	t.Parallel()
	base := config.Default()
	require.Regexp(t, `^[0-9a-f]{64}$`, base.Hash())
	require.Equal(t, base.Hash(), config.Default().Hash())
	for name, c := range map[string]struct {
		change  func(*config.Config)
		changes bool
	}{
		"a setting":         {func(c *config.Config) { c.PoolSize++ }, true},
		"a locality":        {func(c *config.Config) { c.LocalityEU = "europe-west4" }, true},
		"origins":           {func(c *config.Config) { c.CORSOrigins = "https://app.example.com" }, true},
		"the database":      {func(c *config.Config) { c.DatabaseURL = dburl.MustParse("postgresql://plaza:hunter2@db/plaza") }, false},
		"a home's database": {func(c *config.Config) { c.DatabaseURLEU = dburl.MustParse("postgresql://plaza:hunter2@db/plaza") }, false},
		"the directory key": {func(c *config.Config) { c.DirectoryKey = "hunter2" }, false},
		"the path of a key": {func(c *config.Config) { c.ServerKeysFile = "/keys/server.json" }, true},
	} {
		t.Run(name, func(t *testing.T) {
			other := config.Default()
			c.change(&other)
			require.Equal(t, c.changes, base.Hash() != other.Hash())
		})
	}
}

func TestOrigins(t *testing.T) {
	t.Parallel()
	c, err := sources{flags: []string{"--cors-origins", "https://app.example.com, http://localhost:3000"}}.load(t)
	require.NoError(t, err)
	require.Equal(t, []string{"https://app.example.com", "http://localhost:3000"}, c.CORSOrigins.List())
	c, err = sources{}.load(t)
	require.NoError(t, err)
	require.Empty(t, c.CORSOrigins.List(), "all origins")
	for _, wrong := range []string{
		"*", "app.example.com", "https://", "https://app.example.com/", "ftp://app.example.com",
		"https://a.example,", "null",
	} {
		_, err := sources{flags: []string{"--cors-origins", wrong}}.load(t)
		require.ErrorContains(t, err, "is not an origin", wrong)
	}
}
