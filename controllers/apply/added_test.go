package apply

import (
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestAdded checks what others added, and that exactly this is removed.
func TestAdded(t *testing.T) {
	const ours = `{"f:spec":{"f:list":{"k:{\"name\":\"a\"}":{".":{},"f:name":{},"f:x":{}}},"f:atomic":{}}}`
	live := object(t, `{kind: K, spec: {list: [{name: a, x: 1, w: 2}, {name: b}, {name: webhook}], atomic: {k: v}, defaulted: z}}`, ours)
	theirs := func(manager, owned string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{
			Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(owned),
		}
	}
	live.SetManagedFields(append(live.GetManagedFields(),
		theirs("kubectl-edit", `{"f:spec":{"f:list":{"k:{\"name\":\"a\"}":{"f:x":{},"f:w":{}},"k:{\"name\":\"b\"}":{".":{},"f:name":{}},"k:{\"name\":\"gone\"}":{}},"f:atomic":{"f:k":{}}}}`),
		theirs(Manager, `{"f:spec":{"f:list":{"k:{\"name\":\"webhook\"}":{}},"f:defaulted":{}}}`),
		theirs("other", `{"f:status":{},"f:metadata":{"f:annotations":{}}}`),
	))
	paths, err := Added(live, Manager, "spec")
	require.NoError(t, err)
	require.Equal(t, []string{`spec.list[{"name":"a"}].w`, `spec.list[{"name":"b"}]`}, paths)
	none, err := Added(live, Manager, "metadata")
	require.NoError(t, err)
	require.Empty(t, none)
	for _, a := range added(live.GetManagedFields(), live.Object, Manager, []string{"spec"}) {
		remove(live.Object, a)
	}
	want := object(t, `{spec: {list: [{name: a, x: 1}, {name: webhook}], atomic: {k: v}, defaulted: z}}`, "")
	require.True(t, same(live.Object["spec"], want.Object["spec"]), "%v", live.Object)
}

func TestDescribe(t *testing.T) {
	const ours = `{"f:metadata":{"f:annotations":{"f:plaza.social/template":{}}},"f:spec":{"f:replicas":{},"f:template":{"f:spec":{"f:containers":{"k:{\"name\":\"plaza\"}":{"f:name":{},"f:image":{},"f:args":{},"f:env":{"k:{\"name\":\"A\"}":{"f:name":{},"f:value":{}}}}}}}}}`
	live := object(t, `{kind: Deployment, metadata: {annotations: {plaza.social/template: x}}, spec: {replicas: 2, template: {spec: {containers: [{name: plaza, image: "p:1", args: [a], env: [{name: A, value: hush}]}]}}}}`, ours)
	desired := object(t, `{kind: Deployment, metadata: {annotations: {plaza.social/template: y}}, spec: {replicas: 3, minReadySeconds: 10, template: {spec: {volumes: [{name: v, emptyDir: {}}], containers: [{name: plaza, image: "p:2", args: [a, b], env: [{name: A, value: hush2}, {name: B, value: x}]}]}}}}`, "")
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
