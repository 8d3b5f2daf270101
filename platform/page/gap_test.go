package page_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/region"
)

func TestTokenWithGap(t *testing.T) {
	t.Parallel()
	eu, all := []region.Code{region.EU}, region.All()
	for name, c := range map[string]page.Cursor{
		"by time":         {Limit: 10, Time: noon, ID: someID(), Gap: page.Gap{Homes: eu, Time: noon.Add(-time.Hour), ID: someID()}},
		"all homes":       {Limit: 100, Time: noon, ID: someID(), Gap: page.Gap{Homes: all, Time: noon, ID: someID()}},
		"from the start":  {Limit: 10, Time: noon, ID: someID(), Gap: page.Gap{Homes: eu, Time: noon}},
		"by name":         {Limit: 1, Key: "dora", ID: someID(), Gap: page.Gap{Homes: eu, Key: "anna", ID: someID()}},
		"from first name": {Limit: 1, Key: "dora", ID: someID(), Gap: page.Gap{Homes: eu}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if name == "by name" || name == "from first name" {
				c.Time, c.Gap.Time = time.Time{}, time.Time{}
			}
			token := c.Token()
			require.LessOrEqual(t, len(token), page.MaxToken-page.SealLength)
			got, err := page.ParseToken(token)
			require.NoError(t, err)
			require.Equal(t, c, got)
		})
	}
}

// TestTokenWithLongNamesInGap checks that the position of the gap is shortened, which is a position before it.
func TestTokenWithLongNamesInGap(t *testing.T) {
	t.Parallel()
	c := page.Cursor{
		Limit: 1, Key: strings.Repeat("ü", 12), ID: someID(),
		Gap: page.Gap{Homes: region.All(), Key: strings.Repeat("ß", 24), ID: someID()},
	}
	token := c.Token()
	require.LessOrEqual(t, len(token), page.MaxToken-page.SealLength)
	got, err := page.ParseToken(token)
	require.NoError(t, err)
	require.Equal(t, c.Key, got.Key)
	require.True(t, strings.HasPrefix(c.Gap.Key, got.Gap.Key))
	require.Less(t, len(got.Gap.Key), len(c.Gap.Key))
}

func TestGapOfSeveralPages(t *testing.T) {
	t.Parallel()
	at := func(minute int) page.Cursor {
		return page.Cursor{Limit: 2, Time: noon.Add(time.Duration(minute) * time.Minute), ID: someID()}
	}
	first, second := at(1), at(2)
	next := first.Missing([]region.Code{region.EU}, second)
	require.Equal(t, page.Gap{Homes: []region.Code{region.EU}, Time: first.Time, ID: first.ID}, next.Gap)
	after := next.Missing([]region.Code{region.US}, at(3))
	require.Equal(t, page.Gap{Homes: []region.Code{region.US, region.EU}, Time: first.Time, ID: first.ID}, after.Gap,
		"where the first page began that lacks rows")
	require.Equal(t, first, after.GapStart())
}

func TestBadTokensWithGap(t *testing.T) {
	t.Parallel()
	c := page.Cursor{Limit: 10, Time: noon, ID: someID(), Gap: page.Gap{Homes: []region.Code{region.EU}, Time: noon, ID: someID()}}
	for name, change := range map[string]func([]byte) []byte{
		"no home":       set(2, 0),
		"unknown home":  set(2, 8),
		"no limit":      set(1, 0),
		"bad id":        set(3, 9),
		"bad id of gap": set(15, 9),
		"long name":     set(27, 255),
		"short":         func(raw []byte) []byte { return raw[:20] },
		"half":          func(raw []byte) []byte { return raw[:len(raw)-1] },
		"late":          set(28, 0x7f),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := page.ParseToken(bendToken(t, c.Token(), change))
			require.Error(t, err)
		})
	}
}

// TestGapOfNames is TestGapOfSeveralPages for a list by name.
func TestGapOfNames(t *testing.T) {
	t.Parallel()
	at := func(name string) page.Cursor { return page.Cursor{Limit: 2, Key: name, ID: someID()} }
	first := at("anna")
	next := first.Missing([]region.Code{region.EU}, at("ben"))
	require.Equal(t, page.Gap{Homes: []region.Code{region.EU}, Key: "anna", ID: first.ID}, next.Gap)
	require.Equal(t, first, next.GapStart())
}

// TestPagesOfAGap reads a gap with more rows than a page has, and one that was read in part.
func TestPagesOfAGap(t *testing.T) {
	t.Parallel()
	at := func(r row) page.Cursor {
		placed, key, id := place(r)
		return page.Cursor{Limit: 2, Time: placed, Key: key, ID: id}
	}
	gap := func(r row) page.Cursor {
		c := at(9)
		c.Gap = page.Gap{Homes: []region.Code{region.EU, region.SG}, Time: at(r).Time, ID: at(r).ID}
		return c
	}
	back := at(9)
	back.Back = true
	rows, paging := page.GapWindow(gap(1), []row{2, 3, 4}, place)
	require.Equal(t, []row{2, 3}, rows)
	require.Equal(t, []string{gap(3).Token(), back.Token(), back.Token()}, []string{paging.GetNext(), paging.GetPrevious(), paging.GetPrev()})
	rows, paging = page.GapStopped(gap(1), []row{2}, at(5))
	require.Equal(t, []row{2}, rows)
	require.Equal(t, []string{gap(5).Token(), back.Token(), back.Token()}, []string{paging.GetNext(), paging.GetPrevious(), paging.GetPrev()})
}
