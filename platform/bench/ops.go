package main

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"
)

var opsClient = &http.Client{Timeout: time.Minute}

// get returns the body of a successful response.
func get(ctx context.Context, url string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, url, nil)
	if err != nil {
		return nil, err
	}
	resp, err := opsClient.Do(req)
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

// counters are values of a server's metrics at one moment.
type counters struct {
	at          time.Time
	roundTrips  float64
	allocations float64
	cpu         float64 // seconds
	resident    float64 // bytes
}

// metrics reads the server's metrics.
func (s *server) metrics(ctx context.Context) (counters, error) {
	body, err := get(ctx, "http://"+s.ops+"/metrics")
	if err != nil {
		return counters{}, fmt.Errorf("metrics of %s: %w", s.name, err)
	}
	c := counters{at: time.Now()}
	for line := range strings.Lines(string(body)) {
		name, value, ok := sample(line)
		switch {
		case !ok:
		case name == "plaza_database_round_trips_total":
			c.roundTrips += value // one per home
		case name == "go_memstats_mallocs_total":
			c.allocations = value
		case name == "process_cpu_seconds_total":
			c.cpu = value
		case name == "process_resident_memory_bytes":
			c.resident = value
		}
	}
	return c, nil
}

// homeTrips returns the number of round trips to each home's database so far.
func (s *server) homeTrips(ctx context.Context) (map[string]float64, error) {
	body, err := get(ctx, "http://"+s.ops+"/metrics")
	if err != nil {
		return nil, fmt.Errorf("metrics of %s: %w", s.name, err)
	}
	trips := map[string]float64{}
	for line := range strings.Lines(string(body)) {
		if name, value, ok := sample(line); ok && name == "plaza_database_round_trips_total" {
			series, _, _ := strings.Cut(line, " ")
			trips[series] = value
		}
	}
	return trips, nil
}

// sample parses a line of the text format: name{labels} value.
func sample(line string) (name string, value float64, ok bool) {
	line = strings.TrimSpace(line)
	space := strings.LastIndexByte(line, ' ')
	if space < 0 || line[0] == '#' {
		return "", 0, false
	}
	name, _, _ = strings.Cut(line[:space], "{")
	value, err := strconv.ParseFloat(line[space+1:], 64)
	return name, value, err == nil
}

// since returns the difference to before.
func (c counters) since(before counters) counters {
	return counters{
		roundTrips:  c.roundTrips - before.roundTrips,
		allocations: c.allocations - before.allocations,
		cpu:         c.cpu - before.cpu,
	}
}

// plus returns the sum of two measurements.
func (c counters) plus(o counters) counters {
	return counters{roundTrips: c.roundTrips + o.roundTrips, allocations: c.allocations + o.allocations, cpu: c.cpu + o.cpu}
}

// rates returns the rates per second between two moments of an idle server, which are those of its workers.
func rates(before, after counters) counters {
	seconds := after.at.Sub(before.at).Seconds()
	d := after.since(before)
	return counters{roundTrips: d.roundTrips / seconds, allocations: d.allocations / seconds, cpu: d.cpu / seconds}
}

// without subtracts the work that an idle server would have done in that time.
func (c counters) without(idle counters, elapsed time.Duration) counters {
	seconds := elapsed.Seconds()
	return counters{
		roundTrips:  max(0, c.roundTrips-idle.roundTrips*seconds),
		allocations: max(0, c.allocations-idle.allocations*seconds),
		cpu:         max(0, c.cpu-idle.cpu*seconds),
	}
}

// saveProfile writes a profile ("profile" for the CPU, "allocs" for memory) of the given length to path.
func (s *server) saveProfile(ctx context.Context, kind string, length time.Duration, path string) error {
	seconds := max(1, int(length.Seconds()))
	body, err := get(ctx, fmt.Sprintf("http://%s/debug/pprof/%s?seconds=%d", s.ops, kind, seconds))
	if err != nil {
		return err
	}
	return os.WriteFile(path, body, 0o600)
}
