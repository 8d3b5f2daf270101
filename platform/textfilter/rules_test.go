package textfilter

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/region"
)

func TestCacheKeepsOneVersionPerHome(t *testing.T) {
	t.Parallel()
	cache, first, second := &Cache{}, &Rules{Version: "1"}, &Rules{Version: "2"}
	require.Nil(t, cache.Get(region.EU, "1"))
	cache.Put(region.EU, first)
	require.Same(t, first, cache.Get(region.EU, "1"))
	require.Nil(t, cache.Get(region.EU, "2"), "another version")
	require.Nil(t, cache.Get(region.US, "1"), "another home")
	cache.Put(region.EU, second)
	require.Nil(t, cache.Get(region.EU, "1"), "a former version")
	require.Same(t, second, cache.Get(region.EU, "2"))
}
