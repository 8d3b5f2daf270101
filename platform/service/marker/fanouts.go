package marker

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/plaza-social/plaza/platform/events"
	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store"
)

// Limits of the messages that a server updates markers for.
const (
	maxFanOutMessages = 100  // in one pass over the members of a channel
	maxFanOutWaiting  = 1000 // outbox rows of one subchannel; further ones are retried later
	maxFanOuts        = 8    // passes at the same time
	fanOutTimeout     = time.Minute
)

// fanOutKey identifies the subchannel of a message.
type fanOutKey struct{ channelID, feedID string }

// fanOutCall is the delivery of the messages of one outbox row to the members of some homes.
type fanOutCall struct {
	homes      []region.Code
	messageIDs []string
	ended      <-chan struct{} // of the delivery; nil if it has no end
	done       chan<- fanOutResult
}

// fanOutResult has the homes whose members could not be updated, or the error of the whole pass.
type fanOutResult struct {
	failed map[region.Code]error
	err    error
}

// fanOuts updates the markers of a subchannel's members for one message after the other. Messages that arrive during an
// update share the next one, so that the work in a busy channel does not grow with the number of messages.
type fanOuts struct {
	run func(ctx context.Context, key fanOutKey, homes []region.Code, messageIDs []string) (failed map[region.Code]error, err error)

	slots   chan struct{} // semaphore of passes
	mu      sync.Mutex
	waiting map[fanOutKey][]fanOutCall // has a key for every subchannel with an update in progress
}

// add returns when the markers of the members in homes are updated for messages, with the homes that failed.
func (f *fanOuts) add(ctx context.Context, m events.MessagesCreated, homes []region.Code) (failed map[region.Code]error, err error) {
	key, done := fanOutKey{m.ChannelID, m.FeedID}, make(chan fanOutResult, 1)
	if !f.enqueue(ctx, key, fanOutCall{homes, m.MessageIDs, ctx.Done(), done}) {
		return nil, fail.Unavailable("too many messages of the subchannel wait for their delivery", nil)
	}
	select {
	case result := <-done:
		return result.failed, result.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// enqueue reports whether there is room for the call.
func (f *fanOuts) enqueue(ctx context.Context, key fanOutKey, call fanOutCall) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	waiting, busy := f.waiting[key]
	if len(waiting) >= maxFanOutWaiting {
		return false
	}
	f.waiting[key] = append(waiting, call)
	if !busy {
		go f.work(store.WithoutIdempotency(context.WithoutCancel(ctx)), key) // other calls share its passes
	}
	return true
}

// work updates markers until no calls are waiting.
func (f *fanOuts) work(ctx context.Context, key fanOutKey) {
	for f.pass(ctx, key) {
	}
}

// pass updates markers for the calls that wait, and reports whether there were any. Subchannels take turns.
func (f *fanOuts) pass(ctx context.Context, key fanOutKey) bool {
	f.slots <- struct{}{}
	defer func() { <-f.slots }()
	calls := f.next(key)
	if len(calls) == 0 {
		return false
	}
	failed, err := f.update(ctx, key, calls)
	for _, c := range calls {
		c.done <- fanOutResult{c.failedOf(failed), err}
	}
	return true
}

// failedOf returns the homes of the call that are among those that failed.
func (c fanOutCall) failedOf(failed map[region.Code]error) map[region.Code]error {
	own := map[region.Code]error{}
	for _, home := range c.homes {
		if failed[home] != nil {
			own[home] = failed[home]
		}
	}
	return own
}

// hasEnded reports whether the delivery has given up, which leaves the row to the outbox's workers.
func (c fanOutCall) hasEnded() bool {
	select {
	case <-c.ended:
		return true
	default:
		return false
	}
}

func (f *fanOuts) update(ctx context.Context, key fanOutKey, calls []fanOutCall) (failed map[region.Code]error, err error) {
	ctx, cancel := context.WithTimeout(ctx, fanOutTimeout)
	defer cancel()
	var homes []region.Code
	var ids []string
	for _, c := range calls {
		homes, ids = append(homes, c.homes...), append(ids, c.messageIDs...)
	}
	slices.Sort(homes)
	return f.run(ctx, key, slices.Compact(homes), service.SortedSet(ids))
}

// next returns the calls of the next pass, without those whose delivery has ended.
func (f *fanOuts) next(key fanOutKey) []fanOutCall {
	f.mu.Lock()
	defer f.mu.Unlock()
	waiting := slices.DeleteFunc(f.waiting[key], fanOutCall.hasEnded)
	n, messages := 0, 0
	for n < len(waiting) && (n == 0 || messages+len(waiting[n].messageIDs) <= maxFanOutMessages) {
		messages += len(waiting[n].messageIDs)
		n++
	}
	if n == 0 {
		delete(f.waiting, key)
		return nil
	}
	f.waiting[key] = waiting[n:]
	return waiting[:n:n]
}
