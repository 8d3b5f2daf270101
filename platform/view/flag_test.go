package view_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/view"
)

func TestHashFlagContainsFlaggers(t *testing.T) {
	var ids []string
	for range 100 {
		ids = append(ids, region.NewID(region.EU))
	}
	f := view.HashFlag(ids)
	require.Len(t, f.GetHash(), int(f.GetBits())/32)
	for _, id := range ids {
		require.True(t, view.MayContain(f, id))
	}
}

func TestHashFlagFalsePositives(t *testing.T) {
	var ids []string
	for range 100 {
		ids = append(ids, region.NewID(region.US))
	}
	f := view.HashFlag(ids)
	wrong := 0
	for range 10_000 {
		if view.MayContain(f, region.NewID(region.US)) {
			wrong++
		}
	}
	require.Less(t, wrong, 100, "the rate of false positives exceeds 1 %")
}

func TestHashFlagWithoutFlaggers(t *testing.T) {
	require.Nil(t, view.HashFlag(nil))
	require.False(t, view.MayContain(nil, region.NewID(region.SG)))
}
