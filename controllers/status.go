package controllers

import (
	"context"
	"fmt"
	"strconv"
	"sync"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/plaza-social/plaza/api/v1alpha1"
)

// statusManager is the field manager of the status.
const statusManager = "plaza-operator-status"

// writeStatus applies the status if it changed.
func (r *Reconciler) writeStatus(ctx context.Context, sn *v1alpha1.SocialNetwork, status *v1alpha1.SocialNetworkStatus) error {
	if equality.Semantic.DeepEqual(sn.Status, *status) {
		return nil
	}
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(&v1alpha1.SocialNetwork{
		TypeMeta:   metav1.TypeMeta{APIVersion: v1alpha1.GroupVersion.String(), Kind: v1alpha1.Kind},
		ObjectMeta: metav1.ObjectMeta{Name: sn.Name, Namespace: sn.Namespace},
		Status:     *status,
	})
	if err != nil {
		return fmt.Errorf("converting the status: %w", err)
	}
	delete(content, "spec")
	dropEmpty(content["status"])
	want := &unstructured.Unstructured{Object: content}
	unstructured.RemoveNestedField(want.Object, "metadata", "creationTimestamp")
	// A network that was deleted and created again is a different one. The API server does not compare the UID of a status.
	want.SetResourceVersion(sn.ResourceVersion)
	err = r.Client.Status().Apply(ctx, client.ApplyConfigurationFromUnstructured(want), client.FieldOwner(statusManager),
		client.ForceOwnership)
	if apierrors.IsNotFound(err) {
		return nil // it was deleted in the meantime
	}
	if err != nil {
		return fmt.Errorf("writing the status: %w", err)
	}
	r.written.record(want)
	return nil
}

// dropEmpty removes empty maps: the API server would store them as null, which the CRD rejects.
func dropEmpty(value any) {
	parts, ok := value.(map[string]any)
	if !ok {
		return
	}
	for name, part := range parts {
		if empty, isMap := part.(map[string]any); isMap && len(empty) == 0 {
			delete(parts, name)
		}
	}
}

// writtenVersions remembers the resource version of the last status written for each network, so that no reconcile
// starts from an older copy in the cache: it would record its events a second time. It is safe to lose.
type writtenVersions struct{ last sync.Map }

func (v *writtenVersions) record(object client.Object) {
	v.last.Store(client.ObjectKeyFromObject(object), object.GetResourceVersion())
}

func (v *writtenVersions) forget(key types.NamespacedName) { v.last.Delete(key) }

// isStale reports whether a copy is older than the last write. It reports false if the versions are not numbers.
func (v *writtenVersions) isStale(object client.Object) bool {
	key := client.ObjectKeyFromObject(object)
	last, _ := v.last.Load(key)
	text, _ := last.(string)
	written, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return false
	}
	version, err := strconv.ParseUint(object.GetResourceVersion(), 10, 64)
	if err != nil || version >= written {
		v.forget(key)
		return false
	}
	return true
}
