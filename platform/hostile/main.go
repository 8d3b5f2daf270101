// The program hostile attacks a network on the loopback interface, and measures what other users notice.
//
// For each attack it measures the requests of users who behave, without the attack and then during it, and the memory of
// the server. It fails if the 99th percentile of their latency grows to more than three times its quiet value, if one of
// their requests fails, or if the server exceeds its memory.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"text/tabwriter"
	"time"
)

const (
	// maxRatio is how much larger the 99th percentile may be during an attack.
	maxRatio = 3
	// maxMemory is what an attack may add to the memory of the server: response-memory, and the pixels of images in
	// progress.
	maxMemory = 768 << 20
	// settle is the time before each measurement.
	settle = 2 * time.Second
)

var errTooMuch = errors.New("an attack affected other users, or the server's memory, more than allowed")

type options struct {
	binary string
	window time.Duration
	noise  time.Duration
	only   string
	attack string
}

func main() {
	var o options
	flag.StringVar(&o.binary, "binary", "", "the program plaza to attack; default: built from this tree")
	flag.DurationVar(&o.window, "window", 8*time.Second, "duration of each measurement")
	flag.DurationVar(&o.noise, "noise", 10*time.Millisecond, "latencies below this count as equal, because the server shares the machine with its attackers")
	flag.StringVar(&o.only, "only", "", "part of the names of the attacks to run; default: all")
	flag.StringVar(&o.attack, "attack", "", "attack the network at "+apiVariable+" until the signal SIGTERM, and measure nothing")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	do := run
	if o.attack != "" {
		do = runAttack
	}
	err := do(ctx, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "hostile:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, o options) (err error) {
	n, err := startNetwork(ctx, o.binary)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, n.stop()) }()
	users, err := newUsers(ctx, n)
	if err != nil {
		return err
	}
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(table, "attack\tp99 without it\tduring it\tratio\tmemory added\tverdict\t")
	failed := false
	for _, a := range attacks() {
		if !strings.Contains(a.name, o.only) {
			continue
		}
		found, err := measure(ctx, n, users, a, o)
		if err != nil {
			return fmt.Errorf("%s: %w", a.name, err)
		}
		if found.failed != nil {
			fmt.Fprintln(os.Stderr, found.failed)
		}
		failed = failed || !found.allowed()
		fmt.Fprintf(table, "%s\t%s\t%s\t%.1f\t%d MiB\t%s\t\n", a.name, milliseconds(found.quiet), milliseconds(found.busy), found.ratio(),
			found.memory>>20, found.verdict())
	}
	if err := table.Flush(); err != nil {
		return err
	}
	if failed {
		return errTooMuch
	}
	return nil
}

// outcome is what an attack did to others.
type outcome struct {
	quiet, busy time.Duration // 99th percentiles
	noise       time.Duration // as in the options
	memory      int64         // added
	failed      error         // of a request of a user who behaves
}

func (o outcome) ratio() float64 {
	return float64(max(o.busy, o.noise)) / float64(max(o.quiet, o.noise))
}

func (o outcome) allowed() bool {
	return o.failed == nil && o.ratio() <= maxRatio && o.memory <= maxMemory
}

func (o outcome) verdict() string {
	switch {
	case o.allowed():
		return "ok"
	case o.failed != nil:
		return "FAILED REQUESTS"
	}
	return "TOO MUCH"
}

// measure measures what others notice of an attack.
func measure(ctx context.Context, n *network, users *users, a attack, o options) (outcome, error) {
	fmt.Fprintf(os.Stderr, "%s …\n", a.name)
	pause(ctx, settle)
	before, err := n.memory(ctx)
	if err != nil {
		return outcome{}, err
	}
	quiet, failed := users.measure(ctx, o.window)
	if failed != nil {
		return outcome{noise: o.noise, failed: fmt.Errorf("without the attack: %w", failed)}, nil
	}
	attacking, end := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- startAttack(attacking, n, a) }()
	pause(ctx, settle)
	watching := n.watchMemory(attacking)
	busy, failed := users.measure(ctx, o.window)
	end()
	highest := <-watching
	return outcome{noise: o.noise, quiet: quiet, busy: busy, memory: highest - before, failed: errors.Join(failed, <-ended)}, nil
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.1f ms", float64(d)/float64(time.Millisecond))
}
