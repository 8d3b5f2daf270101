package service

import (
	"time"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
)

// Micros returns the current time in UTC, truncated to microseconds. It orders changes of the same millisecond of
// rows that all homes replicate, of which the newest change wins.
func Micros() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }

// EmitToOtherHomes adds to tx an event for each home but that of the transaction. payload returns the payload for a home.
func (d *Deps) EmitToOtherHomes(tx *store.Tx, topic string, payload func(home region.Code) any) []store.OutboxRow {
	var outboxRows []store.OutboxRow
	for _, home := range region.All() {
		if home != tx.Home() {
			outboxRows = append(outboxRows, tx.Emit(topic, payload(home), d.Now(), d.Outbox.FirstTry()))
		}
	}
	return outboxRows
}
