// Package apply brings objects to the API server by server-side apply, and only where that would change something.
package apply

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/client-go/util/csaupgrade"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/apiutil"
)

// Manager is the field manager of every object that the operator makes.
const Manager = "plaza-operator"

// Mode is how an object is brought to the API server.
type Mode int

const (
	// Converge applies whenever the live object differs.
	Converge Mode = iota
	// CreateOnly makes the object where there is none, and leaves one that is there alone. A stale cache cannot make it twice.
	CreateOnly
	// Locked applies only upon the version of the live object from which desired was made: its resourceVersion. A stale
	// cache gives a conflict, and the next pass sees the newer object.
	Locked
)

// Applier applies objects.
type Applier struct {
	// Client writes, and reads from the cache.
	Client client.Client
	// Fresh reads from the API server.
	Fresh client.Reader
	// Manager is the field manager; empty: the operator's.
	Manager string
}

// ErrStale says that the cache did not hold the newest version of an object: look again in a moment.
var ErrStale = errors.New("the cache is behind")

// managedBy marks every object of ours.
const managedBy = "app.kubernetes.io/managed-by"

// Change is what bringing one object to the API server would do, or did.
type Change struct {
	Object client.Object
	// At is the first field that differs; "." for an object that is not there, or not ours yet. Empty: nothing to do.
	At string
	// Created is true where there was no object.
	Created bool
}

// String names the change for a person: Deployment acme-eu: spec.template.
func (c Change) String() string {
	kind := c.Object.GetObjectKind().GroupVersionKind().Kind
	switch {
	case c.Created:
		return fmt.Sprintf("create %s %s", kind, c.Object.GetName())
	case c.At == ".":
		return fmt.Sprintf("take over %s %s", kind, c.Object.GetName())
	}
	return fmt.Sprintf("change %s %s at %s", kind, c.Object.GetName(), c.At)
}

// Plan says what Apply would do with desired, and writes nothing.
func (a Applier) Plan(ctx context.Context, desired client.Object, mode Mode) (Change, error) {
	if err := a.identify(desired); err != nil {
		return Change{}, err
	}
	live, err := a.live(ctx, desired)
	if apierrors.IsNotFound(err) {
		return Change{Object: desired, At: ".", Created: true}, nil
	}
	if err != nil {
		return Change{}, err
	}
	if mode == CreateOnly {
		return Change{Object: desired}, nil
	}
	want, err := Unstructured(desired)
	if err != nil {
		return Change{}, err
	}
	return Change{Object: desired, At: Difference(live, want, a.manager())}, nil
}

// Apply brings desired to the API server, where that changes something.
func (a Applier) Apply(ctx context.Context, desired client.Object, mode Mode) (Change, error) {
	change, err := a.Plan(ctx, desired, mode)
	if err != nil || change.At == "" {
		return change, err
	}
	return change, a.write(ctx, desired, mode, change.Created)
}

func (a Applier) write(ctx context.Context, desired client.Object, mode Mode, create bool) error {
	want, err := Unstructured(desired)
	if err != nil {
		return err
	}
	if create && mode == Locked && desired.GetResourceVersion() != "" {
		return fmt.Errorf("%w: %s is gone", ErrStale, desired.GetName())
	}
	if create && mode != Converge {
		err := a.create(ctx, want, mode)
		if apierrors.IsAlreadyExists(err) && a.isOurs(ctx, desired) {
			err = fmt.Errorf("%w: %w", ErrStale, err)
		}
		return err
	}
	if mode == Locked {
		want.SetResourceVersion(desired.GetResourceVersion())
	}
	err = a.Client.Apply(ctx, client.ApplyConfigurationFromUnstructured(want), client.FieldOwner(a.manager()), client.ForceOwnership)
	return wrap(err, "apply", desired)
}

func (a Applier) manager() string {
	if a.Manager == "" {
		return Manager
	}
	return a.Manager
}

// isOurs is true for an object that the operator made and that the cache will hold: one that is there without our label is
// somebody else's.
func (a Applier) isOurs(ctx context.Context, desired client.Object) bool {
	live, ok := desired.DeepCopyObject().(client.Object)
	if !ok || a.Fresh == nil || a.Fresh.Get(ctx, client.ObjectKeyFromObject(desired), live) != nil {
		return false
	}
	return live.GetLabels()[managedBy] == desired.GetLabels()[managedBy]
}

// create makes an object that must not be there yet. What Create writes is owned by an update, and a later apply would not
// take away what it leaves out; so the ownership is turned into that of an apply, where there will be one.
func (a Applier) create(ctx context.Context, want *unstructured.Unstructured, mode Mode) error {
	if err := a.Client.Create(ctx, want, client.FieldOwner(a.manager())); err != nil || mode == CreateOnly {
		return wrap(err, "create", want)
	}
	patch, err := csaupgrade.UpgradeManagedFieldsPatch(want, sets.New(a.manager()), a.manager())
	if err != nil || patch == nil {
		return wrap(err, "own", want)
	}
	return wrap(a.Client.Patch(ctx, want, client.RawPatch(types.JSONPatchType, patch)), "own", want)
}

func wrap(err error, verb string, object client.Object) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s %s %s: %w", verb, object.GetObjectKind().GroupVersionKind().Kind, object.GetName(), err)
}

// identify fills apiVersion and kind, which typed objects leave out.
func (a Applier) identify(object client.Object) error {
	gvk, err := apiutil.GVKForObject(object, a.Client.Scheme())
	if err != nil {
		return fmt.Errorf("kind of %T: %w", object, err)
	}
	object.GetObjectKind().SetGroupVersionKind(gvk)
	return nil
}

// live reads the object from the cache, as the type that desired has, so that one informer serves every reader.
func (a Applier) live(ctx context.Context, desired client.Object) (*unstructured.Unstructured, error) {
	copied, ok := desired.DeepCopyObject().(client.Object)
	if !ok {
		return nil, fmt.Errorf("%T is no object", desired)
	}
	if err := a.Client.Get(ctx, client.ObjectKeyFromObject(desired), copied); err != nil {
		return nil, err
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(copied)
	if err != nil {
		return nil, fmt.Errorf("reading %T: %w", copied, err)
	}
	return &unstructured.Unstructured{Object: content}, nil
}

// Unstructured returns what is sent: without status, and without the fields that Go's types print though they are unset.
func Unstructured(object client.Object) (*unstructured.Unstructured, error) {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err != nil {
		return nil, fmt.Errorf("writing %T: %w", object, err)
	}
	if _, shared := object.(*unstructured.Unstructured); shared {
		content = runtime.DeepCopyJSON(content)
	}
	delete(content, "status")
	dropUnset(content)
	want := &unstructured.Unstructured{Object: content}
	want.SetManagedFields(nil)
	want.SetResourceVersion("")
	return want, nil
}

// unset are fields that Go's types print as null or {} when nothing was said about them.
var unset = map[string]bool{"creationTimestamp": true, "resources": true, "strategy": true, "updateStrategy": true}

func dropUnset(value any) {
	switch v := value.(type) {
	case map[string]any:
		for name, child := range v {
			if empty, ok := child.(map[string]any); child == nil || ok && len(empty) == 0 && unset[name] {
				delete(v, name)
				continue
			}
			dropUnset(child)
		}
	case []any:
		for _, child := range v {
			dropUnset(child)
		}
	}
}

// Delete removes an object, and everything that it owns in the background. An object that is gone is no error.
func (a Applier) Delete(ctx context.Context, object client.Object) error {
	if err := a.identify(object); err != nil {
		return err
	}
	options := []client.DeleteOption{client.PropagationPolicy(metav1.DeletePropagationBackground)}
	if uid := object.GetUID(); uid != "" {
		options = append(options, client.Preconditions{UID: &uid})
	}
	err := a.Client.Delete(ctx, object, options...)
	if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
		return nil
	}
	return wrap(err, "delete", object)
}
