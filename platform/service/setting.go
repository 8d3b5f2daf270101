package service

import (
	"context"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
)

// SettingsTopic is the outbox topic of changed settings for other homes.
const SettingsTopic = "settings"

// SettingsMessage is the payload of an outbox row with changed settings.
type SettingsMessage struct {
	Home region.Code        `json:"home"`
	Rows []store.SettingRow `json:"rows"`
}

// UpdateSettings stores settings at the home of this region, and sends them to the others. It returns all settings.
func (d *Deps) UpdateSettings(ctx context.Context, rows ...store.SettingRow) (store.Settings, error) {
	var updated store.Settings
	tx := d.Store.NewTx(d.Region)
	for _, row := range rows {
		tx.UpsertSetting(row)
	}
	var outboxRows []store.OutboxRow
	if len(rows) > 0 {
		outboxRows = d.EmitToOtherHomes(tx, SettingsTopic, func(home region.Code) any { return SettingsMessage{Home: home, Rows: rows} })
	}
	tx.SelectSettings(&updated)
	err := d.Commit(ctx, tx, outboxRows...)
	return updated, err
}
