package app

import (
	"context"
	"encoding/json"
	"log/slog"
	"time"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/db"
	"github.com/plaza-social/plaza/platform/store/network"
)

// StartInsecure turns secure mode off in every home of a new network, for development and tests. It changes nothing in a
// network that has users, or in a home whose mode was chosen before.
func StartInsecure(ctx context.Context, databaseURL string) error {
	urls := map[region.Code]string{}
	for _, home := range region.All() {
		urls[home] = databaseURL
	}
	st, err := store.Open(ctx, db.Config{URLs: urls, PoolSize: 1, StatementTimeout: 10 * time.Second, Log: slog.New(slog.DiscardHandler)})
	if err != nil {
		return err
	}
	defer st.Close()
	var users []string
	reads := st.NewReadBatch()
	reads.SomeUserIDs(&users)
	if err := reads.Run(ctx); err != nil || len(users) > 0 {
		return err
	}
	for _, home := range region.All() {
		tx := st.NewTx(home)
		tx.InsertSetting(network.SettingRow{
			Name: "isSecureModeEnabled", Value: json.RawMessage("false"), ChangedAt: service.Millis(),
			Origin: home.String(),
		})
		if err := tx.Commit(ctx); err != nil {
			return err
		}
	}
	return nil
}
