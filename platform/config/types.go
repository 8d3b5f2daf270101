package config

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"regexp"
	"strconv"
	"strings"
	"time"
)

// Duration is a positive duration, written like 3s, 10m or 720h.
type Duration time.Duration

// UnmarshalText parses a duration.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	if err != nil || v <= 0 {
		return fmt.Errorf("%q is not a positive duration like 3s or 10m", text)
	}
	*d = Duration(v)
	return nil
}

// MarshalText returns the duration without zero units: 720h, not 720h0m0s.
func (d Duration) MarshalText() ([]byte, error) { return []byte(shortDuration(time.Duration(d))), nil }

// Delay is a duration that may be zero, written like a Duration.
type Delay time.Duration

// UnmarshalText parses a delay.
func (d *Delay) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	if err != nil || v < 0 {
		return fmt.Errorf("%q is not a duration like 5s or 0s", text)
	}
	*d = Delay(v)
	return nil
}

// MarshalText returns the delay like Duration.MarshalText.
func (d Delay) MarshalText() ([]byte, error) { return []byte(shortDuration(time.Duration(d))), nil }

func shortDuration(d time.Duration) string {
	s := d.String()
	if strings.HasSuffix(s, "m0s") {
		s = strings.TrimSuffix(s, "0s")
	}
	if strings.HasSuffix(s, "h0m") {
		s = strings.TrimSuffix(s, "0m")
	}
	return s
}

// Networks are networks separated by commas, written like 10.1.0.0/16.
type Networks []netip.Prefix

// UnmarshalText parses networks.
func (n *Networks) UnmarshalText(text []byte) error {
	*n = nil
	for part := range strings.SplitSeq(string(text), ",") {
		if part = strings.TrimSpace(part); part == "" {
			continue
		}
		prefix, err := netip.ParsePrefix(part)
		if err != nil {
			return fmt.Errorf("%q is not a network like 10.1.0.0/16", part)
		}
		*n = append(*n, prefix.Masked())
	}
	return nil
}

// MarshalText returns the networks separated by commas.
func (n Networks) MarshalText() ([]byte, error) {
	parts := make([]string, len(n))
	for i, prefix := range n {
		parts[i] = prefix.String()
	}
	return []byte(strings.Join(parts, ",")), nil
}

// Size is a positive number of bytes, written plainly or with KiB, MiB or GiB.
type Size int64

var sizeUnits = []struct {
	suffix string
	bytes  int64
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}}

// UnmarshalText parses a size.
func (s *Size) UnmarshalText(text []byte) error {
	number, unit := string(text), int64(1)
	for _, u := range sizeUnits {
		if rest, ok := strings.CutSuffix(number, u.suffix); ok {
			number, unit = rest, u.bytes
			break
		}
	}
	// The limit prevents overflow.
	v, err := strconv.ParseInt(strings.TrimSpace(number), 10, 64)
	if err != nil || v <= 0 || v > (1<<50)/unit {
		return fmt.Errorf("%q is not a positive size like 1MiB or 1048576", text)
	}
	*s = Size(v * unit)
	return nil
}

// MarshalText returns the size in the largest unit that divides it.
func (s Size) MarshalText() ([]byte, error) {
	for _, u := range sizeUnits {
		if s != 0 && int64(s)%u.bytes == 0 {
			return fmt.Appendf(nil, "%d%s", int64(s)/u.bytes, u.suffix), nil
		}
	}
	return strconv.AppendInt(nil, int64(s), 10), nil
}

// Address is the address of a listener: host:port, [host]:port or :port. Port 0 selects a free port.
type Address string

// UnmarshalText parses an address.
func (a *Address) UnmarshalText(text []byte) error {
	_, port, err := net.SplitHostPort(string(text))
	if err != nil {
		return fmt.Errorf("%q is not an address like 127.0.0.1:8080 or :8080", text)
	}
	if _, err := strconv.ParseUint(port, 10, 16); err != nil {
		return fmt.Errorf("%q: the port must be a number from 0 to 65535", text)
	}
	*a = Address(text)
	return nil
}

var (
	networkIDPattern = regexp.MustCompile(`^[0-9a-f]{24}$`)
	localityPattern  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,62}$`)
)

// NetworkID is the network's id: 24 lowercase hexadecimal characters.
type NetworkID string

// UnmarshalText parses a network id.
func (n *NetworkID) UnmarshalText(text []byte) error {
	if !networkIDPattern.Match(text) {
		return fmt.Errorf("%q is not an id: want 24 lowercase hexadecimal characters", text)
	}
	*n = NetworkID(text)
	return nil
}

// Locality is the name of a CockroachDB region, as in the nodes' --locality=region=….
type Locality string

// UnmarshalText parses a locality. The name becomes part of DDL, so other characters are rejected.
func (l *Locality) UnmarshalText(text []byte) error {
	if !localityPattern.Match(text) {
		return fmt.Errorf("%q is not the name of a database region, like us-east1", text)
	}
	*l = Locality(text)
	return nil
}

// Survive is the failure that the database survives without loss of service: of a zone or a region.
type Survive string

// UnmarshalText parses "zone" or "region".
func (s *Survive) UnmarshalText(text []byte) error {
	if v := string(text); v != "zone" && v != "region" {
		return fmt.Errorf("%q: want zone or region", text)
	}
	*s = Survive(text)
	return nil
}

// PoolSize is a number of database connections from 1 to 1000.
type PoolSize int32

// UnmarshalText parses a pool size.
func (p *PoolSize) UnmarshalText(text []byte) error {
	v, err := strconv.ParseInt(string(text), 10, 32)
	if err != nil || v < 1 || v > 1000 {
		return errors.New(strconv.Quote(string(text)) + " is not a number from 1 to 1000")
	}
	*p = PoolSize(v)
	return nil
}

// LogLevel is the minimum level of log records: debug, info, warn or error.
type LogLevel slog.Level

var logLevels = map[string]slog.Level{
	"debug": slog.LevelDebug, "info": slog.LevelInfo, "warn": slog.LevelWarn, "error": slog.LevelError,
}

// UnmarshalText parses a level.
func (l *LogLevel) UnmarshalText(text []byte) error {
	v, ok := logLevels[strings.ToLower(string(text))]
	if !ok {
		return fmt.Errorf("%q is not a log level: want debug, info, warn or error", text)
	}
	*l = LogLevel(v)
	return nil
}

// MarshalText returns the level in lower case.
func (l LogLevel) MarshalText() ([]byte, error) {
	return []byte(strings.ToLower(slog.Level(l).String())), nil
}

// Level returns l as the standard library's type.
func (l LogLevel) Level() slog.Level { return slog.Level(l) }
