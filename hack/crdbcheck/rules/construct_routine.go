package rules

import (
	"slices"

	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree"
	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/types"
)

// limits of functions, in the documentation.
const routineLimits = "https://www.cockroachlabs.com/docs/stable/known-limitations (user-defined functions)"

// routineConstructs are about functions of the schema and the statements in them. Prefer a statement or a job of the program.
var routineConstructs = []Construct{
	{
		Name: "routine-with", Why: "a function must not use WITH before v25.1", Source: "cockroachdb/cockroach#92961", Until: release(25, 1), Schema: true,
		Example: `CREATE OR REPLACE FUNCTION f() RETURNS bigint LANGUAGE SQL AS $$ WITH t AS (SELECT 1 AS a) SELECT a FROM t $$`,
		found:   inRoutine(func(*tree.With, place) bool { return true }),
	},
	{
		Name: "routine-change", Why: "a function must not change rows before v23.2", Source: "cockroachdb/cockroach#87289", Until: release(23, 2), Schema: true,
		Example: `CREATE OR REPLACE FUNCTION f() RETURNS bigint LANGUAGE SQL AS $$ DELETE FROM posts WHERE home = 'eu' RETURNING likes $$`,
		found: func(at place) bool {
			statement, ok := at.node.(tree.Statement)
			return ok && isInRoutine(at.path) && changeTarget(statement) != nil
		},
	},
	{
		Name: "routine-statement", Why: "a function has SELECT, INSERT, UPDATE and DELETE only", Source: "cockroachdb/cockroach#110080", Schema: true,
		Example: `CREATE OR REPLACE FUNCTION f() RETURNS void LANGUAGE SQL AS $$ CREATE TABLE t (a bigint) $$`,
		found: func(at place) bool {
			if len(at.path) != 1 || !isInRoutine(at.path) {
				return false
			}
			switch at.node.(type) {
			case *tree.Select, *tree.Insert, *tree.Update, *tree.Delete:
				return false
			}
			_, ok := at.node.(tree.Statement)
			return ok
		},
	},
	{
		Name: "routine-definer", Why: "a function must not be SECURITY DEFINER before v24.3", Source: "https://www.cockroachlabs.com/docs/releases/v24.3 (routines)", Until: release(24, 3), Schema: true,
		Example: `CREATE OR REPLACE FUNCTION f() RETURNS bigint LANGUAGE SQL SECURITY DEFINER AS $$ SELECT 1 $$`,
		found:   ofRoutine(func(n *tree.CreateRoutine, _ place) bool { return hasOption(n, tree.RoutineDefiner) }),
	},
	{
		Name: "routine-atomic-body", Why: "write the body of a function as a text: AS $$ … $$", Source: "pkg/sql/opt/optbuilder/create_function.go: 0A000 sql_body unimplemented", Schema: true,
		Example: `CREATE OR REPLACE FUNCTION f() RETURNS bigint LANGUAGE SQL BEGIN ATOMIC SELECT 1; END`,
		found:   ofRoutine(func(n *tree.CreateRoutine, _ place) bool { return n.RoutineBody != nil }),
	},
	{
		Name: "routine-language", Why: "write functions in SQL: PL/pgSQL lacks PERFORM, EXECUTE, FOR … IN and others", Source: "cockroachdb/cockroach#105246, #117744, #122306", Schema: true,
		Example: `CREATE OR REPLACE FUNCTION f() RETURNS bigint LANGUAGE plpgsql AS $$ BEGIN RETURN 1; END $$`,
		found:   ofRoutine(func(n *tree.CreateRoutine, _ place) bool { return language(n) != tree.RoutineLangSQL }),
	},
	{
		Name: "routine-volatility", Why: "leave a function VOLATILE: CockroachDB checks the label against the body", Source: "pkg/sql/opt/optbuilder/create_function.go, checkStmtVolatility", Schema: true,
		Example: `CREATE OR REPLACE FUNCTION f() RETURNS timestamptz IMMUTABLE LANGUAGE SQL AS $$ SELECT now() $$`,
		found: ofRoutine(func(n *tree.CreateRoutine, _ place) bool {
			return hasOption(n, tree.RoutineImmutable) || hasOption(n, tree.RoutineStable)
		}),
	},
	{
		Name: "routine-calls-routine", Why: "a function must not call functions of the schema: not before v24.1, and never itself", Source: "cockroachdb/cockroach#93049, #128483", Schema: true,
		Example: `CREATE OR REPLACE FUNCTION f() RETURNS bigint LANGUAGE SQL AS $$ SELECT f() $$`,
		found: inRoutine(func(n *tree.FuncExpr, at place) bool {
			routine, _ := at.path[0].(*tree.CreateRoutine)
			return at.schema.routines[functionName(n)] || functionName(n) == routine.Name.Object()
		}),
	},
	{
		Name: "routine-out", Why: "a function returns its result: OUT and INOUT have gaps", Source: "cockroachdb/cockroach#100405, #121251, #121247", Schema: true,
		Example: `CREATE OR REPLACE FUNCTION f(OUT n bigint) LANGUAGE SQL AS $$ SELECT 1::bigint $$`,
		found:   of(func(n *tree.RoutineParam, _ place) bool { return tree.IsOutParamClass(n.Class) }),
	},
	{
		Name: "routine-default", Why: "a parameter of a function must not have a default", Source: "https://www.cockroachlabs.com/docs/v23.2/user-defined-functions (known limitations)", Schema: true,
		Example: `CREATE OR REPLACE FUNCTION f(n bigint DEFAULT 1) RETURNS bigint LANGUAGE SQL AS $$ SELECT n $$`,
		found:   of(func(n *tree.RoutineParam, _ place) bool { return n.DefaultVal != nil }),
	},
	{
		Name: "routine-record", Why: "a parameter of a function must not be a record", Source: "cockroachdb/cockroach#105713, #123448", Schema: true,
		Example: `CREATE OR REPLACE FUNCTION f(r record) RETURNS bigint LANGUAGE SQL AS $$ SELECT 1 $$`,
		found: of(func(n *tree.RoutineParam, _ place) bool {
			t, ok := n.Type.(*types.T)
			return ok && t.Family() == types.TupleFamily
		}),
	},
	{
		Name: "routine-temporary", Why: "a function must not be temporary", Source: "cockroachdb/cockroach#104687", Schema: true,
		Example: `CREATE OR REPLACE FUNCTION pg_temp.f() RETURNS bigint LANGUAGE SQL AS $$ SELECT 1 $$`,
		found:   ofRoutine(func(n *tree.CreateRoutine, _ place) bool { return n.Name.Schema() == "pg_temp" }),
	},
	{
		Name: "procedure", Why: "a procedure cannot be called by a prepared statement: write a statement", Source: "cockroachdb/cockroach#151529; " + routineLimits, Schema: true,
		Example: `CREATE OR REPLACE PROCEDURE f() LANGUAGE SQL AS $$ SELECT 1 $$`,
		found:   ofRoutine(func(n *tree.CreateRoutine, _ place) bool { return n.IsProcedure }),
	},
	{
		Name: "routine-in-definition", Why: "a table must not use functions of the schema", Source: "cockroachdb/cockroach#87699, #155488", Schema: true,
		Example: `CREATE INDEX IF NOT EXISTS i ON posts (home, likes) WHERE delete_old(likes)`,
		found: of(func(n *tree.FuncExpr, at place) bool {
			return at.schema.routines[functionName(n)] && slices.ContainsFunc(at.path, func(ancestor any) bool {
				switch ancestor.(type) {
				case *tree.CreateTable, *tree.CreateIndex, *tree.AlterTable:
					return true
				}
				return false
			})
		}),
	},
}

func ofRoutine(found func(n *tree.CreateRoutine, at place) bool) func(place) bool { return of(found) }

func hasOption(n *tree.CreateRoutine, option tree.RoutineOption) bool {
	return slices.Contains(n.Options, option)
}

// inRoutine adapts a rule about one kind of node in the body of a function.
func inRoutine[N any](found func(n N, at place) bool) func(place) bool {
	return of(func(n N, at place) bool { return isInRoutine(at.path) && found(n, at) })
}

func isInRoutine(path []any) bool {
	if len(path) == 0 {
		return false
	}
	_, ok := path[0].(*tree.CreateRoutine)
	return ok
}
