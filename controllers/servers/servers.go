// Package servers asks the servers of a network for their status, and why they are not ready, and sets their log level.
package servers

import (
	"cmp"
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/clusters"
	"github.com/plaza-social/plaza/controllers/platformclient"
	"github.com/plaza-social/plaza/controllers/podcause"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/controllers/stage"
	"github.com/plaza-social/plaza/platform/control"
	"github.com/plaza-social/plaza/platform/statusz"
)

// Read requests the status of every ready server of the network and fills in the pass's reports, in the order of
// the pods' names. It asks the others why they are not ready.
func Read(ctx context.Context, p *stage.Pass) error {
	p.Reports = map[v1alpha1.RegionCode][]stage.ServerReport{}
	var unready []unreadyPod
	for _, c := range p.Usable() {
		var pods corev1.PodList
		err := c.Cache.List(ctx, &pods, client.InNamespace(c.Namespace()), client.MatchingLabels(render.ServerSelector(p.SN.Name)))
		if err != nil {
			return fmt.Errorf("listing pods: %w", err)
		}
		slices.SortFunc(pods.Items, func(a, b corev1.Pod) int { return strings.Compare(a.Name, b.Name) })
		for i := range pods.Items {
			pod := &pods.Items[i]
			code := v1alpha1.RegionCode(pod.Labels[render.LabelRegion])
			switch {
			case pod.DeletionTimestamp != nil || p.ClusterOf(code) != c:
			case !isReady(pod):
				unready = append(unready, unreadyPod{pod, c})
			default:
				p.Reports[code] = append(p.Reports[code], stage.ServerReport{
					Pod: pod.Name, Server: serverOf(p, c, pod, code),
					Image: render.ServerImage(pod.Spec), Template: pod.Labels[appsv1.DefaultDeploymentUniqueLabelKey],
				})
			}
		}
	}
	requestStatus(ctx, p)
	p.Causes = causesOf(ctx, p, unready)
	return nil
}

// unreadyPod is a pod that is not ready, and its cluster.
type unreadyPod struct {
	*corev1.Pod

	cluster *stage.Cluster
}

// maxUnready is how many unready servers of a network are asked in one pass.
const maxUnready = 16

// causesOf returns why pods are not ready, and what the first ready server of each region lacks.
func causesOf(ctx context.Context, p *stage.Pass, unready []unreadyPod) map[v1alpha1.RegionCode][]stage.PodCause {
	unready = unready[:min(len(unready), maxUnready)]
	found, lacking := make([]podcause.Cause, len(unready)), make([]podcause.Cause, len(p.SN.Spec.Regions))
	var group errgroup.Group
	group.SetLimit(platformclient.MaxConcurrentRequests)
	for i, pod := range unready {
		group.Go(func() error { found[i] = causeOf(ctx, pod, p.Now); return nil })
	}
	for i, region := range p.SN.Spec.Regions {
		if reports := p.Reports[region.Code]; len(reports) > 0 && reports[0].Err == nil {
			group.Go(func() error {
				if readiness, err := readiness(ctx, p.ClusterOf(region.Code), reports[0].Server.Ops); err == nil {
					lacking[i] = podcause.OfHomes(readiness)
				}
				return nil
			})
		}
	}
	_ = group.Wait() // a server that does not answer has no cause, or that one
	causes := map[v1alpha1.RegionCode][]stage.PodCause{}
	for i, pod := range unready {
		if found[i].Reason != "" {
			code := v1alpha1.RegionCode(pod.Labels[render.LabelRegion])
			causes[code] = append(causes[code], stage.PodCause{Pod: pod.Name, Cause: found[i]})
		}
	}
	for i, region := range p.SN.Spec.Regions {
		if lacking[i].Reason != "" {
			causes[region.Code] = append(causes[region.Code], stage.PodCause{Pod: p.Reports[region.Code][0].Pod, Ready: true, Cause: lacking[i]})
		}
	}
	return causes
}

// causeOf returns why a pod is not ready. What its server says is more precise than that it was restarted before.
func causeOf(ctx context.Context, pod unreadyPod, now time.Time) podcause.Cause {
	if !isRunning(pod.Pod) {
		return podcause.OfPod(pod.Pod)
	}
	readiness, err := readiness(ctx, pod.cluster, address(pod.cluster, pod.Pod, render.PortOpsName))
	if err != nil {
		return cmp.Or(podcause.OfPod(pod.Pod), podcause.OfSilence(pod.Pod, err, now))
	}
	return cmp.Or(podcause.OfChecks(readiness), podcause.OfPod(pod.Pod))
}

func readiness(ctx context.Context, c *stage.Cluster, ops string) (statusz.Readiness, error) {
	requestCtx, cancel := context.WithTimeout(ctx, platformclient.RequestTimeout)
	defer cancel()
	return c.Servers.Readiness(requestCtx, ops)
}

// isRunning reports whether a pod's server runs, ready or not.
func isRunning(pod *corev1.Pod) bool {
	return pod.Status.PodIP != "" && slices.ContainsFunc(pod.Status.ContainerStatuses, func(c corev1.ContainerStatus) bool {
		return c.Name == render.ContainerName && c.State.Running != nil
	})
}

func requestStatus(ctx context.Context, p *stage.Pass) {
	var group errgroup.Group
	group.SetLimit(platformclient.MaxConcurrentRequests)
	for code, reports := range p.Reports {
		servers := p.ClusterOf(code).Servers
		for i := range reports {
			report := &reports[i]
			group.Go(func() error {
				requestCtx, cancel := context.WithTimeout(ctx, platformclient.RequestTimeout)
				defer cancel()
				report.Status, report.Err = servers.Status(requestCtx, report.Server)
				setLogLevel(requestCtx, servers, p.SN, code, report)
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

// serverOf returns how the server of a pod is called.
func serverOf(p *stage.Pass, c *stage.Cluster, pod *corev1.Pod, code v1alpha1.RegionCode) platformclient.Server {
	return platformclient.Server{
		Ops: address(c, pod, render.PortOpsName), Control: address(c, pod, render.PortControlName),
		Name: control.ServerName(string(code), c.Network.NetworkID), Credentials: p.Control,
	}
}

// address returns the address of a pod's port with a name, or "" if the pod has none.
func address(in *stage.Cluster, pod *corev1.Pod, name string) string {
	for _, c := range pod.Spec.Containers {
		for _, p := range c.Ports {
			switch port := strconv.Itoa(int(p.ContainerPort)); {
			case p.Name != name:
			case in.Name != "":
				return clusters.PodAddress(pod, port)
			default:
				return net.JoinHostPort(pod.Status.PodIP, port)
			}
		}
	}
	return ""
}
