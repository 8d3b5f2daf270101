package rules

import (
	"slices"
	"strings"

	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree"
	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree/treebin"
	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/types"
)

// The rules for expressions.
const (
	// RuleStar is broken by `*` in a list of columns: a hidden or a new column would change the result.
	RuleStar Rule = "no-star"
	// RuleFunction is broken by a function that CockroachDB does not have, that has no effect there, or that blocks.
	RuleFunction Rule = "function"
	// RuleDivision is broken by `/` on integers: a fraction on CockroachDB, truncated on PostgreSQL.
	RuleDivision Rule = "division"
	// RuleSystemColumn is broken by PostgreSQL's system columns, such as ctid and xmax.
	RuleSystemColumn Rule = "system-column"
	// RuleInteger is broken by integers other than BIGINT: INT has eight bytes on CockroachDB and four on PostgreSQL.
	RuleInteger Rule = "bigint"
	// RuleExtract is broken by extract() without a cast: it is numeric on PostgreSQL and a float on CockroachDB.
	RuleExtract Rule = "extract-cast"
	// RuleRounding is broken by a cast of a fraction to an integer: PostgreSQL rounds, CockroachDB truncates.
	RuleRounding Rule = "rounding"
	// RuleNulls is broken by ORDER BY on a nullable column, which the engines order differently, and by NULLS FIRST or
	// LAST.
	RuleNulls Rule = "null-order"
	// RuleCollate is broken by COLLATE: without it both engines order text by its bytes.
	RuleCollate Rule = "no-collate"
)

// knownFunctions are the functions of Plaza's statements that CockroachDB has with the result of PostgreSQL, see
// https://www.cockroachlabs.com/docs/stable/functions-and-operators, cockroachdb/cockroach#114871 and #93742.
var knownFunctions = []string{
	"array_agg", "array_append", "array_length", "array_position", "array_remove", "bool_and", "bool_or", "cardinality",
	"clock_timestamp", "convert_to", "count", "current_user", "decode", "encode", "extract", "floor", "gen_random_uuid", "generate_series",
	"greatest", "jsonb_build_array", "jsonb_build_object", "jsonb_object_agg", "least", "left", "lower", "lpad", "max", "min",
	"now", "rank", "round", "row_number", "string_agg", "strpos", "substr", "sum", "to_hex", "to_jsonb", "unnest", "version",
}

// reasons are why functions are not known, by function or, if the name ends in `*`, by prefix.
var reasons = map[string]string{
	"pg_advisory*":          "advisory locks have no effect on CockroachDB",
	"pg_try_advisory*":      "advisory locks have no effect on CockroachDB",
	"pg_sleep*":             "a statement that waits holds its connection",
	"pg_notify":             "CockroachDB has no NOTIFY",
	"txid_*":                "CockroachDB has no such transaction ids",
	"pg_current_xact_id*":   "CockroachDB has no such transaction ids",
	"hashtext*":             "CockroachDB has no hashtext",
	"set_config":            "settings of a session do not survive a pool",
	"current_setting":       "settings of a session do not survive a pool",
	"nextval":               "a sequence is one hot row for all regions",
	"currval":               "a sequence is one hot row for all regions",
	"setval":                "a sequence is one hot row for all regions",
	"lastval":               "a sequence is one hot row for all regions",
	"unique_rowid":          "ids come from the program and carry their home",
	"gateway_region":        "a row lives where its home says, not where the client connected",
	"rehome_row":            "a row lives where its home says, not where it was changed last",
	"crdb_internal.*":       "PostgreSQL has no such function",
	"to_tsvector":           "words of a text in an index key leave its region",
	"ts_*":                  "the functions of text search are incomplete: use search_words (#41288)",
	"sha*":                  "they return text in hexadecimal: hash in the program (#73896)",
	"jsonb_path*":           "JSON paths are not in all versions and differ: use -> and @> (#22513, #144255, #145099)",
	"jsonb_set*":            "it takes a literal that is JSON for text: cast it (#38965)",
	"concat*":               "it takes parameters of any type: cast them, or use || (#127098, #143359)",
	"current_date":          "it depends on the session, and as a default on UTC: set the value in the program",
	"pg_terminate_backend":  "a query does not end other people's connections",
	"pg_cancel_backend":     "a query does not end other people's queries",
	"pg_export_snapshot":    "CockroachDB has no snapshots to share",
	"lo_*":                  "CockroachDB has no large objects",
	"with_max_staleness":    "stale reads are chosen in BEGIN, not in a statement",
	"with_min_timestamp":    "stale reads are chosen in BEGIN, not in a statement",
	"follower_read_*":       "stale reads are chosen in BEGIN, not in a statement",
	"currtid*":              "PostgreSQL's own row addresses",
	"pg_relation_filepath*": "PostgreSQL's own files",
}

var systemColumns = map[string]bool{
	"ctid": true, "xmin": true, "xmax": true, "cmin": true, "cmax": true, "tableoid": true,
	"crdb_internal_mvcc_timestamp": true, "crdb_internal_origin_timestamp": true,
}

// expressions checks every expression of a statement, at any depth. outer are the ancestors of the statement: the function in which
// it stands.
func (c *check) expressions(ast tree.Statement, outer ...any) {
	walk(ast, func(node any, path []any) {
		path = slices.Concat(outer, path)
		switch n := node.(type) {
		case tree.UnqualifiedStar, *tree.UnqualifiedStar, *tree.AllColumnsSelector, *tree.TupleStar:
			c.star(path)
		case *tree.UnresolvedName:
			c.column(n, path)
		case *tree.FuncExpr:
			c.function(n, path)
		case *tree.BinaryExpr:
			c.division(n)
		case *tree.CastExpr:
			c.cast(n)
		case *tree.CollateExpr:
			c.brokenf(RuleCollate, "text is ordered by its bytes without COLLATE")
		case *tree.Order:
			c.nullsKeyword(n)
		}
		c.construct(place{c.schema, node, path})
	})
}

func (c *check) star(path []any) {
	if len(path) > 0 {
		if f, ok := path[len(path)-1].(*tree.FuncExpr); ok && functionName(f) == "count" {
			return
		}
	}
	c.brokenf(RuleStar, "columns are named one by one")
}

func (c *check) column(name *tree.UnresolvedName, path []any) {
	if name.Star {
		c.star(path)
	}
	if systemColumns[strings.ToLower(name.Parts[0])] {
		c.brokenf(RuleSystemColumn, "%s exists on one engine only", name.Parts[0])
	}
}

func (c *check) function(f *tree.FuncExpr, path []any) {
	name := functionName(f)
	// Tables and functions of the schema do not call functions of the schema: cockroachdb/cockroach#87699, #93049, #128483.
	ofSchema := !c.home.constant && c.schema.routines[name]
	if !slices.Contains(knownFunctions, name) && !ofSchema {
		c.brokenf(RuleFunction, "%s(): %s", name, reasonAgainst(name))
	}
	if name == "extract" && !castSomewhere(path) {
		c.brokenf(RuleExtract, "extract() has another type on each engine: cast it to a fixed one")
	}
}

func reasonAgainst(name string) string {
	for pattern, why := range reasons {
		family, isFamily := strings.CutSuffix(pattern, "*")
		if pattern == name || isFamily && strings.HasPrefix(name, family) {
			return why
		}
	}
	return "add it to knownFunctions after reading that CockroachDB has it with the same result: it lacks many"
}

func functionName(f *tree.FuncExpr) string {
	return strings.Trim(strings.TrimPrefix(strings.ToLower(f.Func.String()), "pg_catalog."), `"`) // quoted: "left"
}

// castSomewhere reports whether an ancestor is a cast, skipping parentheses and rounding.
func castSomewhere(path []any) bool {
	for _, ancestor := range slices.Backward(path) {
		switch n := ancestor.(type) {
		case *tree.CastExpr:
			return true
		case *tree.ParenExpr:
		case *tree.FuncExpr:
			if !slices.Contains([]string{"floor", "round"}, functionName(n)) {
				return false
			}
		default:
			return false
		}
	}
	return false
}

// division allows `/` if an operand is cast to a fractional type, and the guards `1 / count(*)` and `1 / CASE …`, which
// fail with a division by zero.
func (c *check) division(b *tree.BinaryExpr) {
	switch b.Operator.Symbol {
	case treebin.FloorDiv:
		c.brokenf(RuleDivision, "PostgreSQL has no //")
	case treebin.Div:
		if !isFraction(b.Left) && !isFraction(b.Right) && !isGuard(b) {
			c.brokenf(RuleDivision, "integers divide differently on each engine: cast one operand to a type with a fraction")
		}
	}
}

func isGuard(b *tree.BinaryExpr) bool {
	if tree.AsString(stripParens(b.Left)) != "1" {
		return false
	}
	switch right := stripParens(b.Right).(type) {
	case *tree.CaseExpr:
		return true
	case *tree.FuncExpr:
		return functionName(right) == "count"
	}
	return false
}

// isFraction reports whether an expression has a fractional type: it is cast to one or is a number with a decimal
// point.
func isFraction(e tree.Expr) bool {
	switch n := stripParens(e).(type) {
	case *tree.CastExpr:
		t, ok := n.Type.(*types.T)
		return ok && (t.Family() == types.FloatFamily || t.Family() == types.DecimalFamily)
	case *tree.NumVal:
		return strings.ContainsAny(n.OrigString(), ".eE")
	}
	return false
}

func (c *check) cast(cast *tree.CastExpr) {
	t, ok := cast.Type.(*types.T)
	if !ok {
		return
	}
	c.integer(t)
	if t.Family() == types.IntFamily && hasFraction(cast.Expr) {
		c.brokenf(RuleRounding, "a fraction becomes another integer on each engine: floor() or round() it first")
	}
}

// hasFraction is like isFraction and also true for divisions and extract().
func hasFraction(e tree.Expr) bool {
	switch n := stripParens(e).(type) {
	case *tree.BinaryExpr:
		return n.Operator.Symbol == treebin.Div
	case *tree.FuncExpr:
		return functionName(n) == "extract"
	}
	return isFraction(e)
}

func (c *check) integer(t *types.T) {
	if t.Family() == types.ArrayFamily {
		t = t.ArrayContents()
	}
	if t.Family() == types.IntFamily && t.Width() != 64 {
		c.brokenf(RuleInteger, "write BIGINT: INT has another width on each engine")
	}
}

func (c *check) nullsKeyword(order *tree.Order) {
	if order.NullsOrder != tree.DefaultNullsOrder {
		c.brokenf(RuleNulls, "write `x IS NULL, x` for %s", order.NullsOrder)
	}
}

func stripParens(e tree.Expr) tree.Expr {
	for {
		paren, ok := e.(*tree.ParenExpr)
		if !ok {
			return e
		}
		e = paren.Expr
	}
}

func stripCasts(e tree.Expr) tree.Expr {
	for {
		e = stripParens(e)
		cast, ok := e.(*tree.CastExpr)
		if !ok {
			return e
		}
		e = cast.Expr
	}
}
