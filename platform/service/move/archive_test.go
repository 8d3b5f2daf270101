package move

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/store/lifecycle"
)

// TestNewArchive checks when an export has an archive that was not copied yet.
func TestNewArchive(t *testing.T) {
	t.Parallel()
	export := func(state string, version int64) *lifecycle.Export {
		return &lifecycle.Export{State: state, Progress: lifecycle.Progress{Version: version}}
	}
	for name, tc := range map[string]struct {
		copied, now *lifecycle.Export
		want        bool
	}{
		"no export":             {nil, nil, false},
		"an export in progress": {nil, export(lifecycle.ExportCollecting, 1), false},
		"a new export":          {nil, export(lifecycle.ExportReady, 2), true},
		"ready since":           {export(lifecycle.ExportPacking, 2), export(lifecycle.ExportReady, 3), true},
		"ready before":          {export(lifecycle.ExportReady, 3), export(lifecycle.ExportReady, 3), false},
		"deleted":               {export(lifecycle.ExportReady, 3), nil, false},
	} {
		require.Equal(t, tc.want, newArchive(tc.copied, tc.now), name)
	}
}
