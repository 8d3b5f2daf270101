package monitoring_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// minutes is the default length of the series. Cases with a later time have longer ones.
const minutes = 100

// world is the series of one network with one value per minute, in promtool's notation.
type world struct {
	namespace, network string
	length             int
	series             map[string]string
}

// constant returns the same value for every minute, rising adds step every minute.
func (w *world) constant(value any) string { return fmt.Sprintf("%vx%d", value, w.length) }
func (w *world) rising(step any) string    { return fmt.Sprintf("0+%vx%d", step, w.length) }

// of returns the name of a series. Labels are pairs of a name and a value.
func (w *world) of(metric string, labels ...string) string {
	var text strings.Builder
	fmt.Fprintf(&text, "%s{namespace=%q,network=%q", metric, w.namespace, w.network)
	for i := 0; i < len(labels); i += 2 {
		fmt.Fprintf(&text, ",%s=%q", labels[i], labels[i+1])
	}
	return text.String() + "}"
}

// at returns the name of a series of a region's server, with the labels of a scrape.
func (w *world) at(region, metric string, labels ...string) string {
	target := []string{
		"region", region, "pod", w.network + "-" + region + "-1", "exported_network", "0123456789abcdef01234567",
		"exported_region", region,
	}
	return w.of(metric, append(target, labels...)...)
}

func (w *world) condition(kind, status string, value int) {
	w.series[w.of("plaza_operator_condition", "type", kind, "status", status, "pod", "plaza-operator-1")] = w.constant(value)
}

func (w *world) conditionIs(kind, is string) {
	for _, status := range []string{"True", "False", "Unknown"} {
		value := 0
		if status == is {
			value = 1
		}
		w.condition(kind, status, value)
	}
}

func (w *world) regionConditionIs(region, kind, is string) {
	for _, status := range []string{"True", "False", "Unknown"} {
		value := 0
		if status == is {
			value = 1
		}
		w.series[w.of("plaza_operator_region_condition", "region", region, "type", kind, "status", status)] = w.constant(value)
	}
}

// drop removes the series whose name contains a text.
func (w *world) drop(text string) {
	maps.DeleteFunc(w.series, func(name, _ string) bool { return strings.Contains(name, text) })
}

// healthy is a network without alerts: 3 of 6003 requests fail, where 6 may.
func healthy(namespace, network string, length int) *world {
	w := &world{namespace: namespace, network: network, length: max(length, minutes), series: map[string]string{}}
	for _, region := range []string{"us", "eu", "sg"} {
		w.healthyServer(region)
		for _, kind := range []string{"Available", "Updated", "KeysVerified"} {
			w.regionConditionIs(region, kind, "True")
		}
	}
	for _, kind := range []string{
		"Ready", "KeysReady", "SchemaMigrated", "RegionsAvailable", "ModerationApplied", "WebhooksApplied",
		"AlertsApplied", "RegionsPinned", "Swept",
	} {
		w.conditionIs(kind, "True")
	}
	w.conditionIs("Paused", "False")
	maps.Copy(w.series, map[string]string{
		w.of("plaza_operator_paused"):                                          w.constant(0),
		w.of("plaza_operator_missing_keys"):                                    w.constant(0),
		w.of("plaza_operator_key_rotation_due_timestamp_seconds"):              w.constant(1e9),
		w.of("plaza_operator_control_certificate_not_after_timestamp_seconds"): w.constant(1e9),
		w.of("plaza_operator_backup_overdue_timestamp_seconds"):                w.constant(1e9),
		w.of("plaza_operator_schema_version", "kind", "current"):               w.constant(92),
		w.of("plaza_operator_schema_version", "kind", "target"):                w.constant(92),
		w.of("plaza_operator_migration_attempts"):                              w.constant(2),
		w.of("plaza_operator_observed_timestamp_seconds"):                      w.rising(60),
	})
	return w
}

const procedure = "PostService/GetPost"

func (w *world) healthyServer(region string) {
	maps.Copy(w.series, map[string]string{
		w.of("probe_success", "region", region, "instance", "https://"+region):                  w.constant(1),
		w.of("probe_ssl_earliest_cert_expiry", "region", region, "instance", "https://"+region): w.constant(1e9),
		w.at(region, "up"):                         w.constant(1),
		w.at(region, "process_start_time_seconds"): w.constant(0),
		w.at(region, "plaza_control_certificate_not_after_timestamp_seconds", "kind", "certificate"): w.constant(1e9),
		w.at(region, "plaza_schema_version"):                                                     w.constant(92),
		w.at(region, "plaza_schema_version_required"):                                            w.constant(92),
		w.at(region, "plaza_moderation_generation"):                                              w.constant(7),
		w.at(region, "plaza_placement_tables_not_pinned"):                                        w.constant(0),
		w.at(region, "plaza_placement_checked_timestamp_seconds"):                                w.rising(60),
		w.at(region, "plaza_outbox_oldest_age_seconds"):                                          w.constant(2),
		w.at(region, "plaza_scheduled_posts_overdue_seconds"):                                    w.constant(0),
		w.at(region, "plaza_user_moves_oldest_age_seconds"):                                      w.constant(0),
		w.at(region, "plaza_webhook_oldest_delivery_seconds", "home", region, "webhook", "01ef"): w.constant(30),
		w.at(region, "plaza_webhook_deliveries_total", "result", "dead", "webhook", "01ef"):      w.constant(3),
		w.at(region, "plaza_webhook_deliveries_total", "result", "delivered", "webhook", "01ef"): w.rising(100),
	})
	for _, home := range []string{"us", "eu", "sg"} {
		w.series[w.at(region, "plaza_database_up", "home", home)] = w.constant(1)
		w.series[w.at(region, "plaza_database_round_trips_total", "home", home)] = w.rising(6000)
		w.series[w.at(region, "plaza_database_connection_waits_total", "home", home)] = w.rising(60)
	}
	for state, value := range map[string]int{"Pinned": 1, "NotPinned": 0, "Unknown": 0} {
		w.series[w.at(region, "plaza_placement_state", "state", state)] = w.constant(value)
	}
	for _, kind := range []string{"server", "api", "signing"} {
		w.series[w.at(region, "plaza_keys", "kind", kind)] = w.constant(1)
		w.series[w.at(region, "plaza_keys_file_readable", "kind", kind)] = w.constant(1)
		w.series[w.at(region, "plaza_keys_latest_not_after_timestamp_seconds", "kind", kind)] = w.constant(1e9)
	}
	w.requests(region, "2xx", 6000)
	w.requests(region, "4xx", 600)
	w.requests(region, "5xx", 3)
	// Requests of scanners and the duration of uploads do not count.
	w.series[w.at(region, "plaza_http_requests_total", "procedure", "unknown", "code", "5xx")] = w.rising(9000)
	w.durations(region, "operation", map[string]int{"0.1": 6500, "0.5": 6600, "1": 6603, "+Inf": 6603})
	w.durations(region, "unknown", map[string]int{"0.1": 0, "0.5": 0, "1": 0, "+Inf": 9000})
	w.durations(region, "transfer", map[string]int{"0.1": 0, "0.5": 0, "1": 0, "+Inf": 9000})
	w.histogram("plaza_realtime_delay_seconds", region, map[string]int{"0.5": 100, "5": 100, "10": 100, "+Inf": 100})
}

// requests sets the number of requests per minute with a class of status in a region.
func (w *world) requests(region, code string, perMinute any) {
	w.series[w.at(region, "plaza_http_requests_total", "procedure", procedure, "code", code)] = w.rising(perMinute)
}

// durations sets the number of requests per minute in each histogram bucket.
func (w *world) durations(region, kind string, buckets map[string]int) {
	w.histogram("plaza_http_request_duration_seconds", region, buckets, "kind", kind)
}

func (w *world) histogram(metric, region string, buckets map[string]int, labels ...string) {
	for le, perMinute := range buckets {
		w.series[w.at(region, metric+"_bucket", append([]string{"le", le}, labels...)...)] = w.rising(perMinute)
	}
	w.series[w.at(region, metric+"_count", labels...)] = w.rising(buckets["+Inf"])
}

// inputs returns the series of several worlds in order.
func inputs(worlds ...*world) []promSeries {
	var all []promSeries
	for _, w := range worlds {
		for _, name := range slices.Sorted(maps.Keys(w.series)) {
			all = append(all, promSeries{Series: name, Values: w.series[name]})
		}
	}
	return all
}

// durationsAreNative replaces the classic buckets of a region by native histograms, as Prometheus does if it collects them.
func (w *world) durationsAreNative(region, perMinute string) {
	w.drop(`plaza_http_request_duration_seconds_bucket{namespace="` + w.namespace + `",network="` + w.network + `",region="` + region)
	w.series[w.at(region, "plaza_http_request_duration_seconds", "kind", "operation")] = fmt.Sprintf("%s+%sx%d", perMinute, perMinute,
		w.length)
}
