package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// bench is one run of the benchmark.
type bench struct {
	options

	environment *environment
	progress    *progress
	idle        map[*server]counters // per second, without requests
}

// idleFor is how long the servers are left without requests to measure their background work.
const idleFor = 3 * time.Second

// warmUp is how long each operation runs on each server before measurements.
const warmUp = 400 * time.Millisecond

// side is the measurement of one operation on one server.
type side struct {
	load
	counters
}

// result is the measurement of one operation.
type result struct {
	*operation

	sides  []side    // of plaza, and of the other server
	ratios []float64 // of the request rates of the first and the last side, one per round
}

// median returns the ratio that half of the rounds did not exceed.
func (r *result) median() float64 {
	ratios := slices.Sorted(slices.Values(r.ratios))
	middle := len(ratios) / 2
	if len(ratios)%2 == 0 {
		return (ratios[middle-1] + ratios[middle]) / 2
	}
	return ratios[middle]
}

// interval returns the confidence interval of the median at 95 %, which is between two of the ratios.
func (r *result) interval() (low, high float64) {
	ratios := slices.Sorted(slices.Values(r.ratios))
	n := float64(len(ratios))
	outside := int(max(0, (n-1.96*math.Sqrt(n))/2))
	return ratios[outside], ratios[len(ratios)-1-outside]
}

// maxRoundsFactor limits the rounds for a precision to a multiple of the least number of rounds.
const maxRoundsFactor = 8

// enough reports whether an operation was measured in enough rounds.
func (b *bench) enough(r *result) bool {
	switch rounds := len(r.ratios); {
	case rounds < b.rounds:
		return false
	case rounds >= b.rounds*maxRoundsFactor:
		return true
	}
	low, high := r.interval()
	return b.precision == 0 || max(high-r.median(), r.median()-low) <= b.precision
}

func (b *bench) run(ctx context.Context) (*report, error) {
	e := b.environment
	r := &report{options: b.options, machine: machineFacts(), engine: e.version}
	for _, s := range e.servers {
		r.servers = append(r.servers, s.name)
	}
	ops := slices.DeleteFunc(operations(e.data), func(op *operation) bool { return !strings.Contains(op.name, b.only) })
	b.progress.sayf("warming up")
	for _, op := range ops {
		if err := b.each(ctx, op, warmUp, func(int, load, counters) {}); err != nil {
			return nil, err
		}
	}
	if err := b.measureIdle(ctx, r); err != nil {
		return nil, err
	}
	for _, op := range ops {
		found, err := b.measure(ctx, op)
		if err != nil {
			return nil, err
		}
		r.results = append(r.results, found)
	}
	if err := pause(ctx, idleFor); err != nil {
		return nil, err
	}
	after, err := e.plaza().metrics(ctx)
	if err != nil {
		return nil, err
	}
	r.residentAfter = after.sum(resident)
	if r.contention, err = b.contention(ctx); err != nil {
		return nil, err
	}
	if r.realtime, err = b.realtime(ctx); err != nil {
		return nil, err
	}
	r.feeds, err = b.feeds(ctx)
	return r, err
}

// measureIdle measures the servers without requests.
func (b *bench) measureIdle(ctx context.Context, r *report) error {
	b.progress.sayf("measuring idle servers")
	servers := b.environment.servers
	before := make([]counters, len(servers))
	var err error
	for i, s := range servers {
		if before[i], err = s.metrics(ctx); err != nil {
			return err
		}
	}
	if err := pause(ctx, idleFor); err != nil {
		return err
	}
	b.idle = map[*server]counters{}
	for i, s := range servers {
		now, err := s.metrics(ctx)
		if err != nil {
			return err
		}
		b.idle[s] = counters{}.plus(now.since(before[i]), 1/idleFor.Seconds())
		if i == 0 {
			r.residentIdle = now.sum(resident)
		}
	}
	return nil
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// measure runs all rounds of one operation.
func (b *bench) measure(ctx context.Context, op *operation) (*result, error) {
	servers := b.environment.servers
	found := &result{operation: op, sides: make([]side, len(servers))}
	if err := b.each(ctx, op, warmUp, func(int, load, counters) {}); err != nil {
		return nil, err
	}
	for _, s := range servers {
		if err := s.database.analyse(ctx); err != nil {
			return nil, err
		}
	}
	for !b.enough(found) {
		round := make([]load, len(servers))
		err := b.each(ctx, op, b.length(), func(i int, l load, c counters) {
			round[i].add(l)
			found.sides[i].load.add(l)
			found.sides[i].counters = found.sides[i].plus(c, 1)
		})
		if err != nil {
			return nil, err
		}
		found.ratios = append(found.ratios, round[0].perSecond()/round[len(round)-1].perSecond())
	}
	low, high := found.interval()
	for i, s := range servers {
		b.progress.sayf("%-17s %s %5.0f/s", op.name, s.name, found.sides[i].perSecond())
	}
	if len(servers) > 1 {
		b.progress.sayf("%-17s ratio %.2f (%.2f to %.2f), wanted %.2f", op.name, found.median(), low, high, minRatio)
	}
	if err := b.showStatements(ctx, op); err != nil {
		return nil, err
	}
	return found, b.profile(ctx, op)
}

// each measures every server twice, the second time in the opposite order, so that a drift, such as that of a growing table, affects
// all equally. take gets the number of the server.
func (b *bench) each(ctx context.Context, op *operation, length time.Duration, take func(server int, l load, c counters)) error {
	servers := b.environment.servers
	for n := range 2 * len(servers) {
		i := min(n, 2*len(servers)-1-n)
		l, c, err := b.once(ctx, op, servers[i], length)
		if err != nil {
			return fmt.Errorf("%s: %w\n%s", servers[i].name, err, servers[i].logTail())
		}
		take(i, l, c)
	}
	return nil
}

func (b *bench) once(ctx context.Context, op *operation, s *server, length time.Duration) (load, counters, error) {
	clients, err := dialAll(ctx, s.api, b.concurrency)
	defer closeAll(clients)
	if err != nil {
		return load{}, nil, err
	}
	before, err := s.metrics(ctx)
	if err != nil {
		return load{}, nil, err
	}
	began := time.Now()
	l, err := drive(ctx, op, clients, length)
	if err == nil {
		err = s.database.settle(ctx)
	}
	if err != nil {
		return load{}, nil, err
	}
	after, err := s.metrics(ctx)
	return l, after.since(before).without(b.idle[s], time.Since(began)), err
}

// profile runs the operation with profiles, if requested.
func (b *bench) profile(ctx context.Context, op *operation) error {
	if b.profiles == "" {
		return nil
	}
	if err := os.MkdirAll(b.profiles, 0o755); err != nil { //nolint:gosec // profiles of generated data are not secret
		return err
	}
	for _, s := range b.environment.servers {
		for _, kind := range []string{"profile", "allocs"} {
			path := filepath.Join(b.profiles, strings.ReplaceAll(op.name, " ", "-")+"."+s.name+"."+kind)
			if err := b.profileOne(ctx, op, s, kind, path); err != nil {
				return err
			}
		}
	}
	return nil
}

// profileLength is the duration of a profile.
const profileLength = 4 * time.Second

func (b *bench) profileOne(ctx context.Context, op *operation, s *server, kind, path string) error {
	saved := make(chan error, 1)
	go func() { saved <- s.saveProfile(ctx, kind, profileLength, path) }()
	_, _, err := b.once(ctx, op, s, profileLength+time.Second)
	return errors.Join(err, <-saved)
}
