package service

import (
	"context"
	"encoding/json"

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

// UpdateSetting stores one setting, whose value consists of what JSON has, see UpdateSettings.
func (d *Deps) UpdateSetting(ctx context.Context, name string, value any) (store.Settings, error) {
	raw, err := json.Marshal(value)
	if err != nil {
		return store.Settings{}, err
	}
	return d.UpdateSettings(ctx, store.SettingRow{Name: name, Value: raw, ChangedAt: Micros(), Origin: string(d.Region)})
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
