//go:build bench

// Package bench measures the operator with many idle networks: the real program, as a separate process, against a real
// API server. It creates the pods itself, all with the address of one fake server. `make bench-operator` runs it.
package bench

import (
	"flag"
	"fmt"
	"strconv"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/require"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/plaza-social/plaza/controllers/testenv"
)

// reach is the intended limit of the operator's memory.
const reach = 150 << 20

var (
	networks = flag.Int("networks", 500, "number of networks")
	regions  = flag.Int("regions", 1, "number of regions of each network, 1 to 3")
	program  = flag.String("operator", "", "plaza-operator program to measure; empty builds it from this tree")
	idle     = flag.Duration("idle", 10*time.Minute, "how long to measure")
	settle   = flag.Duration("settle", 75*time.Second, "how long to wait before measuring: longer than a soak and a resync")
	heap     = flag.String("heap", "", "file for a heap profile of the operator at the end")
)

// TestIdleNetworks checks that the operator writes nothing while nothing changes, and prints what that costs.
func TestIdleNetworks(t *testing.T) {
	ctrl.SetLogger(logr.Discard())
	env, err := testenv.Start()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, env.Stop()) })
	op, cluster := startOperator(t, env), newCluster(t, env)
	began := time.Now()
	cluster.make(*networks, *regions)
	cluster.untilReady(*networks)
	fmt.Fprintf(t.Output(), "%d networks of %s were ready after %s\n", *networks, count(*regions, "region"),
		time.Since(began).Round(time.Second))
	pause(t, *settle)
	before := op.look(env)
	pause(t, *idle)
	after := op.look(env)
	if *heap != "" {
		op.saveHeap(*heap)
	}
	report(t, before, after)
}

func count(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return strconv.Itoa(n) + " " + what + "s"
}

func pause(t *testing.T, d time.Duration) {
	t.Helper()
	select {
	case <-t.Context().Done():
		require.NoError(t, t.Context().Err())
	case <-time.After(d):
	}
}

// report prints the measurements. The operator must not have written to the API server.
func report(t *testing.T, before, after *sight) {
	t.Helper()
	out, passes, writes := t.Output(), after.passes-before.passes, after.writes-before.writes
	fmt.Fprintf(out, "%-44s %12d\n", "networks, of "+count(*regions, "region")+" each", *networks)
	fmt.Fprintf(out, "%-44s %12s\n", "idle", *idle)
	fmt.Fprintf(out, "%-44s %12.0f\n", "reconciles while idle", passes)
	fmt.Fprintf(out, "%-44s %12.0f   (must be 0)\n", "writes to the API server while idle", writes)
	fmt.Fprintf(out, "%-44s %12s\n", "p99 of a reconcile while idle", quantile(0.99, before.buckets, after.buckets))
	fmt.Fprintf(out, "%-44s %9.1f MiB   (goal: below %d MiB)\n", "resident memory while idle", mib(after.resident), reach>>20)
	fmt.Fprintf(out, "%-44s %9.1f MiB\n", "peak resident memory", mib(after.peak))
	fmt.Fprintf(out, "%-44s %9.1f MiB\n", "heap in use", mib(after.heap))
	for _, what := range after.written(before) {
		fmt.Fprintln(out, "  written:", what)
	}
	require.NotZero(t, passes, "the operator reconciles")
	require.Zero(t, writes, "nothing changes")
}

func mib(bytes float64) float64 { return bytes / (1 << 20) }
