package live_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// patience is how long a test waits for a result on a busy machine.
const patience = 2 * time.Minute

// target is what Prometheus scrapes, with the labels of the scrape.
type target struct {
	address string
	labels  map[string]string
}

// startPrometheus runs a Prometheus with rules until the test ends. It scrapes and evaluates every second.
func startPrometheus(t *testing.T, rules any, targets []target) *prometheus {
	t.Helper()
	dir := t.TempDir()
	write := func(name string, content any) string {
		text, err := yaml.Marshal(content)
		require.NoError(t, err)
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, text, 0o600))
		return path
	}
	type object = map[string]any
	var groups []object
	for _, scraped := range targets {
		groups = append(groups, object{"targets": []string{scraped.address}, "labels": scraped.labels})
	}
	config := write("prometheus.yaml", object{
		"global":         object{"scrape_interval": "1s", "scrape_timeout": "1s", "evaluation_interval": "1s"},
		"rule_files":     []string{write("rules.yaml", rules)},
		"scrape_configs": []object{{"job_name": "plaza", "honor_labels": false, "static_configs": groups}},
	})
	p := &prometheus{address: freeAddress(t)}
	program, err := filepath.Abs("../../../bin/tools/prometheus")
	require.NoError(t, err)
	if named := os.Getenv("PROMETHEUS"); named != "" {
		program = named
	}
	if _, err := os.Stat(program); err != nil {
		program = "prometheus"
	}
	_, err = exec.LookPath(program)
	require.NoError(t, err, "this test needs Prometheus: run hack/ensure-prometheus.sh, or set PROMETHEUS to its path")
	command := exec.CommandContext(t.Context(), program, "--config.file="+config, "--storage.tsdb.path="+filepath.Join(dir, "data"), "--web.listen-address="+p.address)
	var output bytes.Buffer
	command.Stdout, command.Stderr = &output, &output
	require.NoError(t, command.Start())
	t.Cleanup(func() {
		_ = command.Process.Kill()
		_ = command.Wait()
		if t.Failed() {
			t.Log(output.String())
		}
	})
	p.awaitUp(t, len(targets))
	return p
}

// prometheus is a running Prometheus.
type prometheus struct{ address string }

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = l.Close() }()
	return l.Addr().String()
}

// awaitUp waits until all targets were scraped.
func (p *prometheus) awaitUp(t *testing.T, targets int) {
	t.Helper()
	require.Eventually(t, func() bool {
		found, err := p.query(t, fmt.Sprintf("count(up == 1) == %d", targets))
		return err == nil && len(found) == 1
	}, patience, 100*time.Millisecond)
}

// sample is one series of the result of a query, with its value as text.
type sample struct {
	Metric map[string]string `json:"metric"`
	Value  [2]any            `json:"value"`
}

// query evaluates an expression now.
func (p *prometheus) query(t *testing.T, expr string) ([]sample, error) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, "http://"+p.address+"/api/v1/query?query="+url.QueryEscape(expr), nil)
	require.NoError(t, err)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	var answer struct {
		Status string
		Error  string
		Data   struct {
			Result []sample
		}
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return nil, err
	}
	if answer.Status != "success" {
		return nil, fmt.Errorf("query %s: %s", expr, answer.Error)
	}
	return answer.Data.Result, nil
}

// firing returns how many alerts of a name fire.
func (p *prometheus) firing(t *testing.T, alert string) int {
	t.Helper()
	found, err := p.query(t, fmt.Sprintf(`ALERTS{alertname=%q,alertstate="firing"}`, alert))
	require.NoError(t, err)
	return len(found)
}
