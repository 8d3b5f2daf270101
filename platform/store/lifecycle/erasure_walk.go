package lifecycle

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
)

// ErasureWalk is a walk through all rows of a table in the order of its key, a page at a time. Reading every row takes
// longer than an index of the rows of each user would, but erasures are rare, and such an index would have to be written
// with every row. The database returns the rows that concern the user only.
type ErasureWalk struct {
	Table string
	start []string // precedes every key
	page  *db.Statement
	erase *db.Statement // of one row; nil if the rows are only read
	json  *db.Statement // of the JSON columns of one row; nil if there are none
	files bool          // whether the rows refer to files
}

// ErasureRow is a row of a walk.
type ErasureRow struct {
	Key []string
	// Own reports whether the row belongs to the user or names the user as its creator.
	Own bool
	// JSON is an array with the JSON columns if the first of them contains the internal id of the user, and empty otherwise.
	JSON string
	// Number is the number of the row among those that the page visited, from 1. The last one is returned even if it does not
	// concern the user, when the page visited as many rows as it may.
	Number int64
}

// Concerns reports whether the row concerns the user.
func (r ErasureRow) Concerns() bool { return r.Own || r.JSON != "" }

// newErasureWalk registers the statements of a walk.
func newErasureWalk(t table) *ErasureWalk {
	key, fields, json, own := strings.Split(t.key, ", "), strings.Split(t.json, ", "), `''`, t.concerns()
	array := `jsonb_build_array(` + t.json + `)`
	if t.json != "" {
		json = `CASE WHEN strpos(` + fields[0] + `::text, $2) > 0 THEN ` + array + `::text ELSE '' END`
	}
	w := &ErasureWalk{Table: t.name, start: make([]string, len(key)), files: t.files}
	w.page = db.Register("erasure.page."+t.name, `SELECT ARRAY[`+t.key+`], own, json, number FROM (
			SELECT `+t.key+`, own, json, row_number() OVER (ORDER BY `+t.key+`) AS number FROM (
				SELECT `+t.key+`, `+own+` AS own, `+json+` AS json FROM `+t.name+` /*@{FORCE_INDEX=`+t.name+`_pkey}*/
				WHERE home = $1 AND (`+t.key+`) > (`+parameters(5, len(key))+`) ORDER BY `+t.key+` LIMIT $3::bigint) AS visited) AS numbered
		WHERE own OR json <> '' OR number = $3::bigint ORDER BY number LIMIT $4::bigint`)
	if set := t.assignments(); set == "" {
		w.erase = db.Register("erasure.delete."+t.name, `DELETE FROM `+t.name+` WHERE home = $1 AND `+keyIs(key, 3)+` AND (`+own+`)`)
	} else {
		w.erase = db.Register("erasure.empty."+t.name, `UPDATE `+t.name+` SET `+set+` WHERE home = $1 AND `+keyIs(key, 3)+` AND (`+own+`)`)
	}
	if t.json != "" {
		w.json = db.Register("erasure.json."+t.name, `UPDATE `+t.name+` SET `+elements(fields)+` WHERE home = $1 AND `+keyIs(key, 4)+
			` AND `+array+` = $3::jsonb`)
	}
	w.declareUpdates()
	return w
}

// assignments returns the assignments that empty a row; empty if it is deleted.
func (t table) assignments() string {
	var set []string
	if t.set != "" {
		set = append(set, t.set)
	}
	if t.names {
		for column := range strings.SplitSeq(t.users, ", ") {
			set = append(set, anonymous(column, strings.TrimSuffix(column, "_id")+"_public_id"))
		}
	}
	return strings.Join(set, ", ")
}

// declareUpdates declares the updated rows of a shared table.
func (w *ErasureWalk) declareUpdates() {
	t := core.Shared[w.Table]
	if t == nil {
		return
	}
	w.erase.Updates(t, 3)
	if w.json != nil {
		w.json.Updates(t, 4)
	}
}

// elements returns the assignments of the elements of $2 to columns.
func elements(columns []string) string {
	all := make([]string, len(columns))
	for i, column := range columns {
		all[i] = fmt.Sprintf("%s = $2::jsonb->%d", column, i)
	}
	return strings.Join(all, ", ")
}

// parameters returns n parameters, the first of which is $first.
func parameters(first, n int) string {
	all := make([]string, n)
	for i := range all {
		all[i] = "$" + strconv.Itoa(first+i)
	}
	return strings.Join(all, ", ")
}

// keyIs returns the condition that the key equals the parameters from $first on.
func keyIs(key []string, first int) string {
	all := make([]string, len(key))
	for i, column := range key {
		all[i] = fmt.Sprintf("%s = $%d", column, first+i)
	}
	return strings.Join(all, " AND ")
}

// anonymous returns the assignment that replaces a public id if the user is the one whose internal id is in idColumn.
func anonymous(idColumn, publicIDColumn string) string {
	return publicIDColumn + ` = CASE WHEN ` + idColumn + ` = $2 THEN 'DELETED_' || $2 ELSE ` + publicIDColumn + ` END`
}

// ErasurePage visits up to visit rows of a walk after a position, which is empty at the start, and reads up to limit of those
// that concern the user, see LastErasurePage.
func (r ReadBatch) ErasurePage(w *ErasureWalk, home region.Code, userID string, after []string, visit, limit int, into *[]ErasureRow) {
	if len(after) == 0 {
		after = w.start
	}
	r.Add(home, w.page, db.Rows(into), append([]any{userID, visit, limit}, anys(after)...)...)
}

// LastErasurePage reports whether no rows follow those of a page that was read with visit and limit.
func LastErasurePage(rows []ErasureRow, visit, limit int) bool {
	return len(rows) == 0 || len(rows) < limit && rows[len(rows)-1].Number < int64(visit)
}

// EraseRow deletes or empties a row that belongs to the user, and releases its files.
func (w Tx) EraseRow(l *ErasureWalk, userID string, key []string) {
	w.Exec(l.erase, append([]any{userID}, anys(key)...)...)
	if l.files {
		w.ReleaseFiles(key[:1])
	}
}

// ReplaceJSON replaces the JSON columns of a row unless one has changed since it was read. It has no effect on tables without such columns.
func (w Tx) ReplaceJSON(l *ErasureWalk, row ErasureRow, changed []byte) {
	if l.json == nil {
		return
	}
	w.Exec(l.json, append([]any{changed, row.JSON}, anys(row.Key)...)...)
}

func anys(values []string) []any {
	all := make([]any, len(values))
	for i, v := range values {
		all[i] = v
	}
	return all
}

// Start returns a position before every key.
func (w *ErasureWalk) Start() []string { return w.start }
