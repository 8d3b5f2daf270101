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
			meaning:     "the condition KeysReady is False: a key is missing or broken, or servers do not accept one",
			summary:     "The keys of {{ $labels.network }} are not in order",
			description: "The condition KeysReady of network {{ $labels.namespace }}/{{ $labels.network }} has been False for 15 minutes; its message says which key, and why.",
			expr:        conditionAlert(v1alpha1.ConditionKeysReady),
		},
		{
			name: "PlazaNoValidKey", severity: critical, after: time.Minute,
			meaning:     "a server has no valid key of a kind (server, api or signing)",
			summary:     "Servers of region {{ $labels.region }} of {{ $labels.network }} have no valid {{ $labels.kind }} key",
			description: "A server of " + where + " has no {{ $labels.kind }} key that is valid now, and refuses every request that needs one.",
			expr:        func(s scope) string { return by("min", s.of("plaza_keys"), "region", "kind") + " == 0" },
		},
		{
			name: "PlazaKeysExpiring", severity: warning, after: 10 * time.Minute,
			meaning:     "the last valid key of a kind ends within a day",
			summary:     "The last {{ $labels.kind }} key of region {{ $labels.region }} of {{ $labels.network }} ends soon",
			description: "The last valid {{ $labels.kind }} key of " + where + " ends in {{ $value | humanizeDuration }}.",
			expr: func(s scope) string {
				return by("min", s.of("plaza_keys_latest_not_after_timestamp_seconds"), "region", "kind") + " - time() < 86400"
			},
		},
		{
			name: "PlazaKeysFileUnreadable", severity: warning, after: 10 * time.Minute,
			meaning:     "a server cannot read a key file: it goes on with the keys that it has, and learns of no new ones",
			summary:     "Servers of region {{ $labels.region }} of {{ $labels.network }} cannot read the {{ $labels.kind }} keys",
			description: "A server of " + where + " cannot read the file of the {{ $labels.kind }} keys. The keys before stay in use; a rotation does not reach it.",
			expr:        func(s scope) string { return by("min", s.of("plaza_keys_file_readable"), "region", "kind") + " == 0" },
		},
	}
}

func settingAlerts() []alert {
	return []alert{
		{
			name: "PlazaSchemaBehind", severity: warning, after: 15 * time.Minute,
			meaning:     "the database has an older schema than the servers of a region, or the operator's target, need",
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
			meaning:     "the database's migration failed more than once; the regions go on with their old version",
			summary:     "The migration of {{ $labels.network }} fails",
			description: "The migration of the database of network {{ $labels.namespace }}/{{ $labels.network }} is at attempt {{ $value }}. What runs stays as it is; no region is updated.",
			expr: func(s scope) string {
				attempts := by("max", s.of("plaza_operator_migration_attempts"))
				return attempts + " > 1 and " + by("max", s.condition(v1alpha1.ConditionSchemaMigrated, "False")) + " == 1"
			},
		},
		{
			name: "PlazaModerationNotApplied", severity: warning, after: 15 * time.Minute,
			meaning:     "the servers do not report the moderation settings of the spec, or those of a region have older ones than others",
			summary:     "The moderation settings of {{ $labels.network }} are not in force",
			description: "The servers of {{ with $labels.region }}region {{ . }} of {{ end }}network {{ $labels.namespace }}/{{ $labels.network }} do not run the moderation settings of the spec.",
			expr: func(s scope) string {
				generation := s.of("plaza_moderation_generation")
				older := by("min", generation, "region") + " < on (namespace, network) group_left () " + by("max", generation)
				return by("max", s.condition(v1alpha1.ConditionModerationApplied, "True")) + " == 0 or " + older
			},
		},
		{
			name: "PlazaRowsNotPinned", severity: critical, after: 30 * time.Minute,
			meaning:     "the database keeps rows of a table elsewhere than the spec says, or has other regions or another survival goal",
			summary:     "Rows of {{ $labels.network }} are not where they should be",
			description: "The database of network {{ $labels.namespace }}/{{ $labels.network }} does not keep every table's rows in the regions that the spec names; the condition RegionsPinned names the tables.",
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
			meaning:     "what a region has to tell other homes has waited for more than five minutes",
			summary:     "The outbox of region {{ $labels.region }} of {{ $labels.network }} does not drain",
			description: "The oldest event in the outbox of " + where + " has waited for {{ $value | humanizeDuration }}. Counters, feeds and deletions at other homes lag behind by as much.",
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
			meaning:     "one realtime event in a hundred reaches its streams after more than five seconds",
			summary:     "Realtime events of region {{ $labels.region }} of {{ $labels.network }} are late",
			description: "One in a hundred realtime events reaches the streams of " + where + " after {{ $value | humanizeDuration }} or more.",
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
			meaning:     "a region's pods have not been of the newest template for half an hour",
			summary:     "The update of region {{ $labels.region }} of {{ $labels.network }} does not get on",
			description: "The pods of region {{ $labels.region }} of " + network + " have not been of the newest template for 30 minutes. What ran before goes on.",
			expr: func(s scope) string {
				return by("max", s.regionCondition(v1alpha1.RegionUpdated, "False"), "region") + " == 1"
			},
		},
		{
			name: "PlazaNetworkNotReady", severity: warning, after: 30 * time.Minute,
			meaning:     "the network is not Ready, and not paused",
			summary:     "{{ $labels.network }} is not ready",
			description: "The condition Ready of " + network + " has not been True for 30 minutes; its reason and message say why.",
			expr: func(s scope) string {
				return by("max", s.condition(v1alpha1.ConditionReady, "True")) + " == 0 unless " + by("max", s.of("plaza_operator_paused")) + " == 1"
			},
		},
		{
			name: "PlazaNetworkPaused", severity: info, after: day,
			meaning:     "the network has been paused for a day",
			summary:     "{{ $labels.network }} is paused",
			description: "The operator has applied no change to " + network + " for a day, because spec.paused is true; keys are not rotated either.",
			expr:        func(s scope) string { return by("max", s.of("plaza_operator_paused")) + " == 1" },
		},
		{
			name: "PlazaOperatorNotReconciling", severity: warning, after: 5 * time.Minute,
			meaning:     "the operator has not gone through the network for 15 minutes, or Prometheus has no metrics of it",
			summary:     "The operator does not look after {{ $labels.network }}",
			description: "{{ if gt $value 1.0 }}The operator last went through " + network + " {{ $value | humanizeDuration }} ago{{ else }}Prometheus has no metrics of the operator about " + network + "{{ end }}: keys are not rotated, changes are not applied, and the alerts that rest on its metrics are blind.",
			expr: func(s scope) string {
				seen := s.of("plaza_operator_observed_timestamp_seconds")
				return "absent(" + seen + ") or time() - " + by("max", seen) + " > 900"
			},
		},
	}
}
