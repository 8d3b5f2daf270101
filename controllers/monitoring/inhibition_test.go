package monitoring_test

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"

	"github.com/plaza-social/plaza/controllers/testenv"
)

// inhibition is an inhibition rule of Alertmanager.
type inhibition struct {
	Source []string `json:"source_matchers"`
	Target []string `json:"target_matchers"`
	Equal  []string `json:"equal"`
}

func inhibitions(t *testing.T) []inhibition {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(testenv.Root(), "config", "prometheus", "inhibit-rules.yaml"))
	require.NoError(t, err)
	var file struct {
		Rules []inhibition `json:"inhibit_rules"`
	}
	require.NoError(t, yaml.UnmarshalStrict(text, &file))
	require.NotEmpty(t, file.Rules)
	return file.Rules
}

var alertMatcher = regexp.MustCompile(`^(\w+) (=~?) "?([^"]+)"?$`)

// matches reports whether labels satisfy all matchers.
func matches(t *testing.T, matchers []string, labels map[string]string) bool {
	t.Helper()
	return !slices.ContainsFunc(matchers, func(text string) bool {
		parts := alertMatcher.FindStringSubmatch(text)
		require.NotNil(t, parts, text)
		value := labels[parts[1]]
		if parts[2] == "=~" {
			return !slices.Contains(strings.Split(parts[3], "|"), value)
		}
		return value != parts[3]
	})
}

// labelsOf returns the labels of a firing alert.
func labelsOf(f firing) map[string]string {
	labels := maps.Clone(f.expected().ExpLabels)
	labels["alertname"] = f.alert
	return labels
}

// notInhibited returns the names of the alerts that are sent while all of them fire.
func notInhibited(t *testing.T, all []firing) []string {
	t.Helper()
	var names []string
	for _, target := range all {
		muted := slices.ContainsFunc(inhibitions(t), func(rule inhibition) bool {
			return matches(t, rule.Target, labelsOf(target)) && slices.ContainsFunc(all, func(source firing) bool {
				return matches(t, rule.Source, labelsOf(source)) && !slices.ContainsFunc(rule.Equal, func(label string) bool {
					return labelsOf(source)[label] != labelsOf(target)[label]
				})
			})
		})
		if !muted {
			names = append(names, target.alert)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// TestInhibition checks which alerts of an outage are sent.
func TestInhibition(t *testing.T) {
	require.Equal(t, []string{"PlazaDatabaseUnreachable"}, notInhibited(t, databaseAwayFires()))
	burn := firing{alert: "PlazaErrorBudgetBurnFast", severity: "critical", labels: in("us")}
	require.Equal(t, []string{"PlazaErrorBudgetBurnFast", "PlazaRegionDown"}, notInhibited(t, []firing{burn, regionIsDown("eu"), notReady}),
		"it has another cause")
	require.Equal(t, []string{"PlazaNetworkNotReady"}, notInhibited(t, []firing{notReady}))
}

// TestInhibitionRules checks that the rules name alerts that exist, and never mute across networks.
func TestInhibitionRules(t *testing.T) {
	for _, rule := range inhibitions(t) {
		require.Subset(t, rule.Equal, []string{"namespace", "network"})
		for _, text := range slices.Concat(rule.Source, rule.Target) {
			for name := range strings.SplitSeq(alertMatcher.FindStringSubmatch(text)[3], "|") {
				require.Contains(t, alertNames(), name)
			}
		}
	}
}
