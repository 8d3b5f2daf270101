package page_test

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/core"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

var noon = time.Date(2026, 11, 20, 12, 0, 0, 123_456_000, time.UTC)

func someID() string { return region.NewID(region.EU) }

func TestTokenRoundTrip(t *testing.T) {
	t.Parallel()
	longest := strings.Repeat("\U0001F600", core.PublicNameKeyRunes)
	for name, c := range map[string]page.Cursor{
		"by time":         {Limit: 10, Time: noon, ID: someID()},
		"back":            {Limit: 100, Back: true, Time: noon, ID: someID()},
		"by name":         {Limit: 1, Time: noon, Key: "anna", ID: someID()},
		"longest name":    {Limit: 100, Time: noon, Key: longest, ID: someID()},
		"earliest time":   {Limit: 10, Time: time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC), ID: someID()},
		"latest time":     {Limit: 10, Time: time.Date(9999, 12, 31, 23, 59, 59, 999_999_000, time.UTC), ID: someID()},
		"before the year": {Limit: 10, Time: time.Date(1969, 12, 31, 23, 59, 59, 0, time.UTC), ID: someID()},
	} {
		t.Run(name, func(t *testing.T) {
			token := c.Token()
			require.LessOrEqual(t, len(token), page.MaxToken-page.SealLength)
			got, err := page.ParseToken(token)
			require.NoError(t, err)
			require.Equal(t, c, got)
			require.False(t, got.First())
		})
	}
}

func TestTokenLengthIsLimited(t *testing.T) {
	t.Parallel()
	c := page.Cursor{Limit: 100, Time: noon, Key: strings.Repeat("x", 10_000), ID: someID()}
	require.LessOrEqual(t, len(c.Token()), page.MaxToken)
}

// bend returns a valid token whose bytes were modified by change.
func bend(t *testing.T, change func(raw []byte) []byte) string {
	t.Helper()
	return bendToken(t, page.Cursor{Limit: 10, Time: noon, Key: "anna", ID: someID()}.Token(), change)
}

func bendToken(t *testing.T, token string, change func(raw []byte) []byte) string {
	t.Helper()
	raw, err := base64.RawURLEncoding.DecodeString(token)
	require.NoError(t, err)
	return base64.RawURLEncoding.EncodeToString(change(raw))
}

// set returns a change of one byte.
func set(at int, to byte) func([]byte) []byte {
	return func(raw []byte) []byte {
		raw[at] = to
		return raw
	}
}

func TestParseTokenRejectsInvalidTokens(t *testing.T) {
	t.Parallel()
	good := page.Cursor{Limit: 10, Time: noon, ID: someID()}.Token()
	for name, token := range map[string]string{
		"text":               "hello",
		"not base64url":      good[:len(good)-1] + "+",
		"padded":             good + "=",
		"line break":         good[:4] + "\n" + good[4:],
		"short":              good[:20],
		"bits left over":     good[:len(good)-1] + "_",
		"another version":    bend(t, set(0, 2)),
		"no limit":           bend(t, set(1, 0)),
		"limit over 100":     bend(t, set(1, 101)),
		"unknown flag":       bend(t, set(2, 2)),
		"time out of bounds": bend(t, set(3, 0x7f)),
		"id without region":  bend(t, set(11, 9)),
		"NUL in the key":     bend(t, set(23, 0)),
		"key not UTF-8":      bend(t, set(23, 0xff)),
		"key too long":       bend(t, func(raw []byte) []byte { return append(raw, strings.Repeat("x", 50)...) }),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := page.ParseToken(token)
			require.Error(t, err)
			_, err = page.Parse(&plazav1.PageOptions{Token: token}, 10)
			require.ErrorIs(t, err, fail.Validation())
		})
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	limit := func(n int32) *int32 { return &n }
	at := page.Cursor{Limit: 7, Time: noon, ID: someID()}
	for name, tc := range map[string]struct {
		options *plazav1.PageOptions
		want    page.Cursor
	}{
		"nothing":               {nil, page.Cursor{Limit: 20}},
		"empty":                 {&plazav1.PageOptions{}, page.Cursor{Limit: 20}},
		"limit":                 {&plazav1.PageOptions{Limit: limit(3)}, page.Cursor{Limit: 3}},
		"token":                 {&plazav1.PageOptions{Token: at.Token()}, at},
		"a token has its limit": {&plazav1.PageOptions{Token: at.Token(), Limit: limit(3)}, at},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := page.Parse(tc.options, 20)
			require.NoError(t, err)
			require.Equal(t, tc.want, got)
		})
	}
}

func TestMerge(t *testing.T) {
	t.Parallel()
	three, five := int32(3), int32(5)
	for name, tc := range map[string]struct {
		options *plazav1.PageOptions
		limit   *int32
		token   string
		want    *plazav1.PageOptions
	}{
		"nothing":       {nil, nil, "", &plazav1.PageOptions{}},
		"flat":          {nil, &three, "t", &plazav1.PageOptions{Limit: &three, Token: "t"}},
		"brackets":      {&plazav1.PageOptions{Limit: &five, Token: "b"}, nil, "", &plazav1.PageOptions{Limit: &five, Token: "b"}},
		"options win":   {&plazav1.PageOptions{Limit: &five, Token: "b"}, &three, "t", &plazav1.PageOptions{Limit: &five, Token: "b"}},
		"one from each": {&plazav1.PageOptions{Limit: &five}, nil, "t", &plazav1.PageOptions{Limit: &five, Token: "t"}},
		"empty options": {&plazav1.PageOptions{}, &three, "t", &plazav1.PageOptions{Limit: &three, Token: "t"}},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, tc.want, page.Merge(tc.options, tc.limit, tc.token))
		})
	}
}

// FuzzParseToken checks that no input makes the parser panic, that accepted tokens are positions the databases can
// store, and that they survive a round trip.
func FuzzParseToken(f *testing.F) {
	f.Add("")
	f.Add("hello")
	f.Add(page.Cursor{Limit: 10, Time: noon, ID: "01aabbccddeeff0011223344"}.Token())
	f.Add(page.Cursor{Limit: 100, Back: true, Time: noon, Key: strings.Repeat("é", 24), ID: "03aabbccddeeff0011223344"}.Token())
	f.Add(strings.Repeat("A", page.MaxToken))
	f.Fuzz(func(t *testing.T, token string) {
		c, err := page.ParseToken(token)
		if err != nil {
			_, err := page.Parse(&plazav1.PageOptions{Token: token}, 10)
			require.True(t, token == "" || fail.From(err).Is(fail.Validation()))
			return
		}
		require.LessOrEqual(t, len(token), page.MaxToken-page.SealLength)
		require.Equal(t, token, c.Token())
		require.True(t, c.Limit >= 1 && c.Limit <= 100)
		require.True(t, region.ValidID(c.ID))
		require.NotContains(t, c.Key, "\x00")
	})
}

// FuzzToken checks that every position of a list has a token that parses.
func FuzzToken(f *testing.F) {
	f.Add(10, false, noon.UnixMicro(), "anna", uint8(0))
	f.Add(1, true, int64(-1), strings.Repeat("\U0001F600", 12), uint8(2))
	f.Fuzz(func(t *testing.T, limit int, back bool, micros int64, name string, home uint8) {
		c := page.Cursor{
			Limit: 1 + int(uint(limit)%100), Back: back, Time: time.UnixMicro(micros % 200_000_000_000_000_000).UTC(),
			Key: core.NameKey(strings.ToValidUTF8(strings.ReplaceAll(name, "\x00", ""), ""), core.PublicNameKeyRunes),
			ID:  region.NewID(region.All()[home%3]),
		}
		if c.Time.Year() < 1 || c.Time.Year() > 9999 {
			return
		}
		token := c.Token()
		require.LessOrEqual(t, len(token), page.MaxToken-page.SealLength)
		got, err := page.ParseToken(token)
		require.NoError(t, err)
		require.Equal(t, c, got)
	})
}
