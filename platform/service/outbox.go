package service

import (
	"context"
	"encoding/json"
	"time"

	"github.com/plaza-social/plaza/platform/jobs"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/network"
)

// HandleOutbox registers the handler of an outbox topic, whose rows have a payload of type T.
func HandleOutbox[T any](d *Deps, topic string, handle func(context.Context, T) error) {
	d.Outbox.Handle(topic, func(ctx context.Context, row core.OutboxRow) error {
		var payload T
		if err := json.Unmarshal(row.Payload, &payload); err != nil {
			return err
		}
		return handle(ctx, payload)
	})
}

// Commit commits a transaction and delivers its outbox rows before it returns.
func (d *Deps) Commit(ctx context.Context, tx *store.Tx, rows ...core.OutboxRow) error {
	return d.CommitRows(ctx, tx, rows, nil)
}

// CommitSoon commits a transaction and delivers its outbox rows in the background.
func (d *Deps) CommitSoon(ctx context.Context, tx *store.Tx, rows ...core.OutboxRow) error {
	return d.CommitRows(ctx, tx, nil, rows)
}

// CommitRows commits a transaction, delivers the outbox rows in now before it returns, and those in soon in the background.
func (d *Deps) CommitRows(ctx context.Context, tx *store.Tx, now, soon []core.OutboxRow) error {
	if err := tx.Commit(ctx); err != nil {
		return err
	}
	delivery := network.WithoutIdempotency(ctx)
	d.Outbox.Deliver(delivery, tx.Home(), now...)
	d.Outbox.DeliverSoon(delivery, tx.Home(), soon...)
	return nil
}

// Micros returns the current time in UTC, truncated to microseconds. It orders changes of the same millisecond of
// rows that all homes replicate, of which the newest change wins.
func Micros() time.Time { return time.Now().UTC().Truncate(time.Microsecond) }

// EmitToOtherHomes adds to tx an event for each home but that of the transaction. payload returns the payload for a home.
func (d *Deps) EmitToOtherHomes(tx *store.Tx, topic string, payload func(home region.Code) any) []core.OutboxRow {
	var outboxRows []core.OutboxRow
	for _, home := range region.All() {
		if home != tx.Home() {
			outboxRows = append(outboxRows, tx.Emit(topic, payload(home), d.Now(), d.Outbox.FirstTry()))
		}
	}
	return outboxRows
}

// SettingsTopic is the outbox topic of changed settings for other homes.
const SettingsTopic = "settings"

// SettingsMessage is the payload of an outbox row with changed settings.
type SettingsMessage struct {
	Home region.Code          `json:"home"`
	Rows []network.SettingRow `json:"rows"`
}

// UpdateSetting stores one setting, whose value consists of what JSON has, see UpdateSettings.
func (d *Deps) UpdateSetting(ctx context.Context, name string, value any) (network.Settings, error) {
	raw, err := json.Marshal(value)
	if err != nil {
		return network.Settings{}, err
	}
	return d.UpdateSettings(ctx, network.SettingRow{Name: name, Value: raw, ChangedAt: Micros(), Origin: string(d.Region)})
}

// UpdateSettings stores settings at the home of this region, and sends them to the others. It returns all settings.
func (d *Deps) UpdateSettings(ctx context.Context, rows ...network.SettingRow) (network.Settings, error) {
	var updated network.Settings
	tx := d.Store.NewTx(d.Region)
	for _, row := range rows {
		tx.UpsertSetting(row)
	}
	var outboxRows []core.OutboxRow
	if len(rows) > 0 {
		outboxRows = d.EmitToOtherHomes(tx, SettingsTopic, func(home region.Code) any { return SettingsMessage{Home: home, Rows: rows} })
	}
	tx.SelectSettings(&updated)
	err := d.Commit(ctx, tx, outboxRows...)
	return updated, err
}

// SweepRows returns the job that deletes rows of a home, a limited number in each transaction, until sweep finds none.
func (d *Deps) SweepRows(name string, every time.Duration, sweep func(tx *store.Tx, removed *int64)) jobs.Job {
	return jobs.New(name, every, d.Log, func(ctx context.Context, home region.Code) (more bool, err error) {
		var removed int64
		tx := d.Store.NewTx(home)
		sweep(tx, &removed)
		err = tx.Commit(ctx)
		return removed > 0, err
	})
}
