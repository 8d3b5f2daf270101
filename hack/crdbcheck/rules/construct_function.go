package rules

import (
	"slices"
	"strings"

	"github.com/cockroachdb/cockroachdb-parser/pkg/sql/sem/tree"
)

// functionConstructs are about functions.
var functionConstructs = []Construct{
	{
		Name: "hash", Why: "the sha functions return text in hexadecimal: hash in the program", Source: "cockroachdb/cockroach#73896",
		Example: `SELECT sha256(id::bytea) FROM posts WHERE home = $1`,
		found:   ofFunction(func(name string) bool { return strings.HasPrefix(name, "sha") }),
	},
	{
		Name: "json-path", Why: "JSON paths are not in all versions and differ: use -> and @>", Source: "cockroachdb/cockroach#22513, #144255, #145099",
		Example: `SELECT jsonb_path_query(body, '$.a') FROM posts WHERE home = $1`,
		found:   ofFunction(func(name string) bool { return strings.HasPrefix(name, "jsonb_path") }),
	},
	{
		Name: "word-function", Why: "the functions of text search are incomplete: use search_words",
		Source:  "https://www.cockroachlabs.com/docs/stable/full-text-search (#41288)",
		Example: `SELECT id FROM posts WHERE home = $1 AND websearch_to_tsquery($2::text) IS NOT NULL`,
		found: ofFunction(func(name string) bool {
			return strings.Contains(name, "tsquery") || strings.Contains(name, "tsvector") || strings.HasPrefix(name, "ts_") || name == "setweight"
		}),
	},
	{
		Name: "similarity", Why: "the functions of trigrams are incomplete", Source: "cockroachdb/cockroach#41285",
		Example: `SELECT word_similarity(handle, $2::text) FROM users WHERE home = $1`,
		found:   ofFunction(func(name string) bool { return strings.HasSuffix(name, "similarity") }),
	},
	{
		Name: "unlisted-function", Why: "add a function to knownFunctions after reading that CockroachDB has it with the same result: it lacks many",
		Source:  "cockroachdb/cockroach#114871, #93742",
		Example: `SELECT date_bin('1 hour', created_at, now()) FROM posts WHERE home = $1`,
		found: of(func(n *tree.FuncExpr, at place) bool {
			name := functionName(n)
			return !slices.Contains(knownFunctions, name) && !at.schema.routines[name] && !isForbidden(name)
		}),
	},
}

// knownFunctions are the functions of Plaza's statements that CockroachDB has with the result of PostgreSQL, see
// https://www.cockroachlabs.com/docs/stable/functions-and-operators.
var knownFunctions = []string{
	"array_agg", "array_append", "array_length", "array_position", "array_remove", "bool_and", "bool_or", "cardinality",
	"clock_timestamp", "convert_to", "count", "current_user", "decode", "encode", "extract", "floor", "gen_random_uuid", "generate_series",
	"greatest", "jsonb_build_array", "jsonb_build_object", "jsonb_object_agg", "least", "left", "lower", "lpad", "max", "min",
	"now", "rank", "round", "row_number", "string_agg", "strpos", "substr", "sum", "to_hex", "to_jsonb", "unnest", "version",
}

func ofFunction(is func(name string) bool) func(place) bool {
	return of(func(n *tree.FuncExpr, _ place) bool { return is(functionName(n)) })
}

// isForbidden reports whether RuleFunction refuses a function.
func isForbidden(name string) bool {
	for pattern := range forbiddenFunctions {
		if matches(pattern, name) {
			return true
		}
	}
	return false
}
