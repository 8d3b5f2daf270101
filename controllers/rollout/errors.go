package rollout

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/utils/ptr"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/stage"
)

const (
	// defaultMaxErrorPercent is for objects that were created without the defaults of the CRD.
	defaultMaxErrorPercent = 5
	// minFailed is the number of failed requests below which a rate says nothing.
	minFailed = 10
	// errorInterval is how often the servers are asked while too many requests fail, or while their region soaks.
	errorInterval = 15 * time.Second
	// oldServer is the age of servers whose requests do not count: what they failed was not because of an update.
	oldServer = 24 * time.Hour
)

// failing returns why no further region is updated: too many requests to the pods of a region that has the newest template fail.
func (r *run) failing() stage.Hold {
	for _, g := range r.regions {
		if (g.state != complete && g.state != soaking) || g.spec.EvacuateTo != "" {
			continue
		}
		if failure := r.failureOf(g); failure != "" {
			return stage.Hold{
				Reason: v1alpha1.ReasonErrorRateHigh, Again: errorInterval,
				Message: failure + "; no further region is updated. Return to the earlier image, or wait until the rate is lower.",
			}
		}
	}
	return stage.Hold{}
}

// isTakenBack reports whether the update of a region is taken back because its pods fail too many requests: other regions, which were not
// updated yet, have the newest template.
func (r *run) isTakenBack(g *region) bool {
	isNewest := func(other *region) bool {
		return other.state == complete || other.state == soaking || other.state == degraded
	}
	return slices.ContainsFunc(r.regions, isNewest) && r.failureOf(g) != ""
}

// failureOf returns the numbers of a region whose servers fail too many requests, otherwise "".
func (r *run) failureOf(g *region) string {
	var total, failed int64
	for _, report := range r.pass.Reports[g.spec.Code] {
		if report.Err == nil && report.Status.Requests != nil && r.pass.Now.Sub(report.Status.StartedAt) < oldServer {
			total, failed = total+report.Status.Requests.Total, failed+report.Status.Requests.Failed
		}
	}
	allowed := int64(ptr.Deref(r.pass.SN.Spec.Rollout.MaxErrorPercent, defaultMaxErrorPercent))
	if failed < minFailed || failed*100 <= total*allowed {
		return ""
	}
	return fmt.Sprintf("%d of %d requests to the pods of %s have failed since they started, more than %d%%", failed, total, g.spec.Code,
		allowed)
}
