package telemetry

import (
	"slices"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/plaza-social/plaza/platform/statusz"
)

// Snapshot is the state of a server at the time of a scrape.
type Snapshot struct {
	Status statusz.Status
	// Databases reports by home whether the database answered the last probe. Homes not yet probed are absent.
	Databases map[string]bool
	// OutboxAge and ScheduleDelay are nil until they were first read.
	OutboxAge     *time.Duration // of the oldest undelivered row
	ScheduleDelay *time.Duration // of the most overdue scheduled post
	// PlacementChecked is when a check last found out whether tables are placed as configured; zero before the first time.
	PlacementChecked time.Time
	// CertificateEnd is the end of the certificate of the API; zero without TLS.
	CertificateEnd time.Time
}

// serverCollector exports a snapshot: what the server runs and the state of its dependencies. Counters of its work are
// in packages edge and store. Unknown values are omitted, so that alerts can distinguish absent from bad values.
type serverCollector struct{ snapshot func() Snapshot }

func gauge(name, help string, labels ...string) *prometheus.Desc {
	return prometheus.NewDesc(name, help, labels, nil)
}

// The metrics of a snapshot. testdata/metrics.txt lists all metrics of a server.
var (
	databaseUp = gauge("plaza_database_up", "Whether the database answered the last probe, by home. Probes do not depend on traffic.",
		"home")
	schemaVersion   = gauge("plaza_schema_version", "Schema version of the database.")
	schemaRequired  = gauge("plaza_schema_version_required", "Schema version required by the program.")
	placementState  = gauge("plaza_placement_state", "1 for the current state of the tables' placement, 0 for the other states.", "state")
	tablesNotPinned = gauge("plaza_placement_tables_not_pinned", "Tables that are not placed as configured; absent while unknown.")
	moderationPush  = gauge("plaza_moderation_generation", "Generation of the moderation settings in force.")
	moderationLimit = gauge("plaza_moderation_flag_limit", "Flag limit in force.")
	keysValid       = gauge("plaza_keys", "Currently valid keys, by kind: server, api, signing.", "kind")
	keysEarliest    = gauge("plaza_keys_earliest_not_after_timestamp_seconds", "Earliest expiry of a valid key; absent if none expires.",
		"kind")
	keysLatest = gauge("plaza_keys_latest_not_after_timestamp_seconds", "Latest expiry of a valid key; absent if one does not expire.",
		"kind")
	keysFileReadable = gauge("plaza_keys_file_readable",
		"Whether the last read of the key file succeeded; if not, the previous keys stay in use.", "kind")
	keysLoaded       = gauge("plaza_keys_loaded_timestamp_seconds", "When the keys in use were read.", "kind")
	placementChecked = gauge("plaza_placement_checked_timestamp_seconds",
		"When a check last found out whether tables are placed as configured; absent before the first time, and on PostgreSQL.")
	certificateEnd = gauge("plaza_tls_certificate_not_after_timestamp_seconds", "End of the certificate of the API; absent without TLS.")
	controlEnd     = gauge("plaza_control_certificate_not_after_timestamp_seconds",
		"End of the certificate of the control endpoints (kind=certificate), and of the last trusted authority (kind=authority); absent "+
			"without control endpoints.", "kind")
	controlReadable = gauge("plaza_control_files_readable",
		"Whether the last read of the files of the control endpoints succeeded; if not, the previous ones stay in use.")
	outboxAge = gauge("plaza_outbox_oldest_age_seconds",
		"Age of the oldest undelivered row of the outbox of this region, and of those evacuated to it; 0 if empty.")
	scheduleDelay = gauge("plaza_scheduled_posts_overdue_seconds",
		"Delay of the most overdue scheduled post of this region, and of those evacuated to it; 0 if none is overdue.")
)

// RegisterServer registers metrics of the result of snapshot, which is called for each scrape and must be fast.
func (m *Metrics) RegisterServer(snapshot func() Snapshot) error {
	return m.labelled.Register(&serverCollector{snapshot: snapshot})
}

// Describe implements prometheus.Collector.
func (c *serverCollector) Describe(ch chan<- *prometheus.Desc) {
	for _, desc := range []*prometheus.Desc{
		databaseUp, schemaVersion, schemaRequired, placementState, tablesNotPinned, moderationPush, moderationLimit, keysValid,
		keysEarliest, keysLatest, keysFileReadable, keysLoaded, controlEnd, controlReadable, placementChecked, certificateEnd, outboxAge,
		scheduleDelay,
	} {
		ch <- desc
	}
}

// Collect implements prometheus.Collector. It sends the known values.
func (c *serverCollector) Collect(ch chan<- prometheus.Metric) {
	s := c.snapshot()
	send := func(desc *prometheus.Desc, value float64, labels ...string) {
		ch <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, value, labels...)
	}
	for home, up := range s.Databases {
		send(databaseUp, number(up), home)
	}
	send(schemaRequired, float64(s.Status.Schema.Required))
	if !s.Status.Schema.AsOf.IsZero() {
		send(schemaVersion, float64(s.Status.Schema.Current))
	}
	if !s.Status.Moderation.AsOf.IsZero() {
		send(moderationPush, float64(s.Status.Moderation.Generation))
		send(moderationLimit, float64(s.Status.Moderation.FlagLimit))
	}
	sendPlacement(s.Status.Placement, send)
	for kind, file := range map[string]statusz.KeyFile{
		"server": s.Status.Keys.Server, "api": s.Status.Keys.API,
		"signing": s.Status.Keys.Signing,
	} {
		sendKeys(kind, file, send)
	}
	sendControl(s.Status.Control, send)
	if !s.PlacementChecked.IsZero() {
		send(placementChecked, seconds(s.PlacementChecked))
	}
	if !s.CertificateEnd.IsZero() {
		send(certificateEnd, seconds(s.CertificateEnd))
	}
	if s.OutboxAge != nil {
		send(outboxAge, s.OutboxAge.Seconds())
	}
	if s.ScheduleDelay != nil {
		send(scheduleDelay, s.ScheduleDelay.Seconds())
	}
}

type sender func(desc *prometheus.Desc, value float64, labels ...string)

func sendPlacement(p statusz.Placement, send sender) {
	for _, state := range []string{statusz.Pinned, statusz.NotPinned, statusz.Unknown} {
		send(placementState, number(p.State == state), state)
	}
	if p.State == statusz.Unknown {
		return
	}
	tables := 0
	for _, t := range p.NotPinned {
		if t.Table != "" { // an empty Table is the database itself
			tables++
		}
	}
	send(tablesNotPinned, float64(tables))
}

func sendKeys(kind string, file statusz.KeyFile, send sender) {
	var earliest, latest time.Time
	valid, endless := 0, false
	for _, key := range file.Keys {
		if !key.Valid {
			continue
		}
		valid++
		switch at := key.NotAfter; {
		case at.IsZero():
			endless = true
		default:
			if earliest.IsZero() || at.Before(earliest) {
				earliest = at
			}
			if at.After(latest) {
				latest = at
			}
		}
	}
	send(keysValid, float64(valid), kind)
	send(keysFileReadable, number(file.Error == ""), kind)
	send(keysLoaded, seconds(file.LoadedAt), kind)
	if !earliest.IsZero() {
		send(keysEarliest, seconds(earliest), kind)
	}
	if !endless && !latest.IsZero() {
		send(keysLatest, seconds(latest), kind)
	}
}

func sendControl(c *statusz.Control, send sender) {
	if c == nil {
		return
	}
	send(controlEnd, seconds(c.Certificate.NotAfter), "certificate")
	send(controlReadable, number(c.Error == ""))
	if len(c.Authorities) > 0 {
		last := slices.MaxFunc(c.Authorities, func(a, b statusz.Key) int { return a.NotAfter.Compare(b.NotAfter) })
		send(controlEnd, seconds(last.NotAfter), "authority")
	}
}

func number(b bool) float64 {
	if b {
		return 1
	}
	return 0
}

func seconds(t time.Time) float64 { return float64(t.UnixMilli()) / 1000 }
