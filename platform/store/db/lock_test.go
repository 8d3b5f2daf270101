package db_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/db"
)

// The shared tables of these tests.
var (
	shared = db.Share(
		&db.SharedTable{
			Name: "things",
			Lock: &db.Statement{SQL: `SELECT id FROM things WHERE home = $1 AND id = ANY($2::text[]) ORDER BY id FOR UPDATE`},
		},
		&db.SharedTable{Name: "boxes", Lock: raw(`lock boxes`)},
		&db.SharedTable{Name: "counts", IsSharded: true})
	things = shared["things"]
)

func TestLocksComeFirst(t *testing.T) {
	boxes, counts := shared["boxes"], shared["counts"]
	var (
		read     = raw("read")
		thing    = raw("thing").Updates(things, 2)
		some     = raw("some things").Updates(things, 2)
		box      = raw("box").Updates(boxes, 2)
		next     = raw("next").UpdatesFirst(boxes, 2)
		count    = raw("count").UpdatesFirst(counts, 2, 3)
		unlocked = raw("unlocked").UpdatesUnlocked(things, "for a reason")
	)
	lockThings := things.Lock.SQL
	type call struct {
		st   *db.Statement
		args []any
	}
	for name, c := range map[string]struct {
		calls []call
		want  []string
	}{
		"nothing shared":           {[]call{{read, nil}}, []string{"read"}},
		"a read before an update":  {[]call{{read, nil}, {thing, []any{"1"}}}, []string{lockThings + " [1]", "read", "thing"}},
		"a leading update":         {[]call{{thing, []any{"1"}}, {read, nil}}, []string{"thing", "read"}},
		"leading updates in order": {[]call{{thing, []any{"1"}}, {box, []any{"1"}}, {read, nil}}, []string{"thing", "box", "read"}},
		"updates in another order": {
			[]call{{box, []any{"1"}}, {thing, []any{"1"}}},
			[]string{lockThings + " [1]", "lock boxes [1]", "box", "thing"},
		},
		"rows in another order": {[]call{{thing, []any{"2"}}, {thing, []any{"1"}}}, []string{lockThings + " [1 2]", "thing", "thing"}},
		"a row twice":           {[]call{{thing, []any{"1"}}, {thing, []any{"1"}}}, []string{"thing", "thing"}},
		"lists, and no id": {
			[]call{{read, nil}, {some, []any{[]string{"2", "1"}}}, {thing, []any{""}}},
			[]string{lockThings + " [1 2]", "read", "some things", "thing"},
		},
		"an update that goes first": {[]call{{read, nil}, {next, []any{"1"}}}, []string{"next", "read"}},
		"a lock before an update that goes first": {
			[]call{{read, nil}, {next, []any{"1"}}, {thing, []any{"1"}}}, []string{lockThings + " [1]", "next", "read", "thing"},
		},
		"a row that is locked by an update that goes first": {
			[]call{{read, nil}, {next, []any{"1"}}, {box, []any{"1"}}},
			[]string{"next", "read", "box"},
		},
		"another row of a table with one": {
			[]call{{read, nil}, {next, []any{"2"}}, {box, []any{"1"}}}, []string{"lock boxes [1 2]", "next", "read", "box"},
		},
		"counts in their order": {
			[]call{{thing, []any{"1"}}, {count, []any{"b", "x"}}, {read, nil}, {count, []any{"a", "x"}}},
			[]string{"thing", "count a", "count b", "read"},
		},
		"an exception": {[]call{{read, nil}, {unlocked, []any{"1"}}}, []string{"read", "unlocked"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := new(db.DB).NewTx(region.US)
			for _, call := range c.calls {
				w.Exec(call.st, call.args...)
			}
			require.Equal(t, c.want, sent(w))
		})
	}
}

// sent returns the statements as they are sent, with the rows of locks and the references of counts.
func sent(w *db.Tx) []string {
	var all []string
	for _, q := range w.Queued() {
		text := q.SQL
		if ids, ok := q.Args[len(q.Args)-1].([]string); ok && strings.Contains(text, "lock") || strings.Contains(text, "FOR UPDATE") {
			text += " [" + strings.Join(ids, " ") + "]"
		}
		if text == "count" {
			text += " " + q.Args[1].(string)
		}
		all = append(all, text)
	}
	return all
}
