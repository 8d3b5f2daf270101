package rules_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/hack/crdbcheck/rules"
)

const regionLine = `region crdb_internal_region NOT VISIBLE NOT NULL AS (CASE WHEN home = 'us' THEN 'us-east1' ` +
	`WHEN home = 'eu' THEN 'europe-west1' WHEN home = 'sg' THEN 'asia-southeast1' END) STORED`

const homeLine = `home TEXT NOT NULL CONSTRAINT posts_home CHECK (home IN ('us', 'eu', 'sg'))`

const locality = ` LOCALITY REGIONAL BY ROW AS region`

const createUsers = `CREATE TABLE IF NOT EXISTS users (
  home TEXT NOT NULL, id TEXT NOT NULL, handle TEXT NOT NULL, bio TEXT, deleted_at TIMESTAMPTZ,
  handle_slot TEXT NOT NULL GENERATED ALWAYS AS (CASE WHEN deleted_at IS NULL THEN 'h:' || handle ELSE 'd:' || id END) STORED,
  ` + regionLine + `,
  CONSTRAINT users_pkey PRIMARY KEY (home, id),
  CONSTRAINT users_handle_slot UNIQUE (home, handle_slot),
  CONSTRAINT users_home CHECK (home IN ('us', 'eu', 'sg'))
)` + locality

const createPosts = `CREATE TABLE IF NOT EXISTS posts (
  ` + homeLine + `, id TEXT NOT NULL, author_id TEXT NOT NULL, body JSONB NOT NULL DEFAULT '{}', likes BIGINT NOT NULL DEFAULT 0,
  created_at TIMESTAMPTZ NOT NULL DEFAULT now(), deleted_at TIMESTAMPTZ,
  ` + regionLine + `,
  CONSTRAINT posts_pkey PRIMARY KEY (home, id),
  CONSTRAINT posts_author FOREIGN KEY (home, author_id) REFERENCES users (home, id)
)` + locality

// base is the schema that the tables of queries and of later steps start from.
func base() []rules.Statement {
	return []rules.Statement{{Where: "migrations/1", SQL: createUsers}, {Where: "migrations/2", SQL: createPosts}}
}

// sqlCase is a statement and the rule that it breaks, "" for none.
type sqlCase struct {
	name string
	sql  string
	want rules.Rule
}

func requireBroken(t *testing.T, want rules.Rule, got []rules.Violation) {
	t.Helper()
	if want == "" {
		require.Empty(t, got)
		return
	}
	require.NotEmpty(t, got, "the rule %s let it through", want)
	for _, v := range got {
		require.Equal(t, want, v.Rule, v.String())
	}
}

// requireEveryRule fails for a rule that no bad example of the tables breaks.
func requireEveryRule(t *testing.T, want []rules.Rule, cases ...[]sqlCase) {
	t.Helper()
	seen := map[rules.Rule]bool{}
	for _, table := range cases {
		for _, c := range table {
			seen[c.want] = true
		}
	}
	for _, rule := range want {
		require.True(t, seen[rule], "no bad example for rule %s", rule)
	}
}

func TestViolationReadsLikeACompilerMessage(t *testing.T) {
	v := rules.Violation{Where: "store/posts.Get", Rule: rules.RuleOneHome, Message: "no home"}
	require.Equal(t, "store/posts.Get: one-home: no home", v.String())
}
