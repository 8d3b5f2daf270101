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
)

// secureModeVersion is the first schema version of programs whose networks start in secure mode.
const secureModeVersion = 283

// Migrate is db.Migrate for the database of a network. A network that has users from before networks started in secure
// mode keeps its mode, in which its apps work. That is stored before the migration, so that an interrupted one keeps it
// too.
func Migrate(ctx context.Context, o db.MigrateOptions) error {
	current, _, err := db.MigrationStatus(ctx, o.URL)
	if err != nil {
		return err
	}
	if current > 0 && current < secureModeVersion {
		err = chooseInsecure(ctx, o.URL, time.Unix(0, 0).UTC(), func(hasUsers bool) bool { return hasUsers })
	}
	if err != nil {
		return err
	}
	return db.Migrate(ctx, o)
}

// StartInsecure turns secure mode off in a new network, for development and tests. It changes nothing in a network that
// has users or whose mode was chosen before.
func StartInsecure(ctx context.Context, databaseURL string) error {
	return chooseInsecure(ctx, databaseURL, service.Millis(), func(hasUsers bool) bool { return !hasUsers })
}

// chooseInsecure turns secure mode off in every home without a choice, if applies is true for whether the network has
// users.
func chooseInsecure(ctx context.Context, databaseURL string, at time.Time, applies func(hasUsers bool) bool) error {
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
	if err := reads.Run(ctx); err != nil || !applies(len(users) > 0) {
		return err
	}
	for _, home := range region.All() {
		tx := st.NewTx(home)
		tx.InsertSetting(store.SettingRow{Name: "isSecureModeEnabled", Value: json.RawMessage("false"), ChangedAt: at, Origin: home.String()})
		if err := tx.Commit(ctx); err != nil {
			return err
		}
	}
	return nil
}
