package region_test

import (
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
