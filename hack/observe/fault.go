package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// fault is what can be caused.
type fault struct {
	name   string
	does   string   // completes "the fault …"
	alerts []string // of which at least these fire
	begin  func(context.Context, *network) error
}

var faults = []fault{
	{"region-down", "the servers of sg do not respond", []string{"PlazaRegionDown"}, func(_ context.Context, n *network) error {
		n.api["sg"].Refuse()
		n.ops["sg"].Refuse()
		return nil
	}},
	{"database-down", "the database does not respond", []string{"PlazaDatabaseUnreachable"}, func(_ context.Context, n *network) error {
		n.toDB.Refuse()
		return nil
	}},
	{
		"slow-database", "each answer of the database takes 150 ms longer",
		[]string{"PlazaLatencyBudgetBurnFast"},
		func(_ context.Context, n *network) error {
			n.toDB.Delay(150 * time.Millisecond)
			return nil
		},
	},
	{
		"errors", "a table is missing, so that every comment fails",
		[]string{"PlazaErrorBudgetBurnFast"},
		func(ctx context.Context, n *network) error {
			connection, err := pgx.Connect(ctx, n.database.URL())
			if err != nil {
				return err
			}
			_, err = connection.Exec(ctx, "ALTER TABLE comments RENAME TO comments_away")
			return errors.Join(err, connection.Close(ctx))
		},
	},
	{
		"keys-damaged", "the file of the server keys cannot be read",
		[]string{"PlazaKeysFileUnreadable"},
		func(_ context.Context, n *network) error {
			files, err := filepath.Glob(filepath.Join(n.dir, "data", "server-keys*"))
			for _, file := range files {
				if err := os.WriteFile(file, []byte("damaged"), 0o600); err != nil {
					return err
				}
			}
			return err
		},
	},
	{"restarts", "the servers are killed four times", []string{"PlazaServerRestarting"}, func(ctx context.Context, n *network) error {
		for range 4 {
			if err := n.restart(ctx); err != nil {
				return err
			}
			pause(ctx, 3*time.Second)
		}
		return nil
	}},
	{
		"operator-down", "the metrics of the operator are missing",
		[]string{"PlazaOperatorNotReconciling"},
		func(_ context.Context, n *network) error {
			n.stopOp()
			return nil
		},
	},
}

func faultNames() []string {
	var names []string
	for _, f := range faults {
		names = append(names, f.name)
	}
	return names
}

// cause begins the fault after a while without one.
func (f *fault) cause(ctx context.Context, n *network, say func(string, ...any)) {
	pause(ctx, calm)
	if ctx.Err() != nil {
		return
	}
	say("fault %s: %s; next: %s fires", f.name, f.does, strings.Join(f.alerts, ", "))
	if err := f.begin(ctx, n); err != nil && ctx.Err() == nil {
		say("fault %s: %v", f.name, err)
	}
}
