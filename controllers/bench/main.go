// Command bench measures the operator with many idle networks: the real program, as a separate process, against a real
// API server. It creates the pods itself, all with the address of one fake server.
//
//	go run ./controllers/bench -networks 500 -regions 3 -idle 10m
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/plaza-social/plaza/controllers/testenv"
)

// reach is the intended limit of the operator's memory.
const reach = 150 << 20

// settle is how long to wait after the last network became ready before counting: longer than a soak and a resync.
const settle = 75 * time.Second

type options struct {
	networks int
	regions  int
	operator string
	heap     string
	idle     time.Duration
	settle   time.Duration
}

func main() {
	var o options
	flag.IntVar(&o.networks, "networks", 500, "number of networks")
	flag.IntVar(&o.regions, "regions", 1, "number of regions of each network, 1 to 3")
	flag.StringVar(&o.operator, "operator", "", "plaza-operator program to measure; empty builds it from this tree")
	flag.DurationVar(&o.idle, "idle", 10*time.Minute, "how long to measure")
	flag.DurationVar(&o.settle, "settle", settle, "how long to wait before measuring")
	flag.StringVar(&o.heap, "heap", "", "file for a heap profile of the operator at the end")
	flag.Parse()
	ctrl.SetLogger(logr.Discard())
	ctx, cancel := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer cancel()
	if err := run(ctx, os.Stdout, o); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1) //nolint:gocritic // the signals stay registered until the program ends
	}
}

func run(ctx context.Context, out io.Writer, o options) (err error) {
	env, err := testenv.Start()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, env.Stop()) }()
	folder, err := os.MkdirTemp("", "plaza-operator-bench")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	op, err := startOperator(ctx, env, folder, o.operator)
	if err != nil {
		return err
	}
	defer op.end()
	cluster, err := newCluster(ctx, env)
	if err != nil {
		return err
	}
	defer cluster.end()
	began := time.Now()
	if err := cluster.make(ctx, o.networks, o.regions); err != nil {
		return err
	}
	if err := cluster.untilReady(ctx, o.networks); err != nil {
		return err
	}
	_, _ = fmt.Fprintf(out, "%d networks of %s were ready after %s\n", o.networks, count(o.regions, "region"), time.Since(began).Round(time.Second))
	if err := pause(ctx, o.settle); err != nil {
		return err
	}
	before, err := op.look(ctx, env)
	if err != nil {
		return err
	}
	if err := pause(ctx, o.idle); err != nil {
		return err
	}
	after, err := op.look(ctx, env)
	if err != nil {
		return err
	}
	if o.heap != "" {
		err = op.saveHeap(ctx, o.heap)
	}
	return errors.Join(err, report(out, o, before, after))
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

// build builds the program of this tree.
func build(ctx context.Context, folder string) (string, error) {
	program := filepath.Join(folder, "plaza-operator")
	building := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", program, "./controllers/cmd/plaza-operator")
	building.Dir, building.Stderr = testenv.Root(), os.Stderr
	if err := building.Run(); err != nil {
		return "", fmt.Errorf("building the operator: %w", err)
	}
	return program, nil
}

// startOperator starts the program.
func startOperator(ctx context.Context, env *testenv.Env, folder, program string) (_ *operator, err error) {
	if program == "" {
		if program, err = build(ctx, folder); err != nil {
			return nil, err
		}
	}
	user, err := env.AddUser(envtest.User{Name: "operator", Groups: []string{"system:masters"}})
	if err != nil {
		return nil, err
	}
	kubeconfig := filepath.Join(folder, "kubeconfig")
	if err := os.WriteFile(kubeconfig, user, 0o600); err != nil {
		return nil, err
	}
	port, err := freePort(ctx)
	if err != nil {
		return nil, err
	}
	profile, err := freePort(ctx)
	if err != nil {
		return nil, err
	}
	op := &operator{metrics: "http://127.0.0.1:" + strconv.Itoa(port) + "/metrics", heapProfile: "http://127.0.0.1:" + strconv.Itoa(profile) + "/debug/pprof/heap?gc=1"}
	op.process = exec.CommandContext(ctx, program, "--metrics-bind-address=127.0.0.1:"+strconv.Itoa(port),
		"--health-probe-bind-address=0", "--pprof-bind-address=127.0.0.1:"+strconv.Itoa(profile), "--platform-image=plaza.example/plaza:v1", "--namespace=default", "--log-level=warn", "--kube-api-qps=500")
	op.process.Env = append(os.Environ(), "KUBECONFIG="+kubeconfig)
	op.process.Stdout, op.process.Stderr = os.Stderr, os.Stderr
	if err := op.process.Start(); err != nil {
		return nil, fmt.Errorf("starting the operator: %w", err)
	}
	return op, nil
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(d):
		return nil
	}
}

// report prints the measurements. It returns an error if the operator wrote to the API server.
func report(out io.Writer, o options, before, after *sight) error {
	passes := after.passes - before.passes
	writes := after.writes - before.writes
	_, _ = fmt.Fprintf(out, "%-44s %12d\n", "networks, of "+count(o.regions, "region")+" each", o.networks)
	_, _ = fmt.Fprintf(out, "%-44s %12s\n", "idle", o.idle)
	_, _ = fmt.Fprintf(out, "%-44s %12.0f\n", "reconciles while idle", passes)
	_, _ = fmt.Fprintf(out, "%-44s %12.0f   (must be 0)\n", "writes to the API server while idle", writes)
	_, _ = fmt.Fprintf(out, "%-44s %12s\n", "p99 of a reconcile while idle", quantile(0.99, before.buckets, after.buckets))
	_, _ = fmt.Fprintf(out, "%-44s %9.1f MiB   (goal: below %d MiB)\n", "resident memory while idle", mib(after.resident), reach>>20)
	_, _ = fmt.Fprintf(out, "%-44s %9.1f MiB\n", "peak resident memory", mib(after.peak))
	_, _ = fmt.Fprintf(out, "%-44s %9.1f MiB\n", "heap in use", mib(after.heap))
	for _, what := range after.written(before) {
		_, _ = fmt.Fprintln(out, "  written:", what)
	}
	switch {
	case passes == 0:
		return errors.New("the operator did not reconcile at all")
	case writes > 0:
		return fmt.Errorf("%0.f writes while nothing changed", writes)
	}
	return nil
}

func mib(bytes float64) float64 { return bytes / (1 << 20) }
