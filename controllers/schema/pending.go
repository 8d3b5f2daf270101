package schema

import (
	"context"

	batchv1 "k8s.io/api/batch/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/jobresult"
	"github.com/plaza-social/plaza/controllers/podcause"
)

// whyPending returns why the pod of a migration does not run, or "" if it runs. The text is the same from pass to pass.
func (r *run) whyPending(ctx context.Context, job *batchv1.Job) string {
	pods, err := jobresult.Pods(ctx, r.cluster.APIReader, job)
	if err != nil {
		return "" // the Job's own status is enough
	}
	for i := range pods {
		if cause := podcause.OfPod(&pods[i]); cause.Reason == v1alpha1.ReasonPodNotStarted {
			return r.pass.Redact(cause.Message)
		}
	}
	return ""
}
