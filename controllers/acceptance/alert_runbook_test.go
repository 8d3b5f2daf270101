package acceptance

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/controllers/testenv"
)

// needsMore are parts of commands of runbooks that cannot run here, and why. Commands that begin with promtool or curl are run by
// TestRunbookQueries in monitoring/live.
var needsMore = map[string]string{
	" logs ":                 "the pods of this API server have no containers",
	" top pods ":             "the metrics server is not installed",
	"amtool ":                "needs an Alertmanager",
	"control ":               "forwards a port of a pod that runs; clustertest calls servers like this",
	"cockroach sql":          "needs CockroachDB",
	"openssl s_client":       "needs a public host",
	"kubectl get prometheus": "the CRD of Prometheus objects is not installed",
}

// TestAlertRunbooks runs the commands of the runbooks of alerts in a network: each succeeds and prints something.
func TestAlertRunbooks(t *testing.T) {
	o := prepare(t)
	o.leads = true
	o.run()
	t.Cleanup(o.end)
	sn := withHooks(t)
	sn.Spec.Monitoring.ServiceMonitor = true
	o.up(sn)
	script, skipped := &strings.Builder{}, map[string]bool{}
	script.WriteString("cd " + t.TempDir() + "\n")
	for _, command := range testenv.RunbookCommands(t) {
		switch reason := whyNot(command); {
		case reason != "":
			skipped[reason] = true
		case !command.Begins("promtool", "curl"):
			require.True(t, command.Begins("kubectl", "date"), "neither run nor excused: %s", command)
			script.WriteString(checked(command))
		}
	}
	require.Len(t, skipped, len(needsMore), "a reason without a command")
	o.shell(script.String(), "NAMESPACE="+o.namespace, "NETWORK="+sn.Name, "REGION=eu", "SECRET="+sn.Name+"-eu-control")()
}

// whyNot returns the part of needsMore in a command, or "".
func whyNot(command testenv.RunbookCommand) string {
	for part := range needsMore {
		if strings.Contains(command.Text, part) {
			return part
		}
	}
	return ""
}

// mayPrintNothing are parts of commands that print nothing about a network in which everything is well.
var mayPrintNothing = []string{
	"get ingress", ".status.webhooks", "get endpointslices", "get nodes", ".status.pendingChanges",
	"get pods -A",
}

// checked returns a script that fails if a command fails, or prints neither a line nor more than null.
func checked(command testenv.RunbookCommand) string {
	text := "cat >command <<'END'\n" + command.Text + "\nEND\n" +
		"bash -euo pipefail ./command >printed 2>errors || { echo " + command.Alert + " failed; cat command errors; exit 1; }\n" +
		"if grep -q 'No resources found\\|not found' errors"
	for _, part := range mayPrintNothing {
		if strings.Contains(command.Text, part) {
			return text + "; then :; fi\n"
		}
	}
	return text + " || ! grep -qv '^null$' printed; then echo " + command.Alert + " prints nothing; cat command errors; exit 1; fi\n"
}
