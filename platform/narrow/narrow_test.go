package narrow

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestTo(t *testing.T) {
	require.Equal(t, int32(7), To[int32](7))
	require.Equal(t, int32(math.MaxInt32), To[int32](int64(math.MaxInt32)))
	require.Equal(t, int32(math.MaxInt32), To[int32](int64(math.MaxInt32+1)))
	require.Equal(t, int32(math.MinInt32), To[int32](int64(math.MinInt32)))
	require.Equal(t, int32(math.MinInt32), To[int32](int64(math.MinInt32-1)))
	require.Equal(t, int32(math.MaxInt32), To[int32](uint32(math.MaxUint32)))
	require.Equal(t, byte(255), To[byte](255))
	require.Equal(t, byte(255), To[byte](256))
	require.Equal(t, byte(0), To[byte](-1))
	require.Equal(t, uint32(0), To[uint32](int64(math.MinInt64)))
	require.Equal(t, uint64(math.MaxInt64), To[uint64](int64(math.MaxInt64)))
	require.Equal(t, int64(math.MaxInt64), To[int64](uint64(math.MaxUint64)))
}
