package statusz_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/statusz"
)

func TestMigrationLog(t *testing.T) {
	t.Parallel()
	done := statusz.Migration{Current: 92, Target: 92}
	require.JSONEq(t, `{"current": 92, "target": 92}`, done.Log("", 4096))
	failed := statusz.Migration{Target: 93}
	require.Equal(t, "no way to the database\n{\"target\":93}", failed.Log("no way to the database", 4096))

	long := failed.Log(strings.Repeat("é", 3000), 4096)
	require.LessOrEqual(t, len(long), 4096)
	schema, text := statusz.ReadMigration(long)
	require.Equal(t, failed, schema)
	require.True(t, strings.HasPrefix(strings.Repeat("é", 3000), text))
	require.Greater(t, len(text), 4000)
}

func TestReadMigration(t *testing.T) {
	t.Parallel()
	for log, want := range map[string]struct {
		schema statusz.Migration
		text   string
	}{
		"":                                       {},
		`{"current":92,"target":92}`:             {statusz.Migration{Current: 92, Target: 92}, ""},
		"refused\n{\"target\":93}\n":             {statusz.Migration{Target: 93}, "refused"},
		"refused":                                {statusz.Migration{}, "refused"},
		"panic: x\n\ngoroutine 1":                {statusz.Migration{}, "panic: x\n\ngoroutine 1"},
		"refused\n{\"target\":0}":                {statusz.Migration{}, "refused\n{\"target\":0}"},
		"refused\n{\"target\":\"ninety-three\"}": {statusz.Migration{}, "refused\n{\"target\":\"ninety-three\"}"},
	} {
		schema, text := statusz.ReadMigration(log)
		require.Equal(t, want.schema, schema, "%q", log)
		require.Equal(t, want.text, text, "%q", log)
	}
}
