package delivery

import (
	"cmp"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/network"
)

// State is how the delivery of the events of a home to a webhook goes.
type State struct {
	Home      region.Code
	WebhookID string
	// Oldest is when the oldest event happened that waits; zero if none does.
	Oldest time.Time
	// Dead is the number of events that could not be delivered and are kept.
	Dead int64
	// Failed is why the latest attempt failed; empty if it succeeded.
	Failed string
}

// States returns the state of each webhook and home whose events this server sends, as of the last seconds.
func (d *Dispatcher) States() []State {
	all := []State{}
	d.states.Range(func(_, value any) bool {
		state, _ := value.(State)
		all = append(all, state)
		return true
	})
	slices.SortFunc(all, func(a, b State) int {
		return cmp.Or(cmp.Compare(a.WebhookID, b.WebhookID), cmp.Compare(a.Home, b.Home))
	})
	return all
}

// failureOf returns why the attempts of a round failed, or an empty text if one succeeded.
func failureOf(attempted []chain) string {
	failed := ""
	for _, c := range attempted {
		for _, row := range c {
			if row.State == network.DeliveryDelivered {
				return ""
			}
			failed = row.Error
		}
	}
	return failed
}
