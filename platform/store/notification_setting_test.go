package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/notify"
)

// TestNotificationSettings reads the settings of a user in general and for one target, without those of other users, targets and levels,
// and changes only what a request names.
func TestNotificationSettings(t *testing.T) {
	s := openNew(t)
	user, other, target := region.NewID(region.EU), region.NewID(region.EU), region.NewID(region.EU)
	on, off := true, false
	put := func(userID, level, targetID string, enabled *bool, events string) {
		t.Helper()
		w := s.NewTx(region.EU)
		w.PutNotificationSetting(notify.NotificationSetting{
			UserID: userID, Level: level, TargetID: targetID, Enabled: enabled,
			Events: []byte(events), UpdatedAt: now,
		})
		commit(t, w)
	}
	get := func(level, targetID string) (found []notify.NotificationSetting) {
		t.Helper()
		r := s.NewReadBatch()
		r.NotificationSettings(user, level, targetID, &found)
		run(t, r)
		return found
	}
	put(user, "community", "", &off, `{}`) // neither in general nor for a target
	put(user, "user", "another", &off, `{}`)
	put(user, "channel", target, &off, `{}`)
	put(user, "community", "another", &off, `{}`)
	for _, level := range []string{"user", "community"} {
		put(other, level, "", &off, `{}`)
		put(other, level, target, &off, `{}`)
	}
	require.Empty(t, get("community", target))
	put(user, "community", target, &on, `{"a": 1, "b": 1}`)
	put(user, "user", "", nil, `{"c": 1}`)
	put(user, "community", target, nil, `{"b": 2, "d": 2}`)
	found := get("community", target)
	require.Len(t, found, 2)
	if found[0].Level != "user" {
		found[0], found[1] = found[1], found[0]
	}
	require.Equal(t, []string{"user", ""}, []string{found[0].Level, found[0].TargetID})
	require.Nil(t, found[0].Enabled)
	require.JSONEq(t, `{"c": 1}`, string(found[0].Events))
	require.Equal(t, []string{"community", target}, []string{found[1].Level, found[1].TargetID})
	require.Equal(t, &on, found[1].Enabled, "what is not named stays")
	require.JSONEq(t, `{"a": 1, "b": 2, "d": 2}`, string(found[1].Events))
}
