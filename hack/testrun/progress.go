package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"gotest.tools/gotestsum/testjson"
)

// module is the prefix of this module's packages, which is not printed.
const module = "github.com/plaza-social/plaza/"

// progress prints what is running and what has ended. It is the handler of the output of go test.
type progress struct {
	out     io.Writer
	now     func() time.Time
	mu      sync.Mutex
	left    int
	running map[string]*running
	ended   []ended
	results map[testjson.Action]int // of tests, without subtests
}

// running is a package whose tests have begun.
type running struct {
	since time.Time
	tests int
}

// ended is a package whose tests have ended.
type ended struct {
	name  string
	tests int
	took  time.Duration
}

// newProgress returns a progress that has to see the given number of packages.
func newProgress(out io.Writer, now func() time.Time, packages int) *progress {
	return &progress{out: out, now: now, left: packages, running: map[string]*running{}, results: map[testjson.Action]int{}}
}

// Event handles an event of go test.
func (p *progress) Event(e testjson.TestEvent, tests *testjson.Execution) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	name := strings.TrimPrefix(e.Package, module)
	switch {
	case !e.PackageEvent():
		p.test(name, e, tests)
	case e.Action == "start":
		p.running[name] = &running{since: p.now()}
	case e.Action.IsTerminal():
		p.end(name, e, tests)
	}
	return nil
}

// test counts a test that has ended, and prints one that has failed.
func (p *progress) test(name string, e testjson.TestEvent, tests *testjson.Execution) {
	if !e.Action.IsTerminal() || strings.Contains(e.Test, "/") {
		return
	}
	p.results[e.Action]++
	if r := p.running[name]; r != nil {
		r.tests++
	}
	if e.Action == testjson.ActionFail {
		p.printf("--- FAIL: %s %s\n%s", name, e.Test, shortened(outputOf(tests.Package(e.Package), e.Test)))
	}
}

// outputOf returns the output of a failed test and of its failed subtests.
func outputOf(pkg *testjson.Package, test string) string {
	var output strings.Builder
	for _, failed := range pkg.Failed {
		if root, _ := failed.Test.Split(); root == test {
			for _, line := range pkg.OutputLines(failed) {
				output.WriteString(line)
			}
		}
	}
	return output.String()
}

// end prints a package that has ended.
func (p *progress) end(name string, e testjson.TestEvent, tests *testjson.Execution) {
	p.left--
	done := ended{name: name}
	if r := p.running[name]; r != nil {
		done.tests, done.took = r.tests, p.now().Sub(r.since)
	}
	delete(p.running, name)
	p.ended = append(p.ended, done)
	verdict := "ok  "
	switch {
	case e.Action == testjson.ActionFail:
		verdict = "FAIL"
	case done.tests == 0:
		verdict = "none"
	}
	p.printf("%s %s, %d tests in %.1f s; %s\n", verdict, name, done.tests, done.took.Seconds(), p.state())
	if e.Action == testjson.ActionFail {
		var output strings.Builder
		_ = tests.Package(e.Package).WriteOutputTo(&output, 0) // 0 is the package itself
		p.printf("%s", shortened(output.String()))
	}
}

// Err handles a line that go test has written to standard error, such as an error of the compiler.
func (p *progress) Err(text string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if strings.HasPrefix(text, "go: downloading ") {
		return nil
	}
	p.printf("%s\n", text)
	return nil
}

// state returns what is running and how many packages are left.
func (p *progress) state() string {
	var names []string
	for name, r := range p.running {
		names = append(names, fmt.Sprintf("%s (%d tests, %.0f s)", name, r.tests, p.now().Sub(r.since).Seconds()))
	}
	slices.Sort(names)
	if len(names) == 0 {
		names = []string{"the compiler"}
	}
	return fmt.Sprintf("running: %s; %d left", strings.Join(names, ", "), p.left)
}

// everyHalfMinute prints the state every half minute until the returned function is called.
func (p *progress) everyHalfMinute() (stop func()) {
	ticker, done := time.NewTicker(30*time.Second), make(chan struct{})
	go func() {
		for {
			select {
			case <-done:
				return
			case <-ticker.C:
				p.mu.Lock()
				p.printf("     %s\n", p.state())
				p.mu.Unlock()
			}
		}
	}()
	return func() { ticker.Stop(); close(done) }
}

// slowest is how many packages the summary lists.
const slowest = 15

// summarize prints the slowest packages, the skipped and failed tests, and the number of tests.
func (p *progress) summarize(tests *testjson.Execution) {
	slices.SortFunc(p.ended, func(a, b ended) int { return cmp.Compare(b.took, a.took) })
	p.printf("\nThe slowest packages:\n")
	for _, e := range p.ended[:min(len(p.ended), slowest)] {
		p.printf("%8.1f s %6d tests  %s\n", e.took.Seconds(), e.tests, e.name)
	}
	testjson.PrintSummary(p.out, tests, testjson.SummarizeAll)
	p.printf("%d passed, %d failed, %d skipped\n", p.results[testjson.ActionPass], p.results[testjson.ActionFail],
		p.results[testjson.ActionSkip])
}

func (p *progress) printf(format string, args ...any) { _, _ = fmt.Fprintf(p.out, format, args...) }

// shortened returns output with the paths of files relative to the module's folder.
func shortened(output string) string { return strings.ReplaceAll(output, module, "") }
