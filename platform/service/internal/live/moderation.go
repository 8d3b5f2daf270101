package live

import (
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/store/media"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// maxLabels is how many labels of each kind are kept; older ones are dropped.
const maxLabels = 100

// addLabels returns old with the labels of a report added, among those that ended the broadcast if terminates is set.
// Labels that old holds already are not added again, so that a repeated report changes nothing. newID is called if old
// has no id yet.
func addLabels(old media.Moderation, labels []*plazav1.ModerationLabel, terminates bool, now time.Time,
	newID func() string,
) media.Moderation {
	m := old
	if m.ID == "" {
		m.ID, m.CreatedAt = newID(), now
	}
	m.UpdatedAt = now
	into := &m.FlagLabels
	if terminates {
		into = &m.TerminateLabels
	}
	list := slices.Clone(*into)
	for _, l := range labels {
		label := media.ModerationLabel{Category: l.GetCategory(), Threshold: l.GetThreshold(), DetectedAt: now}
		if l.GetDetectedAt() != nil {
			label.DetectedAt = l.GetDetectedAt().AsTime()
		}
		known := l.GetDetectedAt() != nil && slices.ContainsFunc(list, func(k media.ModerationLabel) bool {
			return k.Category == label.Category && k.DetectedAt.Equal(label.DetectedAt)
		})
		if !known {
			list = append(list, label)
		}
	}
	*into = list[max(0, len(list)-maxLabels):]
	return m
}
