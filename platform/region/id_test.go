package region_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/region"
)

func TestNewIDCarriesItsHome(t *testing.T) {
	t.Parallel()
	for _, home := range region.All() {
		id := region.NewID(home)
		require.Len(t, id, region.IDLength)
		got, err := region.HomeOf(id)
		require.NoError(t, err)
		require.Equal(t, home, got)
		require.NotEqual(t, id, region.NewID(home))
	}
}

func TestHomeOfRejectsInvalidIDs(t *testing.T) {
	t.Parallel()
	for name, id := range map[string]string{
		"empty":          "",
		"short":          "01",
		"long":           "0100000000000000000000000",
		"upper case":     "01AAAAAAAAAAAAAAAAAAAAAA",
		"not hex":        "01zzzzzzzzzzzzzzzzzzzzzz",
		"unknown region": "000000000000000000000000",
		"unknown home":   "ff0000000000000000000000",
	} {
		t.Run(name, func(t *testing.T) {
			_, err := region.HomeOf(id)
			require.ErrorIs(t, err, region.ErrBadID)
			require.False(t, region.ValidID(id))
		})
	}
}

func FuzzHomeOf(f *testing.F) {
	f.Add("01aabbccddeeff0011223344")
	f.Add("é1aabbccddeeff0011223344")
	f.Add("")
	f.Fuzz(func(t *testing.T, id string) {
		home, err := region.HomeOf(id)
		if err != nil {
			require.Empty(t, home)
			return
		}
		require.True(t, home.Valid())
		require.Len(t, id, region.IDLength)
	})
}

func TestParse(t *testing.T) {
	t.Parallel()
	got, err := region.Parse("EU")
	require.NoError(t, err)
	require.Equal(t, region.EU, got)
	_, err = region.Parse("mars")
	require.ErrorContains(t, err, "want us, eu or sg")
}

// TestIDsOfAHome checks the ids that are not random, and the bounds of all ids of a home.
func TestIDsOfAHome(t *testing.T) {
	t.Parallel()
	for i, home := range region.All() {
		first := fmt.Sprintf("%02d", i+1)
		require.Equal(t, first+strings.Repeat("0", 22), region.FixedID(home))
		require.Equal(t, first+"0102030405060708090a0b", region.DerivedID(home, []byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}))
		from, to := region.IDRange(home)
		for _, id := range []string{region.FixedID(home), region.NewID(home), first + strings.Repeat("f", 22)} {
			require.Less(t, from, id)
			require.Less(t, id, to)
		}
		next, _ := region.IDRange(region.All()[(i+1)%3])
		require.NotEqual(t, from, next)
		require.Equal(t, i < 2, to < next)
	}
}

// TestMissingHomes collects the homes that did not answer, each once, in the order of all homes.
func TestMissingHomes(t *testing.T) {
	t.Parallel()
	ctx, missing := region.WithMissing(t.Context())
	require.Empty(t, missing())
	for _, home := range []region.Code{region.SG, region.US, region.SG} {
		region.Miss(ctx, home)
	}
	region.Miss(t.Context(), region.EU) // which belongs to no response
	require.Equal(t, []region.Code{region.US, region.SG}, missing())
}
