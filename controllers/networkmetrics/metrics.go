// Package networkmetrics exports the state of networks as metrics of the operator.
package networkmetrics

import (
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/plaza-social/plaza/api/v1alpha1"
)

// Metrics exports the conditions and the status of every network, labelled with its namespace and name.
//
// A network with three regions has about sixty series. They are computed when they are collected, from a small snapshot
// of each network.
type Metrics struct {
	condition, region, paused, rotation, missing, certificates, backup, overdue, schema, attempts, observed *prometheus.Desc

	mu       sync.Mutex
	networks map[types.NamespacedName]snapshot
}

// snapshot is the exported state of a network.
type snapshot struct {
	conditions []conditionStatus
	paused     bool
	rotation   time.Time // zero for keys that a user provides
	missing    int       // number of Secrets whose keys were lost
	// certificates is when the first certificate of control calls ends; zero while there are none.
	certificates time.Time
	// backup is when the last successful backup ended, overdue when the next must have; zero if that is not known.
	backup, overdue time.Time
	schema          v1alpha1.SchemaStatus
	observed        time.Time
}

// conditionStatus is the status of a condition of a network or of one of its regions.
type conditionStatus struct {
	region v1alpha1.RegionCode
	kind   string
	status metav1.ConditionStatus
}

// New returns metrics that are registered with registerer.
func New(registerer prometheus.Registerer) *Metrics {
	desc := func(name, help string, labels ...string) *prometheus.Desc {
		return prometheus.NewDesc(name, help, append([]string{"namespace", "network"}, labels...), nil)
	}
	m := &Metrics{
		condition: desc("plaza_operator_condition",
			"Status of a condition of the network: 1 for its current status (True, False or Unknown), 0 for the others.", "type", "status"),
		region: desc("plaza_operator_region_condition",
			"Status of a condition of a region: 1 for its current status (True, False or Unknown), 0 for the others.", "region", "type", "status"),
		paused: desc("plaza_operator_paused", "1 if the network is paused, otherwise 0."),
		rotation: desc("plaza_operator_key_rotation_due_timestamp_seconds",
			"Time at which the next rotation of the server keys is due; absent for keys that a user provides."),
		missing: desc("plaza_operator_missing_keys", "Number of Secrets whose keys were lost, of which no copy is left."),
		certificates: desc("plaza_operator_control_certificate_not_after_timestamp_seconds",
			"End of the first certificate of control calls that ends: of the authority, the operator or a region."),
		backup: desc("plaza_operator_backup_last_success_timestamp_seconds",
			"End of the newest successful backup of the database; absent while none is known."),
		overdue: desc("plaza_operator_backup_overdue_timestamp_seconds",
			"Time at which the next backup must have succeeded; absent without spec.backup, and on PostgreSQL."),
		schema: desc("plaza_operator_schema_version",
			"Schema version that the database has (kind=current) and that the image needs (kind=target).", "kind"),
		attempts: desc("plaza_operator_migration_attempts", "Number of attempts to migrate the database to the current target."),
		observed: desc("plaza_operator_observed_timestamp_seconds", "Time of the last completed reconcile of the network."),
		networks: map[types.NamespacedName]snapshot{},
	}
	registerer.MustRegister(m)
	return m
}

// Observe stores the result of a reconcile.
func (m *Metrics) Observe(sn *v1alpha1.SocialNetwork, status *v1alpha1.SocialNetworkStatus, now time.Time) {
	if m == nil {
		return
	}
	t := snapshot{paused: sn.Spec.Paused, schema: status.Schema, observed: now}
	t.missing = len(status.MissingKeys)
	t.rotation, t.certificates = timeOf(status.ServerKeys.NextRotation), timeOf(status.Control.CertificatesNotAfter)
	if backup := status.Backup; backup != nil {
		t.backup, t.overdue = timeOf(backup.LastSuccess), timeOf(backup.OverdueAt)
	}
	t.add("", status.Conditions)
	for _, region := range status.Regions {
		t.add(region.Code, region.Conditions)
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.networks[types.NamespacedName{Namespace: sn.Namespace, Name: sn.Name}] = t
}

func (t *snapshot) add(region v1alpha1.RegionCode, conditions []metav1.Condition) {
	for _, c := range conditions {
		t.conditions = append(t.conditions, conditionStatus{region, c.Type, c.Status})
	}
}

// Forget removes a deleted network.
func (m *Metrics) Forget(key types.NamespacedName) {
	if m == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.networks, key)
}

// Describe implements prometheus.Collector.
func (m *Metrics) Describe(descs chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{
		m.condition, m.region, m.paused, m.rotation, m.missing, m.certificates, m.backup, m.overdue,
		m.schema, m.attempts, m.observed,
	} {
		descs <- desc
	}
}

// Collect implements prometheus.Collector.
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

func (m *Metrics) collect(t snapshot, emit func(desc *prometheus.Desc, value float64, labels ...string)) {
	for _, c := range t.conditions {
		for _, s := range statuses {
			if c.region == "" {
				emit(m.condition, oneIf(c.status == s), c.kind, string(s))
			} else {
				emit(m.region, oneIf(c.status == s), string(c.region), c.kind, string(s))
			}
		}
	}
	emit(m.paused, oneIf(t.paused))
	emit(m.missing, float64(t.missing))
	emit(m.attempts, float64(t.schema.Attempts))
	emit(m.observed, float64(t.observed.Unix()))
	for desc, at := range map[*prometheus.Desc]time.Time{
		m.rotation: t.rotation, m.certificates: t.certificates, m.backup: t.backup,
		m.overdue: t.overdue,
	} {
		if !at.IsZero() {
			emit(desc, float64(at.Unix()))
		}
	}
	for kind, text := range map[string]string{"current": t.schema.Current, "target": t.schema.Target} {
		if version, err := strconv.ParseFloat(text, 64); err == nil {
			emit(m.schema, version, kind)
		}
	}
}

// timeOf returns the time, or the zero time if there is none.
func timeOf(at *metav1.Time) time.Time {
	if at == nil {
		return time.Time{}
	}
	return at.Time
}

func oneIf(is bool) float64 {
	if is {
		return 1
	}
	return 0
}
