package db_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/store/db"
)

func TestCheckLocks(t *testing.T) {
	boxes := shared["boxes"]
	read, thing, some, box := raw("read"), raw("thing").Updates(things, 2), raw("some").Updates(things, 2), raw("box").Updates(boxes, 2)
	row, insert := raw("UPDATE rows SET n = 1 WHERE home = $1 AND place = $2 AND id = $3 AND version = $4"), raw("INSERT INTO rows")
	unlocked := raw("unlocked").UpdatesUnlocked(things, "for a reason")
	sent := func(st *db.Statement, args ...any) db.Queued {
		return db.Queued{Statement: st, Args: append([]any{"us"}, args...)}
	}
	for name, c := range map[string]struct {
		sent []db.Queued
		want string
	}{
		"nothing shared":  {[]db.Queued{sent(read)}, ""},
		"an update first": {[]db.Queued{sent(thing, "1"), sent(box, "1"), sent(read)}, ""},
		"locks first": {[]db.Queued{
			sent(things.Lock, []string{"1", "2"}), sent(boxes.Lock, []string{"1"}), sent(read),
			sent(box, "1"), sent(some, []string{"2", "1"}),
		}, ""},
		"an exception": {[]db.Queued{sent(read), sent(unlocked, "1")}, ""},
		"no lock": {
			[]db.Queued{sent(read), sent(thing, "1")},
			`the row "1" of things is locked after statements that lock nothing`,
		},
		"the lock of another": {
			[]db.Queued{sent(things.Lock, []string{"1"}), sent(read), sent(thing, "2")},
			`the row "2" of things is locked after statements that lock nothing`,
		},
		"a lock after a read": {
			[]db.Queued{sent(read), sent(things.Lock, []string{"1"}), sent(thing, "1")},
			`the row "1" of things is locked after statements that lock nothing`,
		},
		"another order of rows": {[]db.Queued{sent(thing, "2"), sent(thing, "1")}, `the row "1" of things is locked after the row "2" of things`},
		"another order of tables": {
			[]db.Queued{sent(boxes.Lock, []string{"1"}), sent(things.Lock, []string{"1"})},
			`the row "1" of things is locked after the row "1" of boxes`,
		},
		"rows in order": {[]db.Queued{sent(row, "a", "1", 9), sent(row, "a", "2", 3), sent(row, "b", "1", 7)}, ""},
		"rows in another order": {
			[]db.Queued{sent(row, "a", "2", 3), sent(row, "a", "1", 9)},
			`the row ["a" "1"] is updated after the row ["a" "2"]`,
		},
		"insertions in any order":     {[]db.Queued{sent(insert, "a", "2"), sent(insert, "a", "1")}, ""},
		"other statements in between": {[]db.Queued{sent(row, "a", "2", 3), sent(read), sent(row, "a", "1", 9)}, `is updated after the row`},
	} {
		t.Run(name, func(t *testing.T) {
			err := db.CheckLocks(c.sent)
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.ErrorContains(t, err, c.want)
		})
	}
}
