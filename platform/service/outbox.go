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
	return d.CommitRows(ctx, tx, rows, nil)
}

// CommitSoon commits a transaction and delivers its outbox rows in the background.
func (d *Deps) CommitSoon(ctx context.Context, tx *store.Tx, rows ...store.OutboxRow) error {
	return d.CommitRows(ctx, tx, nil, rows)
}

// CommitRows commits a transaction, delivers the outbox rows in now before it returns, and those in soon in the background.
func (d *Deps) CommitRows(ctx context.Context, tx *store.Tx, now, soon []store.OutboxRow) error {
	if err := tx.Commit(ctx); err != nil {
		return err
	}
	delivery := store.WithoutIdempotency(ctx)
	d.Outbox.Deliver(delivery, tx.Home(), now...)
	d.Outbox.DeliverSoon(delivery, tx.Home(), soon...)
	return nil
}
