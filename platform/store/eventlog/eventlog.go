// Package eventlog contains the statements of the log of realtime events.
package eventlog

import "github.com/plaza-social/plaza/platform/store/core"

// Tx is a transaction with the changes of this package.
type Tx struct{ *core.Tx }

// ReadBatch is a batch with the reads of this package.
type ReadBatch struct{ *core.ReadBatch }
