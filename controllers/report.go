package controllers

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/apply"
)

// stageResult is what a stage said, and what became of what it wanted.
type stageResult struct {
	Outcome

	condition string
	errs      []error
	happened  []Event // with each object that was applied
}

// fail lets the condition tell of an object that could not be brought about, and the region's, where it has one.
func (s *stageResult) fail(code v1alpha1.RegionCode, err error) {
	s.errs = append(s.errs, err)
	if isStale(err) {
		return // somebody was faster, or the cache is behind: the next pass sees it
	}
	message := fmt.Sprintf("The API server refused: %s", short(err.Error()))
	s.Say(metav1.ConditionFalse, v1alpha1.ReasonApplyFailed, message)
	if code != "" {
		s.RegionCondition(code, v1alpha1.RegionAvailable, metav1.ConditionFalse, v1alpha1.ReasonApplyFailed, message)
	}
}

// isStale is true for an error that says that a decision was made upon an old copy.
func isStale(err error) bool {
	var uncached *cache.ErrResourceNotCached // of a kind that comes or goes
	return errors.Is(err, apply.ErrStale) || errors.As(err, &uncached) || apierrors.IsConflict(err)
}

// passReport is what a pass came to.
type passReport struct {
	results []stageResult
	events  []Event
	requeue time.Duration
	// stale is why the pass was made upon an old copy of something.
	stale error
}

func (p *passReport) add(result stageResult) {
	p.results = append(p.results, result)
	for _, err := range result.errs {
		if isStale(err) {
			p.stale = err
		}
	}
	p.events = append(p.events, result.happened...)
	if len(result.errs) == 0 { // else the next pass tells of it, if it happens
		p.events = append(p.events, result.Events...)
	}
	if result.Requeue > 0 && (p.requeue == 0 || result.Requeue < p.requeue) {
		p.requeue = result.Requeue
	}
}

// transient returns the errors for which the pass is tried again soon: all but those that only another spec, or another
// object, can mend.
func (p *passReport) transient() error {
	var errs []error
	for _, result := range p.results {
		for _, err := range result.errs {
			if !apierrors.IsInvalid(err) && !apierrors.IsForbidden(err) && !isStale(err) {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}

// status is the network's status after the pass.
func (p *passReport) status(w *World) *v1alpha1.SocialNetworkStatus {
	status := w.Status
	generation := w.SN.Generation
	status.ObservedGeneration = generation
	for _, result := range p.results {
		setCondition(&status.Conditions, result.condition, result.Status, result.Reason, result.Message, generation, w.Now)
		for code, conditions := range result.Regions {
			region := w.Region(code)
			for _, c := range conditions {
				setCondition(&region.Conditions, c.Type, c.Status, v1alpha1.Reason(c.Reason), c.Message, generation, w.Now)
			}
		}
		status.PendingChanges = append(status.PendingChanges, result.Pending...)
	}
	status.PendingChanges = atMost(status.PendingChanges, maxPending)
	keepNamed(status, w.SN)
	sumUp(status, w)
	return status
}

// maxPending is how many changes a status lists.
const maxPending = 100

func atMost(list []string, most int) []string {
	if len(list) > most {
		return list[:most]
	}
	return list
}

// keepNamed leaves regions in the status that the spec names, in its order.
func keepNamed(status *v1alpha1.SocialNetworkStatus, sn *v1alpha1.SocialNetwork) {
	order := map[v1alpha1.RegionCode]int{}
	for i, region := range sn.Spec.Regions {
		order[region.Code] = i
	}
	status.Regions = slices.DeleteFunc(status.Regions, func(r v1alpha1.RegionStatus) bool {
		_, named := order[r.Code]
		return !named
	})
	slices.SortFunc(status.Regions, func(a, b v1alpha1.RegionStatus) int { return order[a.Code] - order[b.Code] })
}

func setCondition(conditions *[]metav1.Condition, kind string, status metav1.ConditionStatus, reason v1alpha1.Reason, message string, generation int64, now time.Time) {
	old := meta.FindStatusCondition(*conditions, kind)
	next := metav1.Condition{
		Type: kind, Status: status, Reason: string(reason), Message: short(message),
		ObservedGeneration: generation, LastTransitionTime: metav1.NewTime(now.Truncate(time.Second)),
	}
	if old != nil && old.Status == status {
		next.LastTransitionTime = old.LastTransitionTime
	}
	meta.SetStatusCondition(conditions, next)
}

// maxMessage is how many bytes of a message are shown.
const maxMessage = 1000

// short makes one line of at most maxMessage bytes.
func short(message string) string {
	message = strings.Join(strings.Fields(message), " ")
	if len(message) > maxMessage {
		return strings.ToValidUTF8(message[:maxMessage-3], "") + "..."
	}
	return message
}
