// Program testrun runs Go tests. It starts one database for all packages, runs the packages of -race with the race detector
// and the others without it, and then the tests of other modules. It prints a line for each package that ends, and every
// half minute which packages are running and how many are left. It ends with the slowest packages, what was skipped, what
// failed, and the number of tests.
//
//	go run ./hack/testrun -race "./platform/events ./platform/jobs" -modules "hack/kind hack/image" [-args "-run TestUsers"] ./...
//
// Tests whose packages have files with build constraints run with -tags.
package main

import (
	"context"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
)

// options are the arguments of the program.
type options struct {
	race     string   // patterns of packages that run with the race detector
	first    string   // patterns of packages that start first, because they take longest
	modules  string   // folders of other modules
	tags     string   // build tags, in addition to those of GOFLAGS
	args     string   // arguments of go test
	patterns []string // of packages
}

func main() {
	var o options
	flag.StringVar(&o.race, "race", "", "`patterns` of packages that run with the race detector")
	flag.StringVar(&o.first, "first", "", "`patterns` of packages that start first, because they take longest")
	flag.StringVar(&o.modules, "modules", "", "`folders` of other modules whose tests run too")
	flag.StringVar(&o.tags, "tags", "", "build `tags`, in addition to those of GOFLAGS, separated by commas")
	flag.StringVar(&o.args, "args", "", "`arguments` of go test")
	flag.Parse()
	o.patterns = flag.Args()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, o, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "testrun:", err)
		os.Exit(1)
	}
}
