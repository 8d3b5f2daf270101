package controllers

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/apply"
	"github.com/plaza-social/plaza/controllers/intern"
	"github.com/plaza-social/plaza/controllers/render"
)

// CacheOptions returns options of a small cache: it holds the Secrets with our label, the platform's pods, and otherwise
// only objects that the operator created. Transforms drop the fields that are never read and intern equal parts.
func CacheOptions(namespaces []string) cache.Options {
	pool := &intern.Pool{}
	trim := func(before toolscache.TransformFunc) toolscache.TransformFunc {
		return pool.Transform(before, apply.Manager)
	}
	created := labels.SelectorFromSet(labels.Set{render.LabelManagedBy: render.OperatorName})
	options := cache.Options{
		ReaderFailOnMissingInformer: true, // reading an optional kind that disappeared must not block
		DefaultLabelSelector:        created,
		DefaultTransform:            trim(nil),
		ByObject: map[client.Object]cache.ByObject{
			&corev1.Secret{}: {Label: labels.SelectorFromSet(labels.Set{render.LabelWatched: "true"})},
			&corev1.Pod{}: {
				Label:     labels.SelectorFromSet(labels.Set{render.LabelName: render.AppName, render.LabelComponent: string(render.ComponentServer)}),
				Transform: trim(trimPod),
			},
			&corev1.ConfigMap{}:       {Transform: trim(apply.TrimConfigMap)},
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

// memberCacheOptions returns the options for a member cluster, which need not have the CRD of networks.
func memberCacheOptions(namespaces []string) cache.Options {
	options := CacheOptions(namespaces)
	maps.DeleteFunc(options.ByObject, func(object client.Object, _ cache.ByObject) bool {
		_, isNetwork := object.(*v1alpha1.SocialNetwork)
		return isNetwork
	})
	return options
}

// trimPod keeps the fields of a pod that package servers uses.
func trimPod(object any) (any, error) {
	pod, ok := object.(*corev1.Pod)
	if !ok {
		return object, nil
	}
	trimmed := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: pod.Name, Namespace: pod.Namespace, UID: pod.UID, ResourceVersion: pod.ResourceVersion, Labels: pod.Labels,
		DeletionTimestamp: pod.DeletionTimestamp,
	}}
	for _, c := range pod.Spec.Containers {
		trimmed.Spec.Containers = append(trimmed.Spec.Containers, corev1.Container{Name: c.Name, Image: c.Image, Ports: c.Ports})
	}
	trimmed.Status.PodIP = pod.Status.PodIP
	ready := false
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady || c.Type == corev1.PodScheduled && c.Status == corev1.ConditionFalse {
			trimmed.Status.Conditions = append(trimmed.Status.Conditions, c)
		}
		ready = ready || c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue
	}
	if !ready { // they say why; those of ready pods are never read
		trimmed.Status.InitContainerStatuses = pod.Status.InitContainerStatuses
		trimmed.Status.ContainerStatuses = pod.Status.ContainerStatuses
	}
	return trimmed, nil
}
