package controllers

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
	"github.com/plaza-social/plaza/controllers/window"
)

// turns limits how many networks are updated at the same time. Only the leading operator has it: another leader finds the
// updates that are in progress, and adds them.
type turns struct {
	mu      sync.Mutex
	holders []types.NamespacedName
}

// take records that a network is being updated.
func (t *turns) take(network types.NamespacedName) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.add(network)
}

func (t *turns) add(network types.NamespacedName) {
	if !slices.Contains(t.holders, network) {
		t.holders = append(t.holders, network)
	}
}

// request lets a network be updated, unless limit others are. It returns those.
func (t *turns) request(network types.NamespacedName, limit int) (others []types.NamespacedName) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if limit > 0 && len(t.holders) >= limit && !slices.Contains(t.holders, network) {
		return slices.Clone(t.holders)
	}
	t.add(network)
	return nil
}

// end records that a network is not being updated.
func (t *turns) end(network types.NamespacedName) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.holders = slices.DeleteFunc(t.holders, func(holder types.NamespacedName) bool { return holder == network })
}

// turnInterval is how often a network that waits for others asks again.
const turnInterval = 15 * time.Second

// updates returns the rules of a pass for the beginning of updates: the maintenance windows of the network, and the limit of the
// operator.
func (r *Reconciler) updates(sn *v1alpha1.SocialNetwork, now time.Time) stage.Updates {
	network := types.NamespacedName{Namespace: sn.Namespace, Name: sn.Name}
	return stage.Updates{
		InProgress: func() { r.turns.take(network) },
		MayBegin: func() stage.Hold {
			if hold := closedWindow(sn, now); hold.Reason != "" {
				return hold
			}
			others := r.turns.request(network, r.Options.MaxConcurrentRollouts)
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
	open, next, err := window.Next(sn.Spec.MaintenanceWindows, now)
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

// endTurn lets other networks be updated when an update has ended, or waits for a maintenance window. A network whose update stopped
// keeps its turn, so that a bad image does not reach further networks, until it is fixed, paused or deleted.
func (r *Reconciler) endTurn(sn *v1alpha1.SocialNetwork, status *v1alpha1.SocialNetworkStatus) {
	updating := isUnfinished(status.Conditions, v1alpha1.ConditionSchemaMigrated)
	for _, region := range status.Regions {
		updating = updating || isUnfinished(region.Conditions, v1alpha1.RegionUpdated)
	}
	if !updating || sn.Spec.Paused {
		r.turns.end(types.NamespacedName{Namespace: sn.Namespace, Name: sn.Name})
	}
}

// isUnfinished reports whether a condition is False because of an update that has begun.
func isUnfinished(conditions []metav1.Condition, kind string) bool {
	c := meta.FindStatusCondition(conditions, kind)
	return c != nil && c.Status == metav1.ConditionFalse && c.Reason != string(v1alpha1.ReasonWaitingForWindow)
}
