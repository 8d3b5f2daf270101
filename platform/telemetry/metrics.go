package telemetry

import (
	"net/http"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/plaza-social/plaza/platform/region"
)

// Metrics holds the metrics of one region's server. Servers do not share it, because three can run in one process.
type Metrics struct {
	registry *prometheus.Registry
	labelled prometheus.Registerer
}

// NewMetrics returns metrics that all carry the constant labels network and region. They include those of the Go
// runtime, the process and the build.
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

// Registerer returns the registerer for the server's packages. It adds the labels network and region.
func (m *Metrics) Registerer() prometheus.Registerer { return m.labelled }

// Gatherer returns a gatherer of all registered metrics.
func (m *Metrics) Gatherer() prometheus.Gatherer { return m.registry }

// Handler returns an HTTP handler that serves the metrics to Prometheus.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{Registry: m.labelled, EnableOpenMetrics: true})
}

func newBuildCollector(b Build) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "plaza_build_info",
		Help: "Always 1; the labels identify the running build of plaza.",
		ConstLabels: prometheus.Labels{
			"version": b.Version, "revision": b.Revision, "go_version": b.GoVersion,
		},
	}, func() float64 { return 1 })
}
