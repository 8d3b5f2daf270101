package main

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"text/tabwriter"
)

// printContention prints the measurements of writers of one object and their goals.
func (r *report) printContention(out io.Writer) error {
	if len(r.contention) == 0 {
		return nil
	}
	fmt.Fprintf(out, "\n1 and %d writers of one object\n\n", contentionWriters)
	err := printTable(out, tabwriter.AlignRight, "write\twriters\trequests/s\tp50\tp99\tretries/op\tfailed", func(t io.Writer) {
		for _, c := range r.contention {
			c.one.row(t, c.name, 1)
			c.all.row(t, "", contentionWriters)
		}
	})
	if err != nil {
		return err
	}
	fmt.Fprintln(out)
	return printTable(out, 0, goalHeader, func(t io.Writer) {
		for _, c := range r.contention {
			c.goals(t)
		}
	})
}

func (c *contended) row(t io.Writer, name string, writers int) {
	fmt.Fprintf(t, "%s\t%d\t%.0f\t%s\t%s\t%.2f\t%d\t\n", name, writers, c.perSecond(), milliseconds(c.percentile(0.5)),
		milliseconds(c.percentile(0.99)),
		c.retries/float64(max(1, len(c.latencies))), c.failed)
}

func (c *contentionCase) goals(t io.Writer) {
	ratio := c.all.perSecond() / c.one.perSecond()
	goal(t, fmt.Sprintf("%s: requests/s of %d writers relative to 1", c.name, contentionWriters),
		fmt.Sprintf("at least %.1f", minContendedRatio),
		fmt.Sprintf("%.2f", ratio), math.Round(ratio*100)/100 >= minContendedRatio)
	tail := float64(c.all.percentile(0.99)) / float64(max(1, c.one.percentile(0.5)))
	goal(t, fmt.Sprintf("%s: p99 of %d writers relative to the p50 of 1", c.name, contentionWriters),
		fmt.Sprintf("at most %.0f", maxContendedTail),
		fmt.Sprintf("%.1f", tail), tail <= maxContendedTail)
	goal(t, c.name+": failed requests", "0", strconv.Itoa(c.one.failed+c.all.failed), c.one.failed+c.all.failed == 0)
}
