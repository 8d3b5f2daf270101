package lifecycle

import (
	"strings"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/db"
)

// ExportTable is a kind of rows that the export of a user contains.
type ExportTable struct {
	Name string
	// AtHome reports whether all rows are at the user's home.
	AtHome bool
	start  []string // precedes every key
	page   *db.Statement
}

// ExportRow is a row that was visited by an export.
type ExportRow struct {
	Key  []string
	JSON string // empty if the row does not belong to the user
}

// ExportTables are the kinds of rows in an export.
var ExportTables = selectTables(func(t table) bool { return t.hidden == "" }, newExportTable)

// newExportTable registers the statement of a table. If no index has the rows of a user, all rows are read: exports are rare, and such
// an index would have to be written with every row.
func newExportTable(t table) ExportTable {
	own, key, condition := t.owner()+` = $2`, t.key, ``
	if t.byAny {
		own = t.concerns()
	}
	value := `CASE WHEN ` + own + ` THEN ` + t.object() + `::text ELSE '' END`
	if t.isOwned() {
		key = strings.TrimPrefix(key, t.owner()+", ")
		condition, value = ` AND `+own, t.object()+`::text`
	}
	start := make([]string, strings.Count(key, ", ")+1)
	page := db.Register("export."+t.name, `SELECT ARRAY[`+key+`], `+value+` FROM `+t.name+
		` WHERE home = $1`+condition+` AND (`+key+`) > (`+parameters(4, len(start))+`) ORDER BY `+key+` LIMIT $3::bigint`)
	return ExportTable{Name: t.name, AtHome: t.isOwned(), start: start, page: page}
}

// object returns the exported columns of a row as a JSON object.
func (t table) object() string {
	var fields []string
	for column := range strings.SplitSeq(t.columns, ", ") {
		fields = append(fields, `'`+camelCase(column)+`', `+column)
	}
	return `jsonb_build_object(` + strings.Join(fields, ", ") + `)`
}

// camelCase converts the name of a column to that of a JSON field.
func camelCase(column string) string {
	words := strings.Split(column, "_")
	for i, word := range words[1:] {
		words[i+1] = strings.ToUpper(word[:1]) + word[1:]
	}
	return strings.Join(words, "")
}

// ExportPage reads up to limit rows of a table after a position, which is empty at the start.
func (r ReadBatch) ExportPage(t ExportTable, home region.Code, userID string, after []string, limit int, into *[]ExportRow) {
	if len(after) == 0 {
		after = t.start
	}
	r.Add(home, t.page, db.Rows(into), append([]any{userID, limit}, anys(after)...)...)
}
