package move

import (
	"context"
	"errors"
	"time"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/jobs"
	"github.com/plaza-social/plaza/platform/narrow"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/steps"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/lifecycle"
	"github.com/plaza-social/plaza/platform/store/people"
)

const (
	// pollInterval is the time between two searches for due moves.
	pollInterval = time.Second
	// readPage is the number of rows that are read at a time, idsPerPage the number of ids whose rows move in a round trip.
	readPage   = 500
	idsPerPage = 400
	// objectsPerPage is the number of files whose objects are copied or deleted at a time.
	objectsPerPage = 10
)

// Job returns the background job that continues the moves of users whose ids contain a home.
func (s *Service) Job() jobs.Job {
	return jobs.New("moves", pollInterval, s.Log, s.Continue)
}

// Continue takes a due move of a home as far as it gets, and reports whether there was one. Moves that delay users come
// first.
func (s *Service) Continue(ctx context.Context, home region.Code) (more bool, err error) {
	states := []lifecycle.MoveState{
		lifecycle.MoveMoving, lifecycle.MoveFrozen, lifecycle.MoveAnnounced, lifecycle.MoveCleaning,
		lifecycle.MoveCollecting,
	}
	due := func(reads *store.ReadBatch, state lifecycle.MoveState, into **lifecycle.UserMove) {
		reads.DueUserMove(home, state, s.Now(), into)
	}
	return steps.Continue(lifecycle.WithMover(ctx), s.Store, states, due, s.advance)
}

// work is the state of a move in progress.
type work struct {
	*Service
	move *lifecycle.UserMove
}

// advance takes the remaining steps of a state.
func (s *Service) advance(ctx context.Context, m *lifecycle.UserMove) error {
	w := &work{s, m}
	state := w.states()[m.State]
	job := &steps.Job{
		Progress: &m.Progress, Steps: state.steps, Now: s.Now, Save: w.save, Finish: state.finish,
		Count: func(kind string, rows int32) { w.count(kind, int64(rows)) }, Eager: m.State == lifecycle.MoveMoving,
	}
	return job.Advance(ctx)
}

// phase is the work in one state of a move.
type phase struct {
	steps  []steps.Step
	finish func(context.Context) error
}

func (w *work) states() map[lifecycle.MoveState]phase {
	return map[lifecycle.MoveState]phase{
		lifecycle.MoveCollecting: {w.collection(), w.announce},
		lifecycle.MoveAnnounced:  {append(w.collection(), w.step("objects", w.objects(w.copyObjects))), w.moveAtOnce},
		lifecycle.MoveFrozen:     {append(w.collection(), w.step("objects", w.objects(w.copyObjects))), w.beginMoving},
		lifecycle.MoveMoving:     {w.rows(), w.release},
		lifecycle.MoveCleaning:   {[]steps.Step{w.step("story_seen", w.moveSeen), w.step("objects", w.objects(w.deleteObjects))}, w.finish},
	}
}

func (w *work) step(kind string, page func(context.Context, []string) (steps.Result, error)) steps.Step {
	return steps.Step{Kind: kind, Home: w.move.FromHome, Page: page}
}

// count adds to the number of moved rows of a kind.
func (w *work) count(kind string, rows int64) {
	w.move.Moved = steps.AddCount(w.move.Moved, kind, narrow.To[int32](rows))
}

func (w *work) save(ctx context.Context) error {
	tx := w.Store.NewTx(lifecycle.MoveHome(w.move.ID))
	tx.UpdateUserMove(*w.move, w.Now())
	if err := tx.Commit(ctx); err != nil {
		return err
	}
	w.move.Version++
	return nil
}

// enter stores the next state. The job continues when every server knows it.
func (w *work) enter(ctx context.Context, next lifecycle.MoveState) error {
	return w.enterFor(ctx, next, w.Settle)
}

// enterFor stores the next state. The job continues after wait.
func (w *work) enterFor(ctx context.Context, next lifecycle.MoveState, wait time.Duration) error {
	m, before := w.move, *w.move
	m.State, m.Step, m.Position, m.Attempts, m.DueAt = next, "", nil, 0, w.Now().Add(wait)
	err := w.save(ctx)
	if err != nil {
		*m = before // or the next attempt to store the progress would end the wait
	}
	return err
}

// publish stores at every home where the rows are, and the number of ids. Servers follow it.
func (w *work) publish(ctx context.Context, from, to region.Code, state lifecycle.MoveState, ids int64) error {
	return w.Store.CommitAtHomes(ctx, func(tx *store.Tx) {
		tx.SetRoute(lifecycle.Route{UserID: w.move.ID, Home: from, To: to, State: state, Version: w.move.Version}, ids)
	})
}

// countIDs returns the number of collected ids, and reports whether the network has too many.
func (w *work) countIDs(ctx context.Context) (own int64, tooMany bool, err error) {
	var others int64
	reads := w.Store.NewReadBatch()
	reads.CountMovedIDs(w.move.FromHome, w.move.ID, &own)
	reads.CountOtherMovedIDs(w.move.FromHome, w.move.ID, &others)
	err = reads.Run(ctx)
	return own, own+others > w.MaxIDs, err
}

// announce makes the ids known to servers, unless there are too many. It waits while there are servers that would not follow.
func (w *work) announce(ctx context.Context) error {
	if err := w.requireServers(ctx); err != nil {
		return err
	}
	ids, tooMany, err := w.countIDs(ctx)
	switch {
	case err != nil:
		return err
	case tooMany:
		return w.cancel(ctx, "the network would have too many moved ids")
	case ids > maxIDsAtOnce && !w.move.AllowInterruption:
		return w.cancelInterruption(ctx, tooManyIDs)
	}
	return w.publishAndEnter(ctx, lifecycle.MoveAnnounced, ids)
}

// freeze makes servers refuse writes, for a move that is not possible at once.
func (w *work) freeze(ctx context.Context) error {
	return w.enterIfPossible(ctx, func(int64) lifecycle.MoveState { return lifecycle.MoveFrozen })
}

// beginMoving makes servers refuse reads, too. If ids were found that servers do not know, it waits until they do and
// collects the ids again.
func (w *work) beginMoving(ctx context.Context) error {
	return w.enterIfPossible(ctx, func(ids int64) lifecycle.MoveState {
		if ids > w.move.IDs {
			return lifecycle.MoveFrozen
		}
		return lifecycle.MoveMoving
	})
}

// enterIfPossible enters the state that next returns for the number of ids, unless the move is no longer possible, which ends it.
func (w *work) enterIfPossible(ctx context.Context, next func(ids int64) lifecycle.MoveState) error {
	if cancelled, err := w.cancelIfImpossible(ctx); cancelled || err != nil {
		return err
	}
	ids, _, err := w.countIDs(ctx)
	if err != nil {
		return err
	}
	return w.publishAndEnter(ctx, next(ids), ids)
}

// cancelIfImpossible ends a move that is no longer possible, and reports whether it has. A server that would not follow ends it,
// because the user cannot write until then.
func (w *work) cancelIfImpossible(ctx context.Context) (cancelled bool, err error) {
	_, tooMany, err := w.countIDs(ctx)
	if err != nil {
		return false, err
	}
	users, err := service.Read(ctx, w.Deps, (*store.ReadBatch).Users, []string{w.move.ID})
	if err != nil {
		return false, err
	}
	var reason string
	unable := w.requireServers(ctx)
	switch {
	case errors.Is(unable, fail.Conflict()):
		reason = "a server that does not follow moves was started"
	case unable != nil:
		return false, unable
	case tooMany:
		reason = "the network would have too many moved ids"
	case len(users) == 0 || users[0].DeletedAt != nil:
		reason = "the user was deleted"
	default:
		return false, nil
	}
	return true, w.cancel(ctx, reason)
}

// publishAndEnter makes servers follow a state, and stores it with the number of ids that they know then.
func (w *work) publishAndEnter(ctx context.Context, next lifecycle.MoveState, ids int64) error {
	if err := w.publish(ctx, w.move.FromHome, w.move.ToHome, next, ids); err != nil {
		return err
	}
	known, wait := w.move.IDs, w.Settle
	if next == lifecycle.MoveAnnounced {
		wait = announceFor
	}
	w.move.IDs = ids
	err := w.enterFor(ctx, next, wait)
	if err != nil {
		w.move.IDs = known
	}
	return err
}

// cancel ends a move whose rows are all at the old home.
func (w *work) cancel(ctx context.Context, reason string) error {
	if w.move.State != lifecycle.MoveCollecting {
		if err := w.save(ctx); err != nil { // a new version
			return err
		}
		if err := w.publish(ctx, w.move.ToHome, w.move.FromHome, lifecycle.MoveDone, w.move.IDs); err != nil {
			return err
		}
	}
	now := w.Now()
	w.move.Reason, w.move.FinishedAt = reason, &now
	w.Log.WarnContext(ctx, "move of user cancelled", "user", w.move.ID, "reason", reason)
	return w.end(ctx, lifecycle.MoveCancelled)
}

// release makes servers use the new home. Those that do not know that yet refuse both reads and writes.
func (w *work) release(ctx context.Context) error {
	if err := w.copyDirectoryEntry(ctx); err != nil {
		return err
	}
	if err := w.publish(ctx, w.move.FromHome, w.move.ToHome, lifecycle.MoveDone, w.move.IDs); err != nil {
		return err
	}
	return w.enter(ctx, lifecycle.MoveCleaning)
}

// copyDirectoryEntry makes the user id known at the new home, which must not depend on others for its users.
func (w *work) copyDirectoryEntry(ctx context.Context) error {
	var users []people.User
	tx := w.Store.NewTx(w.move.ToHome)
	tx.SelectUser(w.move.ID, &users)
	if err := tx.Commit(ctx); err != nil || len(users) == 0 {
		return err
	}
	return w.Directory.KeepCopy(ctx, w.move.ToHome, users[0].PublicID, w.move.ID)
}

func (w *work) finish(ctx context.Context) error {
	now := w.Now()
	w.move.FinishedAt = &now // has no effect before the state
	w.Log.InfoContext(ctx, "user moved", "user", w.move.ID, "from", w.move.FromHome, "to", w.move.ToHome)
	return w.end(ctx, lifecycle.MoveDone)
}

// end enters a last state.
func (w *work) end(ctx context.Context, last lifecycle.MoveState) error {
	if err := w.enter(ctx, last); err != nil {
		return err
	}
	w.metrics.ended(*w.move, w.Now())
	return nil
}
