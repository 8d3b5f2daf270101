package main

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"os"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
)

// maxResident is the goal for the memory of one idle server, in bytes.
const maxResident = 80 << 20

// report is what a person reads.
type report struct {
	options

	machine       string
	engine        string
	other         string // what plaza was measured against
	results       []*result
	residentIdle  float64
	residentAfter float64
	feeds         []*feedCase
}

func (r *report) print(out io.Writer) error {
	fmt.Fprintf(out, "\n%s\n%s\n", r.machine, r.engine)
	fmt.Fprintf(out, "%d connections, %d rounds of 4 x %s; CPU and allocations are the server's own\n\n", r.concurrency, r.rounds, r.length())
	t := tabwriter.NewWriter(out, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "operation\tserver\trequests/s\tp50\tp99\tround trips/op\tCPU/op\tallocs/op\t")
	for _, result := range r.results {
		result.plaza.row(t, result.name, "plaza")
		result.bare.row(t, "", r.other)
	}
	if err := t.Flush(); err != nil {
		return err
	}
	fmt.Fprintln(out)
	t = tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	fmt.Fprintln(t, "goal\twanted\tmeasured\t")
	for _, result := range r.results {
		r.goals(t, result)
	}
	goal(t, "memory of one idle server", fmt.Sprintf("at most %d MiB", maxResident>>20), fmt.Sprintf("%.1f MiB (%.1f after the load)",
		mebibytes(r.residentIdle), mebibytes(r.residentAfter)), verdict(r.residentIdle <= maxResident))
	if err := t.Flush(); err != nil {
		return err
	}
	return r.printFeeds(out)
}

func mebibytes(bytes float64) float64 { return bytes / (1 << 20) }

func (s *side) row(t io.Writer, operation, server string) {
	n := float64(len(s.latencies))
	fmt.Fprintf(t, "%s\t%s\t%.0f\t%s\t%s\t%.2f\t%s\t%.0f\t\n", operation, server, s.perSecond(), milliseconds(s.percentile(0.5)),
		milliseconds(s.percentile(0.99)), s.roundTrips/n, milliseconds(time.Duration(s.cpu/n*float64(time.Second))), s.allocations/n)
}

func milliseconds(d time.Duration) string {
	return fmt.Sprintf("%.2f ms", float64(d.Microseconds())/1000)
}

// goals writes what was to be reached by one operation. Against another plaza the ratio has no goal.
func (r *report) goals(t io.Writer, one *result) {
	low, high := slices.Min(one.ratios), slices.Max(one.ratios)
	wanted, reached := fmt.Sprintf("at least %.2f", one.ratio), verdict(math.Round(one.median()*100)/100 >= one.ratio)
	if r.other != bareName {
		wanted, reached = "", ""
	}
	goal(t, one.name+": requests/s by those of "+r.other, wanted, fmt.Sprintf("%.2f (rounds %.2f to %.2f)", one.median(), low, high), reached)
	if one.maxTrips > 0 {
		// A transaction that met another is sent again, which is the database's doing: the bare server's row shows the same.
		trips := one.plaza.roundTrips / float64(len(one.plaza.latencies))
		goal(t, one.name+": round trips to the database", fmt.Sprintf("at most %.0f", one.maxTrips), fmt.Sprintf("%.2f", trips),
			verdict(math.Round(trips) <= one.maxTrips))
	}
}

func verdict(reached bool) string {
	if reached {
		return "PASS"
	}
	return "MISS"
}

func goal(t io.Writer, what, wanted, measured, verdict string) {
	fmt.Fprintf(t, "%s\t%s\t%s\t%s\n", what, wanted, measured, verdict)
}

// machineFacts is what the numbers mean little without.
func machineFacts() string {
	facts := []string{
		fmt.Sprintf("%s/%s, %d CPUs%s, %s", runtime.GOOS, runtime.GOARCH, runtime.NumCPU(), processor(), runtime.Version()),
	}
	if content, err := os.ReadFile("/proc/loadavg"); err == nil {
		facts = append(facts, "load average before the measurement "+strings.Join(strings.Fields(string(content))[:3], " "))
	}
	return strings.Join(facts, "\n")
}

// processor is the name of the processor, where the system tells.
func processor() string {
	file, err := os.Open("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	defer func() { _ = file.Close() }()
	for lines := bufio.NewScanner(file); lines.Scan(); {
		if name, value, ok := strings.Cut(lines.Text(), ":"); ok && strings.TrimSpace(name) == "model name" {
			return " (" + strings.TrimSpace(value) + ")"
		}
	}
	return ""
}
