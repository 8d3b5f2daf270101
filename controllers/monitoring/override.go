package monitoring

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/plaza-social/plaza/api/v1alpha1"
)

// overrideOf returns what a spec changes of an alert.
func overrideOf(alerts v1alpha1.Alerts, name string) v1alpha1.AlertOverride {
	for _, override := range alerts.Overrides {
		if override.Name == name {
			return override
		}
	}
	return v1alpha1.AlertOverride{}
}

// problemsOf returns what of a spec has no effect, one sentence for each entry, and at the end the names of all alerts if one is unknown.
func problemsOf(alerts v1alpha1.Alerts) []string {
	known := alertsByName()
	var problems []string
	hasUnknown := false
	for _, name := range alerts.Disabled {
		if known[name] == nil {
			hasUnknown = true
			problems = append(problems, fmt.Sprintf("spec.monitoring.alerts.disabled: there is no alert %q.", name))
		}
	}
	for _, override := range alerts.Overrides {
		a := known[override.Name]
		hasUnknown = hasUnknown || a == nil
		if problem := problemOf(a, override); problem != "" {
			problems = append(problems, "spec.monitoring.alerts.overrides: "+problem)
		}
	}
	if hasUnknown {
		problems = append(problems, "The alerts are "+strings.Join(names(), ", ")+".")
	}
	return problems
}

// problemOf returns what is wrong with an override of an alert, nil if it does not exist; "" if nothing is.
func problemOf(a *alert, override v1alpha1.AlertOverride) string {
	switch {
	case a == nil:
		return fmt.Sprintf("there is no alert %q.", override.Name)
	case override.Threshold == "":
		return ""
	case a.Threshold == nil:
		return a.Alert + " has no threshold."
	case !a.Threshold.allows(override.Threshold):
		return fmt.Sprintf("the threshold of %s must be from %s to %s, not %s.", a.Alert, a.Threshold.Min, a.Threshold.Max, override.Threshold)
	default:
		return ""
	}
}

func alertsByName() map[string]*alert {
	all := map[string]*alert{}
	for _, group := range alertGroups() {
		for i := range group.Alerts {
			all[group.Alerts[i].Alert] = &group.Alerts[i]
		}
	}
	return all
}

// names returns the names of all alerts, sorted.
func names() []string { return slices.Sorted(maps.Keys(alertsByName())) }
