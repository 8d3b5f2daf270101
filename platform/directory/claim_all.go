package directory

import (
	"context"
	"maps"
	"slices"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/people"
)

// ClaimAll is Claim for many public ids, with at most two transactions in each home. newIDs has the internal id that each
// public id gets unless it has one already.
func (d *Directory) ClaimAll(ctx context.Context, newIDs map[string]string) (map[string]string, error) {
	byHome := map[region.Code][]string{}
	for _, publicID := range slices.Sorted(maps.Keys(newIDs)) {
		home := d.HomeOf(publicID)
		byHome[home] = append(byHome[home], publicID)
	}
	claimed := make(map[string]string, len(newIDs))
	for home, publicIDs := range byHome {
		if err := d.claimAt(ctx, home, publicIDs, newIDs, claimed); err != nil {
			return nil, err
		}
	}
	return claimed, d.copyToUsers(ctx, claimed)
}

// claimAt claims public ids whose authoritative rows are at home, and adds the internal ids to claimed.
func (d *Directory) claimAt(ctx context.Context, home region.Code, publicIDs []string, newIDs, claimed map[string]string) error {
	stored := make([][]people.DirectoryEntry, len(publicIDs))
	tx := d.newTx(home)
	for i, publicID := range publicIDs {
		tx.InsertDirectoryEntry(people.DirectoryEntry{Hash: d.hash(publicID), UserID: newIDs[publicID]}, d.now(), &stored[i])
	}
	if err := tx.Commit(ctx); err != nil {
		return err
	}
	for i, publicID := range publicIDs {
		claimed[publicID] = stored[i][0].UserID
		d.remember(publicID, claimed[publicID])
	}
	return nil
}

// copyToUsers stores copies of entries at the homes of the users, where they are needed while other homes are away.
func (d *Directory) copyToUsers(ctx context.Context, claimed map[string]string) error {
	copies := map[region.Code]*store.Tx{}
	for _, publicID := range slices.Sorted(maps.Keys(claimed)) {
		home, err := d.store.HomeOf(claimed[publicID])
		if err != nil {
			return err
		}
		if home == d.HomeOf(publicID) {
			continue
		}
		if copies[home] == nil {
			copies[home] = d.newTx(home)
		}
		copies[home].UpsertDirectoryCopy(people.DirectoryEntry{Hash: d.hash(publicID), UserID: claimed[publicID]}, d.now())
	}
	for _, tx := range copies {
		if err := tx.Commit(ctx); err != nil {
			return err
		}
	}
	return nil
}
