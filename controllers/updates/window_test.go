package updates

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/api/v1alpha1"
)

func TestNext(t *testing.T) {
	t.Parallel()
	night := v1alpha1.MaintenanceWindow{Start: "22:00", Duration: "4h", TimeZone: "Europe/Berlin"}
	weekend := v1alpha1.MaintenanceWindow{Days: []v1alpha1.Weekday{"Saturday"}, Start: "00:00", Duration: "48h", TimeZone: "UTC"}
	week := v1alpha1.MaintenanceWindow{Days: []v1alpha1.Weekday{"Saturday"}, Start: "12:00", Duration: "168h", TimeZone: "UTC"}
	for name, tc := range map[string]struct {
		windows []v1alpha1.MaintenanceWindow
		now     string
		open    bool
		next    string
	}{
		"at the beginning": {[]v1alpha1.MaintenanceWindow{night}, "2026-11-23T21:00:00Z", true, ""},
		"just before":      {[]v1alpha1.MaintenanceWindow{night}, "2026-11-23T20:59:59Z", false, "2026-11-23T21:00:00Z"},
		"after midnight":   {[]v1alpha1.MaintenanceWindow{night}, "2026-11-24T00:59:59Z", true, ""},
		"at the end":       {[]v1alpha1.MaintenanceWindow{night}, "2026-11-24T01:00:00Z", false, "2026-11-24T21:00:00Z"},
		"in summer":        {[]v1alpha1.MaintenanceWindow{night}, "2026-07-01T20:00:00Z", true, ""},
		"on Sunday":        {[]v1alpha1.MaintenanceWindow{weekend}, "2026-11-22T23:59:59Z", true, ""},
		"on Monday":        {[]v1alpha1.MaintenanceWindow{weekend}, "2026-11-23T00:00:00Z", false, "2026-11-28T00:00:00Z"},
		"on the sixth day": {[]v1alpha1.MaintenanceWindow{week}, "2026-11-27T11:00:00Z", true, ""},
		"at the end of a short window": {
			[]v1alpha1.MaintenanceWindow{{Days: week.Days, Start: "12:00", Duration: "1h", TimeZone: "UTC"}},
			"2026-11-28T13:00:00Z", false, "2026-12-05T12:00:00Z",
		},
		"the first of several": {[]v1alpha1.MaintenanceWindow{weekend, night}, "2026-11-23T12:00:00Z", false, "2026-11-23T21:00:00Z"},
		"at half past": {
			[]v1alpha1.MaintenanceWindow{{Start: "22:30", Duration: "1h", TimeZone: "UTC"}},
			"2026-11-23T22:29:59Z", false,
			"2026-11-23T22:30:00Z",
		},
		"one of two on another day": {
			[]v1alpha1.MaintenanceWindow{{Days: []v1alpha1.Weekday{"Sunday", "Tuesday"}, Start: "00:00", Duration: "1h", TimeZone: "UTC"}},
			"2026-11-23T00:00:00Z", false, "2026-11-24T00:00:00Z",
		},
		"the day counts in the zone": {[]v1alpha1.MaintenanceWindow{{
			Days: []v1alpha1.Weekday{"Monday"}, Start: "07:00", Duration: "1h",
			TimeZone: "Asia/Singapore",
		}}, "2026-11-22T23:30:00Z", true, ""},
	} {
		now, err := time.Parse(time.RFC3339, tc.now)
		require.NoError(t, err)
		open, next, err := nextWindow(tc.windows, now)
		require.NoError(t, err, name)
		require.Equal(t, tc.open, open, name)
		if tc.next != "" {
			require.Equal(t, tc.next, next.UTC().Format(time.RFC3339), name)
		}
	}
	for message, invalid := range map[string]v1alpha1.MaintenanceWindow{
		`unknown time zone "Mars/Phobos": want a name such as Europe/Berlin, or UTC`: {Start: "22:00", Duration: "1h", TimeZone: "Mars/Phobos"},
		`start "25:00" is not a time such as 22:30`:                                  {Start: "25:00", Duration: "1h", TimeZone: "UTC"},
		`duration "long": `: {Start: "22:00", Duration: "long", TimeZone: "UTC"},
	} {
		open, _, err := nextWindow([]v1alpha1.MaintenanceWindow{night, invalid}, time.Date(2026, 11, 23, 20, 0, 0, 0, time.UTC))
		require.ErrorContains(t, err, message)
		require.False(t, open)
	}
}
