//go:build attacks

package hostile

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"text/tabwriter"

	"github.com/stretchr/testify/require"
)

// TestAttacks runs all attacks on one network with all defences, and each of them on a network of its own without its defence. It logs
// a table of the costs.
func TestAttacks(t *testing.T) {
	binary := build(t)
	n, err := startNetwork(t.Context(), binary)
	require.NoError(t, err)
	var rows strings.Builder
	table := tabwriter.NewWriter(&rows, 0, 0, 2, ' ', 0)
	fmt.Fprintln(table, "attack\tunit\tat most\tcost\tof control\tthe control\tverdict")
	for _, a := range attacks() {
		t.Run(a.name, func(t *testing.T) {
			o := outcome{attack: a}
			o.cost = o.measure(t.Context(), n)
			o.undefended(t, binary)
			verdict := "ok"
			if o.verdict() != nil {
				verdict = "FAILED"
			}
			fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\t%s\n",
				o.name, o.unit, short(o.most), short(o.cost), short(o.controlCost), o.control(), verdict)
			require.NoError(t, o.verdict())
		})
	}
	require.NoError(t, n.stop(t.Context()))
	require.NoError(t, table.Flush())
	t.Log("\n" + rows.String())
}

// undefended runs the attack on a network without the defence.
func (o *outcome) undefended(t *testing.T, binary string) {
	t.Helper()
	settings := o.settings
	if o.without != "" {
		settings = append(settings, "HOSTILE_OFF="+string(o.without))
	}
	n, err := startNetwork(t.Context(), binary, settings...)
	require.NoError(t, err)
	o.controlCost = o.measure(t.Context(), n)
	require.NoError(t, n.stop(t.Context()))
}

// build builds the program plaza with switches for its defences.
func build(t *testing.T) string {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "plaza")
	cmd := exec.CommandContext(t.Context(), "go", "build", "-tags", "disable_grpc_modules,hostile", "-o", binary, "../cmd/plaza")
	output, err := cmd.CombinedOutput()
	require.NoError(t, err, "go build: %s", output)
	return binary
}
