package ratelimit_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/ratelimit"
)

func TestParse(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]ratelimit.Limit{
		"off":        {},
		"100/5s":     {Requests: 100, Per: 5 * time.Second},
		"1/1s":       {Requests: 1, Per: time.Second},
		"1000000/1h": {Requests: 1_000_000, Per: time.Hour},
		"60/1m":      {Requests: 60, Per: time.Minute},
		"60/1m30s":   {Requests: 60, Per: 90 * time.Second},
	} {
		got, err := ratelimit.Parse(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got, text)
		require.Equal(t, text, got.String())
		unmarshalled := ratelimit.Limit{Requests: 7, Per: time.Minute}
		require.NoError(t, unmarshalled.UnmarshalText([]byte(text)))
		require.Equal(t, want, unmarshalled, text)
		require.Error(t, unmarshalled.UnmarshalText([]byte(text+"x")))
		require.Equal(t, want, unmarshalled, "an invalid text changes nothing")
	}
	for _, text := range []string{
		"", "100", "100/", "/5s", "0/5s", "-1/5s", "1000001/1s", "1/999ms", "1/1h1s", "1/-5s", "1/5", "x/5s", "1/x", "OFF", "1/5s/6", " 1/5s",
		"1/5s ", "1.5/1s",
	} {
		_, err := ratelimit.Parse(text)
		require.ErrorContains(t, err, "is not a rate limit: want off, or 1 to 1000000 requests per 1s to 1h, like 100/5s", text)
	}
}

// FuzzParse checks that the text form of what was parsed is parsed to the same limit.
func FuzzParse(f *testing.F) {
	for _, text := range []string{"off", "100/5s", "1/1h", "7/1m30s", "1/1h1s", "/", ""} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		limit, err := ratelimit.Parse(text)
		if err != nil {
			return
		}
		again, err := ratelimit.Parse(limit.String())
		require.NoError(t, err)
		require.Equal(t, limit, again)
	})
}

func TestClientAddress(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		proxies, peer string
		forwarded     []string
		want          string
	}{
		"direct":                          {"", "192.0.2.1:5000", nil, "192.0.2.1"},
		"not trusted":                     {"", "192.0.2.1:5000", []string{"203.0.113.9"}, "192.0.2.1"},
		"one proxy":                       {"1", "10.0.0.1:5000", []string{"203.0.113.9"}, "203.0.113.9"},
		"forged before one proxy":         {"1", "10.0.0.1:5000", []string{"1.1.1.1, 203.0.113.9"}, "203.0.113.9"},
		"forged in a header of its own":   {"1", "10.0.0.1:5000", []string{"1.1.1.1", "203.0.113.9"}, "203.0.113.9"},
		"two proxies":                     {"2", "10.0.0.1:5000", []string{"1.1.1.1, 203.0.113.9, 10.0.0.2"}, "203.0.113.9"},
		"fewer hops than proxies":         {"2", "10.0.0.1:5000", []string{"203.0.113.9"}, "203.0.113.9"},
		"without the header":              {"1", "10.0.0.1:5000", nil, "10.0.0.1"},
		"a network":                       {"10.0.0.0/8", "10.0.0.1:5000", []string{"1.1.1.1, 203.0.113.9, 10.0.0.2"}, "203.0.113.9"},
		"a peer outside of the network":   {"10.0.0.0/8", "192.0.2.1:5000", []string{"1.1.1.1"}, "192.0.2.1"},
		"an address":                      {"10.0.0.1, 10.0.0.2", "10.0.0.1:5000", []string{"203.0.113.9"}, "203.0.113.9"},
		"a hop that is no address":        {"1", "10.0.0.1:5000", []string{"evil"}, "10.0.0.1"},
		"no address after another":        {"2", "10.0.0.1:5000", []string{"1.1.1.1, evil"}, "10.0.0.1"},
		"no address from a network":       {"10.0.0.0/8", "10.0.0.1:5000", []string{"1.1.1.1, evil"}, "10.0.0.1"},
		"a hop with a port":               {"1", "10.0.0.1:5000", []string{"203.0.113.9:1234"}, "203.0.113.9"},
		"IPv6":                            {"", "[2001:db8:1:2:3:4:5:6]:5000", nil, "2001:db8:1:2::/64"},
		"IPv4 in IPv6":                    {"", "[::ffff:192.0.2.1]:5000", nil, "192.0.2.1"},
		"another address of that network": {"", "[2001:db8:1:2::1%eth0]:5000", nil, "2001:db8:1:2::/64"},
		"no address":                      {"1", "pipe", []string{"203.0.113.9"}, "pipe"},
		"many forged hops":                {"1", "10.0.0.1:5000", []string{strings.Repeat("1.1.1.1, ", 100) + "203.0.113.9"}, "203.0.113.9"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			proxies, err := ratelimit.ParseProxies(tc.proxies)
			require.NoError(t, err)
			require.Equal(t, tc.want, proxies.ClientAddress(tc.peer, tc.forwarded))
		})
	}
}

func TestParseProxies(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"": "", "0": "", "1": "1", "32": "32", "10.0.0.0/8": "10.0.0.0/8", "10.0.0.1, 2001:db8::/32": "10.0.0.1/32,2001:db8::/32",
	} {
		proxies, err := ratelimit.ParseProxies(text)
		require.NoError(t, err, text)
		require.Equal(t, want, proxies.String())
		var unmarshalled ratelimit.Proxies
		require.NoError(t, unmarshalled.UnmarshalText([]byte(text)))
		require.Equal(t, proxies, unmarshalled, text)
		require.Error(t, unmarshalled.UnmarshalText([]byte("x")))
		require.Equal(t, proxies, unmarshalled, "an invalid text changes nothing")
	}
	_, err := ratelimit.ParseProxies(strings.Repeat("10.0.0.0/8,", 31) + "::ffff:10.0.0.1")
	require.NoError(t, err, "as many as allowed")
	for _, text := range []string{"33", "-1", "x", "10.0.0.0/33", "10.0.0.1,", "1,2", strings.Repeat("10.0.0.0/8,", 32) + "10.0.0.1"} {
		_, err := ratelimit.ParseProxies(text)
		require.Error(t, err, text)
	}
}

// TestMayBeAProxy checks which peers may be proxies: all if only the number of proxies is known.
func TestMayBeAProxy(t *testing.T) {
	t.Parallel()
	for text, want := range map[string][]bool{
		"": {false, false, false}, "1": {true, true, true}, "10.0.0.0/8": {true, false, false},
		"::ffff:10.0.0.1": {true, false, false},
	} {
		proxies, err := ratelimit.ParseProxies(text)
		require.NoError(t, err)
		require.Equal(t, text == "", proxies.IsZero(), text)
		got := []bool{proxies.MayBe("[::ffff:10.0.0.1]:5000"), proxies.MayBe("192.0.2.1:5000"), proxies.MayBe("pipe")}
		require.Equal(t, want, got, text)
	}
}

// FuzzClientAddress checks that any header is read without a panic, and that forged hops have no effect.
func FuzzClientAddress(f *testing.F) {
	f.Add("1", "203.0.113.9")
	f.Add("10.0.0.0/8", "1.1.1.1,,10.0.0.2")
	f.Fuzz(func(t *testing.T, text, forwarded string) {
		proxies, err := ratelimit.ParseProxies(text)
		if err != nil {
			return
		}
		_ = proxies.ClientAddress("10.0.0.1:1", []string{forwarded})
		one, err := ratelimit.ParseProxies("1")
		require.NoError(t, err)
		require.Equal(t, "203.0.113.9", one.ClientAddress("10.0.0.1:1", []string{forwarded, "203.0.113.9"}))
	})
}
