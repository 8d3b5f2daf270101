// Package ratelimit limits the rate of requests with token buckets.
//
// Each server has buckets in memory (golang.org/x/time/rate). Keys that use a notable part of their bucket are also counted in
// the database, from where each server learns what the other servers admitted; see Limiter.Share. Until it knows, it admits a
// twentieth of the requests that are left, and then waits. While the database does not answer, each server applies the limit alone.
package ratelimit

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// Bounds of a Limit. Buckets that were not used for MaxPer are full.
const (
	MaxRequests = 1_000_000
	MinPer      = time.Second
	MaxPer      = time.Hour
)

// offText is the text form of the zero Limit.
const offText = "off"

// Limit is a number of requests per duration, written like 100/5s. A bucket holds that many requests and is refilled
// within the duration. The zero value, written off, means that there is no limit.
type Limit struct {
	Requests int
	Per      time.Duration
}

// Parse parses a limit like 100/5s, or off.
func Parse(text string) (Limit, error) {
	if text == offText {
		return Limit{}, nil
	}
	requests, per, _ := strings.Cut(text, "/")
	n, numberErr := strconv.Atoi(requests)
	d, durationErr := time.ParseDuration(per)
	if numberErr != nil || durationErr != nil || n < 1 || n > MaxRequests || d < MinPer || d > MaxPer {
		return Limit{}, fmt.Errorf("%q is not a rate limit: want off, or 1 to %d requests per 1s to 1h, like 100/5s", text, MaxRequests)
	}
	return Limit{Requests: n, Per: d}, nil
}

// IsOff reports whether there is no limit.
func (l Limit) IsOff() bool { return l.Requests == 0 }

// String returns the text form.
func (l Limit) String() string {
	if l.IsOff() {
		return offText
	}
	per := l.Per.String()
	if strings.HasSuffix(per, "m0s") {
		per = strings.TrimSuffix(per, "0s")
	}
	if strings.HasSuffix(per, "h0m") {
		per = strings.TrimSuffix(per, "0m")
	}
	return strconv.Itoa(l.Requests) + "/" + per
}

// UnmarshalText parses a limit.
func (l *Limit) UnmarshalText(text []byte) error {
	parsed, err := Parse(string(text))
	if err == nil {
		*l = parsed
	}
	return err
}

// MarshalText returns the text form.
func (l Limit) MarshalText() ([]byte, error) { return []byte(l.String()), nil }

// perSecond returns the rate at which a bucket is refilled.
func (l Limit) perSecond() float64 { return float64(l.Requests) / l.Per.Seconds() }
