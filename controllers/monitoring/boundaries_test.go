package monitoring_test

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

// boundary is a comparison of an alert's expression: the last value of a series for which the alert does not fire, and the first for which
// it does. Nothing else decides, because the rest of the series is given.
type boundary struct {
	alert string
	// after is the duration of the alert.
	after string
	// comparison is the operator, and the number as the rule has it.
	comparison string
	series     func(w *world) string
	// at and past are values of every minute, or a value and a step of each minute, or the values of the first minutes.
	at, past string
	// from is the minute at which the comparison becomes true.
	from  int
	given func(w *world)
}

// region returns the name of a series of region eu.
func region(metric string, labels ...string) func(w *world) string {
	return func(w *world) string { return w.at("eu", metric, labels...) }
}

// network returns the name of a series of the network.
func network(metric string, labels ...string) func(w *world) string {
	return func(w *world) string { return w.of(metric, labels...) }
}

// recorded returns the name of a series of region eu that a recording rule makes.
func recorded(name string) func(w *world) string {
	return network("network_region:plaza_http_"+name, "region", "eu")
}

// is returns the name of the series of a condition of the network, or of region eu.
func is(condition, status string) func(w *world) string {
	return network("plaza_operator_condition", "type", condition, "status", status)
}

func regionIs(condition, status string) func(w *world) string {
	return network("plaza_operator_region_condition", "region", "eu", "type", condition, "status", status)
}

// both gives series and their values, in turn.
func both(series ...any) func(w *world) {
	return func(w *world) {
		for i := 0; i < len(series); i += 2 {
			w.series[series[i].(func(w *world) string)(w)] = w.constant(series[i+1])
		}
	}
}

var (
	up, otherUp = region("up"), network("up", "region", "eu", "pod", "acme-eu-2")
	failures    = region("plaza_http_requests_total", "procedure", procedure, "code", "5xx")
	requests    = region("plaza_http_requests_total", "procedure", procedure, "code", "2xx")

	failed1h, failed5m, failed6h, failed30m = recorded("requests:failed_ratio_rate1h"), recorded("requests:failed_ratio_rate5m"),
		recorded("requests:failed_ratio_rate6h"), recorded("requests:failed_ratio_rate30m")
	failed1d, failed2h, failed3d = recorded("requests:failed_ratio_rate1d"), recorded("requests:failed_ratio_rate2h"),
		recorded("requests:failed_ratio_rate3d")

	slow14of1h, slow14of5m = recorded("request_duration_seconds:burn14_rate1h"), recorded("request_duration_seconds:burn14_rate5m")
	slow6of6h, slow6of30m  = recorded("request_duration_seconds:burn6_rate6h"), recorded("request_duration_seconds:burn6_rate30m")
	slow3of1d, slow3of2h   = recorded("request_duration_seconds:burn3_rate1d"), recorded("request_duration_seconds:burn3_rate2h")
	slow1of3d, slow1of6h   = recorded("request_duration_seconds:burn1_rate3d"), recorded("request_duration_seconds:burn1_rate6h")
)

// boundaries has a row for every comparison of every alert, in their order.
var boundaries = []boundary{
	{"PlazaRegionDown", "3m", "== 1", up, "1", "0", 0, nil},
	{"PlazaRegionDown", "3m", "== 1", regionIs("Available", "True"), "1", "0", 0, both(up, 0)},
	{"PlazaRegionDown", "3m", "== 1", regionIs("Available", "False"), "0", "1", 0, both(up, 1)},
	{"PlazaRegionDown", "3m", "== 1", regionIs("Evacuated", "True"), "1", "0", 0, both(up, 0)},
	{"PlazaRegionEvacuated", "1d", "== 1", regionIs("Evacuated", "True"), "0", "1", 0, nil},
	{"PlazaRegionNotScraped", "10m", "== 1", up, "1", "0", 0, both(regionIs("Available", "True"), 1)},
	{"PlazaRegionNotScraped", "10m", "== 1", regionIs("Available", "True"), "0", "1", 0, both(up, 0)},
	{"PlazaServerDown", "10m", "== 0", otherUp, "1", "0", 0, both(up, 1)},
	{"PlazaServerDown", "10m", "== 1", up, "0", "1", 0, both(otherUp, 0)},
	{"PlazaServerRestarting", "5m", ">= 3", region("process_start_time_seconds"), "0 60 120", "0 60 120 180", 3, nil},
	{"PlazaHostUnreachable", "3m", "== 0", network("probe_success", "region", "eu"), "1", "0", 0, nil},
	{
		"PlazaHostCertificateExpiring", "1h", "< 1209600", network("probe_ssl_earliest_cert_expiry", "region", "eu"), "1209600+60",
		"1209599+60", 0, nil,
	},

	{"PlazaErrorBudgetBurnFast", "2m", "> 0.0144", failed1h, "0.0144", "0.0145", 1, both(failed5m, 1, failures, "0+1000")},
	{"PlazaErrorBudgetBurnFast", "2m", "> 0.0144", failed5m, "0.0144", "0.0145", 1, both(failed1h, 1, failures, "0+1000")},
	{"PlazaErrorBudgetBurnFast", "2m", "> 0.006", failed6h, "0.006", "0.0061", 1, both(failed30m, 1, failures, "0+1000")},
	{"PlazaErrorBudgetBurnFast", "2m", "> 0.006", failed30m, "0.006", "0.0061", 1, both(failed6h, 1, failures, "0+1000")},
	{"PlazaErrorBudgetBurnFast", "2m", "> 10", failures, "0+0.16", "0+0.17", 59, both(failed1h, 1, failed5m, 1)},
	{"PlazaErrorBudgetBurnSlow", "15m", "> 0.003", failed1d, "0.003", "0.0031", 0, both(failed2h, 1)},
	{"PlazaErrorBudgetBurnSlow", "15m", "> 0.003", failed2h, "0.003", "0.0031", 0, both(failed1d, 1)},
	{"PlazaErrorBudgetBurnSlow", "15m", "> 0.001", failed3d, "0.001", "0.0011", 0, both(failed6h, 1)},
	{"PlazaErrorBudgetBurnSlow", "15m", "> 0.001", failed6h, "0.001", "0.0011", 0, both(failed3d, 1)},
	{"PlazaLatencyBudgetBurnFast", "2m", "> 0.5", slow14of1h, "0.5", "0.501", 1, both(slow14of5m, 1, requests, "0+1000")},
	{"PlazaLatencyBudgetBurnFast", "2m", "> 0.5", slow14of5m, "0.5", "0.501", 1, both(slow14of1h, 1, requests, "0+1000")},
	{"PlazaLatencyBudgetBurnFast", "2m", "> 0.5", slow6of6h, "0.5", "0.501", 1, both(slow6of30m, 1, requests, "0+1000")},
	{"PlazaLatencyBudgetBurnFast", "2m", "> 0.5", slow6of30m, "0.5", "0.501", 1, both(slow6of6h, 1, requests, "0+1000")},
	{"PlazaLatencyBudgetBurnFast", "2m", "> 100", requests, "0+1.6", "0+1.7", 59, both(slow14of1h, 1, slow14of5m, 1)},
	{"PlazaLatencyBudgetBurnSlow", "15m", "> 0.5", slow3of1d, "0.5", "0.501", 1, both(slow3of2h, 1, requests, "0+1000")},
	{"PlazaLatencyBudgetBurnSlow", "15m", "> 0.5", slow3of2h, "0.5", "0.501", 1, both(slow3of1d, 1, requests, "0+1000")},
	{"PlazaLatencyBudgetBurnSlow", "15m", "> 0.5", slow1of3d, "0.5", "0.501", 1, both(slow1of6h, 1, requests, "0+1000")},
	{"PlazaLatencyBudgetBurnSlow", "15m", "> 0.5", slow1of6h, "0.5", "0.501", 1, both(slow1of3d, 1, requests, "0+1000")},
	{"PlazaLatencyBudgetBurnSlow", "15m", "> 100", requests, "0+0.27", "0+0.28", 358, both(slow3of1d, 1, slow3of2h, 1)},

	{"PlazaDatabaseUnreachable", "2m", "== 0", region("plaza_database_up", "home", "sg"), "1", "0", 0, nil},
	{
		"PlazaDatabasePoolSaturated", "10m", "> 0.1", region("plaza_database_connection_waits_total", "home", "sg"), "0+99", "0+101", 1,
		both(region("plaza_database_round_trips_total", "home", "sg"), "0+1000"),
	},

	{"PlazaKeyRotationOverdue", "15m", "> 3600", network("plaza_operator_key_rotation_due_timestamp_seconds"), "-3600+60", "-3601+60", 0, nil},
	{"PlazaKeysNotReady", "15m", "== 1", is("KeysReady", "False"), "0", "1", 0, nil},
	{"PlazaKeysMissing", "1m", "> 0", network("plaza_operator_missing_keys"), "0", "1", 0, nil},
	{"PlazaNoValidKey", "1m", "== 0", region("plaza_keys", "kind", "api"), "1", "0", 0, nil},
	{
		"PlazaKeysExpiring", "10m", "< 86400", region("plaza_keys_latest_not_after_timestamp_seconds", "kind", "api"), "86400+60", "86399+60",
		0, nil,
	},
	{
		"PlazaControlCertificateExpiring", "1h", "< 1209600",
		region("plaza_control_certificate_not_after_timestamp_seconds", "kind", "certificate"),
		"1209600+60", "1209599+60", 0, nil,
	},
	{"PlazaKeysFileUnreadable", "10m", "== 0", region("plaza_keys_file_readable", "kind", "api"), "1", "0", 0, nil},

	{"PlazaSchemaBehind", "15m", "> 0", region("plaza_schema_version_required"), "92", "93", 0, both(region("plaza_schema_version"), 92)},
	{
		"PlazaSchemaBehind", "15m", "> 0", network("plaza_operator_schema_version", "kind", "target"), "92", "93", 0,
		both(network("plaza_operator_schema_version", "kind", "current"), 92),
	},
	{"PlazaMigrationFailing", "5m", "> 1", network("plaza_operator_migration_attempts"), "1", "2", 0, both(is("SchemaMigrated", "False"), 1)},
	{"PlazaMigrationFailing", "5m", "== 1", is("SchemaMigrated", "False"), "0", "1", 0, both(network("plaza_operator_migration_attempts"), 2)},
	{"PlazaModerationNotApplied", "15m", "== 1", is("ModerationApplied", "False"), "0", "1", 0, nil},
	{
		"PlazaModerationNotApplied", "15m", "< on", region("plaza_moderation_generation"), "7", "6", 0,
		both(network("plaza_moderation_generation", "region", "us"), 7),
	},
	{"PlazaRowsNotPinned", "30m", "== 1", region("plaza_placement_state", "state", "NotPinned"), "0", "1", 0, nil},
	{"PlazaRowsNotPinned", "30m", "== 1", is("RegionsPinned", "False"), "0", "1", 0, nil},
	{"PlazaPlacementNotChecked", "10m", "> 3600", region("plaza_placement_checked_timestamp_seconds"), "-3600+60", "-3601+60", 0, nil},

	{"PlazaBackupOverdue", "5m", "> 0", network("plaza_operator_backup_overdue_timestamp_seconds"), "0+60", "-1+60", 0, nil},

	{"PlazaOutboxNotDraining", "10m", "> 300", region("plaza_outbox_oldest_age_seconds"), "300", "301", 0, nil},
	{"PlazaScheduledPostsOverdue", "10m", "> 300", region("plaza_scheduled_posts_overdue_seconds"), "300", "301", 0, nil},
	{"PlazaUserMoveStuck", "15m", "> 21600", region("plaza_user_moves_oldest_age_seconds"), "21600", "21601", 0, nil},
	{"PlazaRealtimeDelayed", "15m", "> 5", region("plaza_realtime_delay_seconds_bucket", "le", "5"), "0+9901", "0+9899", 1, both(
		region("plaza_realtime_delay_seconds_bucket", "le", "0.5"), "0+1",
		region("plaza_realtime_delay_seconds_bucket", "le", "10"), "0+10000", region("plaza_realtime_delay_seconds_bucket", "le", "+Inf"),
		"0+10000",
	)},

	{"PlazaWebhookFailing", "5m", "> 600", region("plaza_webhook_oldest_delivery_seconds", "webhook", "01ab"), "600", "601", 0, nil},
	{
		"PlazaWebhookDeadLetters", "1m", "> 0", region("plaza_webhook_deliveries_total", "result", "dead", "webhook", "01ab"), "1", "0+1", 1,
		nil,
	},
	{"PlazaWebhooksNotApplied", "15m", "== 1", is("WebhooksApplied", "False"), "0", "1", 0, nil},

	{"PlazaRolloutStopped", "30m", "== 1", regionIs("Updated", "False"), "0", "1", 0, nil},
	{"PlazaNetworkNotReady", "30m", "== 0", is("Ready", "True"), "1", "0", 0, nil},
	{"PlazaNetworkNotReady", "30m", "== 1", network("plaza_operator_paused"), "1", "0", 0, both(is("Ready", "True"), 0)},
	{"PlazaNetworkPaused", "1d", "== 1", network("plaza_operator_paused"), "0", "1", 0, nil},
	{"PlazaOperatorNotReconciling", "5m", "> 900", network("plaza_operator_observed_timestamp_seconds"), "-900+60", "-901+60", 0, nil},
}

// comparisons are those of an expression, without the matchers of its selectors.
var comparisons = regexp.MustCompile(`(?:[<>]=?|[=!]=) (?:-?[0-9.e+]+|on)`)

// TestEveryComparisonHasABoundary checks that each comparison of each alert has a row in boundaries, which has its number, and the alert's
// duration. TestBoundaries runs the rows.
func TestEveryComparisonHasABoundary(t *testing.T) {
	want := map[string][]string{}
	for _, b := range boundaries {
		want[b.alert] = append(want[b.alert], b.comparison+", for "+b.after)
	}
	seen := map[string]bool{}
	for _, rule := range alertRules(sample()) {
		var have []string
		for _, comparison := range comparisons.FindAllString(rule.Expr.String(), -1) {
			have = append(have, comparison+", for "+string(*rule.For))
		}
		require.NotEmpty(t, have, "%s compares nothing", rule.Alert)
		require.Equal(t, want[rule.Alert], have, rule.Alert)
		seen[rule.Alert] = true
	}
	for alert := range want {
		require.True(t, seen[alert], "%s does not exist", alert)
	}
}
