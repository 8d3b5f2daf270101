package db_test

import (
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/db"
)

// Statements of the tests of records.
var (
	recordInsert = db.Register("test.recordInsert",
		`INSERT INTO settings (home, name, value, changed_at, origin) VALUES ($1, $2, '1', now(), '')`)
	recordGuard = db.Register("test.recordGuard", `SELECT 1 / count(*) FROM settings WHERE home = $1 AND name = 'absent'`)
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

// TestRecordOfConcurrentTransactions runs a transaction of a request while another one stores the record.
func TestRecordOfConcurrentTransactions(t *testing.T) {
	d := openNew(t)
	ctx, stored := db.WithRecord(t.Context(), func(head, _ *db.Tx) { head.Exec(recordInsert, "head") })
	outer := d.NewTx(region.US)
	outer.Query(raw(`SELECT $1::text`), func(rows pgx.Rows) error {
		inner := d.NewTx(region.US)
		inner.Exec(recordInsert, "inner")
		require.NoError(t, inner.Commit(ctx))
		require.False(t, stored(), "the record is not committed yet")
		return discard(rows)
	})
	require.NoError(t, outer.Commit(ctx))
	require.True(t, stored())
	for _, name := range []string{"head", "inner"} {
		again := d.NewTx(region.US)
		again.Exec(recordInsert, name)
		require.Error(t, again.Commit(t.Context()), "%s was stored", name)
	}
}

// TestHasOwnStatements checks whether the transactions of a request have statements that those of others must not share: with a prologue,
// and until a wanted record is stored.
func TestHasOwnStatements(t *testing.T) {
	d := openNew(t)
	require.False(t, d.HasOwnStatements(t.Context()))
	with, _ := db.WithPrologue(t.Context(), func(*db.Tx) {})
	require.True(t, d.HasOwnStatements(with))
	require.False(t, d.HasOwnStatements(db.WithoutPrologue(with)))
	for name, wants := range map[string]func(head, tail *db.Tx){
		"before": func(head, _ *db.Tx) { head.Exec(recordInsert, "before") },
		"after":  func(_, tail *db.Tx) { tail.Exec(recordInsert, "after") },
	} {
		wanted := false
		ctx, _ := db.WithRecord(t.Context(), func(head, tail *db.Tx) {
			if wanted {
				wants(head, tail)
			}
		})
		require.False(t, d.HasOwnStatements(ctx), name)
		wanted = true
		require.True(t, d.HasOwnStatements(ctx), name)
		tx := d.NewTx(region.US)
		tx.Exec(raw(`SELECT $1::text`))
		require.NoError(t, tx.Commit(ctx))
		require.False(t, d.HasOwnStatements(ctx), "%s: it is stored", name)
	}
}
