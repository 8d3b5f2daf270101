// Package apply writes objects to the API server with server-side apply, and only if that would change something.
package apply

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

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
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

// Manager is the field manager of the operator.
const Manager = "plaza-operator"

// Mode determines how an object is written.
type Mode int

const (
	// Converge applies the object if the live object differs.
	Converge Mode = iota
	// CreateOnly creates the object if it does not exist, and never changes an existing one. A stale cache cannot
	// create it twice.
	CreateOnly
	// Locked applies the object only on top of the live version that it was computed from, given by its
	// resourceVersion. A stale cache causes a conflict, and a later pass uses the newer object.
	Locked
)

// Applier applies objects.
type Applier struct {
	// Client writes, and reads from the cache.
	Client client.Client
	// APIReader reads from the API server.
	APIReader client.Reader
	// Manager is the field manager; empty means the operator's.
	Manager string
	// Prune is the path of the part of the object from which Apply removes what others added, such as spec, template, spec;
	// nil means none.
	Prune []string
}

// ErrStale is returned if the cache does not hold the current version of an object; retry after a short time.
var ErrStale = errors.New("the cache is stale")

// Labels: managedBy is that of every object that the operator creates, ownerNamespace is that of objects in member
// clusters, which have no owner reference.
const (
	managedBy      = "app.kubernetes.io/managed-by"
	ownerNamespace = "plaza.social/owner-namespace"
)

// ErrForeign is returned for an object in a member cluster that belongs to another network of the same name.
var ErrForeign = errors.New("it belongs to another network")

// isForeign reports whether an object in a member cluster belongs to another network: of another namespace, or of the operator
// there. One of the same namespace and name is left over from an earlier network.
func isForeign(live, desired client.Object) bool {
	if desired.GetLabels()[ownerNamespace] == "" {
		return false
	}
	from := live.GetLabels()[ownerNamespace]
	return from != "" && from != desired.GetLabels()[ownerNamespace] || metav1.GetControllerOf(live) != nil
}

// Change describes what an apply changes.
type Change struct {
	Object client.Object
	// At is the path of the first field that differs, "." for an object that does not exist or is not managed yet, or
	// empty if nothing differs.
	At string
	// Created reports whether the object does not exist yet.
	Created bool
	// Words are the differences in words, if the object exists.
	Words []string
	// Added are the paths of what others added and Apply removes.
	Added []string
}

// IsEmpty reports whether nothing differs.
func (c Change) IsEmpty() bool { return c.At == "" && len(c.Added) == 0 }

// String returns a description for users, such as: change Deployment acme-eu: image from a to b.
func (c Change) String() string {
	kind := c.Object.GetObjectKind().GroupVersionKind().Kind
	switch {
	case c.Created:
		return fmt.Sprintf("create %s %s", kind, c.Object.GetName())
	case c.At == ".":
		return fmt.Sprintf("adopt %s %s", kind, c.Object.GetName())
	}
	words := slices.Clone(c.Words)
	if len(words) == 0 && c.At != "" {
		words = append(words, c.At)
	}
	for _, added := range c.Added[:min(len(c.Added), maxWords)] {
		words = append(words, "remove "+added)
	}
	return fmt.Sprintf("change %s %s: %s", kind, c.Object.GetName(), strings.Join(words, "; "))
}

// Plan returns what Apply would change, without writing anything.
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
	if isForeign(live, desired) {
		return Change{}, fmt.Errorf("%s %s: %w", desired.GetObjectKind().GroupVersionKind().Kind, desired.GetName(), ErrForeign)
	}
	if mode == CreateOnly {
		return Change{Object: desired}, nil
	}
	want, err := Unstructured(desired)
	if err != nil {
		return Change{}, err
	}
	change := Change{Object: desired, At: Difference(live, want, a.manager())}
	if change.At != "" && change.At != "." {
		change.Words = describe(live, want, a.manager())
	}
	if a.Prune != nil {
		for _, added := range added(live.GetManagedFields(), live.Object, a.manager(), a.Prune) {
			change.Added = append(change.Added, added.String())
		}
	}
	return change, nil
}

// Apply writes desired to the API server if that changes something.
func (a Applier) Apply(ctx context.Context, desired client.Object, mode Mode) (Change, error) {
	change, err := a.Plan(ctx, desired, mode)
	if err != nil || change.IsEmpty() {
		return change, err
	}
	if change.At != "" {
		if err := a.write(ctx, desired, mode, change.Created); err != nil {
			return change, err
		}
	}
	if len(change.Added) > 0 && mode == Locked && change.At == "" {
		return change, fmt.Errorf("%w: %s has additions", ErrStale, desired.GetName()) // of a version that was not read
	}
	if len(change.Added) > 0 {
		return change, a.prune(ctx, desired, a.Prune)
	}
	return change, nil
}

func (a Applier) write(ctx context.Context, desired client.Object, mode Mode, create bool) error {
	want, err := Unstructured(desired)
	if err != nil {
		return err
	}
	if create && mode == Locked && desired.GetResourceVersion() != "" {
		return fmt.Errorf("%w: %s does not exist", ErrStale, desired.GetName())
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

func (a Applier) manager() string { return cmp.Or(a.Manager, Manager) }

// isOurs reports whether the operator created the object, so that the cache will hold it. An object without our label
// belongs to a user.
func (a Applier) isOurs(ctx context.Context, desired client.Object) bool {
	live := copyOf(desired)
	if a.APIReader == nil || a.APIReader.Get(ctx, client.ObjectKeyFromObject(desired), live) != nil {
		return false
	}
	return live.GetLabels()[managedBy] == desired.GetLabels()[managedBy]
}

// create creates an object that must not exist yet. The fields that Create writes are owned by an update, so a later
// apply would not remove those that it leaves out; unless mode is CreateOnly, their ownership is converted to that of
// an apply.
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

func copyOf(object client.Object) client.Object { return object.DeepCopyObject().(client.Object) }

// identify sets apiVersion and kind, which typed objects leave out.
func (a Applier) identify(object client.Object) error {
	gvk, err := apiutil.GVKForObject(object, a.Client.Scheme())
	if err != nil {
		return fmt.Errorf("kind of %T: %w", object, err)
	}
	object.GetObjectKind().SetGroupVersionKind(gvk)
	return nil
}

// live reads the object from the cache with the type of desired, so that one informer serves all readers.
func (a Applier) live(ctx context.Context, desired client.Object) (*unstructured.Unstructured, error) {
	copied := copyOf(desired)
	if err := a.Client.Get(ctx, client.ObjectKeyFromObject(desired), copied); err != nil {
		return nil, err
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(copied)
	if err != nil {
		return nil, fmt.Errorf("reading %T: %w", copied, err)
	}
	return &unstructured.Unstructured{Object: content}, nil
}

// Unstructured returns the object as it is sent: without status, and without the unset fields that Go types marshal.
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

// unset are fields that Go types marshal as null or {} when they are not set.
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

// Release removes a finalizer from the version of an object that was read.
func (a Applier) Release(ctx context.Context, object client.Object, finalizer string) error {
	released := copyOf(object)
	if !controllerutil.RemoveFinalizer(released, finalizer) {
		return nil
	}
	patch := client.MergeFromWithOptions(object, client.MergeFromWithOptimisticLock{})
	err := a.Client.Patch(ctx, released, patch, client.FieldOwner(a.manager()))
	if apierrors.IsNotFound(err) {
		return nil
	}
	if apierrors.IsConflict(err) {
		err = fmt.Errorf("%w: %w", ErrStale, err)
	}
	return wrap(err, "release", object)
}

// Delete deletes an object, and in the background the objects that it owns. It returns nil if the object does not
// exist.
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
