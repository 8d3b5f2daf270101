package apply

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// object parses YAML and sets the fields that the operator owns.
func object(t *testing.T, text, owned string) *unstructured.Unstructured {
	t.Helper()
	u := &unstructured.Unstructured{Object: map[string]any{}}
	require.NoError(t, yaml.Unmarshal([]byte(text), &u.Object))
	if owned != "" {
		u.SetManagedFields([]metav1.ManagedFieldsEntry{{
			Manager: Manager, Operation: metav1.ManagedFieldsOperationApply, FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(owned),
		}})
	}
	return u
}

func TestDifference(t *testing.T) {
	tests := map[string]struct{ live, owned, desired, want string }{
		"the same": {
			`{spec: {a: x, b: 1}}`, `{"f:spec":{"f:a":{},"f:b":{}}}`, `{spec: {a: x, b: 1}}`, "",
		},
		"another value": {
			`{spec: {a: y}}`, `{"f:spec":{"f:a":{}}}`, `{spec: {a: x}}`, "spec.a",
		},
		"one of two fields is another owner's": {
			`{spec: {a: x, b: x}}`, `{"f:spec":{"f:b":{}}}`, `{spec: {a: x, b: x}}`, "spec.a",
		},
		"a field that is no longer desired": {
			`{spec: {a: x, b: x}}`, `{"f:spec":{"f:a":{},"f:b":{}}}`, `{spec: {a: x}}`, "spec.b",
		},
		"a field that was removed": {
			`{spec: {a: x}}`, `{"f:spec":{"f:a":{},"f:b":{}}}`, `{spec: {a: x, b: x}}`, "spec.b",
		},
		"a field of another manager": {
			`{spec: {a: x, other: y}}`, `{"f:spec":{"f:a":{}}}`, `{spec: {a: x}}`, "",
		},
		"part of a map of another manager": {
			`{metadata: {labels: {a: x, b: y}}}`, `{"f:metadata":{"f:labels":{"f:a":{}}}}`, `{metadata: {labels: {a: x}}}`, "",
		},
		"fields that identify an object have no owner": {
			`{apiVersion: v1, kind: K, metadata: {name: n, namespace: s, uid: u, labels: {a: x}}}`, `{"f:metadata":{"f:labels":{"f:a":{}}}}`,
			`{apiVersion: v1, kind: K, metadata: {name: n, namespace: s, labels: {a: x}}}`, "",
		},
		"an item of a list by its key": {
			`{spec: {ports: [{name: b, port: 2}, {name: a, port: 1}]}}`,
			`{"f:spec":{"f:ports":{"k:{\"name\":\"a\"}":{".":{},"f:name":{},"f:port":{}}}}}`, `{spec: {ports: [{name: a, port: 1}]}}`, "",
		},
		"another value in an item": {
			`{spec: {ports: [{name: a, port: 9}]}}`,
			`{"f:spec":{"f:ports":{"k:{\"name\":\"a\"}":{".":{},"f:name":{},"f:port":{}}}}}`, `{spec: {ports: [{name: a, port: 1}]}}`,
			`spec.ports[{"name":"a"}].port`,
		},
		"an item more is wanted": {
			`{spec: {ports: [{name: a}]}}`, `{"f:spec":{"f:ports":{"k:{\"name\":\"a\"}":{"f:name":{}}}}}`,
			`{spec: {ports: [{name: a}, {name: b}]}}`, "spec.ports",
		},
		"an item is gone": {
			`{spec: {ports: []}}`, `{"f:spec":{"f:ports":{"k:{\"name\":\"a\"}":{"f:name":{}}}}}`, `{spec: {ports: [{name: a}]}}`,
			`spec.ports[{"name":"a"}]`,
		},
		"a part of the key is the server's default": {
			`{spec: {ports: [{port: 1, protocol: TCP}]}}`, `{"f:spec":{"f:ports":{"k:{\"port\":1,\"protocol\":\"TCP\"}":{"f:port":{}}}}}`,
			`{spec: {ports: [{port: 1}]}}`, "",
		},
		"a set by its values": {
			`{metadata: {finalizers: [a, other]}}`, `{"f:metadata":{"f:finalizers":{"v:\"a\"":{}}}}`, `{metadata: {finalizers: [a]}}`, "",
		},
		"a value of a set is gone": {
			`{metadata: {finalizers: [other]}}`, `{"f:metadata":{"f:finalizers":{"v:\"a\"":{}}}}`, `{metadata: {finalizers: [a]}}`,
			`metadata.finalizers["a"]`,
		},
		"a list that is owned as one": {
			`{spec: {args: [a, b]}}`, `{"f:spec":{"f:args":{}}}`, `{spec: {args: [a, b]}}`, "",
		},
		"a list that is owned as one, in another order": {
			`{spec: {args: [b, a]}}`, `{"f:spec":{"f:args":{}}}`, `{spec: {args: [a, b]}}`, "spec.args",
		},
		"defaults within a value that is owned as one": {
			`{spec: {rules: [{a: x, defaulted: y}]}}`, `{"f:spec":{"f:rules":{}}}`, `{spec: {rules: [{a: x}]}}`, "",
		},
		"an empty map is not one with something in it": {
			`{spec: {dir: {medium: Memory}}}`, `{"f:spec":{"f:dir":{}}}`, `{spec: {dir: {}}}`, "spec.dir",
		},
		"a map where a scalar was": {
			`{spec: {a: x}}`, `{"f:spec":{"f:a":{"f:b":{}}}}`, `{spec: {a: {b: x}}}`, "spec.a",
		},
		"a scalar is wanted where a map is owned": {
			`{spec: {a: {b: x}}}`, `{"f:spec":{"f:a":{"f:b":{}}}}`, `{spec: {a: x}}`, "spec.a",
		},
		"nothing is owned": {`{spec: {a: x}}`, ``, `{spec: {a: x}}`, "."},
		"no fields that can be read": {
			`{spec: {a: x}}`, `[]`, `{spec: {a: x}}`, ".",
		},
		"an item with a key that cannot be read": {
			`{spec: {ports: [{name: a}]}}`, `{"f:spec":{"f:ports":{"k:{":{"f:name":{}}}}}`, `{spec: {ports: [{name: a}]}}`, "spec.ports[{]",
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, test.want, Difference(object(t, test.live, test.owned), object(t, test.desired, ""), Manager))
		})
	}
}

// TestDifferenceOfOneManager ignores the fields of other managers, and those of the same manager with another
// operation.
func TestDifferenceOfOneManager(t *testing.T) {
	live := object(t, `{spec: {a: x}}`, `{"f:spec":{"f:a":{}}}`)
	entry := live.GetManagedFields()[0]
	for name, change := range map[string]func(*metav1.ManagedFieldsEntry){
		"another manager":  func(e *metav1.ManagedFieldsEntry) { e.Manager = "user" },
		"an update":        func(e *metav1.ManagedFieldsEntry) { e.Operation = metav1.ManagedFieldsOperationUpdate },
		"the status":       func(e *metav1.ManagedFieldsEntry) { e.Subresource = "status" },
		"no fields at all": func(e *metav1.ManagedFieldsEntry) { e.FieldsV1 = nil },
	} {
		t.Run(name, func(t *testing.T) {
			other := *entry.DeepCopy()
			change(&other)
			live.SetManagedFields([]metav1.ManagedFieldsEntry{other})
			require.Equal(t, ".", Difference(live, object(t, `{spec: {a: x}}`, ""), Manager))
			require.Nil(t, Owned(live, Manager))
		})
	}
}

func TestOwned(t *testing.T) {
	live := object(t,
		`{metadata: {labels: {a: x, other: y}, finalizers: [a, other]}, spec: {replicas: 3, args: [a, b], ports: [{name: b, port: 2}, {name: a, port: 1, other: y}]}}`,
		`{"f:metadata":{"f:labels":{"f:a":{}},"f:finalizers":{"v:\"a\"":{}}},"f:spec":{"f:gone":{},"f:args":{},"f:ports":{"k:{\"name\":\"a\"}":{".":{},"f:name":{},"f:port":{}}}}}`)
	text, err := json.Marshal(Owned(live, Manager))
	require.NoError(t, err)
	require.JSONEq(t, `{"metadata":{"labels":{"a":"x"},"finalizers":["a"]},"spec":{"args":["a","b"],"ports":[{"name":"a","port":1}]}}`,
		string(text))
	again := object(t, string(text), "")
	again.SetManagedFields(nil)
	require.Equal(t, "spec.gone", Difference(live, again, Manager))
}

func TestOwns(t *testing.T) {
	const replicas = `{"f:spec":{"f:replicas":{}}}`
	for name, test := range map[string]struct {
		manager, subresource, fields string
		operation                    metav1.ManagedFieldsOperationType
		want                         bool
	}{
		"ours":             {Manager, "", replicas, "Apply", true},
		"another's":        {"other", "", replicas, "Apply", false},
		"not applied":      {Manager, "", replicas, "Update", false},
		"of a subresource": {Manager, "scale", replicas, "Apply", false},
		"other fields":     {Manager, "", `{"f:spec":{"f:template":{}}}`, "Apply", false},
		"unknown form":     {Manager, "", `[]`, "Apply", false},
	} {
		live := object(t, `{spec: {replicas: 4}}`, "")
		live.SetManagedFields([]metav1.ManagedFieldsEntry{{
			Manager: test.manager, Operation: test.operation, Subresource: test.subresource, FieldsV1: metav1.NewFieldsV1(test.fields),
		}})
		require.Equal(t, test.want, Owns(live, Manager, "spec", "replicas"), name)
	}
	live := object(t, `{spec: {replicas: 4}}`, "")
	live.SetManagedFields([]metav1.ManagedFieldsEntry{{Manager: Manager, Operation: "Apply"}})
	require.False(t, Owns(live, Manager, "spec", "replicas"), "no fields")
}

// TestLostField compares the ownership of spec.template, not its values.
func TestLostField(t *testing.T) {
	const desired = `{spec: {replicas: 2, template: {a: x, list: [{name: c, image: i}]}}}`
	for name, test := range map[string]struct{ owned, want string }{
		"never applied": {"", ""},
		"all of it":     {`{"f:spec":{"f:template":{"f:a":{},"f:list":{"k:{\"name\":\"c\"}":{".":{},"f:name":{},"f:image":{}}}}}}`, ""},
		"a field":       {`{"f:spec":{"f:template":{"f:list":{"k:{\"name\":\"c\"}":{".":{},"f:name":{},"f:image":{}}}}}}`, "spec.template.a"},
		"a field of an item": {
			`{"f:spec":{"f:template":{"f:a":{},"f:list":{"k:{\"name\":\"c\"}":{".":{},"f:name":{}}}}}}`, `spec.template.list[{"name":"c"}].image`,
		},
		"an item":    {`{"f:spec":{"f:template":{"f:a":{},"f:list":{}}}}`, ""}, // owned as a whole
		"everything": {`{"f:spec":{"f:replicas":{}}}`, "spec.template"},
		"more than ours": {
			`{"f:spec":{"f:template":{"f:a":{},"f:b":{},"f:list":{"k:{\"name\":\"c\"}":{".":{},"f:name":{},"f:image":{}}}}}}`,
			"spec.template.b",
		},
		"another field": {`{"f:spec":{"f:template":{"f:a":{},"f:list":{}}}}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			live := object(t, `{spec: {replicas: 3, template: {a: y, list: []}}}`, test.owned)
			at, err := LostField(live, object(t, desired, ""), Manager, "spec", "template")
			require.NoError(t, err)
			require.Equal(t, test.want, at)
		})
	}
}
