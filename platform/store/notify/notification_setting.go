package notify

import (
	"time"

	"github.com/plaza-social/plaza/platform/store/db"
)

// NotificationSetting is a row of notification_settings.
type NotificationSetting struct {
	UserID    string
	Level     string // user, community or channel
	TargetID  string // of the community or channel
	Enabled   *bool  // nil if the user did not decide
	Events    []byte // JSON, by name of the event or module
	UpdatedAt time.Time
}

var notificationSettingColumns = db.Columns[NotificationSetting]()

var (
	sqlNotificationSettings = db.Register("notificationSettings.get", `SELECT `+notificationSettingColumns+` FROM notification_settings
		WHERE home = $1 AND user_id = $2 AND level = 'user' AND target_id = '' UNION ALL
		SELECT `+notificationSettingColumns+` FROM notification_settings WHERE home = $1 AND user_id = $2 AND level = $3 AND target_id = $4`)
	// The events that are not named keep their settings.
	sqlNotificationSettingPut = db.Register("notificationSettings.put", `INSERT INTO notification_settings (home, user_id, level, target_id, enabled,
		events, updated_at)
		VALUES ($1, $2, $3, $4, $5::boolean, $6::jsonb, $7)
		ON CONFLICT (home, user_id, level, target_id) DO UPDATE SET enabled = COALESCE(excluded.enabled, notification_settings.enabled),
			events = notification_settings.events || excluded.events, updated_at = excluded.updated_at`)
)

// NotificationSettings reads the settings of a user in general and for a target, those that exist. The one in general is read twice if it
// is the target.
func (r ReadBatch) NotificationSettings(userID, level, targetID string, into *[]NotificationSetting) {
	r.AddAt(userID, sqlNotificationSettings, db.Rows(into), userID, level, targetID)
}

// PutNotificationSetting changes a setting. An Enabled of nil and events that are not named leave what was stored.
func (w Tx) PutNotificationSetting(s NotificationSetting) {
	w.Exec(sqlNotificationSettingPut, s.UserID, s.Level, s.TargetID, s.Enabled, s.Events, s.UpdatedAt)
}
