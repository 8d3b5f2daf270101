package statusz_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/statusz"
)

func TestBackupsLog(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 11, 2, 3, 4, 5, 0, time.UTC)
	for _, want := range []statusz.Backups{
		{State: statusz.BackupsScheduled, LastSuccess: at},
		{State: statusz.BackupsScheduled, LastError: "no bucket"},
		{State: statusz.BackupsRemoved},
	} {
		got, text := statusz.ReadBackups(want.Log("", 4096))
		require.Equal(t, want, got)
		require.Empty(t, text)
	}
	failed := statusz.Backups{State: statusz.BackupsFailed, LastError: strings.Repeat("é", 3000)}
	log := failed.Log(strings.Repeat("ü", 3000), 4096)
	require.LessOrEqual(t, len(log), 4096)
	got, text := statusz.ReadBackups(log)
	require.Equal(t, statusz.BackupsFailed, got.State)
	require.True(t, strings.HasPrefix(strings.Repeat("é", 3000), got.LastError))
	require.True(t, strings.HasPrefix(strings.Repeat("ü", 3000), text))

	got, text = statusz.ReadBackups("unknown command\n")
	require.Equal(t, statusz.Backups{State: statusz.BackupsFailed}, got)
	require.Equal(t, "unknown command", text)
}
