package render

import (
	monitoringv1 "github.com/prometheus-operator/prometheus-operator/pkg/apis/monitoring/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// ServiceMonitor returns the ServiceMonitor for the servers of all regions, or nil if the spec disables it. It does not
// depend on whether the cluster has the kind.
//
// The labels network (the SocialNetwork's name) and region of the target override those of the servers' metrics, so
// that `up`, which a server that is down cannot label, has the same labels as everything else. The servers' own values
// are kept as exported_network (the network's id) and exported_region. In a member cluster, the label cluster is its name. The job is plaza
// for every network.
func ServiceMonitor(n Network) *monitoringv1.ServiceMonitor {
	if !n.SN.Spec.Monitoring.ServiceMonitor {
		return nil
	}
	relabelings := []monitoringv1.RelabelConfig{
		copiedLabel("__meta_kubernetes_service_label_plaza_social_network", "network"),
		copiedLabel("__meta_kubernetes_service_label_plaza_social_region", "region"),
	}
	if n.Cluster != "" {
		relabelings = append(relabelings, monitoringv1.RelabelConfig{Action: "replace", TargetLabel: "cluster", Replacement: &n.Cluster})
	}
	return &monitoringv1.ServiceMonitor{
		TypeMeta:   metav1.TypeMeta{APIVersion: monitoringv1.SchemeGroupVersion.String(), Kind: monitoringv1.ServiceMonitorsKind},
		ObjectMeta: MonitoringMeta(n, MonitoringName(n.SN.Name)),
		Spec: monitoringv1.ServiceMonitorSpec{
			JobLabel: LabelName,
			Selector: metav1.LabelSelector{MatchLabels: ServerSelector(n.SN.Name)},
			Endpoints: []monitoringv1.Endpoint{{
				Port:           PortOpsName,
				Path:           "/metrics",
				RelabelConfigs: relabelings,
			}},
		},
	}
}

// copiedLabel copies a label of a target or of the Service that it was found by to another one.
func copiedLabel(from monitoringv1.LabelName, to string) monitoringv1.RelabelConfig {
	return monitoringv1.RelabelConfig{Action: "replace", SourceLabels: []monitoringv1.LabelName{from}, TargetLabel: to}
}
