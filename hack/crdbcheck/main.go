// Program crdbcheck checks every SQL statement of Plaza, and every schema migration as rendered for CockroachDB,
// against CockroachDB's grammar and the rules of package rules. It needs no database.
package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/plaza-social/plaza/hack/crdbcheck/rules"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/db"
)

func main() {
	if !report(os.Stdout, program()) {
		os.Exit(1)
	}
}

// sources are the statements to check by kind.
type sources struct {
	migrations []rules.Statement
	queries    []rules.Statement
	updates    map[string]*rules.Update // by the origin of the query
	shared     []string                 // tables
	placement  []rules.Statement        // statements that concern regions: only the grammar is checked
}

// program returns the statements of the program.
func program() sources {
	s := sources{updates: map[string]*rules.Update{}}
	for _, m := range db.RenderedMigrations(db.CockroachDB) {
		s.migrations = append(s.migrations, rules.Statement{Where: "store/migrations/" + m.Name + ".sql", SQL: m.SQL})
	}
	for _, q := range store.Statements() {
		s.queries = append(s.queries, rules.Statement{Where: "store/" + q.Name, SQL: q.SQL})
		if u := q.Update; u != nil {
			s.updates["store/"+q.Name] = &rules.Update{Table: u.Table.Name, Key: u.Key, Unlocked: u.Unlocked != ""}
		}
	}
	for _, t := range db.SharedTables() {
		s.shared = append(s.shared, t.Name)
	}
	localities := db.DefaultLocalities()
	for i, sql := range db.RegionStatements("plaza", db.Layout{Localities: localities}) {
		s.placement = append(s.placement, rules.Statement{Where: fmt.Sprintf("store/placement/%d", i+1), SQL: sql})
	}
	for _, code := range region.All() {
		s.placement = append(s.placement, rules.Statement{
			Where: "store/placement/" + string(code), SQL: db.SuperRegionStatement("plaza", code, localities[code]),
		})
	}
	for i, sql := range db.PlacementStatements() {
		s.placement = append(s.placement, rules.Statement{Where: fmt.Sprintf("store/placement/check/%d", i+1), SQL: sql})
	}
	return s
}

// isMove reports whether a statement moves rows of a user to another home. It is rare and may be slow.
func isMove(q rules.Statement) bool { return strings.HasPrefix(q.Where, "store/moves.") }

// movesMay are the rules that do not apply to these statements.
var movesMay = map[rules.Rule]bool{rules.RuleMoveHome: true, rules.RuleOneHome: true, rules.RuleConflict: true}

// check returns the violations and the number of tables that the migrations create.
func check(s sources) (broken []rules.Violation, tables int) {
	schema, broken := rules.Migrations(s.migrations)
	for _, q := range s.queries {
		broken = append(broken, slices.DeleteFunc(rules.Query(schema, q), func(v rules.Violation) bool { return isMove(q) && movesMay[v.Rule] })...)
		broken = append(broken, rules.SharedRows(s.shared, q, s.updates[q.Where])...)
	}
	for _, p := range s.placement {
		broken = append(broken, rules.Grammar(p)...)
	}
	return broken, schema.Tables()
}

// report prints one line per violation and a summary. It reports whether there are no violations.
func report(w io.Writer, s sources) bool {
	broken, tables := check(s)
	for _, v := range broken {
		fmt.Fprintln(w, v)
	}
	verdict := "all good"
	if len(broken) > 0 {
		verdict = fmt.Sprintf("%d violations", len(broken))
	}
	fmt.Fprintf(w, "crdbcheck: %d statements, %d migrations of %d tables, %d placement statements: %s\n",
		len(s.queries), len(s.migrations), tables, len(s.placement), verdict)
	return len(broken) == 0
}
