package apply

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Difference returns the path of the first field of the live object that an apply by manager would change, such as
// spec.replicas, or "" if there is none: manager owns exactly the fields of desired, and each has the desired value. A field
// that was edited by hand has another owner or another value; fields that others added are ignored.
//
// It compares the live object's managedFields with desired, so it needs no schema and works for every kind. The items of lists
// are matched leniently, as hasFields describes; structured-merge-diff needs a schema to do that.
func Difference(live, desired *unstructured.Unstructured, manager string) string {
	owned, ok := fieldsOf(live.GetManagedFields(), manager)
	if !ok {
		return "."
	}
	return differs(owned, live.Object, ownable(desired.Object), "")
}

// Owned returns the part of the live object that manager owns: the fields that it applied last, without those that others have
// changed since. It is nil if manager never applied the object.
func Owned(live *unstructured.Unstructured, manager string) map[string]any {
	owned, ok := fieldsOf(live.GetManagedFields(), manager)
	if !ok {
		return nil
	}
	part, _ := ownedPart(owned, live.Object).(map[string]any)
	return part
}

// LostField returns the path of the first field below path, such as spec, template, that desired has and manager no longer owns,
// or that manager owns and desired does not have; "" if there is none. An edit by hand takes over the ownership of a field; a
// change by an admission webhook does not. An object that manager never applied has no lost fields.
func LostField(live client.Object, desired client.Object, manager string, path ...string) (string, error) {
	owned, ok := fieldsOf(live.GetManagedFields(), manager)
	if !ok {
		return "", nil
	}
	want, err := Unstructured(desired)
	if err != nil {
		return "", err
	}
	part, _, err := unstructured.NestedFieldNoCopy(want.Object, path...)
	if err != nil {
		return "", fmt.Errorf("reading %T: %w", desired, err)
	}
	if owned = owned.below(path); owned == nil {
		return strings.Join(path, "."), nil
	}
	return differs(owned, part, part, "."+strings.Join(path, ".")), nil
}

// Owns reports whether manager applied the field at path of an object, or a part of it.
func Owns(object client.Object, manager string, path ...string) bool {
	owned, _ := fieldsOf(object.GetManagedFields(), manager)
	return owned.below(path) != nil
}

func ownedPart(owned fields, value any) any {
	if isLeaf(owned) {
		return value
	}
	switch have := value.(type) {
	case map[string]any:
		part := map[string]any{}
		for key, below := range owned {
			if child, ok := childOf(have, key); ok {
				part[strings.TrimPrefix(key, "f:")] = ownedPart(below, child)
			}
		}
		return part
	case []any:
		var part []any
		for _, item := range have {
			for key, below := range owned {
				if isItem(item, key) {
					part = append(part, ownedPart(below, item))
					break
				}
			}
		}
		return part
	}
	return value
}

// fields is a FieldsV1: a tree with keys f:<field>, k:<key of a list item>, v:<value of a list item> and ".".
type fields map[string]fields

// below returns the fields below a path, or nil if there are none.
func (f fields) below(path []string) fields {
	for _, name := range path {
		f = f["f:"+name]
	}
	return f
}

// fieldsOf returns the fields that manager applied.
func fieldsOf(entries []metav1.ManagedFieldsEntry, manager string) (fields, bool) {
	for _, entry := range entries {
		if entry.Manager != manager || entry.Operation != metav1.ManagedFieldsOperationApply || entry.Subresource != "" || entry.FieldsV1 == nil {
			continue
		}
		var owned fields
		if err := json.Unmarshal(entry.FieldsV1.GetRawBytes(), &owned); err != nil {
			return nil, false
		}
		return owned, true
	}
	return nil, false
}

// ownable removes the fields that identify an object, which have no owner.
func ownable(object map[string]any) map[string]any {
	rest := make(map[string]any, len(object))
	for name, value := range object {
		if name != "apiVersion" && name != "kind" {
			rest[name] = value
		}
	}
	if metadata, ok := rest["metadata"].(map[string]any); ok {
		own := map[string]any{}
		for _, name := range []string{"labels", "annotations", "ownerReferences", "finalizers"} {
			if value, ok := metadata[name]; ok {
				own[name] = value
			}
		}
		rest["metadata"] = own
	}
	return rest
}

// differs returns the path of the first difference between the owned part of live and desired, below path.
func differs(owned fields, live, desired any, path string) string {
	if isLeaf(owned) {
		if same(live, desired) {
			return ""
		}
		return orRoot(path)
	}
	if reflect.TypeOf(live) != reflect.TypeOf(desired) {
		return orRoot(path)
	}
	items := 0
	for _, key := range slices.Sorted(maps.Keys(owned)) {
		if key == "." {
			continue
		}
		items++
		below := path + "[" + key[2:] + "]"
		if name, isField := strings.CutPrefix(key, "f:"); isField {
			below = path + "." + name
		}
		value, exists := childOf(live, key)
		want, wanted := childOf(desired, key)
		if !exists || !wanted {
			return below[1:]
		}
		if at := differs(owned[key], value, want, below); at != "" {
			return at
		}
	}
	switch want := desired.(type) {
	case map[string]any:
		for name := range want {
			if _, ok := owned["f:"+name]; !ok {
				return (path + "." + name)[1:]
			}
		}
	case []any:
		if items != len(want) {
			return orRoot(path)
		}
	}
	return ""
}

// isLeaf reports whether a value is owned as a whole: a scalar, or an atomic or empty list or map.
func isLeaf(owned fields) bool {
	_, exists := owned["."]
	return len(owned) == 0 || len(owned) == 1 && exists
}

// childOf returns the field of a map or the item of a list with a key of a FieldsV1: f:x, k:{"name":"x"} or v:"x".
func childOf(value any, key string) (any, bool) {
	switch of := value.(type) {
	case map[string]any:
		name, isField := strings.CutPrefix(key, "f:")
		child, ok := of[name]
		return child, ok && isField
	case []any:
		if i := slices.IndexFunc(of, func(item any) bool { return isItem(item, key) }); i >= 0 {
			return of[i], true
		}
	}
	return nil, false
}

// isItem reports whether an item has a key of a FieldsV1.
func isItem(item any, key string) bool {
	var by any
	if len(key) < 2 || json.Unmarshal([]byte(key[2:]), &by) != nil {
		return false
	}
	return strings.HasPrefix(key, "v:") && same(item, by) || strings.HasPrefix(key, "k:") && hasFields(item, by)
}

// hasFields reports whether an item has the fields of a key. A missing field matches: it has a default that the API server sets,
// such as the protocol of a port.
func hasFields(item, by any) bool {
	have, ok := item.(map[string]any)
	want, isMap := by.(map[string]any)
	if !ok || !isMap {
		return false
	}
	for name, value := range want {
		if has, ok := have[name]; ok && !same(has, value) {
			return false
		}
	}
	return true
}

// same compares two JSON values, in which integers are int64 or float64. Inside a value that is owned as a whole, such as a rule
// of an Ingress, additional fields of live are defaults of the API server.
func same(live, desired any) bool {
	switch want := desired.(type) {
	case map[string]any:
		have, ok := live.(map[string]any)
		if !ok || len(want) == 0 && len(have) != 0 {
			return false
		}
		for name, value := range want {
			if !same(have[name], value) {
				return false
			}
		}
		return true
	case []any:
		have, ok := live.([]any)
		if !ok || len(have) != len(want) {
			return false
		}
		for i, value := range want {
			if !same(have[i], value) {
				return false
			}
		}
		return true
	}
	if text, ok := live.(string); ok && isDigest(text) {
		want, ok := desired.(string)
		return ok && (text == want || text == digestOf(want))
	}
	if a, ok := number(live); ok {
		b, ok := number(desired)
		return ok && a == b
	}
	return reflect.DeepEqual(live, desired)
}

func number(v any) (float64, bool) {
	switch n := v.(type) {
	case int64:
		return float64(n), true
	case float64:
		return n, true
	case int:
		return float64(n), true
	}
	return 0, false
}

func orRoot(path string) string {
	if path == "" {
		return "."
	}
	return path[1:]
}
