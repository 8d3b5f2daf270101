//go:build alerts || ui || observe

package live_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"

	"github.com/plaza-social/plaza/controllers/render"
)

// t0 is a time that is far away, at which certificates end.
var t0 = time.Now().Add(365 * 24 * time.Hour)

// hosts takes the place of a blackbox exporter, whose metrics have these names and this meaning.
type hosts struct {
	*httptest.Server

	mu   sync.Mutex
	down []string
	ends time.Time
}

func newHosts(t *testing.T) *hosts {
	t.Helper()
	h := &hosts{ends: t0}
	h.Server = httptest.NewServer(http.HandlerFunc(h.probe))
	t.Cleanup(h.Close)
	return h
}

// set sets the end of the certificates and the hosts that do not respond.
func (h *hosts) set(ends time.Time, down ...string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ends, h.down = ends, down
}

func (h *hosts) probe(w http.ResponseWriter, request *http.Request) {
	target, err := url.Parse(request.URL.Query().Get("target"))
	if err != nil || request.URL.Query().Get("module") != "http_2xx" {
		http.Error(w, "no target or another module", http.StatusBadRequest)
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	success := 1
	if slices.Contains(h.down, target.Host) {
		success = 0
	}
	_, _ = fmt.Fprintf(w, "probe_success %d\nprobe_ssl_earliest_cert_expiry %d\n", success, h.ends.Unix())
}

// scraped returns the scrape configuration that the Prometheus operator derives from the Probes of a network.
func (h *hosts) scraped(n render.Network) map[string]any {
	type object = map[string]any
	var groups, renamed []object
	for _, each := range render.Probes(n) {
		probe := each.(*monitoringv1.Probe)
		labels := object{"namespace": n.TargetNamespace(), "job": probe.Spec.JobName}
		for name, value := range probe.Spec.Targets.StaticConfig.Labels {
			labels[name] = value
		}
		groups = append(groups, object{"targets": probe.Spec.Targets.StaticConfig.Targets, "labels": labels})
		renamed = nil
		for _, r := range probe.Spec.MetricRelabelConfigs {
			renamed = append(renamed, object{"source_labels": r.SourceLabels, "target_label": r.TargetLabel, "action": r.Action})
		}
	}
	return object{
		"job_name": "probes", "metrics_path": "/probe", "params": object{"module": []string{"http_2xx"}}, "static_configs": groups,
		"metric_relabel_configs": renamed,
		"relabel_configs": []object{
			{"source_labels": []string{"__address__"}, "target_label": "__param_target"},
			{"source_labels": []string{"__param_target"}, "target_label": "instance"},
			{"target_label": "__address__", "replacement": strings.TrimPrefix(h.URL, "http://")},
		},
	}
}
