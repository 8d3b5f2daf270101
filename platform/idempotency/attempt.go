package idempotency

import (
	"context"
	"errors"
	"log/slog"

	"connectrpc.com/connect"

	"github.com/plaza-social/plaza/platform/auth"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/network"
)

// attempt is an attempt that has reserved its key.
type attempt struct {
	*Executor
	network.Idempotency
	call
	home region.Code // of the key
}

// run executes the request, or completes what an earlier attempt has done. continued reports whether there may be one.
func (a *attempt) run(ctx context.Context, continued bool) (connect.AnyResponse, error) {
	if !continued {
		response, err := a.execute(ctx, a.Attempt)
		if !errors.Is(err, errAnswerLost) {
			return response, err
		}
	}
	response, err := a.complete(ctx)
	if err != nil {
		a.end(ctx, func(tx *store.Tx) { tx.UnlockIdempotency(a.Idempotency, a.Now()) })
	}
	return response, err
}

// complete reads the answer of an earlier attempt that has changed something. If there is none, or if it has not created what
// the request is for, the request is executed in its name.
func (a *attempt) complete(ctx context.Context) (connect.AnyResponse, error) {
	marks, missing, err := a.marks(ctx)
	if err != nil {
		return nil, err
	}
	var created []string
	for _, mark := range marks {
		if !mark.Known {
			return nil, errAnswerLost
		}
		created = append(created, mark.Created...)
	}
	switch recovery := a.operations[a.procedure].recovery; {
	case recovery.complete(len(marks) > 0, created):
		return a.recover(ctx, recovery, service.Distinct(created))
	case missing:
		return nil, fail.Unavailable("a home region did not answer in time", nil)
	case len(marks) > 0:
		return a.execute(ctx, marks[0].Attempt)
	}
	return a.execute(ctx, a.Attempt)
}

// marks reads the marks of the key. missing reports whether a home did not answer.
func (a *attempt) marks(ctx context.Context) (marks []network.IdempotencyMark, missing bool, err error) {
	reads := a.Store.NewBestEffortBatch()
	reads.IdempotencyMarks(a.Key, a.Now(), &marks)
	err = reads.Run(ctx)
	return marks, len(reads.Missing()) > 0, err
}

// recover reads an answer again and stores it.
func (a *attempt) recover(ctx context.Context, recovery Recovery, created []string) (connect.AnyResponse, error) {
	read := a.Fill.WrapUnary(func(ctx context.Context, _ connect.AnyRequest) (connect.AnyResponse, error) {
		message, err := recovery.Read(ctx, a.message, created)
		if err != nil {
			return nil, err
		}
		return newReplayed(message), nil
	})
	response, err := read(ctx, nil)
	if err != nil {
		return nil, err
	}
	notePermission(ctx, a.procedure)
	a.finish(ctx, response)
	return response, nil
}

// execute executes the request as an attempt and stores its answer. If nothing was changed, the key can be used again; if
// something was, the next attempt completes it.
func (a *attempt) execute(ctx context.Context, as string) (connect.AnyResponse, error) {
	mark, caller := a.Idempotency, auth.CallerFrom(ctx)
	mark.Attempt = as
	marked, changed := network.WithIdempotency(ctx, mark, a.Now(), errAnswerLost, func() []string {
		return service.Map(caller.Created(), func(o auth.Object) string { return o.ID })
	})
	response, err := a.call.execute(marked)
	switch {
	case err == nil:
		a.finish(ctx, response)
		return response, nil
	case changed():
		a.end(ctx, func(tx *store.Tx) { tx.UnlockIdempotency(a.Idempotency, a.Now()) })
	case !errors.Is(err, errAnswerLost):
		a.end(ctx, func(tx *store.Tx) { tx.ReleaseIdempotency(a.Idempotency) })
	}
	return nil, err
}

// finish stores an answer. One that is too large, or one of a user of whom enough bytes are stored, is read again by the next attempt.
func (a *attempt) finish(ctx context.Context, response connect.AnyResponse) {
	answer, storable := storableAnswer(response)
	storable = storable && a.MayStore(auth.CallerFrom(ctx), len(answer))
	a.end(ctx, func(tx *store.Tx) {
		if storable {
			tx.FinishIdempotency(a.Idempotency, a.sealed(a.Key, answer, a.procedure))
		} else {
			tx.UnlockIdempotency(a.Idempotency, a.Now())
		}
	})
}

// end stores the outcome of the attempt. If it cannot be stored, the next attempt waits until the reservation ends.
func (a *attempt) end(ctx context.Context, queue func(*store.Tx)) {
	tx := a.Store.NewTx(a.home)
	queue(tx)
	if err := tx.Commit(context.WithoutCancel(ctx)); err != nil {
		a.Log.LogAttrs(ctx, slog.LevelWarn, "the outcome of a request with an Idempotency-Key was not stored", slog.Any("error", err))
	}
}
