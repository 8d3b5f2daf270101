package marker

import (
	"context"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/groupcommit"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/store/network"
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
	failed     map[region.Code]error // the homes whose members could not be updated
}

// fanOuts updates the markers of a subchannel's members for one message after the other. Messages that arrive during an
// update share the next one, so that the work in a busy channel does not grow with the number of messages. A delivery that has
// given up leaves its row to the outbox's workers.
type fanOuts = groupcommit.Queue[fanOutKey, *fanOutCall]

// fanOutFunc updates the markers of a subchannel's members at some homes, and returns the homes that failed.
type fanOutFunc func(ctx context.Context, key fanOutKey, homes []region.Code, messageIDs []string) (failed map[region.Code]error, err error)

func newFanOuts(run fanOutFunc) *fanOuts {
	return &fanOuts{
		Max: maxFanOutMessages, MaxWaiting: maxFanOutWaiting, DropsLeft: true, Slots: make(chan struct{}, maxFanOuts),
		Size: func(c *fanOutCall) int { return len(c.messageIDs) },
		Commit: func(ctx context.Context, key fanOutKey, calls []*fanOutCall) []error {
			return groupcommit.Each(run.update(ctx, key, calls), len(calls))
		},
	}
}

// update updates markers for calls together.
func (run fanOutFunc) update(ctx context.Context, key fanOutKey, calls []*fanOutCall) error {
	ctx, cancel := context.WithTimeout(network.WithoutIdempotency(ctx), fanOutTimeout)
	defer cancel()
	var homes []region.Code
	var ids []string
	for _, c := range calls {
		homes, ids = append(homes, c.homes...), append(ids, c.messageIDs...)
	}
	slices.Sort(homes)
	failed, err := run(ctx, key, slices.Compact(homes), service.SortedSet(ids))
	for _, c := range calls {
		c.failed = map[region.Code]error{}
		for _, home := range c.homes {
			if failed[home] != nil {
				c.failed[home] = failed[home]
			}
		}
	}
	return err
}
