package notify

import (
	"crypto/sha256"
	"time"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
)

// MaxPushDevices is the maximum number of devices of a user to which notifications are pushed, the latest ones.
const MaxPushDevices = 20

// PushDevice is a row of push_devices.
type PushDevice struct {
	UserID    string
	Device    string // the device_hash of sessions, in hexadecimal
	Platform  string
	Provider  string
	Token     string
	CreatedAt time.Time
	UpdatedAt time.Time
}

// PushTokenHash returns the hash by which devices with a token are found.
func PushTokenHash(token string) []byte {
	sum := sha256.Sum256([]byte(token))
	return sum[:]
}

// NotifiedDevice is a device of a user with the user's settings.
type NotifiedDevice struct {
	UserID        string
	Device        string
	Provider      string
	UserEnabled   *bool
	UserEvents    []byte
	TargetEnabled *bool
	TargetEvents  []byte
}

// liveSession is the condition that the device d has a session at the time $2.
const liveSession = `EXISTS (SELECT 1 FROM sessions AS s WHERE s.home = $1 AND s.user_id = d.user_id AND s.device_hash = decode(d.device,
	'hex')
	AND s.revoked_at IS NULL AND s.expires_at > $2::timestamptz)`

var (
	sqlPushDevicePut = db.Register("pushDevices.put", `INSERT INTO push_devices (home, user_id, device, platform, provider, token, token_hash,
		created_at, updated_at)
		VALUES ($1, $2, $3, $4, $5, $6, $7::bytea, $8, $8)
		ON CONFLICT (home, user_id, device) DO UPDATE SET platform = excluded.platform, provider = excluded.provider, token = excluded.token,
			token_hash = excluded.token_hash, updated_at = excluded.updated_at`)
	sqlPushDeviceTrim = db.Register("pushDevices.trim", `DELETE FROM push_devices WHERE home = $1 AND user_id = $2 AND device IN (SELECT device
		FROM push_devices WHERE home = $1 AND user_id = $2 AND device <> $3 ORDER BY updated_at DESC, device LIMIT 100 OFFSET $4::bigint)`)
	sqlPushDeviceGuardSession = db.Register("pushDevices.guardSession", `SELECT 1 / count(*) FROM (SELECT 1 FROM sessions WHERE home = $1 AND user_id
		= $2
		AND device_hash = decode($3, 'hex') AND revoked_at IS NULL AND expires_at > $4 LIMIT 1) AS live`)
	sqlDeviceOfSession = db.Register("pushDevices.ofSession", `SELECT encode(device_hash, 'hex') FROM sessions WHERE home = $1 AND user_id = $2
		AND id = $3`)
	sqlPushDeviceRemove      = db.Register("pushDevices.remove", `DELETE FROM push_devices WHERE home = $1 AND user_id = $2 AND device = $3`)
	sqlPushDeviceRemoveToken = db.Register("pushDevices.removeToken", `DELETE FROM push_devices WHERE home = $1 AND user_id = $2 AND device = $3
		AND token = $4`)
	sqlPushDeviceTake = db.Register("pushDevices.take", `DELETE FROM push_devices WHERE home = $1 AND token_hash = $2::bytea AND user_id <> $3
		AND updated_at <= $4::timestamptz`)
	sqlPushDeviceOfSession = db.Register("pushDevices.removeOfSession", `DELETE FROM push_devices WHERE home = $1 AND user_id = $2
		AND device = (SELECT encode(device_hash, 'hex') FROM sessions WHERE home = $1 AND user_id = $2 AND id = $3)`)
	sqlPushDeviceRemoveAll = db.Register("pushDevices.removeAll", `DELETE FROM push_devices WHERE home = $1 AND user_id = $2`)
	notifiedDevices        = core.ForEach("pushDevices.notified", 3, "", `SELECT d.user_id, d.device, d.provider, u.enabled AS user_enabled, u.events
		AS user_events,
			t.enabled AS target_enabled, t.events AS target_events FROM push_devices AS d
		JOIN users AS p ON p.home = $1 AND p.id = {value} AND p.deleted_at IS NULL AND NOT p.is_global_ban
		LEFT JOIN notification_settings AS u ON u.home = $1 AND u.user_id = {value} AND u.level = 'user' AND u.target_id = ''
		LEFT JOIN notification_settings AS t ON t.home = $1 AND t.user_id = {value} AND t.level = $3 AND t.target_id = $4
		WHERE d.home = $1 AND d.user_id = {value} AND `+liveSession+`
			AND NOT EXISTS (SELECT 1 FROM archived_channels AS a WHERE a.home = $1 AND a.user_id = {value} AND a.channel_id = $4)`, "")
)

// PutPushDevice registers a device, or changes its token. Of the user's devices the latest MaxPushDevices remain.
func (w Tx) PutPushDevice(d PushDevice) {
	w.Exec(sqlPushDevicePut, d.UserID, d.Device, d.Platform, d.Provider, d.Token, PushTokenHash(d.Token), d.UpdatedAt)
	w.Exec(sqlPushDeviceTrim, d.UserID, d.Device, MaxPushDevices-1)
}

// GuardDeviceSession makes the transaction fail with refusal unless the user has a session on the device.
func (w Tx) GuardDeviceSession(userID string, device string, now time.Time, refusal error) {
	w.Guard(sqlPushDeviceGuardSession, refusal, userID, device, now)
}

// DeviceOfSession reads the device of a session, as in PushDevice; empty if there is no such session.
func (r ReadBatch) DeviceOfSession(userID, sessionID string, into *string) {
	r.AddAt(userID, sqlDeviceOfSession, db.Value(into), userID, sessionID)
}

// RemovePushDevice removes a device of a user.
func (w Tx) RemovePushDevice(userID string, device string) {
	w.Exec(sqlPushDeviceRemove, userID, device)
}

// RemovePushToken removes a device of a user if it still has the token.
func (w Tx) RemovePushToken(userID string, device string, token string) {
	w.Exec(sqlPushDeviceRemoveToken, userID, device, token)
}

// RemovePushDeviceOfSession removes the device of a session.
func (w Tx) RemovePushDeviceOfSession(userID, sessionID string) {
	w.Exec(sqlPushDeviceOfSession, userID, sessionID)
}

// RemovePushDevices removes all devices of a user.
func (w Tx) RemovePushDevices(userID string) { w.Exec(sqlPushDeviceRemoveAll, userID) }

// TakePushToken removes the devices of this home with a token from all users but the one who registered it at a time, except those that
// registered it later.
func (w Tx) TakePushToken(tokenHash []byte, userID string, at time.Time) {
	w.Exec(sqlPushDeviceTake, tokenHash, userID, at)
}

// NotifiedDevices reads the devices of users of one home that have a session, unless the user is banned or has archived the target, with
// the users' settings in general and for the target.
func (r ReadBatch) NotifiedDevices(home region.Code, userIDs []string, now time.Time, level, targetID string, into *[]NotifiedDevice) {
	*into = nil
	core.ReadEachAt(r.ReadBatch, home, userIDs, notifiedDevices, into, now, level, targetID)
}
