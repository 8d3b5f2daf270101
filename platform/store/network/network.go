// Package network contains the statements of what concerns the whole network: its settings, roles, moderation lists, audit events and
// webhooks, and the servers and their limits.
package network

import "github.com/plaza-social/plaza/platform/store/core"

// Tx is a transaction with the changes of this package.
type Tx struct{ *core.Tx }

// ReadBatch is a batch with the reads of this package.
type ReadBatch struct{ *core.ReadBatch }
