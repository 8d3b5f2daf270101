package app

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestIdleDetector checks when a process has load, which startup is not, and that memory is returned once after startup and once after
// each load, but not during load.
func TestIdleDetector(t *testing.T) {
	const step = 100 << 10 // of an idle server
	var d idleDetector
	var at uint64
	for _, look := range []struct {
		name               string
		made               uint64
		load, shouldReturn bool
	}{
		{"starting", 30 << 20, false, false},
		{"still starting", 60 << 20, false, false},
		{"started", step, false, true},
		{"idle", step, false, false},
		{"load", 200 << 20, true, false},
		{"less load", 5 << 20, false, false},
		{"idle again", step, false, true},
		{"still", step, false, false},
		{"a few requests", 3 << 20, false, false},
		{"not worth it", step, false, false},
	} {
		at += look.made
		load, shouldReturn := d.observe(at)
		require.Equal(t, look.load, load, look.name)
		require.Equal(t, look.shouldReturn, shouldReturn, look.name)
	}
	before := allocated()
	require.Positive(t, before)
	waste = make([]byte, 10*step)
	require.Greater(t, allocated(), before)
}

var waste []byte
