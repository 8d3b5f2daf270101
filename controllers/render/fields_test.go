package render_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/render"
)

// unused are the fields of the spec that no object of this package depends on, with their users.
var unused = map[string]string{
	"serverKeys.rotateEvery":                  "package keys",
	"serverKeys.revoke[]":                     "package keys",
	"serverKeys.retainRemoved":                "package sweep",
	"serverKeys.overlap":                      "package keys writes it into the key file",
	"signingKeys.rotateEvery":                 "package keys",
	"signingKeys.overlap":                     "package keys",
	"apiKeys.rotateEvery":                     "package keys",
	"apiKeys.overlap":                         "package keys",
	"moderation.whitelistEnabled":             "pushed to the servers without a restart",
	"moderation.reportEnabled":                "pushed to the servers",
	"moderation.flagLimit":                    "pushed to the servers",
	"moderation.flagHideLimit":                "pushed to the servers",
	"webhooks[].name":                         "pushed to the servers without a restart",
	"webhooks[].url":                          "pushed to the servers",
	"webhooks[].secretRef.name":               "pushed to the servers",
	"webhooks[].events[]":                     "pushed to the servers",
	"webhooks[].enabled":                      "pushed to the servers",
	"preHook.url":                             "pushed to the servers",
	"preHook.secretRef.name":                  "pushed to the servers",
	"preHook.events[]":                        "pushed to the servers",
	"preHook.timeout":                         "pushed to the servers",
	"preHook.defaultAction":                   "pushed to the servers",
	"preHook.enabled":                         "pushed to the servers",
	"monitoring.alerts.enabled":               "package monitoring renders the alerts",
	"monitoring.alerts.availability":          "package monitoring",
	"monitoring.alerts.latencyP99":            "package monitoring",
	"monitoring.alerts.labels{}":              "package monitoring",
	"monitoring.alerts.disabled[]":            "package monitoring",
	"monitoring.alerts.runbookURL":            "package monitoring",
	"monitoring.grafana.instanceLabels{}":     "package grafana",
	"monitoring.probe.prober":                 "package monitoring",
	"monitoring.probe.module":                 "package monitoring",
	"monitoring.alerts.overrides[].name":      "package monitoring",
	"monitoring.alerts.overrides[].severity":  "package monitoring",
	"monitoring.alerts.overrides[].threshold": "package monitoring",
	"database.tls.ownerSecretRef.name":        "TestCertificates: only together with clientSecretRef",
	"regions[].volumes[].emptyDir.sizeLimit":  "TestVolumes; sizes that this test sets are invalid",
	"database.requirePinned":                  "part of Ready",
	"database.confirmLocalities{}":            "allows a change that the CRD refuses otherwise",
	"database.maxConnections":                 "TestPoolSize: the pool size is the same for few connections",
	"backup.overdueAfter":                     "package backup",
	"storage.shared":                          "allows what the CRD refuses otherwise",
	"regions[].podPatch.-[]":                  "TestPodPatch",
	"server.logLevel":                         "sent to the servers without a restart",
	"observability.tracing.samplingPercent":   "TestTracingVariables; texts that this test sets are no numbers",
	"monitoring.dashboards":                   "package monitoring renders the dashboard",
	"rollout.maxRegionsRolling":               "package rollout",
	"rollout.soak":                            "package rollout",
	"rollout.maxErrorPercent":                 "package rollout",
	"maintenanceWindows[].days[]":             "package window",
	"maintenanceWindows[].start":              "package window",
	"maintenanceWindows[].duration":           "package window",
	"maintenanceWindows[].timeZone":           "package window",
	"regions[].cluster":                       "TestMemberCluster",
	"regions[].namespace":                     "TestMemberCluster",
	"regions[].evacuateTo":                    "TestEvacuatedInOneCluster: only together with another region",
	"paused":                                  "decides whether objects are applied, not their content",
	"deletionPolicy":                          "package keys sets the owner of the Secrets",
}

// TestEveryField changes each field of the spec by itself: some object changes with it, unless the field is listed in
// unused. So no field of the spec is without effect.
func TestEveryField(t *testing.T) {
	seen := map[string]bool{}
	for _, path := range leaves(reflect.TypeFor[v1alpha1.SocialNetworkSpec](), "", nil) {
		name := path.name
		seen[name] = true
		one, other := withField(path, 1), withField(path, 2)
		changed := !bytes.Equal(everything(t, one), everything(t, other))
		_, listed := unused[name]
		require.Equal(t, !listed, changed, "%s: changes objects: %v, listed as unused: %v", name, changed, listed)
	}
	for name := range unused {
		require.Contains(t, seen, name, "listed as unused, and no field of the spec")
	}
	require.Greater(t, len(seen), 120, "the walk goes into the types of Kubernetes too")
}

// leaf is a field of the spec that is not a struct.
type leaf struct {
	name  string // as in YAML, with [] for a list and {} for a map
	steps []int  // indices of struct fields; pointers, lists and maps in between are created
}

// leaves returns all leaves of a type; steps is the path to it.
func leaves(typ reflect.Type, name string, steps []int) []leaf {
	switch {
	case typ == reflect.TypeFor[resource.Quantity]():
		return []leaf{{name, steps}}
	case typ.Kind() == reflect.Pointer:
		return leaves(typ.Elem(), name, steps)
	case typ.Kind() == reflect.Slice && typ.Elem().Kind() == reflect.Struct:
		return leaves(typ.Elem(), name+"[]", steps)
	case typ.Kind() == reflect.Slice:
		return []leaf{{name + "[]", steps}}
	case typ.Kind() == reflect.Map:
		return []leaf{{name + "{}", steps}}
	case typ.Kind() != reflect.Struct:
		return []leaf{{name, steps}}
	}
	var out []leaf
	for i := range typ.NumField() {
		field := typ.Field(i)
		below := strings.TrimPrefix(name+"."+yamlName(field), ".")
		if field.Anonymous {
			below = name
		}
		out = append(out, leaves(field.Type, below, append(slices.Clip(steps), i))...)
	}
	return out
}

func yamlName(field reflect.StructField) string {
	name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
	return name
}

// withField returns a network with one region in which only the given field is set, to its nth value.
func withField(path leaf, n int) *v1alpha1.SocialNetwork {
	sn := &v1alpha1.SocialNetwork{}
	sn.Name, sn.Namespace = "acme", "social"
	sn.Spec.Regions = []v1alpha1.Region{{Code: v1alpha1.RegionUS}}
	switch { // fields of objects that only exist with another field
	case strings.HasPrefix(path.name, "networkPolicy."):
		sn.Spec.NetworkPolicy.Enabled = true
	case strings.HasPrefix(path.name, "monitoring."):
		sn.Spec.Monitoring.ServiceMonitor = true
	case path.name == "regions[].extraHosts[]":
		sn.Spec.Regions[0].Ingress = &v1alpha1.Ingress{}
	}
	value := reflect.ValueOf(&sn.Spec).Elem()
	for _, step := range path.steps {
		value = reach(value).Field(step)
	}
	fill(value, n)
	return sn
}

// reach creates what value points to, or its first item, until it is a struct.
func reach(value reflect.Value) reflect.Value {
	for {
		switch value.Kind() {
		case reflect.Pointer:
			if value.IsNil() {
				value.Set(reflect.New(value.Type().Elem()))
			}
			value = value.Elem()
		case reflect.Slice:
			if value.Len() == 0 {
				value.Set(reflect.MakeSlice(value.Type(), 1, 1))
			}
			value = value.Index(0)
		default:
			return value
		}
	}
}

// fill sets value to its nth value, which is not zero, except for false.
func fill(value reflect.Value, n int) {
	switch value.Type() {
	case reflect.TypeFor[resource.Quantity]():
		value.Set(reflect.ValueOf(*resource.NewQuantity(int64(n), resource.DecimalSI)))
		return
	case reflect.TypeFor[v1alpha1.RegionCode]():
		value.SetString([]string{"eu", "sg"}[n-1])
		return
	}
	switch value.Kind() {
	case reflect.Pointer:
		value.Set(reflect.New(value.Type().Elem()))
		fill(value.Elem(), n)
	case reflect.Slice:
		value.Set(reflect.MakeSlice(value.Type(), 1, 1))
		fill(value.Index(0), n)
	case reflect.Map:
		content := reflect.New(value.Type().Elem()).Elem()
		fill(content, n)
		value.Set(reflect.MakeMap(value.Type()))
		value.SetMapIndex(reflect.ValueOf("us").Convert(value.Type().Key()), content)
	case reflect.Bool:
		value.SetBool(n == 1)
	case reflect.String:
		value.SetString(fmt.Sprintf("value-%d", n))
	case reflect.Uint8:
		value.SetUint(uint64(n))
	default:
		value.SetInt(int64(n))
	}
}

// everything returns all objects of a network as text.
func everything(t *testing.T, sn *v1alpha1.SocialNetwork) []byte {
	t.Helper()
	var out []byte
	for _, object := range render.Everything(networkOf(sn)) {
		text, err := json.Marshal(object)
		require.NoError(t, err)
		out = append(append(out, text...), '\n')
	}
	return out
}
