package move

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/narrow"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service/internal/steps"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/lifecycle"
)

// collection returns the steps that find the ids that move.
func (w *work) collection() []steps.Step {
	all := []steps.Step{w.step("ids of users", func(ctx context.Context, _ []string) (steps.Result, error) {
		return steps.Result{Last: true}, w.addIDs(ctx, lifecycle.MovedUser, []string{w.move.ID}, nil)
	})}
	for _, source := range lifecycle.MoveSources {
		all = append(all, w.step("ids of "+source.Kind, func(ctx context.Context, after []string) (steps.Result, error) {
			return w.collect(ctx, source, after, readPage, nil)
		}))
	}
	return all
}

// collect adds the ids in a page of rows, see addIDs.
func (w *work) collect(ctx context.Context, source *lifecycle.MoveSource, after []string, limit int,
	before func(added []string) error,
) (steps.Result, error) {
	var rows []lifecycle.MoveRow
	reads := w.Store.NewReadBatch()
	reads.MoveRows(source, w.move.FromHome, w.move.ID, after, limit, &rows)
	if err := reads.Run(ctx); err != nil || len(rows) == 0 {
		return steps.Result{Last: true}, err
	}
	var ids []string
	for _, row := range rows {
		ids = append(ids, row.IDs...)
	}
	err := w.addIDs(ctx, source.Kind, ids, before)
	return steps.Result{Position: rows[len(rows)-1].Key, Last: len(rows) < limit}, err
}

// addIDs stores those of ids that are new at every home, at the old home of the user last: an id that is known there is known
// everywhere. It calls before with them, unless it is nil or there are none; its error ends addIDs.
func (w *work) addIDs(ctx context.Context, kind string, ids []string, before func(added []string) error) error {
	if len(ids) == 0 {
		return nil
	}
	var added []string
	reads := w.Store.NewReadBatch()
	reads.UnknownMovedIDs(w.move.FromHome, w.move.ID, ids, &added)
	if err := reads.Run(ctx); err != nil || len(added) == 0 {
		return err
	}
	if before != nil {
		if err := before(added); err != nil {
			return err
		}
	}
	others := slices.DeleteFunc(region.All(), func(home region.Code) bool { return home == w.move.FromHome })
	for _, home := range append(others, w.move.FromHome) {
		tx := w.Store.NewTx(home)
		tx.InsertMovedIDs(w.move.ID, kind, added)
		if err := tx.Commit(ctx); err != nil {
			return err
		}
	}
	return nil
}

// rows returns the steps that move the rows a page at a time.
func (w *work) rows() []steps.Step {
	return []steps.Step{w.step("rows", w.movePage), w.step("export", w.restartExport)}
}

// movePage moves rows of a page of ids in one transaction, which has one round trip: others can have added any number of rows.
func (w *work) movePage(ctx context.Context, after []string) (steps.Result, error) {
	ids, err := w.ids(ctx, after, idsPerPage)
	if err != nil || len(ids) == 0 {
		return steps.Result{Last: true}, err
	}
	var more bool
	err = w.moveIn(ctx, func(ctx context.Context, tx *store.InteractiveTx, moved map[string]int64) error {
		full, err := w.moveRowsOf(ctx, tx, idsOf(ids), lifecycle.MoveTables, moved)
		more = len(full) > 0
		return err
	})
	if more || err != nil {
		return steps.Result{Position: after}, err
	}
	return steps.Result{Position: []string{ids[len(ids)-1].ID}, Last: len(ids) < idsPerPage}, nil
}

// moveRows moves all rows of pages of ids, and does what is queued in last, in one transaction.
func (w *work) moveRows(ctx context.Context, pages [][]string, last *store.Tx) error {
	return w.moveIn(ctx, func(ctx context.Context, tx *store.InteractiveTx, moved map[string]int64) (err error) {
		for _, ids := range pages {
			for tables := lifecycle.MoveTables; len(tables) > 0; {
				if tables, err = w.moveRowsOf(ctx, tx, ids, tables, moved); err != nil {
					return err
				}
			}
		}
		return tx.Send(ctx, last.Tx.Tx)
	})
}

// moveIn moves rows in a transaction, and counts them by kind.
func (w *work) moveIn(ctx context.Context, move func(ctx context.Context, tx *store.InteractiveTx, moved map[string]int64) error) error {
	var moved map[string]int64
	err := w.Store.RunInteractive(ctx, w.move.FromHome, func(ctx context.Context, tx *store.InteractiveTx) error {
		moved = map[string]int64{}
		return move(ctx, tx, moved)
	})
	if err != nil {
		return err
	}
	for kind, n := range moved {
		w.count(kind, n)
	}
	return nil
}

// moveRowsOf moves a page of rows of each table with some ids in one round trip, and adds their numbers to moved. It returns the
// tables that may have more. The items of the flag queue, at most one for an id, move with the first of them.
func (w *work) moveRowsOf(ctx context.Context, tx *store.InteractiveTx, ids []string, tables []*lifecycle.MoveTable,
	moved map[string]int64,
) (full []*lifecycle.MoveTable, err error) {
	var items int64
	rows := make([]int64, len(tables))
	queued := w.Store.NewTx(w.move.FromHome)
	queued.MoveFlagItems(ids, w.move.ToHome, &items)
	for i, table := range tables {
		queued.MoveTable(table, ids, w.move.ToHome, &rows[i])
	}
	if err := tx.Send(ctx, queued.Tx.Tx); err != nil {
		return nil, err
	}
	moved["flag_items"] += items
	for i, table := range tables {
		moved[table.Name] += rows[i]
		if rows[i] == int64(table.PageRows) {
			full = append(full, table)
		}
	}
	return full, nil
}

func idsOf(moved []lifecycle.MovedID) []string {
	ids := make([]string, len(moved))
	for i, m := range moved {
		ids[i] = m.ID
	}
	return ids
}

// ids reads a page of the moved ids.
func (w *work) ids(ctx context.Context, after []string, limit int) ([]lifecycle.MovedID, error) {
	last := ""
	if len(after) > 0 {
		last = after[0]
	}
	var ids []lifecycle.MovedID
	reads := w.Store.NewReadBatch()
	reads.MovedIDs(w.move.FromHome, w.move.ID, last, limit, &ids)
	err := reads.Run(ctx)
	return ids, err
}

// restartExport begins an export in progress from the start, because parts of it may be in the old storage only.
func (w *work) restartExport(ctx context.Context, _ []string) (steps.Result, error) {
	return steps.Result{Last: true}, w.exportRestart().Commit(ctx)
}

func (w *work) exportRestart() *store.Tx {
	tx := w.Store.NewTx(w.move.ToHome)
	tx.RestartExport(w.move.ID, w.Now().Add(w.Settle))
	return tx
}

// moveSeen moves a page of rows about who has seen the stories of the user.
func (w *work) moveSeen(ctx context.Context, after []string) (steps.Result, error) {
	var rows []lifecycle.MoveRow
	reads := w.Store.NewReadBatch()
	reads.StorySeenRows(w.move.FromHome, w.move.ID, after, readPage, &rows)
	if err := reads.Run(ctx); err != nil || len(rows) == 0 {
		return steps.Result{Last: true}, err
	}
	var userIDs []string
	for _, row := range rows {
		userIDs = append(userIDs, row.IDs...)
	}
	result := steps.Result{Position: rows[len(rows)-1].Key, Last: len(rows) < readPage}
	if len(userIDs) == 0 {
		return result, nil
	}
	var n int64
	tx := w.Store.NewTx(w.move.FromHome)
	tx.MoveStorySeen(w.move.ID, userIDs, w.move.ToHome, &n)
	err := tx.Commit(ctx)
	result.Rows = narrow.To[int32](n)
	return result, err
}

// objects returns the page function of a step that processes the objects of the files and of the user's export, whose
// objects have the id of the user.
func (w *work) objects(process func(ctx context.Context, id string) error) func(context.Context, []string) (steps.Result, error) {
	return func(ctx context.Context, after []string) (steps.Result, error) {
		ids, err := w.ids(ctx, after, objectsPerPage)
		if err != nil || len(ids) == 0 {
			return steps.Result{Last: true}, err
		}
		for _, id := range ids {
			if id.Kind != lifecycle.MovedFile && id.Kind != lifecycle.MovedUser {
				continue
			}
			if err := process(ctx, id.ID); err != nil && !noStorage(err) {
				return steps.Result{}, err
			}
		}
		return steps.Result{Position: []string{ids[len(ids)-1].ID}, Last: len(ids) < objectsPerPage}, nil
	}
}

func (w *work) deleteObjects(ctx context.Context, id string) error {
	return w.Storage.DeleteCopies(ctx, id, w.move.FromHome)
}

// renewEvery is the interval at which the lease of a move is renewed while a file is copied.
const renewEvery = 20 * time.Second

// copyObjects copies a file, however long that takes.
func (w *work) copyObjects(ctx context.Context, id string) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- w.Storage.CopyAll(ctx, id, w.move.FromHome, w.move.ToHome) }()
	ticker := time.NewTicker(renewEvery)
	defer ticker.Stop()
	for {
		select {
		case err := <-done:
			return err
		case <-ticker.C:
			w.move.DueAt = w.Now().Add(3 * renewEvery)
			if err := w.save(ctx); err != nil {
				cancel()
				return errors.Join(err, <-done)
			}
		}
	}
}
