package move

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/store"
)

// TestNewArchive checks when an export has an archive that was not copied yet.
func TestNewArchive(t *testing.T) {
	t.Parallel()
	export := func(state string, version int64) *store.Export {
		return &store.Export{State: state, Progress: store.Progress{Version: version}}
	}
	for name, tc := range map[string]struct {
		copied, now *store.Export
		want        bool
	}{
		"no export":             {nil, nil, false},
		"an export in progress": {nil, export(store.ExportCollecting, 1), false},
		"a new export":          {nil, export(store.ExportReady, 2), true},
		"ready since":           {export(store.ExportPacking, 2), export(store.ExportReady, 3), true},
		"ready before":          {export(store.ExportReady, 3), export(store.ExportReady, 3), false},
		"deleted":               {export(store.ExportReady, 3), nil, false},
	} {
		require.Equal(t, tc.want, newArchive(tc.copied, tc.now), name)
	}
}
