package controllers

import (
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/plaza-social/plaza/api/v1alpha1"
)

// Metrics tell of every network what its conditions tell. Their labels are the network's namespace and name, and the region.
type Metrics struct {
	condition *prometheus.GaugeVec
	region    *prometheus.GaugeVec
	paused    *prometheus.GaugeVec
	rotation  *prometheus.GaugeVec
	schema    *prometheus.GaugeVec
	attempts  *prometheus.GaugeVec
	observed  *prometheus.GaugeVec

	mu sync.Mutex
}

var networkLabels = []string{"namespace", "network"}

// NewMetrics registers the metrics.
func NewMetrics(registerer prometheus.Registerer) *Metrics {
	gauge := func(name, help string, labels ...string) *prometheus.GaugeVec {
		vec := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, append(networkLabels[:2:2], labels...))
		registerer.MustRegister(vec)
		return vec
	}
	return &Metrics{
		condition: gauge("plaza_operator_condition", "1 for the status (True, False, Unknown) that a condition of the network has, 0 for the others.", "type", "status"),
		region:    gauge("plaza_operator_region_condition", "The same for a condition of one region.", "region", "type", "status"),
		paused:    gauge("plaza_operator_paused", "Whether the network is paused: 0 or 1."),
		rotation:  gauge("plaza_operator_key_rotation_due_timestamp_seconds", "When the server keys are to be rotated next; absent for keys that a person brings."),
		schema:    gauge("plaza_operator_schema_version", "Schema of the database, and the one that the image needs (kind current or target).", "kind"),
		attempts:  gauge("plaza_operator_migration_attempts", "Attempts to migrate the database to the present target."),
		observed:  gauge("plaza_operator_observed_timestamp_seconds", "When the operator last went through the network."),
	}
}

var statuses = []metav1.ConditionStatus{metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionUnknown}

// Observe takes over what a pass came to.
func (m *Metrics) Observe(sn *v1alpha1.SocialNetwork, status *v1alpha1.SocialNetworkStatus, now time.Time) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.forgetParts(sn.Namespace, sn.Name)
	name := []string{sn.Namespace, sn.Name}
	for _, c := range status.Conditions {
		for _, s := range statuses {
			m.condition.WithLabelValues(append(name[:2:2], c.Type, string(s))...).Set(oneIf(c.Status == s))
		}
	}
	for _, region := range status.Regions {
		for _, c := range region.Conditions {
			for _, s := range statuses {
				m.region.WithLabelValues(append(name[:2:2], string(region.Code), c.Type, string(s))...).Set(oneIf(c.Status == s))
			}
		}
	}
	m.paused.WithLabelValues(name...).Set(oneIf(sn.Spec.Paused))
	m.attempts.WithLabelValues(name...).Set(float64(status.Schema.Attempts))
	m.observed.WithLabelValues(name...).Set(float64(now.Unix()))
	if next := status.ServerKeys.NextRotation; next != nil {
		m.rotation.WithLabelValues(name...).Set(float64(next.Unix()))
	}
	for kind, text := range map[string]string{"current": status.Schema.Current, "target": status.Schema.Target} {
		if version, err := strconv.ParseFloat(text, 64); err == nil {
			m.schema.WithLabelValues(append(name[:2:2], kind)...).Set(version)
		}
	}
}

// Forget removes what was told of a network that is gone.
func (m *Metrics) Forget(key types.NamespacedName) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.forgetParts(key.Namespace, key.Name)
	labels := prometheus.Labels{"namespace": key.Namespace, "network": key.Name}
	for _, vec := range []*prometheus.GaugeVec{m.paused, m.attempts, m.observed} {
		vec.DeletePartialMatch(labels)
	}
}

// forgetParts removes what may be absent the next time.
func (m *Metrics) forgetParts(namespace, name string) {
	labels := prometheus.Labels{"namespace": namespace, "network": name}
	for _, vec := range []*prometheus.GaugeVec{m.condition, m.region, m.rotation, m.schema} {
		vec.DeletePartialMatch(labels)
	}
}

func oneIf(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
