//go:build faults

package faults

import (
	"io"
	"sync"
)

// cutter makes transactions fail as if the connection to the database was lost.
type cutter struct {
	mu   sync.Mutex
	left int64 // transactions that still succeed; none fails if negative
	on   bool
}

// after makes every transaction fail after n more; none if n is negative.
func (c *cutter) after(n int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.left, c.on = n, n >= 0
}

func (c *cutter) fault() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.on {
		return nil
	}
	if c.left--; c.left < 0 {
		return io.ErrUnexpectedEOF
	}
	return nil
}
