package db_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/db"
)

// Statements of the tests of records.
var (
	recordInsert = db.Register("test.recordInsert", `INSERT INTO settings (home, name, value, changed_at, origin) VALUES ($1, $2, '1', now(), '')`)
	recordGuard  = db.Register("test.recordGuard", `SELECT 1 / count(*) FROM settings WHERE home = $1 AND name = 'absent'`)
)

// TestRecord checks that exactly one transaction that is committed stores a record, around its own statements.
func TestRecord(t *testing.T) {
	d := openNew(t)
	wanted := false
	ctx, stored := db.WithRecord(t.Context(), func(head, tail *db.Tx) {
		if wanted {
			head.Exec(recordInsert, "head")
			tail.Exec(recordInsert, "tail")
		}
	})
	insert := func(name string, guards ...error) *db.Tx {
		tx := d.NewTx(region.US)
		tx.Exec(recordInsert, name)
		for _, refusal := range guards {
			tx.Guard(recordGuard, refusal)
		}
		return tx
	}
	require.NoError(t, insert("before").Commit(ctx))
	require.False(t, stored(), "nothing was wanted")
	wanted = true
	excluded := insert("excluded")
	excluded.WithoutRecord()
	require.NoError(t, excluded.Commit(ctx))
	require.NoError(t, insert("background").Commit(db.WithoutPrologue(ctx)))
	require.False(t, stored())
	refusal := fail.NotFound()
	require.ErrorIs(t, insert("refused", refusal).Commit(ctx), refusal)
	require.False(t, stored(), "a failed transaction stores nothing")
	require.NoError(t, insert("first").Commit(ctx))
	require.True(t, stored())
	require.NoError(t, insert("second").Commit(ctx), "a second record would violate the key")
	require.Error(t, insert("head").Commit(t.Context()), "stored before")
	require.Error(t, insert("tail").Commit(t.Context()), "stored after")
}
