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
//
// A network of three regions has some sixty of them, so they are made when somebody asks, from the little that is kept of
// each network.
type Metrics struct {
	condition, region, paused, rotation, schema, attempts, observed *prometheus.Desc

	mu       sync.Mutex
	networks map[types.NamespacedName]told
}

// told is what is kept of a network.
type told struct {
	conditions []toldCondition
	paused     bool
	rotation   time.Time // zero for keys that a person brings
	schema     v1alpha1.SchemaStatus
	observed   time.Time
}

// toldCondition is a condition of a network, or of one of its regions.
type toldCondition struct {
	region v1alpha1.RegionCode
	kind   string
	status metav1.ConditionStatus
}

// NewMetrics registers the metrics.
func NewMetrics(registerer prometheus.Registerer) *Metrics {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, append([]string{"namespace", "network"}, labels...), nil)
	}
	m := &Metrics{
		condition: desc("plaza_operator_condition", "1 for the status (True, False, Unknown) that a condition of the network has, 0 for the others.", "type", "status"),
		region:    desc("plaza_operator_region_condition", "The same for a condition of one region.", "region", "type", "status"),
		paused:    desc("plaza_operator_paused", "Whether the network is paused: 0 or 1."),
		rotation:  desc("plaza_operator_key_rotation_due_timestamp_seconds", "When the server keys are to be rotated next; absent for keys that a person brings."),
		schema:    desc("plaza_operator_schema_version", "Schema of the database, and the one that the image needs (kind current or target).", "kind"),
		attempts:  desc("plaza_operator_migration_attempts", "Attempts to migrate the database to the present target."),
		observed:  desc("plaza_operator_observed_timestamp_seconds", "When the operator last went through the network."),
		networks:  map[types.NamespacedName]told{},
	}
	registerer.MustRegister(m)
	return m
}

// Observe takes over what a pass came to.
func (m *Metrics) Observe(sn *v1alpha1.SocialNetwork, status *v1alpha1.SocialNetworkStatus, now time.Time) {
	if m == nil {
		return
	}
	t := told{paused: sn.Spec.Paused, schema: status.Schema, observed: now}
	if next := status.ServerKeys.NextRotation; next != nil {
		t.rotation = next.Time
	}
	t.add("", status.Conditions)
	for _, region := range status.Regions {
		t.add(region.Code, region.Conditions)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.networks[types.NamespacedName{Namespace: sn.Namespace, Name: sn.Name}] = t
}

func (t *told) add(region v1alpha1.RegionCode, conditions []metav1.Condition) {
	for _, c := range conditions {
		t.conditions = append(t.conditions, toldCondition{region, c.Type, c.Status})
	}
}

// Forget removes what was told of a network that is gone.
func (m *Metrics) Forget(key types.NamespacedName) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.networks, key)
}

// Describe is part of prometheus.Collector.
func (m *Metrics) Describe(descs chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{m.condition, m.region, m.paused, m.rotation, m.schema, m.attempts, m.observed} {
		descs <- desc
	}
}

// Collect is part of prometheus.Collector.
func (m *Metrics) Collect(metrics chan<- prometheus.Metric) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for key, t := range m.networks {
		m.collect(t, func(desc *prometheus.Desc, value float64, labels ...string) {
			metrics <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, append([]string{key.Namespace, key.Name}, labels...)...)
		})
	}
}

var statuses = []metav1.ConditionStatus{metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionUnknown}

func (m *Metrics) collect(t told, tell func(desc *prometheus.Desc, value float64, labels ...string)) {
	for _, c := range t.conditions {
		for _, s := range statuses {
			if c.region == "" {
				tell(m.condition, oneIf(c.status == s), c.kind, string(s))
			} else {
				tell(m.region, oneIf(c.status == s), string(c.region), c.kind, string(s))
			}
		}
	}
	tell(m.paused, oneIf(t.paused))
	tell(m.attempts, float64(t.schema.Attempts))
	tell(m.observed, float64(t.observed.Unix()))
	if !t.rotation.IsZero() {
		tell(m.rotation, float64(t.rotation.Unix()))
	}
	for kind, text := range map[string]string{"current": t.schema.Current, "target": t.schema.Target} {
		if version, err := strconv.ParseFloat(text, 64); err == nil {
			tell(m.schema, version, kind)
		}
	}
}

func oneIf(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
