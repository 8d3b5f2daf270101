// Package content contains the statements of what users publish: posts, comments, stories, reactions, polls and events, the feeds that list
// them, and the flags that report them.
package content

import "github.com/plaza-social/plaza/platform/store/core"

// Tx is a transaction with the changes of this package.
type Tx struct{ *core.Tx }

// ReadBatch is a batch with the reads of this package.
type ReadBatch struct{ *core.ReadBatch }
