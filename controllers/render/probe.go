package render

import (
	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/plaza-social/plaza/api/v1alpha1"
)

// probedPath is a page of the public API that needs no credentials and no database.
const probedPath = "/docs"

// Probe returns the Probe of a region's hosts, or nil if the spec names no prober. It does not depend on whether the cluster has the
// kind.
//
// Only the metrics of the probe have the labels network and region, not the target: `up` of the prober would otherwise be counted as one of
// the region's servers.
func Probe(n Network, r *v1alpha1.Region) *monitoringv1.Probe {
	probe := n.SN.Spec.Monitoring.Probe
	if probe == nil {
		return nil
	}
	var targets []string
	for _, host := range hosts(r) {
		targets = append(targets, "https://"+host+probedPath)
	}
	meta := MonitoringMeta(n, RegionName(n.SN.Name, r.Code))
	meta.Labels[LabelRegion] = string(r.Code)
	labels := map[string]string{"plaza_network": n.SN.Name, "plaza_region": string(r.Code)}
	if n.Cluster != "" {
		labels["cluster"] = n.Cluster
	}
	return &monitoringv1.Probe{
		TypeMeta:   metav1.TypeMeta{APIVersion: monitoringv1.SchemeGroupVersion.String(), Kind: monitoringv1.ProbesKind},
		ObjectMeta: meta,
		Spec: monitoringv1.ProbeSpec{
			JobName:    "plaza-probe",
			ProberSpec: monitoringv1.ProberSpec{URL: probe.Prober},
			Module:     probe.Module,
			Targets:    monitoringv1.ProbeTargets{StaticConfig: &monitoringv1.ProbeTargetStaticConfig{Targets: targets, Labels: labels}},
			MetricRelabelConfigs: []monitoringv1.RelabelConfig{
				copiedLabel("plaza_network", "network"), copiedLabel("plaza_region", "region"),
			},
		},
	}
}

// Probes returns the Probes of a network's regions in a cluster.
func Probes(n Network) []client.Object {
	var objects []client.Object
	for _, r := range n.Regions() {
		objects = appendWanted(objects, Probe(n, r))
	}
	return objects
}
