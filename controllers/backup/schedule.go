package backup

import (
	"errors"
	"fmt"
	"time"

	"github.com/robfig/cron/v3"

	"github.com/plaza-social/plaza/api/v1alpha1"
)

// minInterval is the least time between two backups.
const minInterval = time.Hour

// maxRuns is how many runs of a schedule are compared: all those of a week, if they are at least an hour apart.
const maxRuns = 7 * 24

// parse returns a schedule in cron form, as CockroachDB reads it.
func parse(text string, now time.Time) (cron.Schedule, error) {
	schedule, err := cron.ParseStandard("TZ=UTC " + text)
	if err != nil {
		return nil, err
	}
	previous := schedule.Next(now.UTC())
	if previous.IsZero() {
		return nil, errors.New("there is no such time")
	}
	for range maxRuns {
		next := schedule.Next(previous)
		if next.Sub(previous) < minInterval {
			return nil, fmt.Errorf("there must be at least an hour between two backups, and %s after the one at %s there is another",
				next.Sub(previous), previous.Format(time.RFC3339))
		}
		previous = next
	}
	return schedule, nil
}

const defaultOverdueAfter = 6 * time.Hour

// overdueAt returns when the next backup must have succeeded: some time after the first run of the schedule since the last success,
// and since the schedule was applied, when a backup begins at once.
func overdueAt(schedule cron.Schedule, spec *v1alpha1.Backup, status *v1alpha1.BackupStatus) time.Time {
	due := status.AppliedAt.Time
	if status.LastSuccess != nil {
		if next := schedule.Next(status.LastSuccess.UTC()); next.After(due) {
			due = next
		}
	}
	return due.Add(spec.OverdueAfter.Or(defaultOverdueAfter)).UTC()
}
