// Package rules reads SQL with CockroachDB's own grammar and holds it to the rules that keep a multi-region database
// available: one home per statement, keys that start with home, and nothing that CockroachDB rejects or answers
// differently from PostgreSQL.
//
// The grammar accepts things that a server refuses (unknown types and functions): what PostgreSQL also knows is caught
// by the tests that run every statement there, and the rest is what these rules are for.
package rules

import (
	"fmt"
	"strings"

	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/parser"
	_ "github.com/cockroachdb/cockroachdb-parser/pkg/sql/plpgsql/parser" // without it the parser panics on DO $$…$$
	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree"
	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/types"
)

// Rule names one rule, as the report prints it.
type Rule string

// Statement is one SQL statement and where it is from, in the form of a file name.
type Statement struct {
	Where string
	SQL   string
}

// Violation is one rule that one statement breaks.
type Violation struct {
	Where   string
	Rule    Rule
	Message string
}

// String is the line of the report: `where: rule: message`.
func (v Violation) String() string { return fmt.Sprintf("%s: %s: %s", v.Where, v.Rule, v.Message) }

// RuleParse is broken by SQL that is not exactly one statement of CockroachDB's grammar.
const RuleParse Rule = "parse"

// check holds one statement to the rules and collects what it breaks.
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

// parse reads one statement. A bare INT stands for four bytes, as on PostgreSQL, so that rules can tell it from BIGINT.
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

// Migrations checks the statements of the schema in their order and returns the schema that they leave behind.
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

// Query checks one statement that the program sends, with parameters, against a schema.
func Query(schema *Schema, statement Statement) []Violation {
	c := &check{where: statement.Where, schema: schema, home: &homeValue{}}
	if ast, ok := c.parse(statement.SQL); ok {
		c.expressions(ast)
		c.query(ast)
	}
	return c.violations
}

// Grammar checks only that a statement is one of CockroachDB's: for statements that name regions, and not rows.
func Grammar(statement Statement) []Violation {
	c := &check{where: statement.Where}
	c.parse(statement.SQL)
	return c.violations
}
