package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"strings"
	"text/tabwriter"
	"time"
)

// Goals for memory.
const (
	maxResident = 80 << 20 // bytes of an idle server
	maxGrowth   = 1.25     // memory after the load relative to before
)

// report is the output for humans.
type report struct {
	options

	machine       string
	engine        string
	servers       []string // names
	results       []*result
	residentIdle  float64
	residentAfter float64
	contention    []*contentionCase
	feeds         []*feedCase
	realtime      *realtimeResult
}

func (r *report) print(out io.Writer) error {
	fmt.Fprintf(out, "\n%s\n%s\n", r.machine, r.engine)
	fmt.Fprintf(out, "%d connections, rounds of 2 x %s for each server; CPU and allocations are those of the server\n\n",
		r.concurrency, r.length())
	err := printTable(out, tabwriter.AlignRight,
		"operation\tserver\trequests/s\tp50\tp99\tround trips/op\tstatements/op\texecution/op\tplanning/op\tCPU/op\tallocs/op",
		func(t io.Writer) {
			for _, result := range r.results {
				for i, server := range r.servers {
					result.sides[i].row(t, result.name, server)
				}
			}
		})
	if err != nil {
		return err
	}
	fmt.Fprintln(out)
	if err := printTable(out, 0, goalHeader, r.goals); err != nil {
		return err
	}
	if err := r.printContention(out); err != nil {
		return err
	}
	if err := r.printRealtime(out); err != nil {
		return err
	}
	return r.printFeeds(out)
}

// printTable prints a header and rows, with a tab after each cell.
func printTable(out io.Writer, flags uint, header string, rows func(io.Writer)) error {
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', flags)
	fmt.Fprintln(t, header+"\t")
	rows(t)
	return t.Flush()
}

func mebibytes(bytes float64) float64 { return bytes / (1 << 20) }

func (s *side) row(t io.Writer, operation, server string) {
	n := float64(len(s.latencies))
	seconds := func(metric string) string {
		return milliseconds(time.Duration(s.sum(metric) / n * float64(time.Second)))
	}
	fmt.Fprintf(t, "%s\t%s\t%.0f\t%s\t%s\t%.2f\t%.1f\t%s\t%s\t%s\t%.0f\t\n", operation, server, s.perSecond(), milliseconds(s.percentile(0.5)),
		milliseconds(s.percentile(0.99)), s.sum(roundTrips)/n, s.sum(statementCount)/n, seconds(executionSeconds), seconds(planningSeconds),
		seconds(cpuSeconds), s.sum(allocations)/n)
}

func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.2f ms", float64(d.Microseconds())/1000)
}

// goals prints the goals of all operations, and those for memory.
func (r *report) goals(t io.Writer) {
	for _, result := range r.results {
		r.operationGoals(t, result)
	}
	goal(t, "memory of an idle server", fmt.Sprintf("at most %d MiB", maxResident>>20), fmt.Sprintf("%.1f MiB", mebibytes(r.residentIdle)),
		r.residentIdle <= maxResident)
	growth := r.residentAfter / max(1, r.residentIdle)
	goal(t, "memory after the load relative to the idle server", fmt.Sprintf("at most %.2f", maxGrowth),
		fmt.Sprintf("%.2f (%.1f MiB)", growth, mebibytes(r.residentAfter)), growth <= maxGrowth)
}

func (r *report) operationGoals(t io.Writer, one *result) {
	if len(r.servers) > 1 {
		low, high := one.interval()
		goal(t, one.name+": requests/s relative to "+r.servers[1], fmt.Sprintf("at least %.2f", minRatio),
			fmt.Sprintf("%.2f (%.2f to %.2f in %d rounds)", one.median(), low, high, len(one.ratios)), math.Round(one.median()*100)/100 >= minRatio)
	}
	plaza := &one.sides[0]
	trips := plaza.sum(roundTrips) / float64(len(plaza.latencies))
	goal(t, one.name+": database round trips", fmt.Sprintf("at most %.0f", one.maxTrips), fmt.Sprintf("%.2f", trips),
		math.Round(trips) <= one.maxTrips)
}

const goalHeader = "goal\twanted\tmeasured"

func goal(t io.Writer, what, wanted, measured string, reached bool) {
	verdict := "MISS"
	if reached {
		verdict = "PASS"
	}
	fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", what, wanted, measured, verdict)
}

// machineFacts describes the machine, which is needed to interpret the numbers.
func machineFacts() string {
	facts := []string{
		fmt.Sprintf("%s/%s, %d CPUs%s, %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), processor(), runtime.Version()),
	}
	if content, err := os.ReadFile("/proc/loadavg"); err == nil {
		facts = append(facts, "load average before the measurement "+strings.Join(strings.Fields(string(content))[:3], " "))
	}
	return strings.Join(facts, "\n")
}

// processor returns the name of the processor, if the system reports it.
func processor() string {
	content, _ := os.ReadFile("/proc/cpuinfo") // missing on other systems than Linux
	for line := range strings.Lines(string(content)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return " (" + strings.TrimSpace(value) + ")"
		}
	}
	return ""
}
