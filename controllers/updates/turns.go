// Package updates decides when the update of a network may begin: in its maintenance windows, and while few others are updated.
package updates

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/stage"
)

// Turns limits how many networks are updated at the same time. Only the leading operator has it: another leader finds the
// updates that are in progress, and adds them.
type Turns struct {
	mu      sync.Mutex
	holders []turn
}

// turn is the right of a network to be updated.
type turn struct {
	network types.NamespacedName
	image   string // to which the network is updated
	// stopped reports whether the update needs attention. The network then keeps its turn only from networks that would be updated to
	// the same image, which may be the cause.
	stopped bool
}

// take records that a network is being updated.
func (t *Turns) take(network types.NamespacedName, image string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.add(network, image)
}

func (t *Turns) add(network types.NamespacedName, image string) {
	if i := t.index(network); i >= 0 {
		t.holders[i].image = image
		return
	}
	t.holders = append(t.holders, turn{network: network, image: image})
}

func (t *Turns) index(network types.NamespacedName) int {
	return slices.IndexFunc(t.holders, func(h turn) bool { return h.network == network })
}

// request lets a network be updated to an image, unless limit others are. It returns those.
func (t *Turns) request(network types.NamespacedName, image string, limit int) (others []types.NamespacedName) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, h := range t.holders {
		if h.network != network && (!h.stopped || h.image == image) {
			others = append(others, h.network)
		}
	}
	if limit > 0 && len(others) >= limit && t.index(network) < 0 {
		return others
	}
	t.add(network, image)
	return nil
}

// stop records whether the update of a network that has a turn needs attention.
func (t *Turns) stop(network types.NamespacedName, stopped bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if i := t.index(network); i >= 0 {
		t.holders[i].stopped = stopped
	}
}

// End records that a network is not being updated.
func (t *Turns) End(network types.NamespacedName) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.holders = slices.DeleteFunc(t.holders, func(h turn) bool { return h.network == network })
}

// turnInterval is how often a network that waits for others asks again.
const turnInterval = 15 * time.Second

// Rules returns the rules of a pass for the beginning of an update to an image: the maintenance windows of the network, and at most limit
// networks that are updated at the same time.
func (t *Turns) Rules(sn *v1alpha1.SocialNetwork, image string, limit int, now time.Time) stage.Updates {
	network := types.NamespacedName{Namespace: sn.Namespace, Name: sn.Name}
	return stage.Updates{
		InProgress: func() { t.take(network, image) },
		MayBegin: func() stage.Hold {
			if hold := closedWindow(sn, now); hold.Reason != "" {
				return hold
			}
			others := t.request(network, image, limit)
			if len(others) == 0 {
				return stage.Hold{}
			}
			var names []string
			for _, other := range others {
				names = append(names, other.String())
			}
			return stage.Hold{
				Reason: v1alpha1.ReasonWaitingForTurn, Again: turnInterval,
				Message: fmt.Sprintf("Other networks are updated first: %s.", strings.Join(names, ", ")),
			}
		},
	}
}

// closedWindow returns why an update may not begin now because of spec.maintenanceWindows.
func closedWindow(sn *v1alpha1.SocialNetwork, now time.Time) stage.Hold {
	if len(sn.Spec.MaintenanceWindows) == 0 {
		return stage.Hold{}
	}
	open, next, err := nextWindow(sn.Spec.MaintenanceWindows, now)
	switch {
	case err != nil:
		return stage.Hold{Reason: v1alpha1.ReasonWindowInvalid, Message: fmt.Sprintf("spec.maintenanceWindows: %s.", err)}
	case open:
		return stage.Hold{}
	}
	return stage.Hold{
		Reason: v1alpha1.ReasonWaitingForWindow, Again: next.Sub(now),
		Message: fmt.Sprintf("The update begins in the next maintenance window, at %s.", next.UTC().Format(time.RFC3339)),
	}
}

// Observe lets other networks be updated when an update has ended, waits for a maintenance window, or stopped. An update that stopped
// still counts for networks that would be updated to the same image, so that a bad image does not reach them, until it is fixed, paused
// or deleted.
func (t *Turns) Observe(sn *v1alpha1.SocialNetwork, status *v1alpha1.SocialNetworkStatus) {
	conditions := unfinished(nil, status.Conditions, v1alpha1.ConditionSchemaMigrated)
	for _, region := range status.Regions {
		conditions = unfinished(conditions, region.Conditions, v1alpha1.RegionUpdated)
	}
	network := types.NamespacedName{Namespace: sn.Namespace, Name: sn.Name}
	if len(conditions) == 0 || sn.Spec.Paused {
		t.End(network)
		return
	}
	t.stop(network, slices.ContainsFunc(conditions, func(c metav1.Condition) bool { return v1alpha1.Reason(c.Reason).NeedsAttention() }))
}

// unfinished appends a condition that is False because of an update that has begun.
func unfinished(to, conditions []metav1.Condition, kind string) []metav1.Condition {
	c := meta.FindStatusCondition(conditions, kind)
	if c == nil || c.Status != metav1.ConditionFalse || c.Reason == string(v1alpha1.ReasonWaitingForWindow) {
		return to
	}
	return append(to, *c)
}
