package render

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/grafana"
)

// RegionObjects returns the objects of a region apart from its Deployment, in the order in which they are applied. An
// HTTPRoute is included only if the cluster has the kind.
func RegionObjects(n Network, r *v1alpha1.Region) []client.Object {
	objects := []client.Object{ServiceAccount(n, r), ConfigMap(n, r), Service(n, r)}
	objects = appendWanted(objects, NetworkPolicy(n, r))
	objects = appendWanted(objects, PodDisruptionBudget(n, r))
	objects = appendWanted(objects, HorizontalPodAutoscaler(n, r))
	objects = appendWanted(objects, ServersService(n, r))
	if n.isRoutedElsewhere(r) {
		return objects
	}
	return append(objects, routes(n, r)...)
}

// routes returns the Ingress and the HTTPRoute of a region, as far as the spec enables them and the cluster has the kind.
func routes(n Network, r *v1alpha1.Region) []client.Object {
	objects := appendWanted(nil, Ingress(n, r))
	if n.Capabilities.HTTPRoute {
		objects = appendWanted(objects, HTTPRoute(n, r))
	}
	return objects
}

// Everything returns all objects of a network in a cluster that this package renders, including the first attempt of the
// migration.
func Everything(n Network) []client.Object {
	var objects []client.Object
	if n.Migrates() {
		objects = append(objects, MigrationServiceAccount(n), MigrationJob(n, 1))
		objects = appendWanted(objects, MigrationNetworkPolicy(n))
	}
	if n.HasBackupJob() {
		objects = append(objects, BackupJob(n, ""))
	}
	for _, r := range n.Regions() {
		objects = append(objects, RegionObjects(n, r)...)
		objects = append(objects, Deployment(n, r))
	}
	for _, r := range n.StandIns() {
		objects = append(objects, StandInObjects(n, r)...)
	}
	if n.Capabilities.ServiceMonitor {
		objects = appendWanted(objects, ServiceMonitor(n))
	}
	if n.Capabilities.Probe {
		objects = append(objects, Probes(n)...)
	}
	return objects
}

// Pods returns the pod specs of the network's servers and migrations in a cluster.
func Pods(n Network) []corev1.PodSpec {
	var pods []corev1.PodSpec
	if n.Migrates() {
		pods = append(pods, MigrationJob(n, 1).Spec.Template.Spec)
	}
	if n.HasBackupJob() {
		pods = append(pods, BackupJob(n, "").Spec.Template.Spec)
	}
	for _, r := range n.Regions() {
		pods = append(pods, Deployment(n, r).Spec.Template.Spec)
	}
	return pods
}

// The optional kinds: a cluster may lack their CRDs.
var (
	ServiceMonitorKind = schema.GroupVersionKind{Group: "monitoring.coreos.com", Version: "v1", Kind: "ServiceMonitor"}
	PrometheusRuleKind = schema.GroupVersionKind{Group: "monitoring.coreos.com", Version: "v1", Kind: "PrometheusRule"}
	ProbeKind          = schema.GroupVersionKind{Group: "monitoring.coreos.com", Version: "v1", Kind: "Probe"}
	HTTPRouteKind      = schema.GroupVersionKind{Group: "gateway.networking.k8s.io", Version: "v1", Kind: "HTTPRoute"}

	GrafanaDashboardKind = grafana.GroupVersion.WithKind(grafana.DashboardKind)
)

// SecurityContextConstraintsKind is a kind that only OpenShift has. The operator has no objects of it.
var SecurityContextConstraintsKind = schema.GroupVersionKind{
	Group: "security.openshift.io", Version: "v1",
	Kind: "SecurityContextConstraints",
}

// RegionKinds returns the kinds of a region's objects, without the optional ones.
func RegionKinds() []schema.GroupVersionKind {
	return []schema.GroupVersionKind{
		{Group: "apps", Version: "v1", Kind: "Deployment"},
		{Version: "v1", Kind: "Service"},
		{Version: "v1", Kind: "ServiceAccount"},
		{Version: "v1", Kind: "ConfigMap"},
		{Group: "networking.k8s.io", Version: "v1", Kind: "NetworkPolicy"},
		{Group: "policy", Version: "v1", Kind: "PodDisruptionBudget"},
		{Group: "autoscaling", Version: "v2", Kind: "HorizontalPodAutoscaler"},
		{Group: "networking.k8s.io", Version: "v1", Kind: "Ingress"},
	}
}

// appendWanted appends an object unless it is nil: a nil *T in an interface is not a nil interface.
func appendWanted[T any, P interface {
	*T
	client.Object
}](objects []client.Object, object P) []client.Object {
	if object == nil {
		return objects
	}
	return append(objects, object)
}

func typeMeta(gv schema.GroupVersion, kind string) metav1.TypeMeta {
	return metav1.TypeMeta{APIVersion: gv.String(), Kind: kind}
}
