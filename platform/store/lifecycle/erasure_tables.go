package lifecycle

import (
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
	"github.com/plaza-social/plaza/platform/store/notify"
)

// ErasureWalks are the walks of an erasure, in their order: the contents and relations of the user first, because ending them
// changes others. The last ones concern no counter and no other row.
var ErasureWalks = selectTables(func(t table) bool { return t.kept == "" && t.users != "" }, newErasureWalk)

// ownedStatements delete the rows of a user from the tables without a walk.
var ownedStatements = selectTables(func(t table) bool { return t.kept == "" && t.users == "" }, func(t table) *db.Statement {
	st := db.Register("erasure.owned."+t.name, `DELETE FROM `+t.name+` WHERE home = $1 AND `+t.owner()+` = $2`)
	if shared := core.Shared[t.name]; shared != nil {
		return st.UpdatesUnlocked(shared, "they are deleted with what is counted")
	}
	return st
})

var (
	sqlEraseEvents = db.Register("erasure.events", `DELETE FROM realtime_events WHERE home = $1 AND seq > $3::bigint AND seq <= $4::bigint
		AND (sender_id = $2 OR topic = $2 OR strpos(payload::text, $2) > 0) AND name <> $5`)
	sqlOutboxConcerns = db.Register("erasure.outbox", `SELECT count(*) FROM outbox WHERE home = $1 AND strpos(payload::text, $2) > 0`)
)

// EraseOwned deletes the rows that only concern the user: sessions, markers, the counts of the wall, and what others
// wrote in flags of the user and in notes about these.
func (w Tx) EraseOwned(userID string) {
	for _, st := range ownedStatements {
		w.Exec(st, userID)
	}
	notify.Tx{Tx: w.Tx}.RemovePushDevices(userID)
	content.Tx{Tx: w.Tx}.PurgeFlags([]string{userID})
}

// EraseEvents deletes events about the user from a part of the log of a home.
func (w Tx) EraseEvents(userID string, after, to int64) { w.EraseEventsBut("", userID, after, to) }

// EraseEventsBut is EraseEvents without the events of a name.
func (w Tx) EraseEventsBut(name, userID string, after, to int64) {
	w.Exec(sqlEraseEvents, userID, after, to, name)
}

// OutboxRowsOf reads the number of undelivered outbox rows of a home that concern the user.
func (r ReadBatch) OutboxRowsOf(home region.Code, userID string, into *int64) {
	r.Add(home, sqlOutboxConcerns, db.Value(into), userID)
}
