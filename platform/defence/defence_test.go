//go:build !hostile

package defence_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/defence"
)

// TestDefencesAreOn checks that programs which are built without the tag hostile ignore its variable.
func TestDefencesAreOn(t *testing.T) {
	for _, name := range defence.All() {
		t.Setenv("HOSTILE_OFF", string(name))
		require.False(t, defence.Off(name), name)
	}
}
