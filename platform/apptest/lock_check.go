package apptest

import (
	"errors"
	"sync"

	"github.com/plaza-social/plaza/platform/store/db"
)

// lockCheck checks the order of locks of every transaction of a network.
type lockCheck struct {
	mu   sync.Mutex
	errs map[string]error
}

func (c *lockCheck) check(sent []db.Queued) {
	if err := db.CheckLocks(sent); err != nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.errs == nil {
			c.errs = map[string]error{}
		}
		c.errs[sent[len(sent)-1].Statement.Name] = err
	}
}

// failure returns the errors so far, one for each kind of transaction.
func (c *lockCheck) failure() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	var all []error
	for _, err := range c.errs {
		all = append(all, err)
	}
	return errors.Join(all...)
}
