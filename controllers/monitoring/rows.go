package monitoring

import (
	"fmt"
	"slices"
)

// chosen selects the regions that are selected in the dashboard.
const chosen = `region=~"$region"`

// shown selects the series of a metric in the selected regions.
func (s scope) shown(metric string, matchers ...string) string {
	return s.of(metric, append([]string{chosen}, matchers...)...)
}

// rate returns the rate of a counter in the selected regions.
func (s scope) rate(metric string, matchers ...string) string {
	return "rate(" + s.shown(metric, matchers...) + "[$__rate_interval])"
}

// increase returns the increase of a counter over the dashboard's time range.
func (s scope) increase(metric string, matchers ...string) string {
	return "increase(" + s.shown(metric, matchers...) + "[$__range])"
}

const (
	requests  = "plaza_http_requests_total"
	durations = "plaza_http_request_duration_seconds_bucket"
)

var (
	no      = text{Text: "no", Color: red}
	yes     = text{Text: "yes", Color: green}
	unknown = text{Text: "unknown", Color: "#808080"}
)

func panelsOf(s scope) []panel {
	return slices.Concat(overviewRow(s), trafficRow(s), errorRow(s), latencyRow(s), databaseRow(s), keyRow(s), workRow(s), resourceRow(s))
}

func overviewRow(s scope) []panel {
	budget, _ := s.budget.Float64()
	failedShare := "(sum(" + s.increase(requests, known, failed) + ") or vector(0)) / sum(" + s.increase(requests, known) + ")"
	alertsFiring := s.of("ALERTS", `alertname=~"Plaza.*"`, `alertstate="firing"`)
	return []panel{
		row("Overview"),
		number("Ready", "The condition Ready of the network.", "", 3, "max("+s.condition("Ready", "True")+")", threshold{green, nil}).answer(no, yes),
		number("Regions up", "Regions with a server that Prometheus can scrape.", "", 3,
			"count(max by (region) ("+s.of("up", `region!=""`)+") == 1) or vector(0)", threshold{red, nil}, from(float64(len(s.regions)), green)),
		number("Alerts", "Firing alerts of the network.", "", 3, "count("+alertsFiring+") or vector(0)", threshold{green, nil}, from(1, red)),
		number("Availability", "Share of the requests in the time range that did not fail because of the platform. Objective: "+percent(1-budget)+".",
			"percentunit", 5, "1 - "+failedShare, threshold{red, nil}, from(1-budget, green)).decimals(3),
		number("Error budget left", "Remaining share of the failures that the objective allows for the requests in the time range.",
			"percentunit", 5, fmt.Sprintf("1 - %s / %s", failedShare, decimal(s.budget)), threshold{red, nil}, from(0, yellow), from(0.25, green)).decimals(1),
		number("p99", "99% of the requests in the time range were answered within this time. Objective: "+s.latency.String()+".", "s", 5,
			"histogram_quantile(0.99, sum by (le) ("+s.increase(durations, transfers)+"))", threshold{green, nil}, from(s.latency.Seconds(), red)).decimals(3),
		timeline("Conditions", "Conditions of the network. RegionsPinned is Unknown on PostgreSQL.", 12, no, yes,
			query{state("type", func(is string) string { return s.of("plaza_operator_condition", is, `type!="Paused"`) }), "{{type}}"}).orElse(unknown),
		timeline("Conditions of regions", "Conditions of the selected regions.", 12, no, yes,
			query{state("region, type", func(is string) string { return s.shown("plaza_operator_region_condition", is) }), "{{region}} {{type}}"}).orElse(unknown),
	}
}

// state is 1 for conditions that are True, 2 for Unknown, and 0 for False.
func state(labels string, series func(is string) string) string {
	of := func(status string) string { return "max by (" + labels + ") (" + series(`status="`+status+`"`) + ")" }
	return of("True") + " + 2 * " + of("Unknown")
}

func percent(share float64) string { return fmt.Sprintf("%.7g%%", 100*share) }

// decimals sets the number of decimal places.
func (p panel) decimals(n int) panel {
	p.FieldConfig.Defaults.Decimals = &n
	return p
}

func trafficRow(s scope) []panel {
	return []panel{
		row("Traffic"),
		chart("Requests by region", "", "reqps", 8, query{"sum by (region) (" + s.rate(requests) + ")", "{{region}}"}),
		chart("Requests by operation", "The ten most frequent.", "reqps", 8, query{"topk(10, sum by (procedure) (" + s.rate(requests) + "))", "{{procedure}}"}),
		chart("Requests by protocol", "", "reqps", 4, query{"sum by (protocol) (" + s.rate(requests) + ")", "{{protocol}}"}),
		chart("Requests in flight", "", "short", 4, query{"sum by (region) (" + s.shown("plaza_http_requests_in_flight") + ")", "{{region}}"}),
	}
}

func errorRow(s scope) []panel {
	budget, _ := s.budget.Float64()
	share := "sum by (region) (" + s.rate(requests, known, failed) + ") / sum by (region) (" + s.rate(requests, known) + ")"
	return []panel{
		row("Errors"),
		chart("Failed requests", "Share of the requests that fail because of the platform (5xx). The line is the limit of the objective.",
			"percentunit", 8, query{share + " or 0 * sum by (region) (" + s.rate(requests, known) + ")", "{{region}}"}).withLimit(budget),
		chart("Failed requests by operation", "The ten with the most failures (5xx).", "reqps", 8,
			query{"topk(10, sum by (procedure, code) (" + s.rate(requests, failed) + "))", "{{procedure}} {{code}}"}).without("no failures"),
		chart("Rejected requests by status", "Invalid or unauthorized requests (4xx); 499 means that the client disconnected.", "reqps", 8,
			query{"sum by (code) (" + s.rate(requests, `code=~"4.."`) + ")", "{{code}}"}),
	}
}

func latencyRow(s scope) []panel {
	quantile := func(q, labels, matcher string) string {
		return "histogram_quantile(" + q + ", sum by (" + labels + ") (" + s.rate(durations, matcher) + "))"
	}
	return []panel{
		row("Latency"),
		chart("p99 by region", "Without uploads and downloads. The line is the objective.", "s", 8,
			query{quantile("0.99", "region, le", transfers), "{{region}}"}).withLimit(s.latency.Seconds()),
		chart("p50, p90 and p99", "Without uploads and downloads.", "s", 8,
			query{quantile("0.5", "le", transfers), "p50"}, query{quantile("0.9", "le", transfers), "p90"}, query{quantile("0.99", "le", transfers), "p99"}),
		chart("p99 by operation", "The ten slowest.", "s", 8, query{"topk(10, " + quantile("0.99", "procedure, le", known) + ")", "{{procedure}}"}),
	}
}

func databaseRow(s scope) []panel {
	perSecond := func(metric string) string { return "sum by (region, home) (" + s.rate(metric) + ")" }
	trips := "sum by (region) (" + s.rate("plaza_database_round_trips_total") + ")"
	return []panel{
		row("Database, by home region of the rows"),
		timeline("Reachable", "Whether a server of the region can reach the database of the home region.", 12, no, yes,
			query{"max by (region, home) (" + s.shown("plaza_database_up") + ")", "{{region}} to {{home}}"}),
		chart("Round trips", "", "ops", 12, query{perSecond("plaza_database_round_trips_total"), "{{region}} to {{home}}"}),
		chart("Round trips per request", "", "short", 6, query{trips + " / sum by (region) (" + s.rate(requests, known) + ")", "{{region}}"}),
		chart("Failed round trips", "", "ops", 6, query{perSecond("plaza_database_unavailable_total"), "{{region}} to {{home}}"}),
		chart("Transaction retries", "After a conflict with another transaction.", "ops", 6, query{perSecond("plaza_database_transaction_retries_total"), "{{region}} to {{home}}"}),
		chart("Connections", "In use and open.", "short", 6,
			query{"sum by (region, home) (" + s.shown("plaza_database_connections_in_use") + ")", "{{region}} to {{home}} in use"},
			query{"sum by (region, home) (" + s.shown("plaza_database_connections") + ")", "{{region}} to {{home}} open"}),
	}
}

func keyRow(s scope) []panel {
	return []panel{
		row("Keys, schema and settings"),
		number("Schema", "Version of the database schema.", "none", 3, "max("+s.of("plaza_schema_version")+")", threshold{green, nil}),
		number("Required schema", "The newest schema version that a server needs.", "none", 3, "max("+s.of("plaza_schema_version_required")+")", threshold{green, nil}),
		number("Migration attempts", "Attempts to migrate the database to the current target.", "none", 3, "max("+s.of("plaza_operator_migration_attempts")+")",
			threshold{green, nil}, from(2, yellow), from(4, red)),
		number("Next rotation", "Time until the next rotation of the server keys; negative if it is overdue.", "s", 3,
			"max("+s.of("plaza_operator_key_rotation_due_timestamp_seconds")+") - time()", threshold{red, nil}, from(-3600, yellow), from(0, green)),
		number("Tables not pinned", "Tables whose rows are stored elsewhere than the spec requires; no value on PostgreSQL.", "none", 3,
			"max("+s.of("plaza_placement_tables_not_pinned")+")", threshold{green, nil}, from(1, red)).without("unknown"),
		number("Flag limit", "The flag limit that the servers run.", "none", 3, "max("+s.of("plaza_moderation_flag_limit")+")", threshold{green, nil}),
		number("Last reconcile", "Time since the last reconcile of the network.", "s", 3,
			"time() - max("+s.of("plaza_operator_observed_timestamp_seconds")+")", threshold{green, nil}, from(300, yellow), from(900, red)),
		number("Paused", "Whether the operator only observes.", "", 3, "max("+s.of("plaza_operator_paused")+")", threshold{green, nil}).
			answer(text{Text: "no", Color: green}, text{Text: "yes", Color: yellow}),
		chart("Valid keys", "Minimum over the servers of the region. Two during a rotation.", "short", 8,
			query{"min by (region, kind) (" + s.shown("plaza_keys") + ")", "{{region}} {{kind}}"}),
		chart("Time until the keys expire", "No value for keys that do not expire.", "s", 8,
			query{"min by (region, kind) (" + s.shown("plaza_keys_latest_not_after_timestamp_seconds") + ") - time()", "{{region}} {{kind}} last"},
			query{"min by (region, kind) (" + s.shown("plaza_keys_earliest_not_after_timestamp_seconds") + ") - time()", "{{region}} {{kind}} first"}).without("no key expires"),
		chart("Age of the loaded keys", "Time since a server last read them.", "s", 8,
			query{"time() - min by (region, kind) (" + s.shown("plaza_keys_loaded_timestamp_seconds") + ")", "{{region}} {{kind}}"}),
		timeline("Key files readable", "", 8, no, yes,
			query{"min by (region, kind) (" + s.shown("plaza_keys_file_readable") + ")", "{{region}} {{kind}}"}),
		timeline("Placement", "Placement of the rows as checked by the servers; Unknown on PostgreSQL.", 8,
			text{Text: "no", Color: "transparent"}, text{Text: "yes", Color: "blue"},
			query{"max by (state) (" + s.of("plaza_placement_state") + ")", "{{state}}"}),
		chart("Generation of the moderation settings", "By region; after a change, all regions agree within a second.", "none", 8,
			query{"min by (region) (" + s.shown("plaza_moderation_generation") + ")", "{{region}}"}),
	}
}

func workRow(s scope) []panel {
	quantile := "histogram_quantile(0.99, sum by (region, le) (" + s.rate("plaza_realtime_delay_seconds_bucket") + "))"
	return []panel{
		row("Outbox and jobs"),
		chart("Age of the outbox", "Age of the oldest event that was not delivered to its home region yet.", "s", 8,
			query{"max by (region) (" + s.shown("plaza_outbox_oldest_age_seconds") + ")", "{{region}}"}).withLimit(300),
		chart("Scheduled posts overdue", "Delay of the most overdue one.", "s", 8,
			query{"max by (region) (" + s.shown("plaza_scheduled_posts_overdue_seconds") + ")", "{{region}}"}).withLimit(300),
		chart("p99 of realtime events", "Delay between an event and its delivery to the streams of a server.", "s", 8, query{quantile, "{{region}}"}).withLimit(5),
	}
}

func resourceRow(s scope) []panel {
	return []panel{
		row("Resources"),
		chart("CPU", "Used cores.", "short", 6, query{"sum by (region, pod) (" + s.rate("process_cpu_seconds_total") + ")", "{{region}} {{pod}}"}),
		chart("Memory", "Resident memory.", "bytes", 6, query{"sum by (region, pod) (" + s.shown("process_resident_memory_bytes") + ")", "{{region}} {{pod}}"}),
		chart("Goroutines", "", "short", 6, query{"sum by (region, pod) (" + s.shown("go_goroutines") + ")", "{{region}} {{pod}}"}),
		chart("Open files", "", "short", 6, query{"sum by (region, pod) (" + s.shown("process_open_fds") + ")", "{{region}} {{pod}}"}),
		chart("Servers", "Running servers by version.", "short", 12,
			query{"count by (region, version) (" + s.shown("plaza_build_info") + ")", "{{region}} {{version}}"}),
		chart("Restarts", "In the last hour.", "short", 12,
			query{"sum by (region) (changes(" + s.shown("process_start_time_seconds") + "[1h]))", "{{region}}"}),
	}
}
