package controllers

import (
	"context"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/render"
)

const (
	// askWithin is how long a server may take to say what it runs.
	askWithin = 3 * time.Second
	// askAtOnce is how many servers of a network are asked at once.
	askAtOnce = 8
)

// observe asks every ready server of the network what it runs.
func (r *Reconciler) observe(ctx context.Context, w *World) error {
	var pods corev1.PodList
	err := r.Client.List(ctx, &pods, client.InNamespace(w.SN.Namespace), client.MatchingLabels(render.ServerSelector(w.SN.Name)))
	if err != nil {
		return fmt.Errorf("listing the pods: %w", err)
	}
	w.Reports = map[v1alpha1.RegionCode][]Report{}
	var all []*Report
	for i := range pods.Items {
		pod := &pods.Items[i]
		if !isReady(pod) {
			continue
		}
		all = append(all, &Report{Pod: pod.Name, Ops: opsAddress(pod), Image: imageOf(pod), Template: pod.Labels[templateLabel]})
	}
	var group errgroup.Group
	group.SetLimit(askAtOnce)
	for _, report := range all {
		group.Go(func() error {
			asking, cancel := context.WithTimeout(ctx, askWithin)
			defer cancel()
			report.Status, report.Err = r.Servers.Status(asking, report.Ops)
			return nil
		})
	}
	_ = group.Wait() // each report holds its own error
	w.fileReports(pods.Items, all)
	return nil
}

// templateLabel is the label with which a Deployment tells the pods of one template from those of another.
const templateLabel = "pod-template-hash"

// fileReports puts each report under the region that its pod's label names, in the order of the pods' names.
func (w *World) fileReports(pods []corev1.Pod, all []*Report) {
	regions := map[string]v1alpha1.RegionCode{}
	for _, pod := range pods {
		regions[pod.Name] = v1alpha1.RegionCode(pod.Labels[render.LabelRegion])
	}
	slices.SortFunc(all, func(a, b *Report) int { return strings.Compare(a.Pod, b.Pod) })
	for _, report := range all {
		code := regions[report.Pod]
		w.Reports[code] = append(w.Reports[code], *report)
	}
}

func isReady(pod *corev1.Pod) bool {
	if pod.DeletionTimestamp != nil || pod.Status.PodIP == "" {
		return false
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}

// opsAddress is where a pod's operations port is reached: the port that it declares under that name.
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

// imageOf is the image of a pod's server.
func imageOf(pod *corev1.Pod) string {
	for _, c := range pod.Spec.Containers {
		if c.Name == render.ContainerName {
			return c.Image
		}
	}
	return ""
}
