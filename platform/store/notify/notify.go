// Package notify contains the statements of what tells a user about the actions of others: the notification tray and pushes.
package notify

import "github.com/plaza-social/plaza/platform/store/core"

// Tx is a transaction with the changes of this package.
type Tx struct{ *core.Tx }

// ReadBatch is a batch with the reads of this package.
type ReadBatch struct{ *core.ReadBatch }
