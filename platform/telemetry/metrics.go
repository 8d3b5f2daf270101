package telemetry

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/plaza-social/plaza/platform/region"
)

// Metrics is the metrics of one region's server. Each server has its own: three of them can share a process.
type Metrics struct {
	registry *prometheus.Registry
	labelled prometheus.Registerer
}

// NewMetrics returns a registry whose every metric carries the constant labels network and region, with the metrics of
// the Go runtime, the process and the build in it.
func NewMetrics(network string, home region.Code) *Metrics {
	registry := prometheus.NewRegistry()
	labels := prometheus.Labels{"network": network, "region": home.String()}
	m := &Metrics{registry: registry, labelled: prometheus.WrapRegistererWith(labels, registry)}
	m.labelled.MustRegister(
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		newBuildCollector(BuildInfo()),
	)
	return m
}

// Registerer is where the server's packages register their metrics; the labels network and region are added.
func (m *Metrics) Registerer() prometheus.Registerer { return m.labelled }

// Gatherer reads every registered metric.
func (m *Metrics) Gatherer() prometheus.Gatherer { return m.registry }

// Handler serves the metrics in the formats Prometheus reads.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{Registry: m.labelled, EnableOpenMetrics: true})
}

func newBuildCollector(b Build) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "plaza_build_info",
		Help: "Always 1; the labels tell which build of plaza is running.",
		ConstLabels: prometheus.Labels{
			"version": b.Version, "revision": b.Revision, "go_version": b.GoVersion,
		},
	}, func() float64 { return 1 })
}
