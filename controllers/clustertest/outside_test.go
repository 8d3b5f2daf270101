//go:build cluster

package clustertest

import (
	"os"
	"os/exec"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// phasesOutside are the phases of TestPortForward.
var phasesOutside = []phase{
	{"a fresh network becomes ready by itself", (*suite).fresh},
	{"each region serves", (*suite).serves},
	{"every server runs the settings", (*suite).configure},
	{"nothing is lost", (*suite).stopTraffic},
}

// TestPortForward runs phases where only the API server can be reached, like a test on a machine whose containers run in a virtual
// machine. If this machine has a route to Services and pods, the test runs this program again in a network without one.
func TestPortForward(t *testing.T) {
	if os.Getenv("CLUSTER_MEMBERS") != "" {
		t.Skip("each region has a cluster; see TestThreeClusters")
	}
	if !forwarded() {
		inside(t)
		return
	}
	s := open(t)
	s.install(t)
	s.runPhases(t, phasesOutside)
}

// inside runs this test with `outside` of the program of hack/cluster, which sets CLUSTER_ROUTE and CLUSTER_DATABASE_URL.
func inside(t *testing.T) {
	t.Helper()
	self, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), program(t), "outside", self, "-test.v", "-test.count=1", "-test.run=^"+t.Name()+"$")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.Cancel, cmd.WaitDelay = func() error { return cmd.Process.Signal(os.Interrupt) }, 10*time.Second
	require.NoError(t, cmd.Run())
}

// configure edits settings and waiting times of the network, and asks every server for the settings.
func (s *suite) configure(t *testing.T) {
	t.Helper()
	s.edit(t, quick)
	s.moderate(t)
}

// stopTraffic stops the writers, and reads what they wrote.
func (s *suite) stopTraffic(t *testing.T) {
	t.Helper()
	close(s.traffic.ended)
	s.traffic.wait.Wait()
	s.nothingFailed(t)
	s.nothingLost(t)
}
