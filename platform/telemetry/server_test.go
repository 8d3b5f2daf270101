package telemetry_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/statusz"
	"github.com/plaza-social/plaza/platform/telemetry"
)

// series returns the samples of the server's gauges as "name{own labels}": value.
func series(t *testing.T, gatherer prometheus.Gatherer) map[string]float64 {
	t.Helper()
	families, err := gatherer.Gather()
	require.NoError(t, err)
	found := map[string]float64{}
	for _, f := range families {
		if !strings.HasPrefix(f.GetName(), "plaza_") || f.GetName() == "plaza_build_info" {
			continue
		}
		for _, m := range f.GetMetric() {
			var own []string
			for _, l := range m.GetLabel() {
				if l.GetName() != "network" && l.GetName() != "region" {
					own = append(own, l.GetName()+"="+l.GetValue())
				}
			}
			found[fmt.Sprintf("%s{%s}", f.GetName(), strings.Join(own, ","))] = m.GetGauge().GetValue()
		}
	}
	return found
}

func TestServerMetrics(t *testing.T) {
	t.Parallel()
	at := time.Unix(1_800_000_000, 0).UTC()
	duration := func(d time.Duration) *time.Duration { return &d }
	file := func(keys ...statusz.Key) statusz.KeyFile { return statusz.KeyFile{Keys: keys, LoadedAt: at} }
	full := telemetry.Snapshot{
		Databases: map[string]bool{"us": true, "eu": false}, PlacementChecked: at, CertificateEnd: at.Add(time.Hour),
		OutboxAge: duration(1500 * time.Millisecond), ScheduleDelay: duration(0),
		Status: statusz.Status{
			Schema:     statusz.Schema{Current: 3, Required: 4, AsOf: at},
			Moderation: statusz.Moderation{FlagLimit: 100, Generation: 7, AsOf: at},
			Placement: statusz.Placement{State: statusz.NotPinned, NotPinned: []statusz.TableNotPinned{
				{Table: "posts", Has: "GLOBAL"}, {Has: "the database has no region"},
			}},
			Keys: statusz.Keys{
				Server: file(
					statusz.Key{ID: "old", NotAfter: at.Add(-time.Hour)},
					statusz.Key{ID: "a", NotAfter: at.Add(2 * time.Hour), Valid: true},
					statusz.Key{ID: "b", NotAfter: at.Add(time.Hour), Valid: true},
					statusz.Key{ID: "c", NotAfter: at.Add(90 * time.Minute), Valid: true},
				),
				API:     file(statusz.Key{ID: "a", NotAfter: at.Add(time.Hour), Valid: true}, statusz.Key{ID: "b", Valid: true}),
				Signing: statusz.KeyFile{Keys: []statusz.Key{{ID: "a", Valid: true}}, LoadedAt: at, Error: "gone"},
			},
		},
	}
	m := telemetry.NewMetrics("n", region.EU)
	snapshot := full
	require.NoError(t, m.RegisterServer(func() telemetry.Snapshot { return snapshot }))
	require.Equal(t, map[string]float64{
		"plaza_database_up{home=us}":                                   1,
		"plaza_database_up{home=eu}":                                   0,
		"plaza_schema_version{}":                                       3,
		"plaza_schema_version_required{}":                              4,
		"plaza_placement_state{state=Pinned}":                          0,
		"plaza_placement_state{state=NotPinned}":                       1,
		"plaza_placement_state{state=Unknown}":                         0,
		"plaza_placement_tables_not_pinned{}":                          1,
		"plaza_placement_checked_timestamp_seconds{}":                  1_800_000_000,
		"plaza_tls_certificate_not_after_timestamp_seconds{}":          1_800_003_600,
		"plaza_moderation_generation{}":                                7,
		"plaza_moderation_flag_limit{}":                                100,
		"plaza_keys{kind=server}":                                      3,
		"plaza_keys{kind=api}":                                         2,
		"plaza_keys{kind=signing}":                                     1,
		"plaza_keys_earliest_not_after_timestamp_seconds{kind=server}": 1_800_003_600,
		"plaza_keys_earliest_not_after_timestamp_seconds{kind=api}":    1_800_003_600,
		"plaza_keys_latest_not_after_timestamp_seconds{kind=server}":   1_800_007_200,
		"plaza_keys_file_readable{kind=server}":                        1,
		"plaza_keys_file_readable{kind=api}":                           1,
		"plaza_keys_file_readable{kind=signing}":                       0,
		"plaza_keys_loaded_timestamp_seconds{kind=server}":             1_800_000_000,
		"plaza_keys_loaded_timestamp_seconds{kind=api}":                1_800_000_000,
		"plaza_keys_loaded_timestamp_seconds{kind=signing}":            1_800_000_000,
		"plaza_outbox_oldest_age_seconds{}":                            1.5,
		"plaza_scheduled_posts_overdue_seconds{}":                      0,
	}, series(t, m.Gatherer()))

	for name := range series(t, m.Gatherer()) {
		name, _, _ = strings.Cut(name, "{")
		require.True(t, slices.ContainsFunc(listed(t), func(line string) bool { return strings.HasPrefix(line, name+" gauge") }), name)
	}

	snapshot = telemetry.Snapshot{Status: statusz.Status{Placement: statusz.Placement{State: statusz.Unknown}}}
	known := series(t, m.Gatherer())
	for _, absent := range []string{
		"plaza_schema_version{}", "plaza_placement_tables_not_pinned{}", "plaza_moderation_generation{}", "plaza_moderation_flag_limit{}",
		"plaza_outbox_oldest_age_seconds{}", "plaza_placement_checked_timestamp_seconds{}",
		"plaza_tls_certificate_not_after_timestamp_seconds{}", "plaza_scheduled_posts_overdue_seconds{}", "plaza_database_up{home=us}",
	} {
		require.NotContains(t, known, absent, "unknown values are absent")
	}
	require.InDelta(t, 1, known["plaza_placement_state{state=Unknown}"], 0)
}

// listed returns the names of all metrics.
func listed(t *testing.T) []string {
	t.Helper()
	content, err := os.ReadFile("testdata/metrics.txt")
	require.NoError(t, err)
	return strings.Split(strings.TrimSpace(string(content)), "\n")
}

// TestEveryMetricIsDocumented compares the table in README.md with the list in testdata.
func TestEveryMetricIsDocumented(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("README.md")
	require.NoError(t, err)
	var documented, want []string
	for line := range strings.Lines(string(content)) {
		if name, rest, found := strings.Cut(line, "` | "); found && strings.HasPrefix(name, "| `plaza_") {
			kind, _, _ := strings.Cut(rest, " |")
			documented = append(documented, strings.TrimPrefix(name, "| `")+" "+kind)
		}
	}
	for _, line := range listed(t) {
		fields := strings.Fields(line)
		want = append(want, fields[0]+" "+fields[1])
	}
	require.ElementsMatch(t, want, documented)
}

// TestControlMetrics reports when the certificate of the control endpoints and the last of their authorities end.
func TestControlMetrics(t *testing.T) {
	at := time.Unix(1_800_000_000, 0)
	m := telemetry.NewMetrics("n", region.EU)
	control := &statusz.Control{
		Certificate: statusz.Key{NotAfter: at},
		Authorities: []statusz.Key{{NotAfter: at.Add(time.Hour)}, {NotAfter: at.Add(3 * time.Hour)}, {NotAfter: at.Add(2 * time.Hour)}},
	}
	require.NoError(t, m.RegisterServer(func() telemetry.Snapshot { return telemetry.Snapshot{Status: statusz.Status{Control: control}} }))
	const end, readable = "plaza_control_certificate_not_after_timestamp_seconds", "plaza_control_files_readable{}"
	known := series(t, m.Gatherer())
	require.InDelta(t, 1_800_000_000, known[end+"{kind=certificate}"], 0)
	require.InDelta(t, 1_800_010_800, known[end+"{kind=authority}"], 0)
	require.InDelta(t, 1, known[readable], 0)
	control = &statusz.Control{Error: "gone"}
	known = series(t, m.Gatherer())
	require.InDelta(t, 0, known[readable], 0)
	require.NotContains(t, known, end+"{kind=authority}")
	control = nil
	require.NotContains(t, series(t, m.Gatherer()), readable)
}
