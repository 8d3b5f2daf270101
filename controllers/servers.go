package controllers

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/platformclient"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/controllers/stage"
)

// readServers requests the status of every ready server of the network and fills in the pass's reports, in the order of
// the pods' names.
func (r *Reconciler) readServers(ctx context.Context, p *stage.Pass) error {
	var pods corev1.PodList
	err := r.Client.List(ctx, &pods, client.InNamespace(p.SN.Namespace), client.MatchingLabels(render.ServerSelector(p.SN.Name)))
	if err != nil {
		return fmt.Errorf("listing pods: %w", err)
	}
	slices.SortFunc(pods.Items, func(a, b corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
	p.Reports = map[v1alpha1.RegionCode][]stage.ServerReport{}
	for i := range pods.Items {
		if pod := &pods.Items[i]; isReady(pod) {
			code := v1alpha1.RegionCode(pod.Labels[render.LabelRegion])
			p.Reports[code] = append(p.Reports[code], stage.ServerReport{
				Pod: pod.Name, Ops: opsAddress(pod), Image: render.ServerImage(pod.Spec), Template: pod.Labels[appsv1.DefaultDeploymentUniqueLabelKey],
			})
		}
	}
	r.requestStatus(ctx, p.Reports)
	return nil
}

func (r *Reconciler) requestStatus(ctx context.Context, regions map[v1alpha1.RegionCode][]stage.ServerReport) {
	var group errgroup.Group
	group.SetLimit(platformclient.MaxConcurrentRequests)
	for _, reports := range regions {
		for i := range reports {
			report := &reports[i]
			group.Go(func() error {
				requestCtx, cancel := context.WithTimeout(ctx, platformclient.RequestTimeout)
				defer cancel()
				report.Status, report.Err = r.Servers.Status(requestCtx, report.Ops)
				return nil
			})
		}
	}
	_ = group.Wait() // each report holds its own error
}

func isReady(pod *corev1.Pod) bool {
	if pod.DeletionTimestamp != nil || pod.Status.PodIP == "" {
		return false
	}
	return slices.ContainsFunc(pod.Status.Conditions, func(c corev1.PodCondition) bool {
		return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	})
}

// opsAddress returns the host and port of a pod's operations port.
func opsAddress(pod *corev1.Pod) string {
	port := render.PortOps
	for _, c := range pod.Spec.Containers {
		for _, p := range c.Ports {
			if p.Name == render.PortOpsName {
				port = p.ContainerPort
			}
		}
	}
	return net.JoinHostPort(pod.Status.PodIP, strconv.Itoa(int(port)))
}
