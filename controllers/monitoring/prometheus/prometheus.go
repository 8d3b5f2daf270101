// Package prometheus runs a Prometheus on this machine that scrapes given targets and evaluates given rules, for tests.
package prometheus

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"sigs.k8s.io/yaml"
)

// Target is what Prometheus scrapes, with the labels of the scrape.
type Target struct {
	Address string
	Labels  map[string]string
}

// Options configures Start.
type Options struct {
	// Program is the path of Prometheus.
	Program string
	// Dir is an existing directory for its files.
	Dir string
	// Rules is the content of a rule file, such as the spec of a PrometheusRule.
	Rules any
	// Targets are scraped at /metrics, and keep their labels.
	Targets []Target
	// More are further scrape configurations.
	More []map[string]any
	// Interval is that of scrapes and of evaluations.
	Interval time.Duration
}

// Server is a running Prometheus.
type Server struct {
	address string
	command *exec.Cmd
	output  bytes.Buffer
	client  http.Client
}

// Start runs a Prometheus until ctx ends or Stop is called.
func Start(ctx context.Context, o Options) (*Server, error) {
	config, err := o.write()
	if err != nil {
		return nil, err
	}
	address, err := freeAddress(ctx)
	if err != nil {
		return nil, err
	}
	s := &Server{address: address, client: http.Client{Timeout: 10 * time.Second}}
	s.command = exec.CommandContext(ctx, o.Program, "--config.file="+config, "--storage.tsdb.path="+filepath.Join(o.Dir, "data"),
		"--web.listen-address="+address)
	s.command.Stdout, s.command.Stderr = &s.output, &s.output
	return s, s.command.Start()
}

// write writes the configuration and returns its path.
func (o *Options) write() (string, error) {
	type object = map[string]any
	var groups []object
	for _, scraped := range o.Targets {
		groups = append(groups, object{"targets": []string{scraped.Address}, "labels": scraped.Labels})
	}
	rules, err := o.writeFile("rules.yaml", o.Rules)
	if err != nil {
		return "", err
	}
	interval := o.Interval.String()
	return o.writeFile("prometheus.yaml", object{
		"global":     object{"scrape_interval": interval, "scrape_timeout": interval, "evaluation_interval": interval},
		"rule_files": []string{rules},
		"scrape_configs": append([]object{
			{"job_name": "plaza", "honor_labels": false, "static_configs": groups},
		}, o.More...),
	})
}

func (o *Options) writeFile(name string, content any) (string, error) {
	text, err := yaml.Marshal(content)
	if err != nil {
		return "", err
	}
	path := filepath.Join(o.Dir, name)
	return path, os.WriteFile(path, text, 0o600)
}

func freeAddress(ctx context.Context) (string, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// Stop ends the program and waits for it.
func (s *Server) Stop() {
	_ = s.command.Process.Kill()
	_ = s.command.Wait()
}

// Output returns what the program has logged. It must have ended.
func (s *Server) Output() string { return s.output.String() }

// URL returns the address of the API.
func (s *Server) URL() *url.URL { return &url.URL{Scheme: "http", Host: s.address} }

// Sample is one series of the result of a query, with its time and its value as text.
type Sample struct {
	Metric map[string]string `json:"metric"`
	Value  [2]any            `json:"value"`
}

// Query evaluates an expression now.
func (s *Server) Query(ctx context.Context, expr string) ([]Sample, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, s.URL().String()+"/api/v1/query?query="+url.QueryEscape(expr), nil)
	if err != nil {
		return nil, err
	}
	response, err := s.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = response.Body.Close() }()
	var answer struct {
		Status string `json:"status"`
		Error  string `json:"error"`
		Data   struct {
			Result []Sample `json:"result"`
		} `json:"data"`
	}
	if err := json.NewDecoder(response.Body).Decode(&answer); err != nil {
		return nil, err
	}
	if answer.Status != "success" {
		return nil, fmt.Errorf("query %s: %s", expr, answer.Error)
	}
	return answer.Data.Result, nil
}

// Firing returns the labels of the alerts that fire.
func (s *Server) Firing(ctx context.Context) ([]map[string]string, error) {
	found, err := s.Query(ctx, `ALERTS{alertstate="firing"}`)
	var all []map[string]string
	for _, sample := range found {
		all = append(all, sample.Metric)
	}
	return all, err
}

// Find returns the path of Prometheus: the program that PROMETHEUS names, that of hack/ensure-prometheus.sh below the root of the
// repository, or one in PATH.
func Find(root string) (string, error) {
	if named := os.Getenv("PROMETHEUS"); named != "" {
		return exec.LookPath(named)
	}
	if built := filepath.Join(root, "bin", "tools", "prometheus"); isFile(built) {
		return built, nil
	}
	if found, err := exec.LookPath("prometheus"); err == nil {
		return found, nil
	}
	return "", errors.New("no Prometheus found: run hack/ensure-prometheus.sh, or set PROMETHEUS to its path")
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}
