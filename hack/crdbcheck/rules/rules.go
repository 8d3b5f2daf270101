// Package rules parses SQL with CockroachDB's grammar and checks the rules that keep a multi-region database available:
// one home per statement, keys that start with home, and no SQL that CockroachDB rejects or evaluates differently from
// PostgreSQL.
//
// The grammar accepts some SQL that a server rejects, such as unknown types and functions. The tests that run every
// statement on PostgreSQL detect most of these errors, and the rules the rest.
package rules

import (
	"fmt"
	"strings"

	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/parser"
	_ "github.com/cockroachdb/cockroachdb-parser/pkg/sql/plpgsql/parser" // without it the parser panics on DO $$…$$
	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree"
	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/types"
)

// Rule is the name of a rule in the report.
type Rule string

// Statement is one SQL statement with its origin in the form of a file name.
type Statement struct {
	Where string
	SQL   string
}

// Violation is the violation of a rule by a statement.
type Violation struct {
	Where   string
	Rule    Rule
	Message string
}

// String returns the line of the report: `where: rule: message`.
func (v Violation) String() string { return fmt.Sprintf("%s: %s: %s", v.Where, v.Rule, v.Message) }

// RuleParse is broken by SQL that is not exactly one statement of CockroachDB's grammar.
const RuleParse Rule = "parse"

// check checks one statement and collects its violations.
type check struct {
	where      string
	schema     *Schema
	home       *homeValue
	ctes       map[string]bool
	violations []Violation
}

func (c *check) brokenf(rule Rule, format string, args ...any) {
	c.violations = append(c.violations, Violation{Where: c.where, Rule: rule, Message: fmt.Sprintf(format, args...)})
}

// parse parses one statement. INT has four bytes, as on PostgreSQL, so that rules can distinguish it from BIGINT.
func (c *check) parse(sql string) (tree.Statement, bool) {
	if strings.Contains(sql, "{{") {
		c.brokenf(RuleParse, "a hole of the template was not filled")
		return nil, false
	}
	statement, err := parser.ParseOneWithInt(sql, types.Int4)
	if err != nil {
		c.brokenf(RuleParse, "%s", oneLine(err.Error()))
		return nil, false
	}
	return statement.AST, true
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// Migrations checks the migrations in order and returns the resulting schema and the violations.
func Migrations(statements []Statement) (*Schema, []Violation) {
	schema := newSchema()
	var all []Violation
	for _, statement := range statements {
		c := &check{where: statement.Where, schema: schema, home: &homeValue{constant: true}}
		if ast, ok := c.parse(statement.SQL); ok {
			c.expressions(ast)
			c.migration(ast)
		}
		all = append(all, c.violations...)
	}
	return schema, all
}

// inspect parses a statement, calls look with it, and returns the violations.
func inspect(schema *Schema, statement Statement, look func(c *check, ast tree.Statement)) []Violation {
	c := &check{where: statement.Where, schema: schema, home: &homeValue{}}
	if ast, ok := c.parse(statement.SQL); ok {
		look(c, ast)
	}
	return c.violations
}

// Query checks one statement with parameters against a schema.
func Query(schema *Schema, statement Statement) []Violation {
	return inspect(schema, statement, func(c *check, ast tree.Statement) {
		c.expressions(ast)
		c.query(ast)
	})
}

// Expressions checks a statement for SQL that CockroachDB rejects or evaluates differently, for statements that concern no home.
func Expressions(schema *Schema, statement Statement) []Violation {
	return inspect(schema, statement, func(c *check, ast tree.Statement) { c.expressions(ast) })
}

// Grammar only checks the syntax of a statement, for statements that concern regions instead of rows.
func Grammar(statement Statement) []Violation {
	return inspect(nil, statement, func(*check, tree.Statement) {})
}
