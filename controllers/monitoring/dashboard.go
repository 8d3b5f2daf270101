package monitoring

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plaza-social/plaza/controllers/render"
)

//go:embed dashboards
var dashboardFiles embed.FS

// object is a JSON object of Grafana's dashboard model.
type object = map[string]any

// dashboardFolder is the folder of the dashboards in Grafana.
const dashboardFolder = "Plaza"

// Dashboard returns the ConfigMap with the network's dashboard, which Grafana's sidecar finds by its label.
func Dashboard(n render.Network) *corev1.ConfigMap {
	m := &corev1.ConfigMap{
		TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "ConfigMap"},
		ObjectMeta: render.MonitoringMeta(n, render.DashboardName(n.SN.Name)),
		Data:       map[string]string{dashboardFileName(n): dashboardText(n)},
	}
	m.Labels["grafana_dashboard"] = "1"
	m.Annotations = map[string]string{"grafana_folder": dashboardFolder}
	return m
}

// dashboardFileName returns the name of the dashboard's file. It has the namespace and the network, because Grafana's sidecar writes the
// files of all ConfigMaps into one folder.
func dashboardFileName(n render.Network) string {
	return "plaza-" + n.SN.Namespace + "-" + n.SN.Name + ".json"
}

// DashboardUID returns the uid of the dashboard in links. It has 22 characters; Grafana allows 40.
func DashboardUID(namespace, network string) string {
	sum := sha256.Sum256([]byte(namespace + "/" + network))
	return "plaza-" + hex.EncodeToString(sum[:8])
}

// dashboardText returns the dashboard of a network with the values of its variables.
func dashboardText(n render.Network) string {
	v := variablesOf(n)
	options := []object{{"selected": true, "text": "All", "value": "$__all"}}
	var codes []string
	for _, region := range n.Regions() {
		codes = append(codes, string(region.Code))
		options = append(options, object{"text": region.Code, "value": region.Code})
	}
	v["$regionCodes"], v["$regionOptions"] = strings.Join(codes, ","), options
	return v.expandJSON(networkTemplate())
}

// expandJSON replaces the variables in a JSON text. A string that is only a variable becomes its value, which can be a
// number or a list.
func (v variables) expandJSON(text string) string {
	var pairs []string
	for _, name := range slices.Backward(slices.Sorted(maps.Keys(v))) { // $latencyText before $latency
		value := mustEncode(v[name])
		part := value
		if _, isText := v[name].(string); isText {
			part = value[1 : len(value)-1]
		}
		pairs = append(pairs, `"`+name+`"`, value, name, part)
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

func mustEncode(value any) string {
	text, err := json.MarshalIndent(value, "", " ") // maps in the order of their keys
	if err != nil {
		panic("monitoring: encoding a dashboard: " + err.Error()) // it has only JSON values
	}
	return string(text)
}

// networkTemplate is the dashboard of a network.
var networkTemplate = sync.OnceValue(func() string { return template("network") })

// SharedDashboards returns the dashboards that do not belong to a network, by file name: those of all networks and of the operator.
func SharedDashboards() map[string]string {
	return map[string]string{"plaza-fleet.json": template("fleet"), "plaza-operator.json": template("operator")}
}

// template returns a dashboard of the folder dashboards as JSON, with complete panels.
func template(name string) string {
	var file struct {
		Dashboard   object            `json:"dashboard"`
		Types       map[string]object `json:"types"`
		Mappings    []any             `json:"mappings"` // these define anchors
		Variables   []any             `json:"variables"`
		Annotations []any             `json:"annotations"`
		Panels      []object          `json:"panels"`
	}
	mustDecode(slices.Concat(dashboardFile("shared"), dashboardFile(name)), &file)
	panels := make([]object, 0, len(file.Panels))
	for i, p := range file.Panels {
		panel := merged(file.Types[p["type"].(string)], p)
		panel["id"] = i + 1
		completeTargets(panel)
		panels = append(panels, panel)
	}
	arrange(panels)
	file.Dashboard["panels"] = panels
	return mustEncode(file.Dashboard) + "\n"
}

func dashboardFile(name string) []byte {
	text, err := dashboardFiles.ReadFile("dashboards/" + name + ".yaml")
	if err != nil {
		panic("monitoring: " + err.Error()) // it is embedded
	}
	return text
}

// merged returns an object with the fields of both, recursively; those of b have precedence.
func merged(a, b object) object {
	both := maps.Clone(a)
	for name, value := range b {
		inner, ok := value.(object)
		if outer, exists := a[name].(object); ok && exists {
			value = merged(outer, inner)
		}
		both[name] = value
	}
	return both
}

// completeTargets adds what follows from the panel and the position of a target.
func completeTargets(panel object) {
	targets, _ := panel["targets"].([]any) // a row has none
	instant := panel["type"] == "stat"
	for i, each := range targets {
		targets[i] = merged(object{
			"refId": string(rune('A' + i)), "datasource": panel["datasource"], "legendFormat": "", "instant": instant, "range": !instant,
		}, each.(object))
	}
}

// arrange positions the panels from left to right and from top to bottom.
func arrange(panels []object) {
	x, y, height := 0, 0, 0
	for _, panel := range panels {
		size := panel["gridPos"].(object)
		width := int(size["w"].(float64))
		if x+width > 24 {
			x, y, height = 0, y+height, 0
		}
		panel["gridPos"] = merged(size, object{"x": x, "y": y})
		x, height = x+width, max(height, int(size["h"].(float64)))
	}
}
