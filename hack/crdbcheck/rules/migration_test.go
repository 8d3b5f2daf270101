package rules_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/hack/crdbcheck/rules"
)

// table is a CREATE TABLE that keeps every rule, around the lines that a case is about.
func table(lines string) string {
	return `CREATE TABLE IF NOT EXISTS things (` + homeLine + `, id TEXT NOT NULL, ` + regionLine +
		`, CONSTRAINT things_pkey PRIMARY KEY (home, id)` + lines + `)` + locality
}

// tableWithRegion is such a table with another region column.
func tableWithRegion(region string) string {
	return `CREATE TABLE IF NOT EXISTS things (` + homeLine + `, id TEXT NOT NULL, ` + region +
		`, CONSTRAINT things_pkey PRIMARY KEY (home, id))` + locality
}

// tableWithHome is such a table with another home column.
func tableWithHome(home string) string {
	return `CREATE TABLE IF NOT EXISTS things (` + home + `id TEXT NOT NULL, ` + regionLine +
		`, CONSTRAINT things_pkey PRIMARY KEY (home, id))` + locality
}

var tableCases = []sqlCase{
	{"a table", table(``), ""},
	{"a unique constraint", table(`, slot TEXT NOT NULL, CONSTRAINT things_slot UNIQUE (home, slot)`), ""},
	{"a foreign key", table(`, CONSTRAINT things_user FOREIGN KEY (home, id) REFERENCES users (home, id)`), ""},
	{"a named CHECK of a column", table(`, n BIGINT NOT NULL CONSTRAINT things_n CHECK (n >= 0)`), ""},
	{"a named CHECK of the table", table(`, n BIGINT NOT NULL, CONSTRAINT things_n CHECK (n >= 0)`), ""},

	{"a primary key of something else", `CREATE TABLE IF NOT EXISTS things (` + homeLine + `, id TEXT NOT NULL, ` + regionLine +
		`, CONSTRAINT things_pkey PRIMARY KEY (id, home))` + locality, rules.RuleHomeFirst},
	{"no primary key", `CREATE TABLE IF NOT EXISTS things (` + homeLine + `, ` + regionLine + `)` + locality, rules.RuleHomeFirst},
	{"a primary key of a column", `CREATE TABLE IF NOT EXISTS things (` + homeLine + `, id TEXT CONSTRAINT k PRIMARY KEY, ` +
		regionLine + `)` + locality, rules.RuleHomeFirst},
	{"a unique column", table(`, slot TEXT NOT NULL CONSTRAINT things_slot UNIQUE`), rules.RuleHomeFirst},
	{"a unique constraint of something else", table(`, slot TEXT NOT NULL, CONSTRAINT things_slot UNIQUE (slot)`), rules.RuleHomeFirst},
	{"a reference of a column", table(`, u TEXT CONSTRAINT things_u REFERENCES users (id)`), rules.RuleHomeFirst},
	{"a foreign key of something else", table(`, CONSTRAINT things_user FOREIGN KEY (id) REFERENCES users (id)`), rules.RuleHomeFirst},
	{
		"a foreign key to something else", table(`, CONSTRAINT things_user FOREIGN KEY (home, id) REFERENCES users (id, home)`),
		rules.RuleHomeFirst,
	},
	{"a foreign key to what it does not say", table(`, CONSTRAINT things_user FOREIGN KEY (home, id) REFERENCES users`), rules.RuleHomeFirst},
	{"a nullable unique constraint", table(`, slot TEXT, CONSTRAINT things_slot UNIQUE (home, slot)`), rules.RuleFullUnique},
	{
		"a partial unique constraint", table(`, slot TEXT NOT NULL, CONSTRAINT things_slot UNIQUE (home, slot) WHERE slot > 'a'`),
		rules.RuleFullUnique,
	},
	{"an unnamed primary key", `CREATE TABLE IF NOT EXISTS things (` + homeLine + `, id TEXT NOT NULL, ` + regionLine +
		`, PRIMARY KEY (home, id))` + locality, rules.RuleNamed},
	{"an unnamed unique constraint", table(`, slot TEXT NOT NULL, UNIQUE (home, slot)`), rules.RuleNamed},
	{"an unnamed foreign key", table(`, FOREIGN KEY (home, id) REFERENCES users (home, id)`), rules.RuleNamed},
	{"an unnamed CHECK", table(`, CHECK (id > 'a')`), rules.RuleNamed},
	{"an unnamed CHECK of a column", table(`, n BIGINT CHECK (n > 0)`), rules.RuleNamed},

	{"no locality", `CREATE TABLE IF NOT EXISTS things (` + homeLine + `, id TEXT NOT NULL, ` + regionLine +
		`, CONSTRAINT things_pkey PRIMARY KEY (home, id))`, rules.RuleLocality},
	{"GLOBAL", `CREATE TABLE IF NOT EXISTS things (` + homeLine + `, id TEXT NOT NULL, ` + regionLine +
		`, CONSTRAINT things_pkey PRIMARY KEY (home, id)) LOCALITY GLOBAL`, rules.RuleLocality},
	{"BY TABLE", `CREATE TABLE IF NOT EXISTS things (` + homeLine + `, id TEXT NOT NULL, ` + regionLine +
		`, CONSTRAINT things_pkey PRIMARY KEY (home, id)) LOCALITY REGIONAL BY TABLE IN "us"`, rules.RuleLocality},
	{"BY ROW of the hidden column", `CREATE TABLE IF NOT EXISTS things (` + homeLine + `, id TEXT NOT NULL, ` + regionLine +
		`, CONSTRAINT things_pkey PRIMARY KEY (home, id)) LOCALITY REGIONAL BY ROW`, rules.RuleLocality},
	{"no region", `CREATE TABLE IF NOT EXISTS things (` + homeLine + `, id TEXT NOT NULL, CONSTRAINT things_pkey PRIMARY KEY (home, id))` +
		locality, rules.RuleRegion},
	{
		"a region with ELSE", tableWithRegion(`region crdb_internal_region NOT NULL AS (CASE WHEN home = 'us' THEN 'a' ELSE 'b' END) STORED`),
		rules.RuleRegion,
	},
	{
		"a region that may be NULL", tableWithRegion(`region crdb_internal_region AS (CASE WHEN home = 'us' THEN 'a' END) STORED`),
		rules.RuleRegion,
	},
	{"a region that is not computed", tableWithRegion(`region crdb_internal_region NOT NULL`), rules.RuleRegion},
	{
		"a region of another column", tableWithRegion(`region crdb_internal_region NOT NULL AS (CASE WHEN id = 'us' THEN 'a' END) STORED`),
		rules.RuleRegion,
	},
	{"a region of another type", tableWithRegion(`region TEXT NOT NULL AS (CASE WHEN home = 'us' THEN 'a' END) STORED`), rules.RuleRegion},
	{"a home that may be NULL", tableWithHome(`home TEXT CONSTRAINT things_home CHECK (home IN ('us')),`), rules.RuleHome},
	{"a home without CHECK", tableWithHome(`home TEXT NOT NULL,`), rules.RuleHome},
	{"a home with a default", tableWithHome(`home TEXT NOT NULL DEFAULT 'us' CONSTRAINT things_home CHECK (home IN ('us')),`), rules.RuleHome},

	{"not IF NOT EXISTS", `CREATE TABLE things (` + homeLine + `, id TEXT NOT NULL, ` + regionLine +
		`, CONSTRAINT things_pkey PRIMARY KEY (home, id))` + locality, rules.RuleIdempotent},
	{"SERIAL", table(`, n SERIAL`), rules.RulePortable},
	{"IDENTITY", table(`, n BIGINT GENERATED ALWAYS AS IDENTITY`), rules.RulePortable},
	{"ON UPDATE", table(`, n TIMESTAMPTZ NOT NULL DEFAULT now() ON UPDATE now()`), rules.RulePortable},
	{"VIRTUAL", table(`, n TEXT AS (id || 'x') VIRTUAL`), rules.RulePortable},
	{"an index within the table", table(`, INDEX things_i (home, id) WHERE id > 'a'`), ""},
	{"a unique index within the table", table(`, slot TEXT NOT NULL, UNIQUE INDEX things_slot (home, slot)`), ""},
	{
		"a partial unique index within the table", table(`, slot TEXT NOT NULL, UNIQUE INDEX things_slot (home, slot) WHERE slot > 'a'`),
		rules.RuleFullUnique,
	},
	{"an index of something else within the table", table(`, INDEX things_i (id, home)`), rules.RuleHomeFirst},
	{"an unnamed index within the table", table(`, INDEX (home, id)`), rules.RuleNamed},
	{"a hash index within the table", table(`, INDEX things_i (home, id) USING HASH`), rules.RulePortable},
	{"a family", table(`, FAMILY f (id)`), rules.RulePortable},
	{"storage parameters", table(``) + ` WITH (ttl = 'on')`, rules.RuleParse},
	{"DEFERRABLE", table(`, CONSTRAINT things_user FOREIGN KEY (home, id) REFERENCES users (home, id) DEFERRABLE`), rules.RuleParse},
	{"INT", table(`, n INT NOT NULL`), rules.RuleInteger},
	{"SMALLINT", table(`, n SMALLINT NOT NULL`), rules.RuleInteger},
	{"a collation", table(`, n TEXT COLLATE de NOT NULL`), rules.RuleCollate},
	{"a function", table(`, n BIGINT NOT NULL DEFAULT unique_rowid()`), rules.RuleFunction},
}

var stepCases = []sqlCase{
	{"an index", `CREATE INDEX IF NOT EXISTS posts_author ON posts (home, author_id, id) WHERE deleted_at IS NULL`, ""},
	{"a unique index", `CREATE UNIQUE INDEX IF NOT EXISTS users_handle ON users (home, handle)`, ""},
	{"a column", `ALTER TABLE posts ADD COLUMN IF NOT EXISTS kind TEXT`, ""},
	{"a column with a default", `ALTER TABLE posts ADD COLUMN IF NOT EXISTS kind TEXT NOT NULL DEFAULT 'text'`, ""},
	{"a named constraint", `ALTER TABLE posts ADD CONSTRAINT posts_likes CHECK (likes >= 0)`, ""},
	{"NOT NULL", `ALTER TABLE users ALTER COLUMN bio SET NOT NULL`, ""},
	{"a backfill of one home", `UPDATE posts SET likes = 0 WHERE home = 'eu' AND id > 'a'`, ""},
	{"a row for one home", `INSERT INTO users (home, id, handle) VALUES ('eu', 'a', 'b') ON CONFLICT (home, id) DO NOTHING`, ""},
	{"gone again", `DROP INDEX IF EXISTS posts_author`, ""},

	{"a function", `CREATE OR REPLACE FUNCTION f(of_home TEXT) RETURNS BIGINT LANGUAGE SQL AS $$
		DELETE FROM posts WHERE home = of_home; SELECT 1::bigint $$`, ""},

	{"a function that cannot be replaced", `CREATE FUNCTION f() RETURNS BIGINT LANGUAGE SQL AS $$ SELECT 1 $$`, rules.RuleIdempotent},
	{
		"a function with another grammar", `CREATE OR REPLACE FUNCTION f() RETURNS BIGINT LANGUAGE SQL AS $$ MERGE INTO posts $$`,
		rules.RuleParse,
	},
	{
		"a function with a star", `CREATE OR REPLACE FUNCTION f() RETURNS TEXT LANGUAGE SQL AS $$ SELECT * FROM posts WHERE home = 'eu' $$`,
		rules.RuleStar,
	},
	{"an index of something else", `CREATE INDEX IF NOT EXISTS posts_time ON posts (created_at)`, rules.RuleHomeFirst},
	{"an index that runs once", `CREATE INDEX posts_author ON posts (home, author_id)`, rules.RuleIdempotent},
	{"a hash index", `CREATE INDEX IF NOT EXISTS posts_time ON posts (home, created_at) USING HASH`, rules.RulePortable},
	{
		"a partial unique index", `CREATE UNIQUE INDEX IF NOT EXISTS users_handle ON users (home, handle) WHERE deleted_at IS NULL`,
		rules.RuleFullUnique,
	},
	{"a nullable unique index", `CREATE UNIQUE INDEX IF NOT EXISTS users_bio ON users (home, bio)`, rules.RuleFullUnique},
	{"a unique expression", `CREATE UNIQUE INDEX IF NOT EXISTS users_handle ON users (home, (lower(handle)))`, rules.RuleFullUnique},
	{"NULL in a unique constraint", `ALTER TABLE users ALTER COLUMN handle_slot DROP NOT NULL`, rules.RuleFullUnique},
	{"a unique constraint of something else", `ALTER TABLE users ADD CONSTRAINT users_h UNIQUE (handle)`, rules.RuleHomeFirst},
	{"an unnamed constraint", `ALTER TABLE posts ADD CHECK (likes >= 0)`, rules.RuleNamed},
	{"SET LOCALITY", `ALTER TABLE posts SET LOCALITY REGIONAL BY ROW AS region`, rules.RuleLocality},
	{"a column that the rows lack", `ALTER TABLE posts ADD COLUMN IF NOT EXISTS kind TEXT NOT NULL`, rules.RulePortable},
	{"a column that runs once", `ALTER TABLE posts ADD COLUMN kind TEXT`, rules.RuleIdempotent},
	{"two changes", `ALTER TABLE posts ADD COLUMN IF NOT EXISTS a TEXT, ADD COLUMN IF NOT EXISTS b TEXT`, rules.RuleIdempotent},
	{"a unique constraint dropped", `ALTER TABLE users DROP CONSTRAINT IF EXISTS users_handle_slot`, rules.RulePortable},
	{"another type", `ALTER TABLE posts ALTER COLUMN likes TYPE TEXT`, rules.RulePortable},
	{"another primary key", `ALTER TABLE posts ALTER PRIMARY KEY USING COLUMNS (home, author_id)`, rules.RulePortable},
	{"another name", `ALTER TABLE posts RENAME COLUMN likes TO hearts`, rules.RulePortable},
	{"another table name", `ALTER TABLE posts RENAME TO notes`, rules.RuleStatement},
	{"an unknown table", `ALTER TABLE people ADD COLUMN IF NOT EXISTS a TEXT`, rules.RuleTable},
	{"an index on an unknown table", `CREATE INDEX IF NOT EXISTS i ON people (home)`, rules.RuleTable},
	{"a backfill of every home", `UPDATE posts SET likes = 0`, rules.RuleOneHome},
	{"a backfill of two homes", `UPDATE posts SET likes = 0 WHERE home = 'eu' OR home = 'us'`, rules.RuleOneHome},
	{"DROP INDEX once", `DROP INDEX posts_author`, rules.RuleIdempotent},
	{"DROP TABLE once", `DROP TABLE posts`, rules.RuleIdempotent},
	{"a sequence", `CREATE SEQUENCE s`, rules.RuleStatement},
	{"a trigger language", `DO $$ BEGIN NULL; END $$`, rules.RuleStatement},
}

func TestMigrations(t *testing.T) {
	for _, cases := range [][]sqlCase{tableCases, stepCases} {
		for _, c := range cases {
			t.Run(c.name, func(t *testing.T) {
				_, broken := rules.Migrations(append(base(), rules.Statement{Where: c.name, SQL: c.sql}))
				requireBroken(t, c.want, broken)
			})
		}
	}
}

func TestEveryRuleOfMigrationsHasABadExample(t *testing.T) {
	requireEveryRule(t, []rules.Rule{
		rules.RuleHomeFirst, rules.RuleFullUnique, rules.RuleNamed, rules.RuleLocality, rules.RuleRegion, rules.RuleHome,
		rules.RulePortable, rules.RuleIdempotent,
	}, tableCases, stepCases)
}

func TestLaterStepsSeeEarlierOnes(t *testing.T) {
	schema, broken := rules.Migrations(append(base(),
		rules.Statement{Where: "3", SQL: `ALTER TABLE posts ADD COLUMN IF NOT EXISTS seen_at TIMESTAMPTZ`},
		rules.Statement{Where: "4", SQL: `ALTER TABLE users ALTER COLUMN bio SET NOT NULL`},
		rules.Statement{Where: "5", SQL: `CREATE UNIQUE INDEX IF NOT EXISTS users_bio ON users (home, bio)`},
	))
	require.Empty(t, broken)
	require.Equal(t, 2, schema.Tables())
	requireBroken(t, rules.RuleNulls, rules.Query(schema, rules.Statement{SQL: `SELECT id FROM posts WHERE home = $1 ORDER BY seen_at`}))
	requireBroken(t, "", rules.Query(schema, rules.Statement{SQL: `SELECT id FROM users WHERE home = $1 ORDER BY bio`}))
}
