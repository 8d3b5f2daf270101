package live

import (
	"slices"

	"github.com/plaza-social/plaza/platform/store/network"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// judge returns the findings of a flagged report that the thresholds of the settings keep, and whether one of them ends the
// broadcast.
func judge(rules network.StreamModeration, labels []*plazav1.ModerationLabel) (kept []*plazav1.ModerationLabel, ends bool) {
	if !rules.Enabled {
		return labels, false
	}
	for _, l := range labels {
		i := slices.IndexFunc(rules.Categories, func(c network.StreamModerationCategory) bool { return c.Category == l.GetCategory() })
		if i < 0 {
			kept = append(kept, l)
			continue
		}
		c := rules.Categories[i]
		terminates := c.TerminateThreshold > 0 && l.GetThreshold() >= c.TerminateThreshold
		if terminates || l.GetThreshold() >= c.FlagThreshold {
			kept = append(kept, l)
		}
		ends = ends || terminates
	}
	return kept, ends
}
