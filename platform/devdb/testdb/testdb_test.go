package testdb

import (
	"context"
	"crypto/rand"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

func exec(t *testing.T, url, sql string) {
	t.Helper()
	require.NoError(t, execErr(t.Context(), url, sql))
}

func execErr(ctx context.Context, url, sql string) error {
	conn, err := pgx.Connect(ctx, url)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close(ctx) }()
	_, err = conn.Exec(ctx, sql)
	return err
}

func TestDatabasesAreSeparate(t *testing.T) {
	var first string
	t.Run("first", func(t *testing.T) {
		first = New(t)
		exec(t, first, "CREATE TABLE mine (i INT PRIMARY KEY)")
	})
	t.Run("second", func(t *testing.T) {
		second := New(t)
		require.NotEqual(t, first, second)
		exec(t, second, "CREATE TABLE mine (i INT PRIMARY KEY)")
	})
	require.Error(t, execErr(t.Context(), first, "SELECT 1"), "dropped when its test ended")
}

func TestTemplate(t *testing.T) {
	template := NewTemplate(t.Name()+rand.Text(), func(ctx context.Context, url string) error {
		return execErr(ctx, url, "CREATE TABLE content (i INT PRIMARY KEY)")
	})
	for _, name := range []string{"first", "second"} {
		t.Run(name, func(t *testing.T) {
			exec(t, template.New(t), "INSERT INTO content VALUES (1)")
		})
	}
}
