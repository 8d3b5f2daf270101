package people

import (
	"time"

	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
)

// Presence is a user in a place, such as a room.
type Presence struct {
	Place    string // the id of the room
	UserID   string // internal id
	JoinedAt time.Time
	// Until is when the presence ends unless it is renewed.
	Until time.Time
}

var (
	// A presence that has ended begins again.
	sqlPresenceRenew = db.Register("presences.renew", `INSERT INTO presences (home, place, user_id, joined_at, until)
		VALUES ($1, $2, $3, $4::timestamptz, $5::timestamptz)
		ON CONFLICT (home, place, user_id) DO UPDATE SET until = GREATEST(presences.until, excluded.until),
			joined_at = CASE WHEN presences.until < excluded.joined_at THEN excluded.joined_at ELSE presences.joined_at END`)
	sqlPresencesSweep = db.Register("presences.sweep", `WITH gone AS (DELETE FROM presences WHERE home = $1 AND (place, user_id) IN
		(SELECT place, user_id FROM presences WHERE home = $1 AND until < $2::timestamptz ORDER BY until LIMIT 500) RETURNING place)
		SELECT count(*) FROM gone`)
	sqlPresencesList = db.Register("presences.list", `SELECT place, user_id, joined_at, until FROM presences
		WHERE home = $1 AND place = $2 AND until > $3::timestamptz ORDER BY user_id LIMIT $4::bigint`)
	sqlPresencesAmong = db.Register("presences.among", `SELECT p.place, p.user_id, p.joined_at, p.until FROM unnest($3::text[]) AS u (id) CROSS
		JOIN LATERAL (
		SELECT place, user_id, joined_at, until FROM presences WHERE home = $1 AND place = $2 AND user_id = u.id AND until > $4::timestamptz
		LIMIT 1) AS p`)
	sqlPresencesCount = db.Register("presences.count", `SELECT count(*) FROM presences WHERE home = $1 AND place = $2 AND until > $3::timestamptz`)
)

// RenewPresences stores presences of this home, of which no two may be of one user in one place. JoinedAt applies to users
// who are not present. They must be in the order of their places and users, in which all servers lock the rows.
func (w Tx) RenewPresences(all []Presence) {
	for _, p := range all {
		w.Exec(sqlPresenceRenew, p.Place, p.UserID, p.JoinedAt, p.Until)
	}
}

// SweepPresences deletes up to 500 presences that ended before a time, and counts them.
func (w Tx) SweepPresences(before time.Time, removed *int64) {
	w.Query(sqlPresencesSweep, db.Value(removed), before)
}

// ListPresences reads up to limit users in a place, in the order of their ids.
func (r ReadBatch) ListPresences(place string, now time.Time, limit int, into *[]Presence) {
	r.AddAt(place, sqlPresencesList, db.Rows(into), place, now, limit)
}

// PresencesAmong appends those of several users who are in a place, in no particular order.
func (r ReadBatch) PresencesAmong(place string, userIDs []string, now time.Time, into *[]Presence) {
	core.AppendRows(r.ReadBatch, r.HomeOrNone(place), sqlPresencesAmong, into, place, userIDs, now)
}

// CountPresences counts the users in a place.
func (r ReadBatch) CountPresences(place string, now time.Time, into *int64) {
	r.AddAt(place, sqlPresencesCount, db.Value(into), place, now)
}
