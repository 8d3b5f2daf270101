package monitoring

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plaza-social/plaza/controllers/render"
)

// Dashboard returns the ConfigMap with the network's dashboard, which Grafana's sidecar finds by its label.
func Dashboard(n render.Network) *corev1.ConfigMap {
	m := &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: render.MonitoringMeta(n, render.DashboardName(n.SN.Name)),
	}
	m.Labels["grafana_dashboard"] = "1"
	return m
}
