package rules_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/hack/crdbcheck/rules"
)

// constructBase returns the steps of a schema with what the examples of the constructs need.
func constructBase() []rules.Statement {
	return append(base(),
		rules.Statement{Where: "3", SQL: `ALTER TABLE posts ADD COLUMN IF NOT EXISTS tags TEXT[] NOT NULL DEFAULT '{}'`},
		rules.Statement{Where: "4", SQL: `ALTER TABLE posts ADD COLUMN IF NOT EXISTS edited_at TIMESTAMPTZ`},
		rules.Statement{Where: "5", SQL: `CREATE INDEX IF NOT EXISTS posts_edited ON posts (home, id) WHERE edited_at IS NOT NULL`},
		rules.Statement{Where: "6", SQL: `CREATE OR REPLACE FUNCTION delete_old(max_likes BIGINT) RETURNS BIGINT LANGUAGE SQL AS $$ SELECT max_likes $$`},
	)
}

func schemaOfConstructs(t *testing.T) *rules.Schema {
	t.Helper()
	schema, broken := rules.Migrations(constructBase())
	require.Empty(t, broken)
	return schema
}

func TestConstructs(t *testing.T) {
	schema := schemaOfConstructs(t)
	names := map[rules.Rule]bool{}
	for _, k := range rules.Constructs() {
		t.Run(string(k.Name), func(t *testing.T) {
			require.False(t, names[k.Name], "two constructs have the name")
			names[k.Name] = true
			require.NotEmpty(t, k.Why)
			require.NotEmpty(t, k.Source)
			found, err := k.Contains(schema, k.Example)
			require.NoError(t, err)
			require.True(t, found, k.Example)
			refused := false
			for _, v := range violationsOf(k) {
				refused = refused || v.Rule == k.Name
			}
			require.Equal(t, k.IsRefused(), refused)
		})
	}
	require.GreaterOrEqual(t, len(names), 40)
}

// violationsOf returns the violations of a construct's example.
func violationsOf(k rules.Construct) []rules.Violation {
	if k.Schema {
		_, broken := rules.Migrations(append(constructBase(), rules.Statement{Where: string(k.Name), SQL: k.Example}))
		return broken
	}
	schema, _ := rules.Migrations(constructBase())
	return rules.Query(schema, rules.Statement{Where: string(k.Name), SQL: k.Example})
}

// TestConstructsSpareOtherStatements checks that what the tables of the rules permit contains no construct.
func TestConstructsSpareOtherStatements(t *testing.T) {
	schema := schemaOfConstructs(t)
	for _, table := range [][]sqlCase{homeCases, insertCases, statementCases, expressionCases, tableCases, stepCases} {
		for _, c := range table {
			if c.want != "" {
				continue
			}
			for _, k := range rules.Constructs() {
				found, err := k.Contains(schema, c.sql)
				require.NoError(t, err, c.sql)
				require.False(t, found && k.IsRefused(), "%s: %s", k.Name, c.sql)
			}
		}
	}
}
