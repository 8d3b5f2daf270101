package dbtest

import (
	"slices"
	"sync"

	"github.com/plaza-social/plaza/platform/store/db"
)

// Interruption changes what a transaction depends on after its caller has read it. Sent must be that of the db.Config.
type Interruption struct {
	mu        sync.Mutex
	statement string
	change    func()
}

// Before makes change run once, before the next transaction with a statement is sent.
func (i *Interruption) Before(statement string, change func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.statement, i.change = statement, change
}

// Pending reports whether the change was not made yet.
func (i *Interruption) Pending() bool {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.change != nil
}

// Sent makes the change if the statements are those of the transaction.
func (i *Interruption) Sent(statements []db.Queued) {
	if change := i.take(statements); change != nil {
		change()
	}
}

func (i *Interruption) take(statements []db.Queued) (change func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.change == nil || !slices.ContainsFunc(statements, func(q db.Queued) bool { return q.Statement.Name == i.statement }) {
		return nil
	}
	change, i.change = i.change, nil
	return change
}
