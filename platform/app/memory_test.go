package app

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestIdleDetector checks that memory is returned once after startup and once after each load, but not during load.
func TestIdleDetector(t *testing.T) {
	const step = 100 << 10 // of an idle server
	var r idleDetector
	var at uint64
	for _, look := range []struct {
		name string
		made uint64
		want bool
	}{
		{"starting", 30 << 20, false},
		{"started", step, true},
		{"idle", step, false},
		{"load", 200 << 20, false},
		{"more load", 5 << 20, false},
		{"idle again", step, true},
		{"still", step, false},
		{"a few requests", 3 << 20, false},
		{"not worth it", step, false},
	} {
		at += look.made
		require.Equal(t, look.want, r.shouldReturn(at), look.name)
	}
	before := allocated()
	require.Positive(t, before)
	waste = make([]byte, 10*step)
	require.Greater(t, allocated(), before)
}

var waste []byte
