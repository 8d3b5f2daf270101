// The program hostile attacks networks on the loopback interface, and measures what the attacks cost.
//
// Each attack has a limit, and a control: the same attack on a network without one of its defences, where it must cost more than
// the limit. Otherwise the attack is harmless and proves nothing. Costs are allocated bytes, round trips, rows and accepted requests;
// latencies are not measured.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"regexp"
	"syscall"
	"text/tabwriter"
	"time"
)

var (
	errTooMuch  = errors.New("an attack costs more than allowed")
	errHarmless = errors.New("an attack stays within its limit without the defence, so that it proves nothing")
	errNoAttack = errors.New("flag -only: no attack has such a name")
)

type options struct {
	binary string
	only   string
}

func main() {
	var o options
	flag.StringVar(&o.binary, "binary", "", "the program plaza to attack, built with the tag hostile; default: built from this tree")
	flag.StringVar(&o.only, "only", "", "regular expression for the names of the attacks to run; default: all")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, o)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "hostile:", err)
		os.Exit(1)
	}
}

// run runs the selected attacks and their controls, and prints a table of the costs.
func run(ctx context.Context, o options) error {
	dir, err := os.MkdirTemp("", "plaza-hostile-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if o.binary == "" {
		fmt.Fprintln(os.Stderr, "building plaza with switches for its defences …")
		if o.binary, err = build(ctx, dir); err != nil {
			return err
		}
	}
	selected, err := regexp.Compile(o.only)
	if err != nil {
		return fmt.Errorf("flag -only: %w", err)
	}
	var outcomes []outcome
	for _, a := range attacks() {
		if selected.MatchString(a.name) {
			outcomes = append(outcomes, outcome{attack: a})
		}
	}
	if len(outcomes) == 0 {
		return errNoAttack
	}
	if err := defended(ctx, o.binary, outcomes); err != nil {
		return err
	}
	for i := range outcomes {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		fmt.Fprintf(os.Stderr, "control of %s …\n", outcomes[i].name)
		outcomes[i].undefended(ctx, o.binary)
	}
	return report(outcomes)
}

// attackTimeout bounds an attack: none takes a minute.
const attackTimeout = 3 * time.Minute

// outcome is what an attack costs.
type outcome struct {
	attack

	cost, controlCost float64 // with and without the defence
	err               error   // for which the attack or its control could not be carried out
}

// measure carries the attack out.
func (o *outcome) measure(ctx context.Context, n *network) float64 {
	ctx, cancel := context.WithTimeout(ctx, attackTimeout)
	defer cancel()
	cost, err := o.run(ctx, n)
	o.err = errors.Join(o.err, err)
	return cost
}

// verdict returns why an outcome is a failure; nil if it is not one.
func (o *outcome) verdict() error {
	switch {
	case o.err != nil:
		return o.err
	case o.cost > o.most:
		return errTooMuch
	case o.controlCost <= o.most:
		return errHarmless
	}
	return nil
}

// defended runs all attacks on one network with all defences.
func defended(ctx context.Context, binary string, outcomes []outcome) (err error) {
	n, err := startNetwork(ctx, binary)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, n.stop(ctx)) }()
	for i := range outcomes {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		fmt.Fprintf(os.Stderr, "%d of %d: %s …\n", i+1, len(outcomes), outcomes[i].name)
		outcomes[i].cost = outcomes[i].measure(ctx, n)
	}
	return nil
}

// undefended runs the attack on a network of its own without the defence.
func (o *outcome) undefended(ctx context.Context, binary string) {
	settings := o.settings
	if o.without != "" {
		settings = append(settings, "HOSTILE_OFF="+string(o.without))
	}
	n, err := startNetwork(ctx, binary, settings...)
	if err != nil {
		o.err = errors.Join(o.err, err)
		return
	}
	o.controlCost = o.measure(ctx, n)
	o.err = errors.Join(o.err, n.stop(ctx))
}

// report prints the outcomes, and returns the failures.
func report(outcomes []outcome) error {
	table := tabwriter.NewWriter(os.Stdout, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "attack\tunit\tat most\tcost\tof control\tthe control\tverdict")
	var failures []error
	for _, o := range outcomes {
		verdict := "ok"
		if err := o.verdict(); err != nil {
			verdict = "FAILED"
			failures = append(failures, fmt.Errorf("%s: %w", o.name, err))
		}
		fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n", o.name, o.unit, short(o.most), short(o.cost), short(o.controlCost), o.control(), verdict)
	}
	return errors.Join(append(failures, table.Flush())...)
}

// short returns a cost with the precision that matters.
func short(cost float64) string {
	if cost > 0 && cost < 100 && cost != float64(int64(cost)) {
		return fmt.Sprintf("%.1f", cost)
	}
	return fmt.Sprintf("%.0f", cost)
}
