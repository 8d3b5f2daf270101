//go:build alerts

package live_test

import (
	"net/http"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/controllers/monitoring"
	"github.com/plaza-social/plaza/controllers/monitoring/prometheus"
	"github.com/plaza-social/plaza/controllers/testenv"
	"github.com/plaza-social/plaza/platform/region"
)

// mayFindNothing are parts of queries of runbooks that find nothing in the network of the test, and why.
var mayFindNothing = map[string]string{
	"code='5xx'":              "no request fails",
	"plaza_placement_checked": "only CockroachDB has a placement",
}

// TestRunbookQueries runs the commands of the runbooks of alerts that ask Prometheus or the API. Each finds something, unless
// mayFindNothing has the reason. TestAlertRunbooks of controllers/acceptance runs the others.
func TestRunbookQueries(t *testing.T) {
	n := startNetwork(t)
	p := startPrometheus(t, monitoring.RuleFaster(n.rendered(), factor).Spec, n.targets)
	n.breakWebhook(t)
	values := n.runbookValues(t, p)
	ran := 0
	for _, command := range testenv.RunbookCommands(t) {
		if !command.Begins("promtool", "curl") {
			continue
		}
		ran++
		var printed string
		found := func() bool {
			out, err := exec.CommandContext(t.Context(), "bash", "-euo", "pipefail", "-c", values.Replace(command.Text)).CombinedOutput()
			require.NoError(t, err, "%s: %s: %s", command.Alert, command.Text, out)
			printed = strings.TrimSpace(string(out))
			return printed != "" && printed != "null"
		}
		if !found() && !isExcused(command.Text) {
			require.Eventually(t, found, patience, time.Second, "%s finds nothing: %s", command.Alert, command.Text)
		}
		require.NotContains(t, printed, `"status":"error"`, "%s: %s", command.Alert, command.Text)
		if strings.Contains(command.Text, "%{http_code}") {
			require.Regexp(t, "^200 ", printed)
		}
	}
	require.Greater(t, ran, 12)
}

func isExcused(command string) bool {
	for part := range mayFindNothing {
		if strings.Contains(command, part) {
			return true
		}
	}
	return false
}

// runbookValues replaces the variables and the addresses of commands.
func (o *observed) runbookValues(t *testing.T, p *server) *strings.Replacer {
	t.Helper()
	root, err := filepath.Abs("../../..")
	require.NoError(t, err)
	program, err := prometheus.Find(root)
	require.NoError(t, err)
	admin := o.Admin(region.EU)
	user := o.NewUser(t, region.EU, "mover")
	admin.Do(t, http.MethodPost, "/api/v4/users/"+user.UserID+"/move", map[string]any{"region": "us"}).OK(t)
	return strings.NewReplacer(
		"promtool ", filepath.Join(filepath.Dir(program), "promtool")+" ", "http://prometheus:9090", p.URL().String(), "https://$HOST",
		o.BaseURL(region.EU), "$URL", o.BaseURL(region.EU),
		"$NAMESPACE", "social", "$NETWORK", "acme", "$REGION", "eu", "$DBHOME", "eu", "$WEBHOOK", o.webhook, "$TOKEN", admin.Token, "$ADMIN",
		admin.Token,
		"$USER", user.UserID,
	)
}
