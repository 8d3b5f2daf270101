package monitoring

import (
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plaza-social/plaza/controllers/grafana"
	"github.com/plaza-social/plaza/controllers/render"
)

// GrafanaDashboard returns the object that makes the Grafana operator load the network's dashboard from its ConfigMap.
func GrafanaDashboard(n render.Network) *grafana.Dashboard {
	selected := n.SN.Spec.Monitoring.Grafana.InstanceLabels
	return &grafana.Dashboard{
		TypeMeta:   metav1.TypeMeta{APIVersion: grafana.GroupVersion.String(), Kind: grafana.DashboardKind},
		ObjectMeta: render.MonitoringMeta(n, grafanaName(render.DashboardName(n.SN.Name), selected)),
		Spec: grafana.DashboardSpec{
			InstanceSelector:          metav1.LabelSelector{MatchLabels: selected},
			AllowCrossNamespaceImport: true,
			ConfigMapRef:              grafana.ConfigMapKey{Name: render.DashboardName(n.SN.Name), Key: dashboardFileName(n)},
			Folder:                    dashboardFolder,
			ResyncPeriod:              "5m",
		},
	}
}

// grafanaName returns the name of the object. It differs with the selector, which is immutable: a change creates another object, and the
// old one is deleted.
func grafanaName(name string, selected map[string]string) string {
	if len(selected) == 0 {
		return name
	}
	var text strings.Builder
	for _, label := range slices.Sorted(maps.Keys(selected)) {
		text.WriteString(label + "=" + selected[label] + "\n")
	}
	sum := sha256.Sum256([]byte(text.String()))
	return name + "-" + hex.EncodeToString(sum[:4])
}
