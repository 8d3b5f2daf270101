// Command bench measures one region's server beside bare net/http handlers that do the same with the same SQL: `make bench`.
//
// It starts an embedded database, `plaza serve` and the bare server (see package bare), each in a process of its own, fills
// the database, makes sure that both give equal answers, and then measures four operations. In the end it adds a million
// posts and measures pages of feeds of the platform alone. Both are measured in turns
// within one run (plaza, bare, the bare one again, plaza; and so on for each round), so that a machine that is busy with something else is
// busy for both.
//
// The exit code tells whether the measurement worked, not whether the goals were reached: how fast a machine is does not
// decide whether a change is right.
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

// options is what the flags say.
type options struct {
	seconds     float64
	rounds      int
	concurrency int
	binary      string
	against     string
	profiles    string
	only        string
	bare        bool
	feedPosts   int
}

func parseOptions() (options, error) {
	var o options
	flag.Float64Var(&o.seconds, "seconds", 0.4, "length of one measurement, in seconds; each operation has four a round")
	flag.IntVar(&o.rounds, "rounds", 9, "rounds of four measurements for each operation: plaza, bare, bare again, plaza")
	flag.IntVar(&o.concurrency, "concurrency", 4, "requests under way at a time, each on its own connection")
	flag.StringVar(&o.binary, "plaza", "", "the plaza program to measure; empty builds the one of this tree")
	flag.StringVar(&o.against, "against", "", "another plaza program to measure in place of the bare server, to see what a change brings")
	flag.StringVar(&o.profiles, "profiles", "", "folder for profiles of both servers, CPU and allocations of each operation")
	flag.StringVar(&o.only, "only", "", "measure only the operations whose names hold this text: \"list\", \"feeds at scale\"")
	flag.IntVar(&o.feedPosts, "feed-posts", 1_000_000, "posts that feeds are read from, beside the rest; 0 leaves feeds out")
	flag.BoolVar(&o.bare, "bare", false, "be the bare server: what this program starts itself as")
	flag.Parse()
	if o.seconds <= 0 || o.rounds < 1 || o.concurrency < 1 || o.feedPosts < 0 || flag.NArg() > 0 {
		return o, errors.New("-seconds, -rounds and -concurrency are above zero, -feed-posts is not below, and there are no arguments")
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
	run := measureAll
	if o.bare {
		run = serveBare
	}
	err = run(ctx, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1)
	}
}

// measureAll is the whole run.
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
