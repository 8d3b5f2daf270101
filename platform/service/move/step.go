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
)

// collection returns the steps that find the ids that move.
func (w *work) collection() []steps.Step {
	all := []steps.Step{w.step("ids of users", func(ctx context.Context, _ []string) (steps.Result, error) {
		return steps.Result{Last: true}, w.addIDs(ctx, store.MovedUser, []string{w.move.ID})
	})}
	for _, source := range store.MoveSources {
		all = append(all, w.step("ids of "+source.Kind, func(ctx context.Context, after []string) (steps.Result, error) {
			return w.collect(ctx, source, after)
		}))
	}
	return all
}

// collect adds the ids in a page of rows.
func (w *work) collect(ctx context.Context, source *store.MoveSource, after []string) (steps.Result, error) {
	var rows []store.MoveRow
	reads := w.Store.NewReadBatch()
	reads.MoveRows(source, w.move.FromHome, w.move.ID, after, readPage, &rows)
	if err := reads.Run(ctx); err != nil || len(rows) == 0 {
		return steps.Result{Last: true}, err
	}
	var ids []string
	for _, row := range rows {
		ids = append(ids, row.IDs...)
	}
	err := w.addIDs(ctx, source.Kind, ids)
	return steps.Result{Position: rows[len(rows)-1].Key, Last: len(rows) < readPage}, err
}

// addIDs stores those of ids that are new at every home, at the old home of the user last: an id that is known there is known
// everywhere.
func (w *work) addIDs(ctx context.Context, kind string, ids []string) error {
	if len(ids) == 0 {
		return nil
	}
	var added []string
	reads := w.Store.NewReadBatch()
	reads.UnknownMovedIDs(w.move.FromHome, w.move.ID, ids, &added)
	if err := reads.Run(ctx); err != nil || len(added) == 0 {
		return err
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

// tables returns the steps that move the rows.
func (w *work) tables() []steps.Step {
	all := []steps.Step{w.step("flag_items", w.idPages(idsPerPage, func(ctx context.Context, ids []string) (n int64, again bool, err error) {
		tx := w.Store.NewTx(w.move.FromHome)
		tx.MoveFlagItems(ids, w.move.ToHome, &n)
		return n, false, tx.Commit(ctx)
	}))}
	for _, table := range store.MoveTables {
		all = append(all, w.step(table.Name, w.idPages(idsPerPage, func(ctx context.Context, ids []string) (n int64, again bool, err error) {
			tx := w.Store.NewTx(w.move.FromHome)
			tx.MoveTable(table, ids, w.move.ToHome, &n)
			err = tx.Commit(ctx)
			return n, n == int64(table.PageRows), err
		})))
	}
	return append(all, w.step("export", w.restartExport))
}

// idPages returns the page function of a step that processes the moved ids. Its function returns the number of rows, and
// whether there are more of the same ids.
func (w *work) idPages(limit int, process func(context.Context, []string) (int64, bool, error)) func(context.Context, []string) (steps.Result, error) {
	return func(ctx context.Context, after []string) (steps.Result, error) {
		ids, err := w.ids(ctx, after, limit)
		if err != nil || len(ids) == 0 {
			return steps.Result{Last: true}, err
		}
		all := make([]string, len(ids))
		for i, id := range ids {
			all[i] = id.ID
		}
		n, again, err := process(ctx, all)
		result := steps.Result{Position: after, Rows: narrow.To[int32](n)}
		if !again {
			result.Position, result.Last = all[len(all)-1:], len(all) < limit
		}
		return result, err
	}
}

// ids reads a page of the moved ids.
func (w *work) ids(ctx context.Context, after []string, limit int) ([]store.MovedID, error) {
	last := ""
	if len(after) > 0 {
		last = after[0]
	}
	var ids []store.MovedID
	reads := w.Store.NewReadBatch()
	reads.MovedIDs(w.move.FromHome, w.move.ID, last, limit, &ids)
	err := reads.Run(ctx)
	return ids, err
}

// restartExport begins an export in progress from the start, because parts of it may be in the old storage only.
func (w *work) restartExport(ctx context.Context, _ []string) (steps.Result, error) {
	tx := w.Store.NewTx(w.move.ToHome)
	tx.RestartExport(w.move.ID, w.Now().Add(w.Settle))
	return steps.Result{Last: true}, tx.Commit(ctx)
}

// moveSeen moves a page of rows about who has seen the stories of the user.
func (w *work) moveSeen(ctx context.Context, after []string) (steps.Result, error) {
	var rows []store.MoveRow
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
			if id.Kind != store.MovedFile && id.Kind != store.MovedUser {
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
