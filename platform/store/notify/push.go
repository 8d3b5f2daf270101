package notify

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/db"
)

// Push is a row of pushes: a notification that has to be sent to a device.
type Push struct {
	Provider  string
	ID        string
	UserID    string
	Device    string
	ActorID   string
	Title     string
	Body      string
	Data      []byte // JSON: texts by name
	Attempts  int64
	CreatedAt time.Time
	Trace     string // see span.Of
}

// Identify sets the id of the push, which has the home of the user's id, from what happened and the device.
func (p *Push) Identify(happened string) {
	sum := sha256.Sum256([]byte(happened + "|" + p.UserID + "|" + p.Device))
	p.ID = p.UserID[:2] + hex.EncodeToString(sum[:(region.IDLength-2)/2])
}

// DuePush is a push with the token of its device, which is nil if the device is no longer registered or has no session.
type DuePush struct {
	Push
	Token *string
}

var pushColumns = db.Columns[Push]()

var (
	sqlPushAdd = db.Register("pushes.add", `INSERT INTO pushes (home, provider, id, not_before, user_id, device, actor_id, title, body, data,
		created_at, trace)
		VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10::jsonb, $4, $11) ON CONFLICT (home, provider, id) DO NOTHING`)
	sqlPushClaim = db.Register("pushes.claim", `WITH due AS (UPDATE pushes SET not_before = $4::timestamptz, attempts = attempts + 1
			WHERE home = $1 AND (provider, id) IN (SELECT provider, id FROM pushes /*@{FORCE_INDEX=pushes_by_time}*/
				WHERE home = $1 AND provider = $3 AND not_before > $6::timestamptz AND not_before <= $2::timestamptz ORDER BY not_before, id
				LIMIT $5::bigint)
			RETURNING `+pushColumns+`)
		SELECT `+db.Prefixed("p", pushColumns)+`, (SELECT d.token FROM push_devices AS d WHERE d.home = $1 AND d.user_id = p.user_id
			AND d.device = p.device AND `+liveSession+` LIMIT 1) AS token FROM due AS p`)
	sqlPushDone  = db.Register("pushes.done", `DELETE FROM pushes WHERE home = $1 AND provider = $2 AND id = $3`)
	sqlPushDelay = db.Register("pushes.delay", `UPDATE pushes SET not_before = $4::timestamptz WHERE home = $1 AND provider = $2 AND id = $3`)
)

// AddPush adds a push that is due at once. It has no effect if the push exists. The push must be identified.
func (w Tx) AddPush(p Push) {
	w.Exec(sqlPushAdd, p.Provider, p.ID, p.CreatedAt, p.UserID, p.Device, p.ActorID, p.Title, p.Body, p.Data, p.Trace)
}

// ClaimPushes postpones up to limit pushes of a provider that became due after a time, and reads them. Until then no other server reads
// them.
func (w Tx) ClaimPushes(provider string, after, now, until time.Time, limit int, into *[]DuePush) {
	w.Query(sqlPushClaim, db.Rows(into), now, provider, until, limit, after)
}

// FinishPush deletes a push.
func (w Tx) FinishPush(p Push) { w.Exec(sqlPushDone, p.Provider, p.ID) }

// DelayPush postpones a push.
func (w Tx) DelayPush(p Push, until time.Time) { w.Exec(sqlPushDelay, p.Provider, p.ID, until) }
