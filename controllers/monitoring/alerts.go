package monitoring

import (
	"time"

	"github.com/plaza-social/plaza/api/v1alpha1"
)

func keyAlerts() []alert {
	const where = "region {{ $labels.region }} of network {{ $labels.namespace }}/{{ $labels.network }}"
	return []alert{
		{
			name: "PlazaKeyRotationOverdue", severity: warning, after: 15 * time.Minute,
			meaning:     "the server keys should have been rotated more than an hour ago",
			summary:     "The rotation of the server keys of {{ $labels.network }} is overdue",
			description: "The server keys of network {{ $labels.namespace }}/{{ $labels.network }} should have been rotated {{ $value | humanizeDuration }} ago.",
			expr: func(s scope) string {
				return "time() - " + by("max", s.of("plaza_operator_key_rotation_due_timestamp_seconds")) + " > 3600"
			},
		},
		{
			name: "PlazaKeysNotReady", severity: warning, after: 15 * time.Minute,
			meaning:     "the condition KeysReady is False: a key is missing or invalid, or servers do not accept one",
			summary:     "The keys of {{ $labels.network }} are not ready",
			description: "The condition KeysReady of network {{ $labels.namespace }}/{{ $labels.network }} has been False for 15 minutes; its message names the key and the cause.",
			expr:        conditionAlert(v1alpha1.ConditionKeysReady),
		},
		{
			name: "PlazaNoValidKey", severity: critical, after: time.Minute,
			meaning:     "a server has no valid key of a kind (server, api or signing)",
			summary:     "Servers of region {{ $labels.region }} of {{ $labels.network }} have no valid {{ $labels.kind }} key",
			description: "A server of " + where + " has no valid {{ $labels.kind }} key and rejects every request that needs one.",
			expr:        func(s scope) string { return by("min", s.of("plaza_keys"), "region", "kind") + " == 0" },
		},
		{
			name: "PlazaKeysExpiring", severity: warning, after: 10 * time.Minute,
			meaning:     "the last valid key of a kind expires within a day",
			summary:     "The last {{ $labels.kind }} key of region {{ $labels.region }} of {{ $labels.network }} expires soon",
			description: "The last valid {{ $labels.kind }} key of " + where + " expires in {{ $value | humanizeDuration }}.",
			expr: func(s scope) string {
				return by("min", s.of("plaza_keys_latest_not_after_timestamp_seconds"), "region", "kind") + " - time() < 86400"
			},
		},
		{
			name: "PlazaKeysFileUnreadable", severity: warning, after: 10 * time.Minute,
			meaning:     "a server cannot read a key file: it keeps its old keys and does not receive new ones",
			summary:     "Servers of region {{ $labels.region }} of {{ $labels.network }} cannot read the {{ $labels.kind }} keys",
			description: "A server of " + where + " cannot read the file of the {{ $labels.kind }} keys. It keeps its old keys; rotations do not reach it.",
			expr:        func(s scope) string { return by("min", s.of("plaza_keys_file_readable"), "region", "kind") + " == 0" },
		},
	}
}

func settingAlerts() []alert {
	return []alert{
		{
			name: "PlazaSchemaBehind", severity: warning, after: 15 * time.Minute,
			meaning:     "the schema of the database is older than the servers of a region, or the image, need",
			summary:     "The schema of {{ $labels.network }} is {{ $value }} versions behind",
			description: "The database of network {{ $labels.namespace }}/{{ $labels.network }} is {{ $value }} versions behind the schema that {{ with $labels.region }}the servers of region {{ . }} need{{ else }}the image needs{{ end }}.",
			expr: func(s scope) string {
				target := func(kind string) string {
					return by("max", s.of("plaza_operator_schema_version", `kind="`+kind+`"`))
				}
				servers := s.of("plaza_schema_version_required") + " - " + s.of("plaza_schema_version")
				return by("max", servers, "region") + " > 0 or " + target("target") + " - " + target("current") + " > 0"
			},
		},
		{
			name: "PlazaMigrationFailing", severity: warning, after: 5 * time.Minute,
			meaning:     "the migration of the database failed more than once; the regions keep their old version",
			summary:     "The migration of {{ $labels.network }} is failing",
			description: "The migration of the database of network {{ $labels.namespace }}/{{ $labels.network }} is at attempt {{ $value }}. Running servers are not changed; no region is updated.",
			expr: func(s scope) string {
				attempts := by("max", s.of("plaza_operator_migration_attempts"))
				return attempts + " > 1 and " + by("max", s.condition(v1alpha1.ConditionSchemaMigrated, "False")) + " == 1"
			},
		},
		{
			name: "PlazaModerationNotApplied", severity: warning, after: 15 * time.Minute,
			meaning:     "servers do not run the moderation settings of the spec, or those of one region have older settings than others",
			summary:     "The moderation settings of {{ $labels.network }} are not applied",
			description: "The servers of {{ with $labels.region }}region {{ . }} of {{ end }}network {{ $labels.namespace }}/{{ $labels.network }} do not run the moderation settings of the spec.",
			expr: func(s scope) string {
				generation := s.of("plaza_moderation_generation")
				older := by("min", generation, "region") + " < on (namespace, network) group_left () " + by("max", generation)
				return by("max", s.condition(v1alpha1.ConditionModerationApplied, "True")) + " == 0 or " + older
			},
		},
		{
			name: "PlazaRowsNotPinned", severity: critical, after: 30 * time.Minute,
			meaning:     "the database stores rows of a table elsewhere than the spec requires, or has other regions or another survival goal",
			summary:     "Rows of {{ $labels.network }} are stored in the wrong region",
			description: "The database of network {{ $labels.namespace }}/{{ $labels.network }} does not store the rows of every table in the regions that the spec requires; the condition RegionsPinned names the tables.",
			expr: func(s scope) string {
				servers := by("max", s.of("plaza_placement_state", `state="NotPinned"`))
				return servers + " == 1 or " + by("max", s.condition(v1alpha1.ConditionRegionsPinned, "False")) + " == 1"
			},
		},
	}
}

func workAlerts() []alert {
	const where = "region {{ $labels.region }} of network {{ $labels.namespace }}/{{ $labels.network }}"
	return []alert{
		{
			name: "PlazaOutboxNotDraining", severity: warning, after: 10 * time.Minute,
			meaning:     "the oldest event in the outbox of a region is more than five minutes old",
			summary:     "The outbox of region {{ $labels.region }} of {{ $labels.network }} is not draining",
			description: "The oldest event in the outbox of " + where + " is {{ $value | humanizeDuration }} old. Counters, feeds and deletions in other home regions are delayed by as much.",
			expr:        func(s scope) string { return by("max", s.of("plaza_outbox_oldest_age_seconds"), "region") + " > 300" },
		},
		{
			name: "PlazaScheduledPostsOverdue", severity: warning, after: 10 * time.Minute,
			meaning:     "a scheduled post should have been published more than five minutes ago",
			summary:     "Scheduled posts of region {{ $labels.region }} of {{ $labels.network }} are overdue",
			description: "A scheduled post of " + where + " should have been published {{ $value | humanizeDuration }} ago.",
			expr: func(s scope) string {
				return by("max", s.of("plaza_scheduled_posts_overdue_seconds"), "region") + " > 300"
			},
		},
		{
			name: "PlazaRealtimeDelayed", severity: warning, after: 15 * time.Minute,
			meaning:     "1% of the realtime events reach their streams after more than five seconds",
			summary:     "Realtime events of region {{ $labels.region }} of {{ $labels.network }} are delayed",
			description: "1% of the realtime events reach the streams of " + where + " after {{ $value | humanizeDuration }} or more.",
			expr: func(s scope) string {
				buckets := "rate(" + s.of("plaza_realtime_delay_seconds_bucket") + "[10m])"
				return "histogram_quantile(0.99, " + by("sum", buckets, "region", "le") + ") > 5"
			},
		},
	}
}

func operatorAlerts() []alert {
	const network = "network {{ $labels.namespace }}/{{ $labels.network }}"
	return []alert{
		{
			name: "PlazaRolloutStopped", severity: warning, after: 30 * time.Minute,
			meaning:     "not all pods of a region have the newest template",
			summary:     "The update of region {{ $labels.region }} of {{ $labels.network }} is not progressing",
			description: "The pods of region {{ $labels.region }} of " + network + " have not all had the newest template for 30 minutes. The old pods keep running.",
			expr: func(s scope) string {
				return by("max", s.regionCondition(v1alpha1.RegionUpdated, "False"), "region") + " == 1"
			},
		},
		{
			name: "PlazaNetworkNotReady", severity: warning, after: 30 * time.Minute,
			meaning:     "the condition Ready is not True, and the network is not paused",
			summary:     "{{ $labels.network }} is not ready",
			description: "The condition Ready of " + network + " has not been True for 30 minutes; its reason and message explain it.",
			expr: func(s scope) string {
				return by("max", s.condition(v1alpha1.ConditionReady, "True")) + " == 0 unless " + by("max", s.of("plaza_operator_paused")) + " == 1"
			},
		},
		{
			name: "PlazaNetworkPaused", severity: info, after: day,
			meaning:     "the network has been paused for a day",
			summary:     "{{ $labels.network }} is paused",
			description: "The operator has applied no changes to " + network + " for a day, because spec.paused is true; keys are not rotated either.",
			expr:        func(s scope) string { return by("max", s.of("plaza_operator_paused")) + " == 1" },
		},
		{
			name: "PlazaOperatorNotReconciling", severity: warning, after: 5 * time.Minute,
			meaning:     "the operator has not reconciled the network for 15 minutes, or Prometheus does not have its metrics",
			summary:     "The operator is not reconciling {{ $labels.network }}",
			description: "{{ if gt $value 1.0 }}The operator last reconciled " + network + " {{ $value | humanizeDuration }} ago{{ else }}Prometheus has no metrics of the operator for " + network + "{{ end }}. Keys are not rotated, changes are not applied, and alerts that depend on its metrics cannot fire.",
			expr: func(s scope) string {
				seen := s.of("plaza_operator_observed_timestamp_seconds")
				return "absent(" + seen + ") or time() - " + by("max", seen) + " > 900"
			},
		},
	}
}
