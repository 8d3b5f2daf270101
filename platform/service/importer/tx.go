package importer

import (
	"context"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
)

// txs are the transactions of a batch, by home.
type txs struct {
	store  *store.Store
	byHome map[region.Code]*store.Tx
}

func (i *Importer) newTxs() txs { return txs{store: i.Store, byHome: map[region.Code]*store.Tx{}} }

// at returns the transaction at the home of the row with an id.
func (t txs) at(id string) (*store.Tx, error) {
	home, err := t.store.HomeOf(id)
	if err != nil {
		return nil, err
	}
	if t.byHome[home] == nil {
		t.byHome[home] = t.store.NewTx(home)
	}
	return t.byHome[home], nil
}

// commit commits the transactions one after the other.
func (t txs) commit(ctx context.Context) error {
	for _, home := range region.All() {
		if tx := t.byHome[home]; tx != nil {
			if err := tx.Commit(ctx); err != nil {
				return err
			}
		}
	}
	return nil
}
