package move

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/steps"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/lifecycle"
	"github.com/plaza-social/plaza/platform/store/network"
)

const (
	// announceFor is the time in which servers learn about the ids and begin to read the routes more often.
	announceFor = 2 * time.Second
	// holdLease is how long other servers leave a move alone that makes requests wait.
	holdLease = 5 * time.Second
	// maxHolds is the number of attempts to move the rows at once. Afterwards the move is cancelled, or they move a page at a time if it
	// allows an interruption.
	maxHolds = 5
	// maxIDsAtOnce is the maximum number of ids whose rows move at once: more would not move in time. If the database is so slow that
	// even these do not move within limits.MoveAtOnce, moving them a page at a time takes about another second.
	maxIDsAtOnce = 3000
	// collectAtOnce is the number of rows that are read at a time while requests wait, and collectTime the time for one more id.
	collectAtOnce = 5000
	collectTime   = 40 * time.Microsecond
)

// Why rows cannot move at once.
var (
	tooManyIDs     = fmt.Sprintf("more than %d ids move with the user", maxIDsAtOnce)
	earlierVersion = "a server of an earlier version is running"
	tooSlow        = fmt.Sprintf("%d attempts failed, because a server or a region did not answer in time", maxHolds)
)

var errTooManyRows = errors.New(tooManyIDs)

// errBehind is the error of an attempt that ended before the rows moved. The job tries again.
var errBehind = fail.Unavailable("the user cannot be moved at once",
	errors.New("a server does not follow the move yet, or there are new files"))

// moveAtOnce makes requests that concern the user wait, moves all rows in one transaction, and lets the requests go on at the new
// home. Nothing is refused if that succeeds within limits.HoldMoving. Users can write again after an attempt that fails before
// the transaction; rows that do not move within limits.MoveAtOnce move a page in each transaction, while requests are refused. More ids
// than move at once move only if the move allows an interruption.
func (w *work) moveAtOnce(ctx context.Context) error {
	if route, _ := w.Store.Routes().Route(w.move.ID); route.State == lifecycle.MoveMoving { // an attempt of a server that has stopped
		if err := w.letWrite(ctx); err != nil {
			return err
		}
	}
	export, err := w.catchUp(ctx)
	if err != nil {
		return err
	}
	switch obstacle, err := w.obstacle(ctx); {
	case err != nil:
		return err
	case obstacle != "" && !w.move.AllowInterruption:
		return w.cancelInterruption(ctx, obstacle)
	case obstacle != "" && obstacle != tooManyIDs:
		return w.freeze(ctx)
	}
	var cancelled bool
	if err = w.hold(ctx, export); err == nil {
		cancelled, err = w.cancelIfImpossible(ctx)
	}
	switch {
	case err != nil:
		return errors.Join(err, w.letWrite(ctx))
	case cancelled:
		return nil
	}
	w.move.State, w.move.Attempts, w.move.Step, w.move.Position, w.move.DueAt = lifecycle.MoveMoving, 0, "", nil, w.Now().Add(holdLease)
	if err := w.save(ctx); err != nil {
		return err
	}
	if err := w.moveAll(ctx); err != nil {
		w.Log.InfoContext(ctx, "the rows of the user move a page at a time", "user", w.move.ID, "reason", err)
		w.move.DueAt = w.Now()
		return w.save(ctx)
	}
	return w.release(ctx)
}

// obstacle returns why the rows cannot move at once: a server does not store which moves it follows, too many earlier attempts
// have failed, or there are too many ids. It is empty if they can.
func (w *work) obstacle(ctx context.Context) (string, error) {
	unable, err := service.Read(ctx, w.Deps, (*store.ReadBatch).ServersWithout, network.CapabilityMoveRoutes)
	if err != nil {
		return "", err
	}
	ids, _, err := w.countIDs(ctx)
	switch {
	case err != nil:
		return "", err
	case len(unable) > 0:
		return earlierVersion, nil
	case w.move.Attempts >= maxHolds:
		return tooSlow, nil
	case ids > maxIDsAtOnce:
		return tooManyIDs, nil
	}
	return "", nil
}

// cancelInterruption cancels a move whose rows cannot move at once.
func (w *work) cancelInterruption(ctx context.Context, obstacle string) error {
	return w.cancel(ctx, "the rows cannot move at once: "+obstacle+
		"; a move with allowInterruption moves them while requests of the user fail")
}

// catchUp collects ids and copies files that were added since the steps did so. It returns the export that was copied.
func (w *work) catchUp(ctx context.Context) (*lifecycle.Export, error) {
	export, err := service.Read(ctx, w.Deps, (*store.ReadBatch).Export, w.move.ID)
	if err != nil {
		return nil, err
	}
	if err := w.copyExisting(ctx, w.move.ID); err != nil {
		return nil, err
	}
	return export, w.collectAll(ctx, func(files []string) error { return w.copyExisting(ctx, files...) })
}

// copyExisting copies the objects of ids, unless there is no storage.
func (w *work) copyExisting(ctx context.Context, ids ...string) error {
	for _, id := range ids {
		if err := w.copyObjects(ctx, id); err != nil && !noStorage(err) {
			return err
		}
	}
	return nil
}

// collectAll adds all ids that are not known yet. It calls newFiles with the files among them before it does, so that every file
// that is known has been copied.
func (w *work) collectAll(ctx context.Context, newFiles func([]string) error) (err error) {
	for _, source := range lifecycle.MoveSources {
		var before func([]string) error
		if source.Kind == lifecycle.MovedFile {
			before = newFiles
		}
		for result := (steps.Result{}); !result.Last; {
			if result, err = w.collect(ctx, source, result.Position, collectAtOnce, before); err != nil {
				return err
			}
		}
	}
	return nil
}

// hold makes every server refuse statements that concern the user, including the ids that were added at the last moment. It
// fails if that takes too long, and if something must be copied first.
func (w *work) hold(ctx context.Context, copied *lifecycle.Export) error {
	ctx, cancel := context.WithTimeout(ctx, w.Limits.FollowMove+time.Duration(w.move.IDs)*collectTime)
	defer cancel()
	for known := int64(-1); ; {
		ids, _, err := w.countIDs(ctx)
		if err != nil || ids == known {
			return err
		}
		known = ids
		if err := w.publishNext(ctx, lifecycle.MoveMoving, ids); err != nil {
			return err
		}
		// A server that follows the version has ended the statements that it sent before.
		if err := w.Store.AwaitServers(ctx, w.move.ID, w.move.Version); err != nil {
			if ctx.Err() != nil {
				return errBehind
			}
			return err
		}
		if err := w.collectAll(ctx, func([]string) error { return errBehind }); err != nil {
			return err
		}
		export, err := service.Read(ctx, w.Deps, (*store.ReadBatch).Export, w.move.ID)
		if err != nil {
			return err
		}
		if newArchive(copied, export) {
			return errBehind
		}
	}
}

// newArchive reports whether an export has an archive that an earlier state of it did not have.
func newArchive(before, now *lifecycle.Export) bool {
	return now != nil && now.State == lifecycle.ExportReady && (before == nil || before.Version != now.Version)
}

// publishNext publishes a new version of the route.
func (w *work) publishNext(ctx context.Context, state lifecycle.MoveState, ids int64) error {
	known := w.move.IDs
	w.move.IDs, w.move.DueAt = ids, w.Now().Add(holdLease)
	if err := w.save(ctx); err != nil {
		w.move.IDs = known
		return err
	}
	return w.publish(ctx, w.move.FromHome, w.move.ToHome, state, ids)
}

// letWrite ends an attempt whose rows are all at the old home, also if the server is stopping.
func (w *work) letWrite(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), w.Limits.LetWrite)
	defer cancel()
	return w.publishNext(ctx, lifecycle.MoveAnnounced, w.move.IDs)
}

// moveAll moves all rows in one transaction, unless there are too many.
func (w *work) moveAll(ctx context.Context) error {
	if w.move.IDs > maxIDsAtOnce {
		return errTooManyRows
	}
	bounded, cancel := context.WithTimeout(ctx, w.Limits.MoveAtOnce)
	defer cancel()
	var pages [][]string
	for after := []string(nil); ; {
		ids, err := w.ids(bounded, after, idsPerPage)
		if err != nil {
			return err
		}
		if len(ids) == 0 {
			return w.moveRows(bounded, pages, w.exportRestart())
		}
		pages = append(pages, idsOf(ids))
		after = []string{ids[len(ids)-1].ID}
	}
}
