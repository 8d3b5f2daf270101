package edge

import (
	"net/http"
	"sync/atomic"
)

// Counts counts the requests of a server since its start, without those of unknown operations. The zero value is ready to use; a nil
// *Counts counts nothing.
type Counts struct{ total, failed atomic.Int64 }

// Read returns the number of requests, and of those that failed because of the server (5xx).
func (c *Counts) Read() (total, failed int64) {
	failed = c.failed.Load() // first: it must not exceed the total
	return c.total.Load(), failed
}

func (c *Counts) add(procedure string, status int) {
	if c == nil || procedure == procedureUnknown {
		return
	}
	c.total.Add(1)
	if status >= http.StatusInternalServerError {
		c.failed.Add(1)
	}
}
