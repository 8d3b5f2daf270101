package monitoring_test

import (
	"fmt"
	"maps"
	"slices"
)

// alertCase is a fault of a network and the alerts that must fire.
type alertCase struct {
	name string
	// bad changes the series of a healthy network from minute 0.
	bad func(*world)
	// at is the minute at which exactly the wanted alerts fire; before is a minute at which none fires yet, to test the
	// alert's duration.
	before, at int
	want       []firing
}

// firing is an alert that must fire.
type firing struct {
	alert       string
	severity    string
	labels      map[string]string // in addition to network, namespace, severity, and the label of the spec
	summary     string
	description string
}

// fires returns the test in which the sample's series are bad.
func (c alertCase) fires() promTest {
	own := healthy("social", "acme", c.at+1)
	c.bad(own)
	test := promTest{Name: c.name, Interval: "1m", InputSeries: inputs(own)}
	for _, alert := range alertNames() {
		test.AlertTests = append(test.AlertTests, promExpect{EvalTime: minute(c.before), Alertname: alert, ExpAlerts: []promAlert{}})
		expect := promExpect{EvalTime: minute(c.at), Alertname: alert, ExpAlerts: []promAlert{}}
		for _, f := range c.want {
			if f.alert == alert {
				expect.ExpAlerts = append(expect.ExpAlerts, f.expected())
			}
		}
		test.AlertTests = append(test.AlertTests, expect)
	}
	return test
}

// silent returns the test in which the sample's series are good, and those of two other networks are bad: one in the
// same namespace, and one with the same name in another namespace.
func (c alertCase) silent() promTest {
	own := healthy("social", "acme", c.at+1)
	neighbour, namesake := healthy("social", "other", c.at+1), healthy("elsewhere", "acme", c.at+1)
	c.bad(neighbour)
	c.bad(namesake)
	test := promTest{Name: c.name + ", elsewhere", Interval: "1m", InputSeries: inputs(own, neighbour, namesake)}
	for _, alert := range alertNames() {
		test.AlertTests = append(test.AlertTests, promExpect{EvalTime: minute(c.at), Alertname: alert, ExpAlerts: []promAlert{}})
	}
	return test
}

func minute(n int) string { return fmt.Sprintf("%dm", n) }

func (f firing) expected() promAlert {
	labels := map[string]string{"namespace": "social", "network": "acme", "severity": f.severity, "team": "community"}
	maps.Copy(labels, f.labels)
	return promAlert{ExpLabels: labels, ExpAnnotations: map[string]string{
		"summary": f.summary, "description": f.description,
		"runbook_url": "https://github.com/plaza-social/plaza/blob/main/controllers/monitoring/runbooks/" + f.alert + ".md",
	}}
}

func in(region string, more ...string) map[string]string {
	labels := map[string]string{"region": region}
	for i := 0; i < len(more); i += 2 {
		labels[more[i]] = more[i+1]
	}
	return labels
}

func regionIsDown(region string) firing {
	return firing{
		"PlazaRegionDown", "critical", in(region), "Region " + region + " of acme is down",
		"No server of region " + region + " of network social/acme is ready. The region's condition Available has the cause.",
	}
}

var regionNotScraped = []firing{{
	"PlazaRegionNotScraped", "warning", in("eu"), "Prometheus cannot scrape region eu of acme",
	"Region eu of network social/acme serves, but Prometheus cannot scrape any of its servers, so that alerts about its requests, keys " +
		"and database cannot fire.",
}}

// databaseAway is an outage: no server reaches the database, so that none is ready, can be asked, or reports its settings.
func databaseAway(w *world) {
	for _, region := range []string{"us", "eu", "sg"} {
		w.regionConditionIs(region, "Available", "False")
		w.regionConditionIs(region, "KeysVerified", "Unknown")
		for _, home := range []string{"us", "eu", "sg"} {
			w.series[w.at(region, "plaza_database_up", "home", home)] = w.constant(0)
		}
	}
	for kind, is := range map[string]string{
		"Ready": "False", "RegionsAvailable": "False", "KeysReady": "Unknown",
		"ModerationApplied": "Unknown", "RegionsPinned": "Unknown",
	} {
		w.conditionIs(kind, is)
	}
}

// databaseAwayFires are the alerts of databaseAway after half an hour.
func databaseAwayFires() []firing {
	all := []firing{notReady}
	for _, region := range []string{"us", "eu", "sg"} {
		all = append(all, regionIsDown(region))
		for _, home := range []string{"us", "eu", "sg"} {
			all = append(all, databaseUnreachable(region, home))
		}
	}
	return all
}

func databaseUnreachable(region, home string) firing {
	return firing{
		"PlazaDatabaseUnreachable", "critical", in(region, "home", home), "Region " + region + " of acme cannot reach the database of " + home,
		"No server of region " + region + " of network social/acme has reached the database that stores the rows of " + home +
			" for two minutes.",
	}
}

var notReady = firing{
	"PlazaNetworkNotReady", "warning", nil, "acme is not ready",
	"The condition Ready of network social/acme has not been True for 30 minutes; its reason and message explain it.",
}

var operatorSilent = firing{
	"PlazaOperatorNotReconciling", "warning", nil, "The operator is not reconciling acme",
	"Prometheus has no metrics of the operator for network social/acme. Keys are not rotated, changes are not applied, and alerts that " +
		"depend on its metrics cannot fire.",
}

var alertCases = slices.Concat(regionCases, objectiveCases, keyCases, settingCases, operatorCases)

var regionCases = []alertCase{
	{"a region that serves is gone from discovery", func(w *world) { w.drop(`exported_region="eu"`) }, 9, 11, regionNotScraped},
	{"a region that serves cannot be scraped", func(w *world) {
		w.drop(`exported_region="eu"`)
		w.series[w.at("eu", "up")] = w.constant(0)
	}, 9, 11, regionNotScraped},
	{"the servers of a region are down", func(w *world) {
		w.drop(`exported_region="eu"`)
		w.series[w.at("eu", "up")] = w.constant(0)
		w.regionConditionIs("eu", "Available", "False")
	}, 2, 4, []firing{regionIsDown("eu")}},
	{
		"the operator finds no ready server in a region", func(w *world) { w.regionConditionIs("eu", "Available", "False") }, 2, 4,
		[]firing{regionIsDown("eu")},
	},
	{"a region that is down is evacuated", func(w *world) {
		w.regionConditionIs("eu", "Available", "False")
		w.regionConditionIs("eu", "Evacuated", "True")
	}, 23 * 60, 25 * 60, []firing{{
		"PlazaRegionEvacuated", "warning", in("eu"), "Region eu of acme is evacuated",
		"Another region has served region eu of network social/acme for a day, as spec.regions[].evacuateTo says. New users have the home " +
			"of that region.",
	}}},
	{"the database is away", databaseAway, 1, 31, databaseAwayFires()},
	{"servers cannot be asked about keys and settings", func(w *world) {
		w.conditionIs("KeysReady", "Unknown")
		w.conditionIs("ModerationApplied", "Unknown")
	}, 1, 60, nil},
	{"one of two servers of a region is down", func(w *world) {
		w.series[w.of("up", "region", "eu", "pod", "acme-eu-2")] = w.constant(0)
	}, 9, 11, []firing{{
		"PlazaServerDown", "warning", in("eu"), "1 servers of region eu of acme are down",
		"Prometheus cannot scrape 1 servers of region eu of network social/acme, but can scrape others.",
	}}},
	{"a server restarts again and again", func(w *world) {
		w.series[w.at("eu", "process_start_time_seconds")] = "0 60 120 180 240x60"
	}, 7, 10, []firing{{
		"PlazaServerRestarting", "warning", in("eu"), "A server of region eu of acme keeps restarting",
		"A server of region eu of network social/acme restarted 4 times within an hour.",
	}}},
	{"a public host cannot be reached", func(w *world) {
		w.series[w.of("probe_success", "region", "eu", "instance", "https://eu")] = w.constant(0)
	}, 2, 4, []firing{{
		"PlazaHostUnreachable", "critical", in("eu"), "A public host of region eu of acme is not reachable",
		"The prober cannot reach a public host of region eu of network social/acme, or receives an error. If no other alert of the region " +
			"fires, the servers work, and the cause is the name, the certificate or the gateway.",
	}}},
	{"the certificate of a public host ends", func(w *world) {
		w.series[w.of("probe_ssl_earliest_cert_expiry", "region", "eu", "instance", "https://eu")] = w.constant(13 * 86400)
	}, 59, 61, []firing{{
		"PlazaHostCertificateExpiring", "warning", in("eu"), "The certificate of a public host of region eu of acme ends soon",
		"The certificate of a public host of region eu of network social/acme ends in 12d 22h 59m 0s. Clients then refuse to connect.",
	}}},
	{"one of two servers of a region does not reach a home", func(w *world) {
		w.series[w.of("plaza_database_up", "region", "eu", "pod", "acme-eu-2", "home", "sg")] = w.constant(0)
	}, 1, 30, nil},
	{"a home's database is away from one region", func(w *world) {
		w.series[w.at("eu", "plaza_database_up", "home", "sg")] = w.constant(0)
	}, 1, 3, []firing{databaseUnreachable("eu", "sg")}},
}

var objectiveCases = []alertCase{
	{"one request in eleven fails", func(w *world) {
		w.requests("eu", "2xx", 6000)
		w.requests("eu", "4xx", 0)
		w.requests("eu", "5xx", 600)
	}, 2, 5, []firing{{
		"PlazaErrorBudgetBurnFast", "critical", in("eu"), "9.091% of the requests to region eu of acme fail",
		"9.091% of the requests to region eu of network social/acme fail because of the platform. At this rate the 30-day error budget is " +
			"used up within days.",
	}}},
	{"twice as many requests fail as may", func(w *world) {
		w.requests("eu", "4xx", 0)
		w.requests("eu", "5xx", 12)
	}, 14, 17, []firing{{
		"PlazaErrorBudgetBurnSlow", "warning", in("eu"), "0.1996% of the requests to region eu of acme fail",
		"0.1996% of the requests to region eu of network social/acme fail because of the platform. This is more than the objective allows " +
			"in the long run.",
	}}},
	{"a few failures with few requests", func(w *world) {
		w.requests("eu", "2xx", 0.1)
		w.requests("eu", "4xx", 0)
		w.requests("eu", "5xx", 0.1)
	}, 10, 30, []firing{{
		"PlazaErrorBudgetBurnSlow", "warning", in("eu"), "50% of the requests to region eu of acme fail",
		"50% of the requests to region eu of network social/acme fail because of the platform. This is more than the objective allows in " +
			"the long run.",
	}}},
	{"one request in twenty is slow", func(w *world) {
		w.durations("eu", "operation", map[string]int{"0.1": 5000, "0.5": 5700, "1": 6000, "+Inf": 6000})
	}, 14, 17, []firing{{
		"PlazaLatencyBudgetBurnSlow", "warning", in("eu"), "Requests to region eu of acme are slow: the slowest take 700ms or longer",
		"More than 1% of the requests to region eu of network social/acme exceed the objective, which is more than it allows in the long " +
			"run; the slowest take 700ms or longer.",
	}}},
	{"one request in six is slow", func(w *world) {
		w.durations("eu", "operation", map[string]int{"0.1": 4000, "0.5": 5000, "1": 6000, "+Inf": 6000})
	}, 1, 5, []firing{{
		"PlazaLatencyBudgetBurnFast", "critical", in("eu"), "Many requests to region eu of acme are slow: they take 568ms or longer",
		"So many requests to region eu of network social/acme take 568ms or longer that the 30-day budget of slow requests is used up " +
			"within days.",
	}}},
	{"one request in six is slow, with native histograms", func(w *world) {
		w.durationsAreNative("eu", "{{schema:0 sum:600 count:6000 buckets:[4000 1000 1000] offset:-2}}")
	}, 1, 5, []firing{{
		"PlazaLatencyBudgetBurnFast", "critical", in("eu"), "Many requests to region eu of acme are slow: they take 549.4ms or longer",
		"So many requests to region eu of network social/acme take 549.4ms or longer that the 30-day budget of slow requests is used up " +
			"within days.",
	}}},
	{"realtime events are late", func(w *world) {
		w.histogram("plaza_realtime_delay_seconds", "eu", map[string]int{"0.5": 80, "5": 90, "10": 100, "+Inf": 100})
	}, 14, 17, []firing{{
		"PlazaRealtimeDelayed", "warning", in("eu"), "Realtime events of region eu of acme are delayed",
		"1% of the realtime events reach the streams of region eu of network social/acme after 9.5s or more.",
	}}},
	{"round trips wait for connections", func(w *world) {
		w.series[w.at("eu", "plaza_database_connection_waits_total", "home", "sg")] = w.rising(1500)
	}, 9, 12, []firing{{
		"PlazaDatabasePoolSaturated", "warning", in("eu", "home", "sg"), "The connections of region eu of acme to sg are all in use",
		"25% of the round trips from region eu of network social/acme to the home sg wait for a connection.",
	}}},
	{"the placement is not checked", func(w *world) {
		w.series[w.at("eu", "plaza_placement_checked_timestamp_seconds")] = w.constant(0)
	}, 65, 75, []firing{{
		"PlazaPlacementNotChecked", "warning", in("eu"), "The placement of the rows of acme is not checked",
		"The servers of region eu of network social/acme last checked 1h 15m 0s ago where the database stores the rows: PlazaRowsNotPinned " +
			"cannot fire.",
	}}},
	{"the outbox does not drain", func(w *world) {
		w.series[w.at("eu", "plaza_outbox_oldest_age_seconds")] = w.constant(400)
	}, 9, 11, []firing{{
		"PlazaOutboxNotDraining", "warning", in("eu"), "The outbox of region eu of acme is not draining",
		"The oldest event in the outbox of region eu of network social/acme is 6m 40s old. Counters, feeds and deletions in other home " +
			"regions are delayed by as much.",
	}}},
	{"a webhook does not answer", func(w *world) {
		w.series[w.at("eu", "plaza_webhook_oldest_delivery_seconds", "home", "us", "webhook", "01ab")] = w.constant(660)
		w.series[w.at("eu", "plaza_webhook_oldest_delivery_seconds", "home", "eu", "webhook", "01cd")] = w.constant(540)
	}, 4, 6, []firing{{
		"PlazaWebhookFailing", "warning",
		map[string]string{"webhook": "01ab"},
		"A webhook of acme is failing",
		"The oldest event that waits for delivery to the webhook 01ab of network social/acme is 11m 0s old. Events are retried for 24 hours.",
	}}},
	{"events of a webhook are given up", func(w *world) {
		w.series[w.at("eu", "plaza_webhook_deliveries_total", "result", "dead", "webhook", "01ab")] = "0x60 0+1x5 5x100"
		w.series[w.at("eu", "plaza_webhook_deliveries_total", "result", "failed", "webhook", "01cd")] = w.rising(10)
	}, 60, 64, []firing{{
		"PlazaWebhookDeadLetters", "warning",
		map[string]string{"webhook": "01ab"},
		"Events of acme could not be delivered to a webhook",
		"About 3 events could not be delivered to the webhook 01ab of network social/acme within an hour. They are kept for 30 days and can " +
			"be sent again.",
	}}},
	{"webhooks are not applied", func(w *world) { w.conditionIs("WebhooksApplied", "False") }, 14, 16, []firing{{
		"PlazaWebhooksNotApplied", "warning", nil, "The webhooks of acme are not applied",
		"The condition WebhooksApplied of network social/acme has been False for 15 minutes; its message has the cause.",
	}}},
	{"a move of a user does not end", func(w *world) {
		w.series[w.at("eu", "plaza_user_moves_oldest_age_seconds")] = w.constant(25200)
	}, 14, 16, []firing{{
		"PlazaUserMoveStuck", "warning", in("eu"), "A move of a user of region eu of acme does not end",
		"The oldest unfinished move of a user of region eu of network social/acme was requested 7h 0m 0s ago.",
	}}},
	{"scheduled posts are overdue", func(w *world) {
		w.series[w.at("eu", "plaza_scheduled_posts_overdue_seconds")] = w.constant(400)
	}, 9, 11, []firing{{
		"PlazaScheduledPostsOverdue", "warning", in("eu"), "Scheduled posts of region eu of acme are overdue",
		"A scheduled post of region eu of network social/acme should have been published 6m 40s ago.",
	}}},
}

var keyCases = []alertCase{
	{"the keys' rotation is overdue", func(w *world) {
		w.series[w.of("plaza_operator_key_rotation_due_timestamp_seconds")] = w.constant(0)
	}, 75, 77, []firing{{
		"PlazaKeyRotationOverdue", "warning", nil, "The rotation of the server keys of acme is overdue",
		"The server keys of network social/acme should have been rotated 1h 17m 0s ago.",
	}}},
	{"keys are not ready", func(w *world) { w.conditionIs("KeysReady", "False") }, 14, 16, []firing{{
		"PlazaKeysNotReady", "warning", nil, "The keys of acme are not ready",
		"The condition KeysReady of network social/acme has been False for 15 minutes; its message names the key and the cause.",
	}}},
	{"keys are missing", func(w *world) {
		w.series[w.of("plaza_operator_missing_keys")] = w.constant(2)
	}, 0, 2, []firing{{
		"PlazaKeysMissing", "critical", nil, "Keys of acme were lost",
		"2 Secrets with keys of network social/acme were lost, and no copy of them is left. Servers keep the keys that they have, and no " +
			"new pod can start. " +
			"The condition KeysReady has the commands that restore the keys or give them up.",
	}}},
	{"a server has no valid key of a kind", func(w *world) {
		w.series[w.at("sg", "plaza_keys", "kind", "api")] = w.constant(0)
		w.drop(`plaza_keys_latest_not_after_timestamp_seconds{namespace="` + w.namespace + `",network="` + w.network + `",region="sg"`)
	}, 0, 2, []firing{{
		"PlazaNoValidKey", "critical", in("sg", "kind", "api"), "Servers of region sg of acme have no valid api key",
		"A server of region sg of network social/acme has no valid api key and rejects every request that needs one.",
	}}},
	{"the last key of a kind expires soon", func(w *world) {
		w.series[w.at("sg", "plaza_keys_latest_not_after_timestamp_seconds", "kind", "signing")] = w.constant(50000)
	}, 9, 11, []firing{{
		"PlazaKeysExpiring", "warning", in("sg", "kind", "signing"), "The last signing key of region sg of acme expires soon",
		"The last valid signing key of region sg of network social/acme expires in 13h 42m 20s.",
	}}},
	{"a server does not read its renewed certificate", func(w *world) {
		w.series[w.at("sg", "plaza_control_certificate_not_after_timestamp_seconds", "kind", "certificate")] = w.constant(13 * 86400)
	}, 59, 61, []firing{{
		"PlazaControlCertificateExpiring", "warning", nil, "Certificates of control calls of acme end soon",
		"A certificate of the calls between the operator and the servers of network social/acme ends in 12d 22h 59m 0s. It should have been " +
			"renewed.",
	}}},
	{"a key file cannot be read", func(w *world) {
		w.series[w.at("sg", "plaza_keys_file_readable", "kind", "server")] = w.constant(0)
	}, 9, 11, []firing{{
		"PlazaKeysFileUnreadable", "warning", in("sg", "kind", "server"), "Servers of region sg of acme cannot read the server keys",
		"A server of region sg of network social/acme cannot read the file of the server keys. It keeps its old keys; rotations do not reach it.",
	}}},
}

var settingCases = []alertCase{
	{"the schema is behind the servers of a region", func(w *world) {
		w.series[w.at("us", "plaza_schema_version_required")] = w.constant(94)
	}, 14, 16, []firing{{
		"PlazaSchemaBehind", "warning", in("us"), "The schema of acme is 2 versions behind",
		"The database of network social/acme is 2 versions behind the schema that the servers of region us need.",
	}}},
	{"the schema is behind the operator's target", func(w *world) {
		w.series[w.of("plaza_operator_schema_version", "kind", "target")] = w.constant(93)
	}, 14, 16, []firing{{
		"PlazaSchemaBehind", "warning", nil, "The schema of acme is 1 versions behind",
		"The database of network social/acme is 1 versions behind the schema that the image needs.",
	}}},
	{"the migration fails", func(w *world) {
		w.conditionIs("SchemaMigrated", "False")
		w.series[w.of("plaza_operator_migration_attempts")] = w.constant(3)
	}, 4, 6, []firing{{
		"PlazaMigrationFailing", "warning", nil, "The migration of acme is failing",
		"The migration of the database of network social/acme is at attempt 3. Running servers are not changed; no region is updated.",
	}}},
	{"the database has not been backed up in time", func(w *world) {
		w.series[w.of("plaza_operator_backup_overdue_timestamp_seconds")] = w.constant(1800)
	}, 35, 36, []firing{{
		"PlazaBackupOverdue", "critical", nil, "The backup of acme is overdue",
		"The last backup of the database of network social/acme that the schedule requires should have succeeded 6m 0s ago at the latest.",
	}}},
	{
		"the servers do not run the spec's moderation settings", func(w *world) { w.conditionIs("ModerationApplied", "False") }, 14, 16,
		[]firing{{
			"PlazaModerationNotApplied", "warning", nil, "The moderation settings of acme are not applied",
			"The servers of network social/acme do not run the moderation settings of the spec.",
		}},
	},
	{"a region has older moderation settings", func(w *world) {
		w.series[w.at("eu", "plaza_moderation_generation")] = w.constant(6)
	}, 14, 16, []firing{{
		"PlazaModerationNotApplied", "warning", in("eu"), "The moderation settings of acme are not applied",
		"The servers of region eu of network social/acme do not run the moderation settings of the spec.",
	}}},
	{"servers find tables that are not pinned", func(w *world) {
		w.series[w.at("us", "plaza_placement_state", "state", "NotPinned")] = w.constant(1)
		w.series[w.at("us", "plaza_placement_state", "state", "Pinned")] = w.constant(0)
	}, 29, 31, rowsNotPinned},
	{"the operator reports tables that are not pinned", func(w *world) { w.conditionIs("RegionsPinned", "False") }, 29, 31, rowsNotPinned},
}

var rowsNotPinned = []firing{{
	"PlazaRowsNotPinned", "critical", nil, "Rows of acme are stored in the wrong region",
	"The database of network social/acme does not store the rows of every table in the regions that the spec requires; the condition " +
		"RegionsPinned names the tables.",
}}

var operatorCases = []alertCase{
	{"a region's update does not get on", func(w *world) { w.regionConditionIs("sg", "Updated", "False") }, 29, 31, []firing{{
		"PlazaRolloutStopped", "warning", in("sg"), "The update of region sg of acme is not progressing",
		"The pods of region sg of network social/acme have not all had the newest template for 30 minutes. The old pods keep running.",
	}}},
	{"the network is not ready", func(w *world) { w.conditionIs("Ready", "False") }, 29, 31, []firing{notReady}},
	{"the network is paused, and therefore not ready", func(w *world) {
		w.conditionIs("Ready", "False")
		w.series[w.of("plaza_operator_paused")] = w.constant(1)
	}, 60, 25 * 60, []firing{{
		"PlazaNetworkPaused", "info", nil, "acme is paused",
		"The operator has applied no changes to network social/acme for a day, because spec.paused is true; keys are not rotated either.",
	}}},
	{"the metrics of the operator are missing", func(w *world) { w.drop("plaza_operator_") }, 4, 6, []firing{operatorSilent}},
	{"the operator has not been through the network for long", func(w *world) {
		w.series[w.of("plaza_operator_observed_timestamp_seconds")] = w.constant(0)
	}, 20, 22, []firing{{
		"PlazaOperatorNotReconciling", "warning", nil, "The operator is not reconciling acme",
		"The operator last reconciled network social/acme 22m 0s ago. Keys are not rotated, changes are not applied, and alerts that depend " +
			"on its metrics cannot fire.",
	}}},
	{"nothing of the network is left", func(w *world) { w.drop("") }, 2, 6, []firing{
		regionIsDown("eu"), regionIsDown("sg"), regionIsDown("us"), operatorSilent,
	}},
}
