package apply

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestAdded checks what others added, and that exactly this is removed.
func TestAdded(t *testing.T) {
	const ours = `{"f:spec":{"f:list":{"k:{\"name\":\"a\"}":{".":{},"f:name":{},"f:x":{}}},"f:atomic":{}}}`
	live := object(t,
		`{kind: K, metadata: {annotations: {x: y}}, spec: {list: [{name: a, x: 1, w: 2}, {name: b}, {name: webhook}], atomic: {k: v}, defaulted: z, replicas: 3}}`, ours)
	theirs := func(manager, owned string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{
			Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(owned),
		}
	}
	live.SetManagedFields(append(live.GetManagedFields(),
		theirs("kubectl-edit",
			`{"f:spec":{"f:absent":{},"f:list":{"k:{\"name\":\"a\"}":{"f:x":{},"f:w":{}},"k:{\"name\":\"b\"}":{".":{},"f:name":{}},"k:{\"name\":\"gone\"}":{}},"f:atomic":{"f:k":{}}}}`),
		theirs(Manager, `{"f:spec":{"f:list":{"k:{\"name\":\"webhook\"}":{}},"f:defaulted":{}}}`),
		theirs("other", `{"f:status":{},"f:metadata":{"f:annotations":{"f:x":{}}}}`),
	))
	autoscaler := theirs("autoscaler", `{"f:spec":{"f:replicas":{}}}`)
	autoscaler.Subresource = "scale"
	live.SetManagedFields(append(live.GetManagedFields(), autoscaler))
	paths, err := Added(live, Manager, "spec")
	require.NoError(t, err)
	require.Equal(t, []string{`spec.list[{"name":"a"}].w`, `spec.list[{"name":"b"}]`}, paths)
	none, err := Added(live, Manager, "metadata")
	require.NoError(t, err)
	require.Empty(t, none, "of a part that manager did not apply")
	additions := added(live.GetManagedFields(), live.Object, Manager, []string{"spec"})
	want := object(t, `{spec: {list: [{name: a, x: 1}, {name: webhook}], atomic: {k: v}, defaulted: z, replicas: 3}}`, "")
	for range 2 { // two managers may have added the same item
		for _, a := range additions {
			remove(live.Object, a)
		}
		require.Equal(t, want.Object["spec"], live.Object["spec"])
	}
}

func TestDescribe(t *testing.T) {
	const ours = `{"f:metadata":{"f:annotations":{"f:plaza.social/template":{}}},"f:spec":{"f:replicas":{},"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"plaza\"}":{"f:name":{},"f:image":{},"f:args":{},"f:env":{"k:{\"name\":\"A\"}":{"f:name":{},"f:value":{}}}}}}}}}`
	live := object(t,
		`{kind: Deployment, metadata: {annotations: {plaza.social/template: x}}, spec: {replicas: 2, template: {spec: {containers: [{name: plaza, image: "p:1", args: [a], env: [{name: A, value: hush}]}]}}}}`, ours)
	desired := object(t,
		`{kind: Deployment, metadata: {annotations: {plaza.social/template: y}}, spec: {replicas: 3, minReadySeconds: 10, template: {spec: {volumes: [{name: v, emptyDir: {}}], containers: [{name: plaza, image: "p:2", args: [a, b], env: [{name: A, value: hush2}, {name: B, value: x}]}]}}}}`, "")
	require.Equal(t, []string{
		"replicas from 2 to 3", "args", "variable A", "image from p:1 to p:2", "minReadySeconds to 10", "2 more", "the pods are replaced",
	}, describe(live, desired, Manager))

	file := object(t, `{kind: ConfigMap, data: {plaza.yaml: "a: 1\nb: 2\nc: 3"}}`, `{"f:data":{"f:plaza.yaml":{}}}`)
	changed := object(t, `{kind: ConfigMap, data: {plaza.yaml: "a: 1\nb: 3\nd: 4"}}`, "")
	require.Equal(t, []string{"settings b, c, d"}, describe(file, changed, Manager))

	secret := object(t, `{kind: Secret, data: {key: aHVzaA==}}`, `{"f:data":{"f:key":{}}}`)
	other := object(t, `{kind: Secret, data: {key: b3RoZXI=}}`, "")
	require.Equal(t, []string{"data.key"}, describe(secret, other, Manager))
}

// TestWord checks how the difference of a field is described.
func TestWord(t *testing.T) {
	long := strings.Repeat("a", maxValue)
	for _, c := range []struct {
		kind, path string
		have, want any
		says       string
	}{
		{"Deployment", "metadata.annotations.plaza.social/template", "a", "b", ""},
		{
			"Deployment", "spec.template.metadata.annotations.plaza.social/configuration", "a", "b",
			"the configuration file or the content of Secrets",
		},
		{"ConfigMap", "data.plaza.yaml", "a: 1\nb: 2\nc: 3", "c: 3\na: 1\nb: 3", "settings b"},
		{"Deployment", "data.plaza.yaml", "a", "b", "data.plaza.yaml from a to b"},
		{"ConfigMap", "metadata.labels.a", "a", "b", "metadata.labels.a from a to b"},
		{"Deployment", "spec.template.spec.containers[plaza].env[A].value", "a", "b", "variable A"},
		{"Deployment", "spec.template.spec.volumes[v].emptyDir", nil, "b", "volume v"},
		{"Deployment", "spec.template.spec.containers[side].name", nil, "side", "container side"},
		{"Deployment", "spec.template.spec.initContainers[side].name", nil, "side", "container side"},
		{"Deployment", "spec.template.spec.containers[plaza].image", "a", "b", "image from a to b"},
		{"Deployment", "spec.template.spec.nodeName", "a", nil, "nodeName from a to its default"},
		{"Deployment", "spec.replicas", nil, int64(2), "replicas to 2"},
		{"Service", "spec.ports[http].port", int64(80), int64(81), "ports[http].port from 80 to 81"},
		{"Secret", "data.key", "a", "b", "data.key"},
		{"Service", "spec.x", long, "b", "x from " + long + " to b"},
		{"Service", "spec.x", long + "a", "b", "x"},
		{"Service", "spec.x", "b", []any{"a"}, "x"},
		{"Service", "spec.x", map[string]any{}, "b", "x"},
	} {
		require.Equal(t, c.says, word(c.kind, c.path, c.have, c.want), c.path)
	}
}

// TestNumberOfWords checks how many differences are described, and of which objects the pods are replaced.
func TestNumberOfWords(t *testing.T) {
	fields := func(prefix string, n int) map[string]any {
		all := map[string]any{}
		for i := range n {
			all[prefix+string(rune('a'+i))] = int64(i)
		}
		return all
	}
	words := func(kind string, spec map[string]any) []string {
		live := object(t, `{kind: `+kind+`, spec: {}}`, `{"f:spec":{}}`)
		desired := object(t, `{kind: `+kind+`}`, "")
		desired.Object["spec"] = spec
		return describe(live, desired, Manager)
	}
	require.Len(t, words("Service", fields("x", maxWords)), maxWords)
	more := words("Service", fields("x", maxWords+2))
	require.Len(t, more, maxWords+1)
	require.Equal(t, "2 more", more[maxWords])
	template := map[string]any{"template": map[string]any{"x": int64(1)}}
	require.Equal(t, []string{"x to 1", "the pods are replaced"}, words("Deployment", template))
	require.Equal(t, []string{"x to 1"}, words("Job", template))
	require.Equal(t, []string{"xa to 0"}, words("Deployment", fields("x", 1)))
}
