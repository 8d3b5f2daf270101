// Package crdbcheck has the tests that check every SQL statement of Plaza, and every schema migration as rendered for CockroachDB,
// against CockroachDB's grammar and the rules of package rules. They need no database.
package crdbcheck
