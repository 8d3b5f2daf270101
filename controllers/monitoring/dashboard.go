package monitoring

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plaza-social/plaza/controllers/render"
)

// Dashboard returns the ConfigMap with the network's dashboard, which Grafana's sidecar finds by its label. The file
// name has the namespace and the network, because the sidecar writes the files of all ConfigMaps into one folder.
func Dashboard(n render.Network) *corev1.ConfigMap {
	m := &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: render.MonitoringMeta(n, render.DashboardName(n.SN.Name)),
		Data:       map[string]string{"plaza-" + n.SN.Namespace + "-" + n.SN.Name + ".json": dashboardFile(scopeOf(n))},
	}
	m.Labels["grafana_dashboard"] = "1"
	m.Annotations = map[string]string{"grafana_folder": "Plaza"}
	return m
}

// DashboardUID returns the uid of the dashboard in links. It has 22 characters; Grafana allows 40.
func DashboardUID(namespace, network string) string {
	sum := sha256.Sum256([]byte(namespace + "/" + network))
	return "plaza-" + hex.EncodeToString(sum[:8])
}

func dashboardFile(s scope) string {
	made := dashboard{
		UID:   DashboardUID(s.namespace, s.network),
		Title: "Plaza / " + s.namespace + " / " + s.network, Tags: []string{"plaza"},
		Description: "The regions of the social network " + s.namespace + "/" + s.network + ". Managed by the Plaza operator, which reverts changes: save a copy to edit it.",
		Timezone:    "utc", GraphTooltip: 1, Refresh: "30s", SchemaVersion: schemaVersion, Time: timeRange{"now-6h", "now"},
		Templating:  templating{[]variable{sourceVariable(), regionVariable(s.regions)}},
		Annotations: templating{[]variable{}},
		Panels:      arrange(panelsOf(s)),
	}
	file, err := json.MarshalIndent(made, "", " ")
	if err != nil {
		panic(fmt.Sprintf("encoding a dashboard: %v", err)) // no field can fail
	}
	return string(file) + "\n"
}

func sourceVariable() variable {
	return variable{Name: "datasource", Label: "Data source", Type: "datasource", Query: "prometheus", Refresh: 1}
}

// regionVariable offers the regions of the spec, whether or not Prometheus has series of them.
func regionVariable(regions []string) variable {
	v := variable{
		Name: "region", Label: "Region", Type: "custom", Query: strings.Join(regions, ","), IncludeAll: true, Multi: true,
		Current: option{Selected: true, Text: []string{"All"}, Value: []string{"$__all"}},
		Options: []option{{Selected: true, Text: "All", Value: "$__all"}},
	}
	for _, region := range regions {
		v.Options = append(v.Options, option{Text: region, Value: region})
	}
	return v
}
