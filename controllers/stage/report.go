package stage

import (
	"errors"
	"fmt"
	"slices"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/apply"
	"github.com/plaza-social/plaza/controllers/clusters"
)

// Result is the outcome of a stage together with the errors of applying it.
type Result struct {
	Outcome

	// Condition is the type of the stage's condition.
	Condition string
	// Errors are the errors of applying the outcome.
	Errors []error

	applied []Event // events of the objects that were applied
}

// fail records an apply error on the stage's condition and, if code is set, on the region's. A cluster that does not respond is
// not used again in the pass.
func (r *Result) fail(c *Cluster, code v1alpha1.RegionCode, err error) {
	if clusters.IsUnreachable(err) {
		c.Reason, c.Message = v1alpha1.ReasonClusterUnreachable, fmt.Sprintf("Cluster %s cannot be reached: %s.", c.Name, Shorten(err.Error()))
		r.SetCondition(metav1.ConditionUnknown, c.Reason, c.Message)
		for _, region := range c.Network.Regions() {
			r.SetRegionCondition(region.Code, v1alpha1.RegionAvailable, metav1.ConditionUnknown, c.Reason, c.Message)
		}
		r.RequeueAfter(lostInterval)
		return
	}
	r.Errors = append(r.Errors, err)
	if isStale(err) {
		return // a retry reads the current objects
	}
	message := "The API server rejected a change: " + Shorten(err.Error())
	r.SetCondition(metav1.ConditionFalse, v1alpha1.ReasonApplyFailed, message)
	if code != "" {
		r.SetRegionCondition(code, v1alpha1.RegionAvailable, metav1.ConditionFalse, v1alpha1.ReasonApplyFailed, message)
	}
}

// lostInterval is when a pass is repeated that lost the connection to a cluster.
const lostInterval = 5 * time.Second

// isStale reports whether an error means that a decision was based on a stale copy of an object.
func isStale(err error) bool {
	var uncached *cache.ErrResourceNotCached // the informer of an optional kind was just added or removed
	return errors.Is(err, apply.ErrStale) || errors.As(err, &uncached) || apierrors.IsConflict(err)
}

// Report is the result of all stages of a pass.
type Report struct {
	// Results are in the order of the stages.
	Results []Result
	// Events are to be recorded, whether or not the status can be written.
	Events []Event
	// Requeue is the earliest time at which a stage must run again; 0 means none must.
	Requeue time.Duration
	// Stale is not nil if the pass used a stale copy of an object. Its status must not be written then.
	Stale error
}

func (r *Report) add(result Result) {
	r.Results = append(r.Results, result)
	if i := slices.IndexFunc(result.Errors, isStale); i >= 0 {
		r.Stale = result.Errors[i]
	}
	r.Events = append(r.Events, result.applied...)
	if len(result.Errors) == 0 { // otherwise a retry records them
		r.Events = append(r.Events, result.Events...)
	}
	if result.Requeue > 0 && (r.Requeue == 0 || result.Requeue < r.Requeue) {
		r.Requeue = result.Requeue
	}
}

// TransientError joins the errors that a retry may resolve. Invalid and Forbidden need a change by a user first.
func (r *Report) TransientError() error {
	var errs []error
	for _, result := range r.Results {
		for _, err := range result.Errors {
			if !apierrors.IsInvalid(err) && !apierrors.IsForbidden(err) && !isStale(err) {
				errs = append(errs, err)
			}
		}
	}
	return errors.Join(errs...)
}

// maxPendingChanges is how many changes a status lists.
const maxPendingChanges = 100

// Status completes and returns the status of the pass.
func (r *Report) Status(p *Pass) *v1alpha1.SocialNetworkStatus {
	status := p.Status
	status.ObservedGeneration = p.SN.Generation
	for _, result := range r.Results {
		p.setCondition(&status.Conditions, metav1.Condition{
			Type: result.Condition, Status: result.Status, Reason: string(result.Reason), Message: result.Message,
		})
		for code, conditions := range result.Regions {
			region := p.Region(code)
			for _, c := range conditions {
				p.setCondition(&region.Conditions, c)
			}
		}
		status.PendingChanges = append(status.PendingChanges, result.Pending...)
	}
	status.PendingChanges = status.PendingChanges[:min(len(status.PendingChanges), maxPendingChanges)]
	retainRegions(status, p.SN)
	p.summarize(status)
	return status
}

// retainRegions removes the regions that the spec does not name and puts the others in the order of the spec.
func retainRegions(status *v1alpha1.SocialNetworkStatus, sn *v1alpha1.SocialNetwork) {
	position := map[v1alpha1.RegionCode]int{}
	for i, region := range sn.Spec.Regions {
		position[region.Code] = i
	}
	status.Regions = slices.DeleteFunc(status.Regions, func(r v1alpha1.RegionStatus) bool {
		_, ok := position[r.Code]
		return !ok
	})
	slices.SortFunc(status.Regions, func(a, b v1alpha1.RegionStatus) int { return position[a.Code] - position[b.Code] })
}
