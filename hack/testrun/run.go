package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"time"

	"github.com/google/shlex"
	"gotest.tools/gotestsum/testjson"

	"github.com/plaza-social/plaza/platform/devdb/testdb"
)

// group is a call of go test.
type group struct {
	dir      string // of the module; empty for this one
	packages []string
	race     bool
}

// run runs all tests and returns an error if one failed.
func run(ctx context.Context, o options, out io.Writer) error {
	args, err := shlex.Split(o.args)
	if err != nil {
		return fmt.Errorf("-args: %w", err)
	}
	groups, err := plan(ctx, o)
	if err != nil {
		return err
	}
	server, err := testdb.StartServer(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = server.Stop(context.WithoutCancel(ctx)) }()

	version, err := server.Version(ctx)
	if err != nil {
		return err
	}
	env := server.Environment()
	root, err := exec.CommandContext(ctx, "go", "env", "GOROOT").Output()
	if err != nil {
		return err
	}
	env = append(env, "GOROOT="+strings.TrimSpace(string(root))) // for tests that load packages: programs built with -trimpath do not know it

	p := newProgress(out, time.Now, count(groups))
	defer p.everyHalfMinute()()
	var tests *testjson.Execution
	failed := false
	for _, g := range groups {
		var err error
		if tests, err = g.run(ctx, slices.Concat(tagsFlag(o), args), env, p, tests); err != nil {
			failed = true
			_ = p.Err(err.Error())
		}
	}
	if tests == nil {
		return errors.New("no package has tests")
	}
	p.summarize(tests)
	p.printf("on %s\n", version)
	if failed {
		return errors.New("tests failed")
	}
	return ctx.Err()
}

func count(groups []group) (packages int) {
	for _, g := range groups {
		packages += len(g.packages)
	}
	return packages
}

// run calls go test, for packages of this module with args, and adds its tests to those of earlier calls, which may be nil.
func (g group) run(ctx context.Context, args, env []string, p *progress, earlier *testjson.Execution) (*testjson.Execution, error) {
	cmd := exec.CommandContext(ctx, "go", g.arguments(args)...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	cmd.Env = append(os.Environ(), env...)
	if g.race {
		cmd.Env = append(cmd.Env, "CGO_ENABLED=1", "GORACE=atexit_sleep_ms=50")
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		return earlier, err
	}
	stderr, err := cmd.StderrPipe()
	if err != nil {
		return earlier, err
	}
	if err := cmd.Start(); err != nil {
		return earlier, err
	}
	tests, err := testjson.ScanTestOutput(testjson.ScanConfig{
		Stdout: stdout, Stderr: stderr, Handler: p, Execution: earlier, IgnoreNonJSONOutputLines: true,
	})
	return tests, errors.Join(err, described(g, cmd.Wait()))
}

// described returns the error of a call of go test with the module in which it ran.
func described(g group, err error) error {
	if err == nil || g.dir == "" {
		return err
	}
	return fmt.Errorf("%s: %w", g.dir, err)
}

func (g group) arguments(own []string) []string {
	test := []string{"test", "-json", "-vet=off", "-timeout=40m"} // make verify-lint runs all of vet
	if g.dir != "" {
		return slices.Concat([]string{"-C", g.dir}, test, g.packages)
	}
	if g.race {
		test = append(test, "-race")
	}
	return slices.Concat(test, own, g.packages)
}
