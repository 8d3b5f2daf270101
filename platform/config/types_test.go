package config_test

import (
	"encoding"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/config"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/telemetry"
)

// TestTypes parses valid and invalid values of every type of setting.
func TestTypes(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		parse   func() encoding.TextUnmarshaler
		valid   []string
		invalid []string
	}{
		"Duration": {
			func() encoding.TextUnmarshaler { return new(config.Duration) },
			[]string{"1ns", "3s", "720h", "1h30m"},
			[]string{"", "0s", "-1s", "3", "x"},
		},
		"Delay": {func() encoding.TextUnmarshaler { return new(config.Delay) }, []string{"0s", "5s"}, []string{"", "-1s", "5"}},
		"Size": {
			func() encoding.TextUnmarshaler { return new(config.Size) },
			[]string{"1", "64KiB", "1MiB", "1GiB", "1048576GiB"},
			[]string{"", "0", "-1", "1.5MiB", "1KB", "1TiB", "1048577GiB", "9999999999GiB"},
		},
		"Count": {
			func() encoding.TextUnmarshaler { return new(config.Count) },
			[]string{"1", "50000000"},
			[]string{"", "0", "-1", "1.5", "1e3"},
		},
		"Share": {
			func() encoding.TextUnmarshaler { return new(config.Share) },
			[]string{"off", "1/1", "1/1000"},
			[]string{"", "0", "1", "1/0", "1/-1", "2/3", "on"},
		},
		"Switch": {func() encoding.TextUnmarshaler { return new(config.Switch) }, []string{"true", "false"}, []string{"", "yes", "on"}},
		"Address": {
			func() encoding.TextUnmarshaler { return new(config.Address) },
			[]string{":8080", "127.0.0.1:0", "[::1]:65535", "localhost:80"},
			[]string{"", "8080", "localhost", ":99999", ":http", ":-1"},
		},
		"NetworkID": {
			func() encoding.TextUnmarshaler { return new(config.NetworkID) },
			[]string{"0123456789abcdef01234567"},
			[]string{"", "0123456789ABCDEF01234567", "0123456789abcdef0123456"},
		},
		"Locality": {
			func() encoding.TextUnmarshaler { return new(config.Locality) },
			[]string{"us-east1", "A_1"},
			[]string{"", "-a", `x"y`, "a b", "a;b"},
		},
		"Survive": {func() encoding.TextUnmarshaler { return new(config.Survive) }, []string{"zone", "region"}, []string{"", "all", "Zone"}},
		"PoolSize": {
			func() encoding.TextUnmarshaler { return new(config.PoolSize) },
			[]string{"1", "1000"},
			[]string{"", "0", "1001", "-1", "many"},
		},
		"LogLevel": {
			func() encoding.TextUnmarshaler { return new(config.LogLevel) },
			[]string{"debug", "info", "warn", "error"},
			[]string{"", "loud", "trace"},
		},
		"LogFormat": {func() encoding.TextUnmarshaler { return new(telemetry.LogFormat) }, []string{"json", "text"}, []string{"", "xml"}},
		"BaseURL": {
			func() encoding.TextUnmarshaler { return new(config.BaseURL) },
			[]string{"https://eu.api.example.com", "http://localhost:8081/", "https://example.com/eu"},
			[]string{
				"", "example.com", "ftp://example.com", "https://example.com?x=1", "https://example.com#x", "https://",
				"https://user@example.com",
			},
		},
		"MediaURL": {
			func() encoding.TextUnmarshaler { return new(config.MediaURL) },
			[]string{"rtmp://ingest.example.com/live", "https://play.example.com/live/"},
			[]string{
				"", "ingest.example.com", "//ingest.example.com", "rtmp:///live", "rtmp://user:pw@example.com", "https://example.com?x",
				"https://example.com#x",
			},
		},
		"StorageURL": {
			func() encoding.TextUnmarshaler { return new(config.StorageURL) },
			[]string{"/srv/files", "file:///srv/files", "s3://bucket?region=eu-central-1", "gs://bucket", "azblob://container"},
			[]string{"", "files", "s3://user:pw@bucket"},
		},
		"Networks": {
			func() encoding.TextUnmarshaler { return new(config.Networks) },
			[]string{"", "10.1.0.0/16", "10.1.0.0/16, 2001:db8::/32,"},
			[]string{"10.1.0.1", "10.1.0.0/33", "x"},
		},
		"Origins": {
			func() encoding.TextUnmarshaler { return new(config.Origins) },
			[]string{"https://app.example.com", "http://localhost:3000, https://a.example"},
			[]string{"app.example.com", "https://a.example/path"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, text := range tc.valid {
				require.NoError(t, tc.parse().UnmarshalText([]byte(text)), text)
			}
			for _, text := range tc.invalid {
				require.Error(t, tc.parse().UnmarshalText([]byte(text)), text)
			}
		})
	}
}

// TestTrailingSlash checks that URLs to which paths are appended have no trailing slash.
func TestTrailingSlash(t *testing.T) {
	t.Parallel()
	var base config.BaseURL
	require.NoError(t, base.UnmarshalText([]byte("https://eu.api.example.com/")))
	require.Equal(t, config.BaseURL("https://eu.api.example.com"), base)
	var media config.MediaURL
	require.NoError(t, media.UnmarshalText([]byte("rtmp://ingest.example.com/live/")))
	require.Equal(t, config.MediaURL("rtmp://ingest.example.com/live"), media)
}

// TestMarshalText checks that sizes and durations are written in their shortest form.
func TestMarshalText(t *testing.T) {
	t.Parallel()
	for want, value := range map[string]encoding.TextMarshaler{
		"1GiB": config.Size(1 << 30), "1536KiB": config.Size(3 << 19), "1000": config.Size(1000),
		"720h": config.Duration(720 * time.Hour), "1h30m": config.Duration(90 * time.Minute), "0s": config.Delay(0),
		"1/100": config.Share(100), "off": config.Share(0), "warn": config.LogLevel(4), "json": telemetry.LogJSON,
	} {
		got, err := value.MarshalText()
		require.NoError(t, err)
		require.Equal(t, want, string(got))
	}
}

// TestParsedValues checks that texts set values, whatever they were before.
func TestParsedValues(t *testing.T) {
	t.Parallel()
	before := func() map[string]interface {
		encoding.TextMarshaler
		encoding.TextUnmarshaler
	} {
		size, duration, delay, share, level := config.Size(7), config.Duration(time.Minute), config.Delay(time.Minute), config.Share(7),
			config.LogLevel(-4)
		networks := config.Networks{netip.MustParsePrefix("192.0.2.0/24")}
		return map[string]interface {
			encoding.TextMarshaler
			encoding.TextUnmarshaler
		}{"size": &size, "duration": &duration, "delay": &delay, "share": &share, "level": &level, "networks": &networks}
	}
	for _, tc := range [][3]string{
		{"size", "2048", "2KiB"},
		{"duration", "90s", "1m30s"},
		{"delay", "5s", "5s"},
		{"delay", "0s", "0s"},
		{"share", "1/1000", "1/1000"},
		{"share", "off", "off"},
		{"level", "error", "error"},
		{"networks", "10.1.2.3/16, 2001:db8::/32", "10.1.0.0/16,2001:db8::/32"},
		{"networks", "", ""},
	} {
		value := before()[tc[0]]
		require.NoError(t, value.UnmarshalText([]byte(tc[1])))
		got, err := value.MarshalText()
		require.NoError(t, err)
		require.Equal(t, tc[2], string(got), tc[1])
	}
	survive := config.Survive("zone")
	require.NoError(t, survive.UnmarshalText([]byte("region")))
	require.Equal(t, config.Survive("region"), survive)
}

func TestStorageURLs(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		env  map[string]string
		want map[region.Code]string
	}{
		"none": {nil, map[region.Code]string{}},
		"for all": {
			map[string]string{"PLAZA_STORAGE_URL": "/srv"},
			map[region.Code]string{region.US: "file:///srv", region.EU: "file:///srv", region.SG: "file:///srv"},
		},
		"one home": {map[string]string{"PLAZA_STORAGE_URL_EU": "gs://eu"}, map[region.Code]string{region.EU: "gs://eu"}},
		"override": {
			map[string]string{"PLAZA_STORAGE_URL": "gs://all", "PLAZA_STORAGE_URL_SG": "gs://sg"},
			map[region.Code]string{region.US: "gs://all", region.EU: "gs://all", region.SG: "gs://sg"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := sources{env: tc.env}.load(t)
			require.NoError(t, err)
			require.Equal(t, tc.want, c.StorageURLs())
		})
	}
}
