package updates

import (
	"fmt"
	"slices"
	"time"

	"github.com/plaza-social/plaza/api/v1alpha1"
)

// horizon is how many days before and after a time windows may begin that matter to it: their longest duration, and a week.
const horizon = 8

// nextWindow reports whether one of the windows is open at now. If none is, next is when the first one opens. It fails for a time zone that
// does not exist.
func nextWindow(windows []v1alpha1.MaintenanceWindow, now time.Time) (open bool, next time.Time, err error) {
	for i := range windows {
		begins, length, err := beginnings(&windows[i], now)
		if err != nil {
			return false, time.Time{}, err
		}
		for _, begin := range begins {
			switch {
			case !now.Before(begin) && now.Before(begin.Add(length)):
				return true, time.Time{}, nil
			case begin.After(now) && (next.IsZero() || begin.Before(next)):
				next = begin
			}
		}
	}
	return false, next, nil
}

// beginnings returns when a window opens around a time, and how long it is open.
func beginnings(w *v1alpha1.MaintenanceWindow, now time.Time) ([]time.Time, time.Duration, error) {
	zone, err := time.LoadLocation(w.TimeZone)
	if err != nil {
		return nil, 0, fmt.Errorf("unknown time zone %q: want a name such as Europe/Berlin, or UTC", w.TimeZone)
	}
	clock, err := time.Parse("15:04", w.Start)
	if err != nil {
		return nil, 0, fmt.Errorf("start %q is not a time such as 22:30", w.Start)
	}
	length, err := time.ParseDuration(string(w.Duration))
	if err != nil {
		return nil, 0, fmt.Errorf("duration %q: %w", w.Duration, err)
	}
	year, month, day := now.In(zone).Date()
	var begins []time.Time
	for offset := -horizon; offset <= horizon; offset++ {
		begin := time.Date(year, month, day+offset, clock.Hour(), clock.Minute(), 0, 0, zone)
		if len(w.Days) == 0 || slices.Contains(w.Days, v1alpha1.Weekday(begin.Weekday().String())) {
			begins = append(begins, begin)
		}
	}
	return begins, length, nil
}
