package apply

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Added returns the paths below path, such as spec, template, of what other managers than manager added to an object by hand: an
// environment variable, a container, a port. What an admission webhook adds while manager applies the object belongs to manager
// and is not among them.
func Added(object client.Object, manager string, path ...string) ([]string, error) {
	live, err := Unstructured(object)
	if err != nil {
		return nil, err
	}
	var paths []string
	for _, a := range added(object.GetManagedFields(), live.Object, manager, path) {
		paths = append(paths, a.String())
	}
	return paths, nil
}

// addition is the keys of a FieldsV1 that lead to an added value.
type addition []string

func (a addition) String() string {
	var text strings.Builder
	for _, key := range a {
		if name, isField := strings.CutPrefix(key, "f:"); isField {
			text.WriteString("." + name)
		} else {
			text.WriteString("[" + key[2:] + "]")
		}
	}
	return strings.TrimPrefix(text.String(), ".")
}

func added(entries []metav1.ManagedFieldsEntry, live any, manager string, path []string) []addition {
	own, _ := fieldsOf(entries, manager)
	own = own.below(path)
	var start addition
	for _, name := range path {
		live, _ = childOf(live, "f:"+name)
		start = append(start, "f:"+name)
	}
	var all []addition
	for _, entry := range entries {
		if entry.Manager == manager || entry.Subresource != "" {
			continue
		}
		foreign, ok := fieldsOf([]metav1.ManagedFieldsEntry{{
			Manager: entry.Manager, Operation: metav1.ManagedFieldsOperationApply, FieldsV1: entry.FieldsV1,
		}}, entry.Manager)
		if ok && own != nil {
			all = append(all, beyond(foreign.below(path), own, live, start)...)
		}
	}
	return all
}

// beyond returns what foreign has, exists, and own does not have.
func beyond(foreign, own fields, live any, at addition) []addition {
	var all []addition
	for _, key := range slices.Sorted(maps.Keys(foreign)) {
		value, exists := childOf(live, key)
		if key == "." || !exists {
			continue
		}
		below := append(slices.Clone(at), key)
		mine, shared := own[key]
		switch {
		case !shared:
			all = append(all, below)
		case !isLeaf(mine):
			all = append(all, beyond(foreign[key], mine, value, below)...)
		}
	}
	return all
}

// prune removes what others added below path, on top of the object's current version.
func (a Applier) prune(ctx context.Context, desired client.Object, path []string) error {
	current := &unstructured.Unstructured{}
	current.SetGroupVersionKind(desired.GetObjectKind().GroupVersionKind())
	if err := a.APIReader.Get(ctx, client.ObjectKeyFromObject(desired), current); err != nil {
		return wrap(err, "read", desired)
	}
	pruned := current.DeepCopy()
	for _, addition := range added(current.GetManagedFields(), current.Object, a.manager(), path) {
		remove(pruned.Object, addition)
	}
	patch := client.MergeFromWithOptions(current, client.MergeFromWithOptimisticLock{})
	err := a.Client.Patch(ctx, pruned, patch, client.FieldOwner(a.manager()))
	if apierrors.IsConflict(err) {
		return fmt.Errorf("%w: %w", ErrStale, err)
	}
	return wrap(err, "prune", desired)
}

// remove removes the value at a path and returns the rest.
func remove(value any, path addition) any {
	key := path[0]
	switch of := value.(type) {
	case map[string]any:
		name := strings.TrimPrefix(key, "f:")
		if len(path) == 1 {
			delete(of, name)
		} else {
			of[name] = remove(of[name], path[1:])
		}
		return of
	case []any:
		i := slices.IndexFunc(of, func(item any) bool { return isItem(item, key) })
		switch {
		case i < 0:
		case len(path) == 1:
			return slices.Delete(of, i, i+1)
		default:
			of[i] = remove(of[i], path[1:])
		}
		return of
	default:
		return value
	}
}
