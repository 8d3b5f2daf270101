package apply

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Difference returns the path of the first field in which the live object is not what manager wants, such as
// spec.replicas, or "" where an apply would change nothing: manager owns exactly the fields of desired, and each has the
// desired value. A field changed by hand has another owner, or another value; a field that somebody else added is nobody's
// business.
//
// It reads the live object's managedFields, so it needs no schema and knows every kind.
func Difference(live, desired *unstructured.Unstructured, manager string) string {
	owned, ok := ownedFields(live, manager)
	if !ok {
		return "."
	}
	return differs(owned, live.Object, ownable(desired.Object), "")
}

// Owned returns the part of the live object that manager owns: what it applied last, as far as nobody else has taken it over
// since. It is nil where manager applied nothing.
func Owned(live *unstructured.Unstructured, manager string) map[string]any {
	owned, ok := ownedFields(live, manager)
	if !ok {
		return nil
	}
	part, _ := ownedPart(owned, live.Object).(map[string]any)
	return part
}

// LostField returns the path of the first field below path, such as spec, template, that desired has and manager no longer owns, or
// that manager owns and desired does not have; "" for none. Whoever changes a field by hand takes it over; what an admission
// webhook does to an apply stays the manager's. An object that manager never applied has nothing that could be taken.
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
	for _, name := range path {
		if owned, ok = owned["f:"+name]; !ok {
			return strings.Join(path, "."), nil
		}
	}
	return differs(owned, part, part, "."+strings.Join(path, ".")), nil
}

func ownedPart(owned fields, value any) any {
	if isLeaf(owned) {
		return value
	}
	switch have := value.(type) {
	case map[string]any:
		part := map[string]any{}
		for key, below := range owned {
			if name, isField := strings.CutPrefix(key, "f:"); isField {
				if child, there := have[name]; there {
					part[name] = ownedPart(below, child)
				}
			}
		}
		return part
	case []any:
		return ownedItems(owned, have)
	}
	return value
}

func ownedItems(owned fields, list []any) []any {
	var part []any
	for _, item := range list {
		for key, below := range owned {
			if key != "." && isItem(item, key) {
				part = append(part, ownedPart(below, item))
				break
			}
		}
	}
	return part
}

// fields is a FieldsV1: a tree whose keys say what kind of child each is.
type fields map[string]fields

// ownedFields returns what manager owns through server-side apply.
func ownedFields(live *unstructured.Unstructured, manager string) (fields, bool) {
	return fieldsOf(live.GetManagedFields(), manager)
}

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

// ownable leaves out the fields that name an object: they are in what is applied, and nobody owns them.
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

// differs compares the owned part of live with desired, below path.
func differs(owned fields, live, desired any, path string) string {
	if isLeaf(owned) {
		if same(live, desired) {
			return ""
		}
		return orRoot(path)
	}
	switch want := desired.(type) {
	case map[string]any:
		return mapDiffers(owned, live, want, path)
	case []any:
		return listDiffers(owned, live, want, path)
	}
	return orRoot(path)
}

// isLeaf is true where the whole value is owned as one: a scalar, or a list or map that is atomic or empty.
func isLeaf(owned fields) bool {
	for key := range owned {
		if key != "." {
			return false
		}
	}
	return true
}

func mapDiffers(owned fields, live any, desired map[string]any, path string) string {
	have, ok := live.(map[string]any)
	if !ok {
		return orRoot(path)
	}
	for _, key := range sortedKeys(owned) {
		name, isField := strings.CutPrefix(key, "f:")
		if !isField {
			continue
		}
		below := path + "." + name
		want, wanted := desired[name]
		value, there := have[name]
		if !wanted || !there {
			return below[1:]
		}
		if at := differs(owned[key], value, want, below); at != "" {
			return at
		}
	}
	for name := range desired {
		if _, ok := owned["f:"+name]; !ok {
			return (path + "." + name)[1:]
		}
	}
	return ""
}

func listDiffers(owned fields, live any, desired []any, path string) string {
	have, ok := live.([]any)
	if !ok {
		return orRoot(path)
	}
	items := 0
	for _, key := range sortedKeys(owned) {
		if key == "." {
			continue
		}
		items++
		want, wanted := itemOf(desired, key)
		value, there := itemOf(have, key)
		below := path + "[" + key[2:] + "]"
		if !wanted || !there {
			return below[1:]
		}
		if strings.HasPrefix(key, "k:") {
			if at := differs(owned[key], value, want, below); at != "" {
				return at
			}
		}
	}
	if items != len(desired) {
		return orRoot(path)
	}
	return ""
}

// itemOf finds the item of a list that a key of a FieldsV1 names: k:{"name":"x"} by fields, v:"x" by value.
func itemOf(list []any, key string) (any, bool) {
	for _, item := range list {
		if isItem(item, key) {
			return item, true
		}
	}
	return nil, false
}

// isItem is true for the item that a key of a FieldsV1 names.
func isItem(item any, key string) bool {
	var by any
	if len(key) < 2 || json.Unmarshal([]byte(key[2:]), &by) != nil {
		return false
	}
	return strings.HasPrefix(key, "v:") && same(item, by) || strings.HasPrefix(key, "k:") && hasFields(item, by)
}

// hasFields is true for an item that has the fields of a key. A field that the item lacks is one that the server fills
// in before it compares, such as the protocol of a port: it matches.
func hasFields(item, by any) bool {
	have, ok := item.(map[string]any)
	want, isMap := by.(map[string]any)
	if !ok || !isMap {
		return false
	}
	for name, value := range want {
		if has, there := have[name]; there && !same(has, value) {
			return false
		}
	}
	return true
}

// same compares two values of JSON, in which whole numbers come as int64 or float64. What live has beyond desired inside
// a value that is owned as a whole are the server's defaults: a rule of an Ingress, say.
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

func sortedKeys(owned fields) []string {
	keys := make([]string, 0, len(owned))
	for key := range owned {
		keys = append(keys, key)
	}
	slices.Sort(keys)
	return keys
}

func orRoot(path string) string {
	if path == "" {
		return "."
	}
	return path[1:]
}
