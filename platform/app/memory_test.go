package app

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestIdleDetector checks when a process is idle, and that memory is returned once after startup and once after each load, but not during load.
func TestIdleDetector(t *testing.T) {
	const step = 100 << 10 // of an idle server
	var d idleDetector
	var at uint64
	for _, look := range []struct {
		name               string
		made               uint64
		idle, shouldReturn bool
	}{
		{"starting", 30 << 20, false, false},
		{"started", step, true, true},
		{"idle", step, true, false},
		{"load", 200 << 20, false, false},
		{"more load", 5 << 20, false, false},
		{"idle again", step, true, true},
		{"still", step, true, false},
		{"a few requests", 3 << 20, false, false},
		{"not worth it", step, true, false},
	} {
		at += look.made
		idle, shouldReturn := d.observe(at)
		require.Equal(t, look.idle, idle, look.name)
		require.Equal(t, look.shouldReturn, shouldReturn, look.name)
	}
	before := allocated()
	require.Positive(t, before)
	waste = make([]byte, 10*step)
	require.Greater(t, allocated(), before)
}

var waste []byte
