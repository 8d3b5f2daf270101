// Package lifecycle contains the statements that concern many tables: erasures, exports and moves of users, and retention. Its list of
// tables says for each what these do with its rows.
package lifecycle

import "github.com/plaza-social/plaza/platform/store/core"

// Tx is a transaction with the changes of this package.
type Tx struct{ *core.Tx }

// ReadBatch is a batch with the reads of this package.
type ReadBatch struct{ *core.ReadBatch }
