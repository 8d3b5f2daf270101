// Command bench measures one region's server, alone or against another version of it: `make bench`.
//
// It starts an embedded database and `plaza serve`, each in a separate process, fills the database, and measures requests of several
// kinds. With -against it also starts another plaza program, on a copy of the database, and compares the two. Then it measures 16
// writers of one object, adds a million posts and measures pages of feeds, of the first server alone. Two servers are measured
// alternately, in the order plaza-other-other-plaza in each round, so that other load on the machine affects both. A measurement ends
// when the background work that it has caused is done.
//
// The exit code reports whether the measurement succeeded, not whether the goals were reached: the speed of the machine
// must not decide whether a change is accepted.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// options are the command line flags.
type options struct {
	seconds     float64
	rounds      int
	precision   float64
	concurrency int
	against     string
	profiles    string
	only        string
	statements  int
	feedPosts   int
}

func parseOptions() (options, error) {
	var o options
	flag.Float64Var(&o.seconds, "seconds", 0.4, "duration of one measurement in seconds; each operation has two per round and server")
	flag.IntVar(&o.rounds, "rounds", 9, "rounds per operation")
	flag.Float64Var(&o.precision, "precision", 0,
		fmt.Sprintf("repeat the rounds, up to %d times, until the confidence interval of a ratio (95 %%) is within this distance; 0 does "+
			"not repeat them", maxRoundsFactor))
	flag.IntVar(&o.concurrency, "concurrency", 4, "concurrent requests, each on its own connection")
	flag.StringVar(&o.against, "against", "", "another plaza program to measure as well, to see the effect of a change")
	flag.StringVar(&o.profiles, "profiles", "", "directory for CPU and allocation profiles of the servers")
	flag.StringVar(&o.only, "only", "", "measure only operations whose names contain this text: \"list\", \"contention\", \"feeds at scale\"")
	flag.IntVar(&o.feedPosts, "feed-posts", 1_000_000, "additional posts for measurements of feeds; 0 skips these")
	flag.IntVar(&o.statements, "statements", 0, "how many of the most expensive statements of each operation to show")
	flag.Parse()
	if o.seconds <= 0 || o.rounds < 1 || o.precision < 0 || o.concurrency < 1 || o.feedPosts < 0 || flag.NArg() > 0 {
		return o,
			errors.New("-seconds, -rounds and -concurrency must be positive, -precision and -feed-posts must not be negative, and arguments " +
				"are not allowed")
	}
	return o, nil
}

func (o options) length() time.Duration { return time.Duration(o.seconds * float64(time.Second)) }

func main() {
	o, err := parseOptions()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err = measureAll(ctx, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// measureAll runs the benchmark.
func measureAll(ctx context.Context, o options) (err error) {
	p := newProgress(os.Stderr)
	e, err := newEnvironment(ctx, o, p)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, e.stop(ctx)) }()
	b := &bench{options: o, environment: e, progress: p}
	r, err := b.run(ctx)
	if err != nil {
		return err
	}
	return r.print(os.Stdout)
}
