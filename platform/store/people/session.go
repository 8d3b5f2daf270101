package people

import (
	"time"

	"github.com/plaza-social/plaza/platform/store/db"
)

var (
	sqlSessionInsert = db.Register("sessions.insert", `INSERT INTO sessions (home, user_id, id, device_hash, created_at, expires_at, authenticated)
		VALUES ($1, $2, $3, $4::bytea, $5, $6, $7::boolean) ON CONFLICT (home, user_id, id) DO NOTHING`)
	sqlSessionRevoke = db.Register("sessions.revoke", `UPDATE sessions SET revoked_at = $4 WHERE home = $1 AND user_id = $2 AND id = $3
		AND revoked_at IS NULL`)
	sqlSessionRevokeAll = db.Register("sessions.revokeAll", `UPDATE sessions SET revoked_at = $3 WHERE home = $1 AND user_id = $2 AND revoked_at
		IS NULL`)
	// The row of a guest's session exists only once it is revoked.
	sqlSessionInsertRevoked = db.Register("sessions.insertRevoked", `INSERT INTO sessions (home, user_id, id, device_hash, created_at, expires_at,
		revoked_at)
		VALUES ($1, $2, $3, ''::bytea, $4::timestamptz, $5, $4::timestamptz) ON CONFLICT (home, user_id, id) DO NOTHING`)
	sqlSessionRevoked = db.Register("sessions.revoked", `SELECT EXISTS (SELECT 1 FROM sessions WHERE home = $1 AND user_id = $2 AND id = $3
		AND revoked_at IS NOT NULL)`)
	sqlSessionTrim = db.Register("sessions.trim", `DELETE FROM sessions WHERE home = $1 AND user_id = $2 AND id IN (SELECT id FROM sessions
		WHERE home = $1 AND user_id = $2 AND id <> $3 ORDER BY created_at DESC, id DESC LIMIT 500 OFFSET $4::bigint)`)
	sqlSessionSweep = db.Register("sessions.sweep", `WITH gone AS (DELETE FROM sessions WHERE home = $1 AND (user_id, id) IN
		(SELECT user_id, id FROM sessions WHERE home = $1 AND expires_at < $2 ORDER BY expires_at LIMIT 500) RETURNING id) SELECT count(*)
		FROM gone`)
)

// Session is a row of sessions.
type Session struct {
	ID         string
	UserID     string
	DeviceHash []byte
	CreatedAt  time.Time
	ExpiresAt  time.Time
	// Authenticated reports whether the user signed in with an authToken.
	Authenticated bool
}

// InsertSession inserts a session.
func (w Tx) InsertSession(s Session) {
	w.Exec(sqlSessionInsert, s.UserID, s.ID, s.DeviceHash, s.CreatedAt, s.ExpiresAt, s.Authenticated)
}

// TrimSessions deletes the oldest sessions of a user, so that the session newest and fewer than limit others remain. Of an
// older server's surplus it deletes at most 500.
func (w Tx) TrimSessions(userID, newest string, limit int64) {
	w.Exec(sqlSessionTrim, userID, newest, limit-1)
}

// RevokeSession revokes a session. It is idempotent.
func (w Tx) RevokeSession(userID, id string, now time.Time) {
	w.Exec(sqlSessionRevoke, userID, id, now)
}

// InsertRevokedSession revokes the session of a user without a row.
func (w Tx) InsertRevokedSession(userID, id string, now, expiresAt time.Time) {
	w.Exec(sqlSessionInsertRevoked, userID, id, now, expiresAt)
}

// SessionRevoked reads whether a session has been revoked.
func (r ReadBatch) SessionRevoked(userID, id string, into *bool) {
	r.AddAt(userID, sqlSessionRevoked, db.Value(into), userID, id)
}

// SweepSessions deletes up to 500 sessions that expire before a time, and reads their number.
func (w Tx) SweepSessions(before time.Time, deleted *int64) {
	w.Query(sqlSessionSweep, db.Value(deleted), before)
}

// RevokeSessions revokes all sessions of a user.
func (w Tx) RevokeSessions(userID string, now time.Time) {
	w.Exec(sqlSessionRevokeAll, userID, now)
}
