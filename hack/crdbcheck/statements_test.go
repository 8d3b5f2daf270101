package crdbcheck

import (
	"slices"
	"strconv"
	"strings"

	"github.com/plaza-social/plaza/hack/crdbcheck/rules"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/db"
)

// sources are the statements to check by kind.
type sources struct {
	migrations []rules.Statement
	queries    []rules.Statement
	updates    map[string]*rules.Update // by the origin of the query
	shared     []string                 // tables
	queues     []string                 // tables whose rows are deleted soon
	own        []rules.Statement        // statements of sessions, transactions and migrations: the rules about homes do not concern them
	// Statements that concern regions or backups, or a database without regions: only the grammar is checked.
	placement []rules.Statement
}

// program returns the statements of the program.
func program() sources {
	s := sources{updates: map[string]*rules.Update{}, queues: db.QueueTables()}
	for _, m := range db.RenderedMigrations(db.CockroachDB) {
		s.migrations = append(s.migrations, rules.Statement{Where: "store/migrations/" + m.Name + ".sql", SQL: m.SQL})
	}
	for _, q := range store.Statements() {
		s.queries = append(s.queries, rules.Statement{Where: "store/" + q.Name, SQL: q.CockroachSQL})
		if u := q.Update; u != nil {
			s.updates["store/"+q.Name] = &rules.Update{Table: u.Table.Name, Key: u.Key, Unlocked: u.Unlocked != ""}
		}
	}
	for _, t := range db.SharedTables() {
		s.shared = append(s.shared, t.Name)
	}
	for _, m := range db.MigrationsWithoutRegions() {
		s.placement = append(s.placement, rules.Statement{Where: "store/migrations/" + m.Name + ".sql without regions", SQL: m.SQL})
	}
	localities := db.DefaultLocalities()
	for _, code := range region.All() {
		s.placement = append(s.placement, rules.Statement{
			Where: "store/placement/" + string(code), SQL: db.SuperRegionStatement("plaza", code, localities[code]),
		})
	}
	s.placement = slices.Concat(s.placement,
		numbered("store/placement/", db.RegionStatements("plaza", db.Layout{Localities: localities})),
		numbered("store/placement/check/", db.PlacementStatements()),
		numbered("store/queues/", db.QueueStatements()),
		numbered("store/backup/", db.BackupStatements()))
	s.own = numbered("store/db/", db.OwnStatements())
	return s
}

func numbered(where string, statements []string) []rules.Statement {
	var list []rules.Statement
	for i, sql := range statements {
		list = append(list, rules.Statement{Where: where + strconv.Itoa(i+1), SQL: sql})
	}
	return list
}

// applyJoins are the statements that may have LATERAL (… LIMIT …), by the beginning of their names, because the values
// are rows that the statement itself finds: there may be thousands.
var applyJoins = []string{
	"moves.ids.of", "moves.rows.", // the rows of ids that move, all of which the job reads in any case
}

// moves are the statements that move rows to another home, by the beginning of their names. They run in the background,
// and few users move: they may look in every region.
var moves = []string{"moves.rows.", "moves.flagCounters", "movedIDs.insert"}

// decoded are the statements whose JSON as text is decoded or searched, by the beginning of their names: the order of its keys does
// not matter.
var decoded = []string{"export.", "erasure."}

func accepted(v rules.Violation) bool {
	of := func(names []string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return strings.HasPrefix(v.Where, "store/"+name) })
	}
	switch v.Rule {
	case rules.RuleApplyJoin:
		return of(applyJoins)
	case "json-as-text":
		return of(decoded)
	case rules.RuleMoveHome, rules.RuleOneHome, rules.RuleConflict:
		return of(moves)
	}
	return false
}

// check returns the violations and the number of tables that the migrations create.
func check(s sources) (broken []rules.Violation, tables int) {
	schema, broken := rules.Migrations(s.migrations)
	scans := !rules.ForbidFullScans(s.own)
	for _, q := range s.queries {
		if scans {
			broken = append(broken, rules.FullScans(schema, q)...)
		}
		broken = append(broken, slices.DeleteFunc(rules.Query(schema, q), accepted)...)
		broken = append(broken, rules.QueueReads(s.queues, q)...)
		broken = append(broken, rules.FilteredPages(schema, q)...)
		broken = append(broken, rules.SharedRows(s.shared, q, s.updates[q.Where])...)
	}
	for _, own := range s.own {
		broken = append(broken, rules.Expressions(schema, own)...)
	}
	for _, p := range s.placement {
		broken = append(broken, rules.Grammar(p)...)
	}
	return broken, schema.Tables()
}
