package controllers

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/apply"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/controllers/share"
)

// CacheOptions keep the operator's memory small: of Secrets it holds those with our label, of pods those of the platform, of
// everything else what we made; and of that no more than somebody reads, and what many objects have alike only once.
func CacheOptions(namespaces []string) cache.Options {
	pool := &share.Pool{}
	slim := func(before toolscache.TransformFunc) toolscache.TransformFunc {
		return pool.Transform(before, apply.Manager)
	}
	ours := labels.SelectorFromSet(labels.Set{render.LabelManagedBy: render.OperatorName})
	options := cache.Options{
		ReaderFailOnMissingInformer: true, // a kind that comes or goes must not hold a pass up
		DefaultLabelSelector:        ours,
		DefaultTransform:            slim(nil),
		ByObject: map[client.Object]cache.ByObject{
			&corev1.Secret{}: {Label: labels.SelectorFromSet(labels.Set{render.LabelWatched: "true"})},
			&corev1.Pod{}: {
				Label:     labels.SelectorFromSet(labels.Set{render.LabelName: render.AppName, render.LabelComponent: string(render.ComponentServer)}),
				Transform: slim(slimPod),
			},
			&corev1.ConfigMap{}:       {Transform: slim(apply.SlimConfigMap)},
			&v1alpha1.SocialNetwork{}: {Label: labels.Everything()},
		},
	}
	for _, namespace := range namespaces {
		if options.DefaultNamespaces == nil {
			options.DefaultNamespaces = map[string]cache.Config{}
		}
		options.DefaultNamespaces[namespace] = cache.Config{}
	}
	return options
}

// slimPod leaves of a pod what observe reads.
func slimPod(object any) (any, error) {
	pod, ok := object.(*corev1.Pod)
	if !ok {
		return object, nil
	}
	slim := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: pod.Name, Namespace: pod.Namespace, UID: pod.UID, ResourceVersion: pod.ResourceVersion, Labels: pod.Labels,
		DeletionTimestamp: pod.DeletionTimestamp,
	}}
	for _, c := range pod.Spec.Containers {
		slim.Spec.Containers = append(slim.Spec.Containers, corev1.Container{Name: c.Name, Image: c.Image, Ports: c.Ports})
	}
	slim.Status.PodIP = pod.Status.PodIP
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			slim.Status.Conditions = append(slim.Status.Conditions, c)
		}
	}
	return slim, nil
}
