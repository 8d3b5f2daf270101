package service

import (
	"context"
	"encoding/json"

	"github.com/plaza-social/plaza/platform/store"
)

// HandleOutbox registers the handler of an outbox topic, whose rows have a payload of type T.
func HandleOutbox[T any](d *Deps, topic string, handle func(context.Context, T) error) {
	d.Outbox.Handle(topic, func(ctx context.Context, row store.OutboxRow) error {
		var payload T
		if err := json.Unmarshal(row.Payload, &payload); err != nil {
			return err
		}
		return handle(ctx, payload)
	})
}

// Commit commits a transaction and delivers its outbox rows before it returns.
func (d *Deps) Commit(ctx context.Context, tx *store.Tx, rows ...store.OutboxRow) error {
	err := tx.Commit(ctx)
	if err == nil {
		d.Outbox.Deliver(store.WithoutIdempotency(ctx), tx.Home(), rows...)
	}
	return err
}

// CommitSoon commits a transaction and delivers its outbox rows in the background.
func (d *Deps) CommitSoon(ctx context.Context, tx *store.Tx, rows ...store.OutboxRow) error {
	err := tx.Commit(ctx)
	if err == nil {
		d.Outbox.DeliverSoon(store.WithoutIdempotency(ctx), tx.Home(), rows...)
	}
	return err
}
