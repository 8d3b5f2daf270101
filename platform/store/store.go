// Package store is the store of the platform: all SQL, in one package for each kind of nouns and one file per noun. Package db is the
// engine that connects to the homes and runs the statements, and package core is what the statements have in common.
package store

import (
	"context"
	"errors"
	"sync"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
	"github.com/plaza-social/plaza/platform/store/eventlog"
	"github.com/plaza-social/plaza/platform/store/lifecycle"
	"github.com/plaza-social/plaza/platform/store/media"
	"github.com/plaza-social/plaza/platform/store/messaging"
	"github.com/plaza-social/plaza/platform/store/network"
	"github.com/plaza-social/plaza/platform/store/notify"
	"github.com/plaza-social/plaza/platform/store/people"
	"github.com/plaza-social/plaza/platform/store/textsearch"
)

// Store reads and writes the rows of every home.
type Store struct{ *core.Store }

// New returns the store of a database.
func New(d *db.DB) *Store { return &Store{&core.Store{DB: d}} }

// Open opens the connection pools. See db.Open.
func Open(ctx context.Context, cfg db.Config) (*Store, error) {
	d, err := db.Open(ctx, cfg)
	if err != nil {
		return nil, err
	}
	return New(d), nil
}

// The transactions and batches of the packages, under names that one struct can embed.
type (
	textsearchTx     = textsearch.Tx
	textsearchReads  = textsearch.ReadBatch
	communitiesTx    = communities.Tx
	communitiesReads = communities.ReadBatch
	peopleTx         = people.Tx
	peopleReads      = people.ReadBatch
	eventlogTx       = eventlog.Tx
	eventlogReads    = eventlog.ReadBatch
	contentTx        = content.Tx
	contentReads     = content.ReadBatch
	messagingTx      = messaging.Tx
	messagingReads   = messaging.ReadBatch
	mediaTx          = media.Tx
	mediaReads       = media.ReadBatch
	notifyTx         = notify.Tx
	notifyReads      = notify.ReadBatch
	networkTx        = network.Tx
	networkReads     = network.ReadBatch
	lifecycleTx      = lifecycle.Tx
	lifecycleReads   = lifecycle.ReadBatch
)

// ReadBatch is a batch of reads with one method per query, which takes a pointer to where Run stores the result.
type ReadBatch struct {
	*core.ReadBatch
	textsearchReads
	communitiesReads
	peopleReads
	eventlogReads
	contentReads
	messagingReads
	mediaReads
	notifyReads
	networkReads
	lifecycleReads
}

func newReadBatch(b *core.ReadBatch) *ReadBatch {
	return &ReadBatch{
		ReadBatch:        b,
		textsearchReads:  textsearchReads{ReadBatch: b},
		communitiesReads: communitiesReads{ReadBatch: b},
		peopleReads:      peopleReads{ReadBatch: b},
		eventlogReads:    eventlogReads{ReadBatch: b},
		contentReads:     contentReads{ReadBatch: b},
		messagingReads:   messagingReads{ReadBatch: b},
		mediaReads:       mediaReads{ReadBatch: b},
		notifyReads:      notifyReads{ReadBatch: b},
		networkReads:     networkReads{ReadBatch: b},
		lifecycleReads:   lifecycleReads{ReadBatch: b},
	}
}

// NewReadBatch returns an empty batch. Its Run fails if any home is unavailable.
func (s *Store) NewReadBatch() *ReadBatch { return newReadBatch(s.Store.NewReadBatch()) }

// NewBestEffortBatch returns an empty batch for related rows: the results of an unavailable home are left out.
func (s *Store) NewBestEffortBatch() *ReadBatch { return newReadBatch(s.Store.NewBestEffortBatch()) }

// Tx is a transaction in one home with one method per change.
type Tx struct {
	*core.Tx
	textsearchTx
	communitiesTx
	peopleTx
	eventlogTx
	contentTx
	messagingTx
	mediaTx
	notifyTx
	networkTx
	lifecycleTx
}

func newTx(b *core.Tx) *Tx {
	return &Tx{
		Tx:            b,
		textsearchTx:  textsearchTx{Tx: b},
		communitiesTx: communitiesTx{Tx: b},
		peopleTx:      peopleTx{Tx: b},
		eventlogTx:    eventlogTx{Tx: b},
		contentTx:     contentTx{Tx: b},
		messagingTx:   messagingTx{Tx: b},
		mediaTx:       mediaTx{Tx: b},
		notifyTx:      notifyTx{Tx: b},
		networkTx:     networkTx{Tx: b},
		lifecycleTx:   lifecycleTx{Tx: b},
	}
}

// NewTx returns an empty transaction in home.
func (s *Store) NewTx(home region.Code) *Tx { return newTx(s.Store.NewTx(home)) }

// CommitAtHomes commits a transaction with a change at every home concurrently: one that does not answer does not keep the others from it.
func (s *Store) CommitAtHomes(ctx context.Context, change func(*Tx)) error {
	var g sync.WaitGroup
	errs := make([]error, len(region.All()))
	for i, home := range region.All() {
		g.Go(func() {
			tx := s.NewTx(home)
			change(tx)
			errs[i] = tx.Commit(ctx)
		})
	}
	g.Wait()
	return errors.Join(errs...)
}

// WithRecord returns a context of which one transaction, the first that is committed, also stores what record adds before
// and after its changes. If record adds nothing, the next transaction is asked. stored reports whether that has happened
// or may have happened.
func WithRecord(ctx context.Context, record func(head, tail *Tx)) (with context.Context, stored func() bool) {
	return db.WithRecord(ctx, func(head, tail *db.Tx) { record(newTx(&core.Tx{Tx: head}), newTx(&core.Tx{Tx: tail})) })
}

// InteractiveTx is db.InteractiveTx.
type InteractiveTx = db.InteractiveTx

// Statements returns every statement of the program.
func Statements() []db.Statement { return db.Statements() }
