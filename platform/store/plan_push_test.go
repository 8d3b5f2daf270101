package store_test

import (
	"time"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/notify"
)

// Every user has a device and settings. The user 3 has 20 devices. Half of the pushes wait for a later time.
var _ = planned((*collector).collectPushes,
	`INSERT INTO push_devices (home, user_id, device, platform, provider, token, token_hash, created_at, updated_at)
		SELECT HOME(n), ID(u, n, n), md5('d' || n), 'android', 'fcm', 't' || n, decode(md5('t' || n), 'hex'), AT(n, 3), AT(n, 3)
		FROM generate_series(1, 20000) AS n`,
	`INSERT INTO push_devices (home, user_id, device, platform, provider, token, token_hash, created_at, updated_at)
		SELECT HOME(3), ID(u, 3, 3), md5('e' || n), 'android', 'fcm', 'e' || n, decode(md5('e' || n), 'hex'), AT(n, 3), AT(n, 3)
		FROM generate_series(1, 19) AS n`,
	`INSERT INTO notification_settings (home, user_id, level, target_id, enabled, events, updated_at)
		SELECT HOME(n), ID(u, n, n), 'user', '', true, '{}', AT(n, 3) FROM generate_series(1, 20000) AS n`,
	`INSERT INTO notification_settings (home, user_id, level, target_id, enabled, events, updated_at)
		SELECT HOME(3), ID(u, 3, 3), 'community', ID(c, n, n), true, '{}', AT(n, 3) FROM generate_series(1, 2000) AS n`,
	`INSERT INTO pushes (home, provider, id, not_before, user_id, device, actor_id, title, body, data, created_at)
		SELECT HOME(n), CASE WHEN n % 2 = 0 THEN 'fcm' ELSE 'apns' END, ID(pu, n, n), AT(n, 1), ID(u, n, n), md5('d' || n), ID(u, (n + 1), (n +
		1)), '', '', '{}', AT(n, 1)
		FROM generate_series(1, 20000) AS n`,
)

func (c *collector) collectPushes() {
	user, device := userID(3), "e53125275854402400f74fd6ab3f7659"
	for _, n := range []int{1, 3, 9} {
		ids := make([]string, n)
		for i := range ids {
			ids[i] = userID(3 + 3*i)
		}
		c.reads(func(r *store.ReadBatch) {
			r.NotifiedDevices(region.US, ids, worldStart, "community", communityID(3), new([]notify.NotifiedDevice))
		})
	}
	c.reads(func(r *store.ReadBatch) {
		r.NotificationSettings(user, "community", communityID(3), new([]notify.NotificationSetting))
	})
	c.reads(func(r *store.ReadBatch) { r.DeviceOfSession(user, worldID("s", 3, 3), new(string)) })
	c.reads(func(r *store.ReadBatch) {
		r.MembersAfter(communityID(3), userID(3), pageRows, new([]communities.Member))
	})
	c.write(func(w *store.Tx) {
		w.GuardDeviceSession(user, device, worldStart, nil)
		w.PutPushDevice(notify.PushDevice{UserID: user, Device: device, Platform: "ios", Provider: "apns", Token: "t3", UpdatedAt: worldStart})
	})
	c.write(func(w *store.Tx) { w.RemovePushDevice(user, device) })
	c.write(func(w *store.Tx) { w.RemovePushToken(user, device, "t3") })
	c.write(func(w *store.Tx) { w.RemovePushDeviceOfSession(user, worldID("s", 3, 3)) })
	c.write(func(w *store.Tx) { w.RemovePushDevices(user) })
	c.write(func(w *store.Tx) { w.TakePushToken(notify.PushTokenHash("t3"), user, worldStart) })
	c.write(func(w *store.Tx) {
		enabled := true
		w.PutNotificationSetting(notify.NotificationSetting{
			UserID: user, Level: "user", Enabled: &enabled, Events: []byte(`{}`),
			UpdatedAt: worldStart,
		})
	})
	p := notify.Push{Provider: "fcm", UserID: user, Device: device, Data: []byte(`{}`), CreatedAt: worldStart}
	p.Identify("post.created")
	c.write(func(w *store.Tx) { w.AddPush(p) })
	c.write(func(w *store.Tx) {
		w.ClaimPushes("fcm", worldStart.Add(-time.Minute), worldStart.Add(time.Minute), worldStart.Add(time.Hour), 100, new([]notify.DuePush))
	})
	c.write(func(w *store.Tx) { w.DelayPush(p, worldStart) })
	c.write(func(w *store.Tx) { w.FinishPush(p) })
}
