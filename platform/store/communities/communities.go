// Package communities contains the statements of communities: their members, invitations, join requests and categories.
package communities

import "github.com/plaza-social/plaza/platform/store/core"

// Tx is a transaction with the changes of this package.
type Tx struct{ *core.Tx }

// ReadBatch is a batch with the reads of this package.
type ReadBatch struct{ *core.ReadBatch }
