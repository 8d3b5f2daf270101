// Package dbtest creates databases with Plaza's schema for tests.
package dbtest

import (
	"context"
	"testing"

	"github.com/plaza-social/plaza/platform/devdb/testdb"
	"github.com/plaza-social/plaza/platform/store/db"
	"github.com/plaza-social/plaza/platform/store/migrations"
)

var schema = NewTemplate("", func(context.Context, string) error { return nil })

// New creates an empty database with the current schema that is dropped when the test ends, and returns its URL.
func New(t testing.TB) string {
	t.Helper()
	return schema.New(t)
}

// NewTemplate returns a template of databases with the current schema and what add inserts. content identifies what add
// inserts, as in [testdb.NewTemplate].
func NewTemplate(content string, add func(ctx context.Context, url string) error) *testdb.Template {
	return testdb.NewTemplate("schema "+migrations.Hash()+" "+content, func(ctx context.Context, url string) error {
		if err := db.Migrate(ctx, db.MigrateOptions{URL: url}); err != nil {
			return err
		}
		return add(ctx, url)
	})
}
