package main

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

var opsClient = &http.Client{Timeout: time.Minute}

// get returns the body of a successful response of the operations endpoints.
func get(ctx context.Context, url string) ([]byte, error) { return getBy(ctx, opsClient, url) }

func getBy(ctx context.Context, client *http.Client, url string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	resp, err := client.Do(req)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	body, err := io.ReadAll(resp.Body)
	if err == nil && resp.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", resp.Status, strings.TrimSpace(string(body)))
	}
	return body, err
}

// The metrics that are measured.
const (
	roundTrips  = "plaza_database_round_trips_total" // one series per home
	retries     = "plaza_database_transaction_retries_total"
	allocations = "go_memstats_mallocs_total"
	cpuSeconds  = "process_cpu_seconds_total"
	resident    = "process_resident_memory_bytes"
)

// counters are the values of a server's metrics by series: name{labels}.
type counters map[string]float64

// metrics reads the server's metrics.
func (s *server) metrics(ctx context.Context) (counters, error) {
	body, err := get(ctx, "http://"+s.ops+"/metrics")
	if err != nil {
		return nil, fmt.Errorf("metrics of %s: %w", s.name, err)
	}
	c := counters{}
	for line := range strings.Lines(string(body)) {
		if series, value, ok := sample(line); ok {
			c[series] = value
		}
	}
	return c, s.database.addTo(ctx, c)
}

// sample parses a line of the text format: name{labels} value.
func sample(line string) (series string, value float64, ok bool) {
	line = strings.TrimSpace(line)
	space := strings.LastIndexByte(line, ' ')
	if space < 0 || line[0] == '#' {
		return "", 0, false
	}
	value, err := strconv.ParseFloat(line[space+1:], 64)
	return line[:space], value, err == nil
}

// of returns the values of all series of a metric.
func (c counters) of(metric string) []float64 {
	var values []float64
	for series, value := range c {
		if name, _, _ := strings.Cut(series, "{"); name == metric {
			values = append(values, value)
		}
	}
	return values
}

// sum returns the sum of all series of a metric.
func (c counters) sum(metric string) float64 {
	var sum float64
	for _, value := range c.of(metric) {
		sum += value
	}
	return sum
}

// plus returns c plus factor times o.
func (c counters) plus(o counters, factor float64) counters {
	sum := counters{}
	maps.Copy(sum, c)
	for series, value := range o {
		sum[series] += factor * value
	}
	return sum
}

// since returns the difference to before.
func (c counters) since(before counters) counters { return c.plus(before, -1) }

// without subtracts the work that an idle server would have done in that time.
func (c counters) without(idle counters, elapsed time.Duration) counters {
	rest := c.plus(idle, -elapsed.Seconds())
	for series, value := range rest {
		rest[series] = max(0, value)
	}
	return rest
}

// saveProfile writes a profile ("profile" for the CPU, "allocs" for memory) of the given length to path.
func (s *server) saveProfile(ctx context.Context, kind string, length time.Duration, path string) error {
	seconds := max(1, int(length.Seconds()))
	body, err := getBy(ctx, s.profiles.client, fmt.Sprintf("%s/debug/pprof/%s?seconds=%d", s.profiles.base, kind, seconds))
	if err != nil {
		return err
	}
	return os.WriteFile(path, body, 0o600)
}
