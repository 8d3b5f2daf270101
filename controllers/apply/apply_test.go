package apply

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/client/interceptor"
)

// config returns a ConfigMap as the operator renders it.
func config(data map[string]string) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "plaza", Name: "a", Labels: map[string]string{managedBy: "plaza-operator"}}, Data: data,
	}
}

// cluster is a fake API server.
type cluster struct {
	t   *testing.T
	api client.WithWatch
}

func newCluster(t *testing.T, funcs interceptor.Funcs) cluster {
	t.Helper()
	return cluster{t, fake.NewClientBuilder().WithReturnManagedFields().WithInterceptorFuncs(funcs).Build()}
}

func (c cluster) live() *corev1.ConfigMap {
	c.t.Helper()
	found := config(nil)
	require.NoError(c.t, c.api.Get(c.t.Context(), client.ObjectKeyFromObject(found), found))
	return found
}

// edit adds a key as a user does.
func (c cluster) edit(key, value string) {
	c.t.Helper()
	live := c.live()
	live.Data[key] = value
	require.NoError(c.t, c.api.Update(c.t.Context(), live, client.FieldOwner("user")))
}

// TestApply walks through the changes of an object, in the words in which users read them.
func TestApply(t *testing.T) {
	applies := 0
	c := newCluster(t, interceptor.Funcs{
		Apply: func(ctx context.Context, api client.WithWatch, object runtime.ApplyConfiguration, all ...client.ApplyOption) error {
			applies++
			return api.Apply(ctx, object, all...)
		},
	})
	requireChange := func(a Applier, data map[string]string, mode Mode, want string) {
		t.Helper()
		a.Client, a.APIReader = c.api, c.api
		planned, err := a.Plan(t.Context(), config(data), mode)
		require.NoError(t, err)
		change, err := a.Apply(t.Context(), config(data), mode)
		require.NoError(t, err)
		require.Equal(t, want == "", change.IsEmpty())
		require.Equal(t, want == "", planned.IsEmpty())
		require.Equal(t, "a", change.Object.GetName())
		if want != "" {
			require.Equal(t, want, planned.String())
			require.Equal(t, want, change.String())
		}
		again, err := a.Plan(t.Context(), config(data), mode)
		require.NoError(t, err)
		require.True(t, again.IsEmpty(), again.At)
	}
	one := map[string]string{"a": "1"}
	requireChange(Applier{}, one, Converge, "create ConfigMap a")
	require.Equal(t, Manager, c.live().ManagedFields[0].Manager)
	requireChange(Applier{}, one, Converge, "")
	requireChange(Applier{}, map[string]string{"a": "2"}, CreateOnly, "")
	require.Equal(t, one, c.live().Data)
	requireChange(Applier{}, map[string]string{"a": "2"}, Converge, "change ConfigMap a: settings 1, 2")
	require.Equal(t, map[string]string{"a": "2"}, c.live().Data)

	c.edit("b", "1")
	requireChange(Applier{}, map[string]string{"a": "2"}, Converge, "")
	before := applies
	requireChange(Applier{Prune: []string{"data"}}, map[string]string{"a": "2"}, Converge, "change ConfigMap a: remove data.b")
	require.Equal(t, before, applies, "what is as desired is not applied")
	require.Equal(t, map[string]string{"a": "2"}, c.live().Data)
	c.edit("b", "1")
	requireChange(Applier{Prune: []string{"data"}}, map[string]string{"a": "3"}, Converge, "change ConfigMap a: settings 2, 3; remove data.b")
	require.Equal(t, map[string]string{"a": "3"}, c.live().Data)

	requireChange(Applier{Manager: "scaler"}, map[string]string{"a": "3"}, Converge, "adopt ConfigMap a")
	require.Len(t, c.live().ManagedFields, 2)
	adopted, err := Applier{Client: c.api, Manager: "another"}.Plan(t.Context(), config(map[string]string{"a": "3"}), Converge)
	require.NoError(t, err)
	require.Equal(t, ".", adopted.At)
	require.Empty(t, adopted.Words, "nothing of it is managed yet")
}

// TestChangeInWords checks the description of a change without words, and of one with many additions.
func TestChangeInWords(t *testing.T) {
	object := config(nil)
	object.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
	for want, c := range map[string]Change{
		"change ConfigMap a: spec.x":                                           {At: "spec.x"},
		"change ConfigMap a: x from 1 to 2":                                    {At: "spec.x", Words: []string{"x from 1 to 2"}},
		"change ConfigMap a: spec.x; remove b":                                 {At: "spec.x", Added: []string{"b"}},
		"change ConfigMap a: remove a; remove b; remove c; remove d; remove e": {Added: []string{"a", "b", "c", "d", "e", "f"}},
		"change ConfigMap a: x; remove a; remove b; remove c; remove d; remove e": {
			Words: []string{"x"},
			Added: []string{"a", "b", "c", "d", "e"},
		},
	} {
		c.Object = object
		require.Equal(t, want, c.String())
	}
}

// TestPruneFails checks the errors of the removal of what others added.
func TestPruneFails(t *testing.T) {
	var read, write error
	c := newCluster(t, interceptor.Funcs{
		Get: func(ctx context.Context, api client.WithWatch, key client.ObjectKey, object client.Object, all ...client.GetOption) error {
			if _, isPrune := object.(*unstructured.Unstructured); isPrune && read != nil {
				return read
			}
			return api.Get(ctx, key, object, all...)
		},
		Patch: func(ctx context.Context, api client.WithWatch, object client.Object, patch client.Patch, all ...client.PatchOption) error {
			if write != nil {
				return write
			}
			return api.Patch(ctx, object, patch, all...)
		},
	})
	a := Applier{Client: c.api, APIReader: c.api, Prune: []string{"data"}}
	_, err := a.Apply(t.Context(), config(map[string]string{"a": "1"}), Converge)
	require.NoError(t, err)
	c.edit("b", "1")
	gone := errors.New("gone")
	conflict := apierrors.NewConflict(schema.GroupResource{Resource: "configmaps"}, "a", gone)
	for _, test := range []struct {
		read, write error
		want        string
		isStale     bool
	}{
		{gone, nil, "read ConfigMap a: gone", false}, {nil, gone, "prune ConfigMap a: gone", false}, {nil, conflict, ErrStale.Error(), true},
	} {
		read, write = test.read, test.write
		_, err := a.Apply(t.Context(), config(map[string]string{"a": "1"}), Converge)
		require.ErrorContains(t, err, test.want)
		require.Equal(t, test.isStale, errors.Is(err, ErrStale))
		require.Len(t, c.live().Data, 2)
	}
}

// TestAdditionsAfterTheRead checks that additions are not removed from a version of an object that was not read.
func TestAdditionsAfterTheRead(t *testing.T) {
	c := newCluster(t, interceptor.Funcs{})
	a := Applier{Client: c.api, APIReader: c.api, Prune: []string{"data"}}
	desired := config(map[string]string{"a": "1"})
	_, err := a.Apply(t.Context(), desired.DeepCopy(), Converge)
	require.NoError(t, err)
	c.edit("b", "1")
	_, err = a.Apply(t.Context(), desired.DeepCopy(), Locked)
	require.ErrorIs(t, err, ErrStale)
	require.Len(t, c.live().Data, 2)
	desired.ResourceVersion, desired.Data = c.live().ResourceVersion, map[string]string{"a": "2"}
	_, err = a.Apply(t.Context(), desired.DeepCopy(), Locked)
	require.NoError(t, err, "the version that was read has the additions")
	require.Equal(t, desired.Data, c.live().Data)
}

// TestLocked checks that an object is applied to the version that was read only, and is not created in place of one that was read.
func TestLocked(t *testing.T) {
	c := newCluster(t, interceptor.Funcs{})
	a := Applier{Client: c.api, APIReader: c.api}
	desired := config(map[string]string{"a": "1"})
	desired.ResourceVersion = "7"
	_, err := a.Apply(t.Context(), desired.DeepCopy(), Locked)
	require.ErrorIs(t, err, ErrStale, "it was deleted")
	other := newCluster(t, interceptor.Funcs{})
	_, err = Applier{Client: other.api, APIReader: other.api}.Apply(t.Context(), desired.DeepCopy(), Converge)
	require.NoError(t, err, "it does not depend on the version")
	desired.ResourceVersion = ""
	_, err = a.Apply(t.Context(), desired.DeepCopy(), Locked)
	require.NoError(t, err)
	old := c.live().ResourceVersion
	c.edit("b", "1")
	desired.Data = map[string]string{"a": "1", "c": "1"}
	desired.ResourceVersion = old
	_, err = a.Apply(t.Context(), desired.DeepCopy(), Locked)
	require.True(t, apierrors.IsConflict(err), "%v", err)
	desired.ResourceVersion = c.live().ResourceVersion
	_, err = a.Apply(t.Context(), desired.DeepCopy(), Locked)
	require.NoError(t, err)
	require.Equal(t, map[string]string{"a": "1", "b": "1", "c": "1"}, c.live().Data)
}

// TestForeignObjectIsNotReplaced checks that an object of another network stays as it is.
func TestForeignObjectIsNotReplaced(t *testing.T) {
	c := newCluster(t, interceptor.Funcs{})
	theirs := config(map[string]string{"a": "theirs"})
	theirs.Labels[ownerNamespace] = "other"
	require.NoError(t, c.api.Create(t.Context(), theirs))
	ours := config(map[string]string{"a": "ours"})
	ours.Labels[ownerNamespace] = "plaza"
	for _, mode := range []Mode{Converge, CreateOnly, Locked} {
		_, err := Applier{Client: c.api, APIReader: c.api}.Apply(t.Context(), ours.DeepCopy(), mode)
		require.ErrorIs(t, err, ErrForeign)
		require.EqualError(t, err, "ConfigMap a: it belongs to another network")
	}
	require.Equal(t, "theirs", c.live().Data["a"])
}

// TestErrorsOfTheServer checks that errors name the object, and that one of the cache changes nothing.
func TestErrorsOfTheServer(t *testing.T) {
	gone := errors.New("gone")
	c := newCluster(t, interceptor.Funcs{
		Create: func(context.Context, client.WithWatch, client.Object, ...client.CreateOption) error { return gone },
		Delete: func(context.Context, client.WithWatch, client.Object, ...client.DeleteOption) error { return gone },
	})
	_, err := Applier{Client: c.api, APIReader: c.api}.Apply(t.Context(), config(nil), CreateOnly)
	require.EqualError(t, err, "create ConfigMap a: gone")
	require.EqualError(t, Applier{Client: c.api}.Delete(t.Context(), config(nil)), "delete ConfigMap a: gone")
	c = newCluster(t, interceptor.Funcs{
		Get: func(context.Context, client.WithWatch, client.ObjectKey, client.Object, ...client.GetOption) error {
			return gone
		},
	})
	_, err = Applier{Client: c.api, APIReader: c.api}.Apply(t.Context(), config(nil), Converge)
	require.ErrorIs(t, err, gone)
	var list corev1.ConfigMapList
	require.NoError(t, c.api.List(t.Context(), &list))
	require.Empty(t, list.Items)
}

// TestDelete deletes the object that was read, not another one that was created with its name since, and in the background what it owns.
func TestDelete(t *testing.T) {
	var options client.DeleteOptions
	c := newCluster(t, interceptor.Funcs{
		Delete: func(ctx context.Context, api client.WithWatch, object client.Object, all ...client.DeleteOption) error {
			options = client.DeleteOptions{}
			options.ApplyOptions(all)
			return api.Delete(ctx, object, all...)
		},
	})
	a := Applier{Client: c.api}
	require.NoError(t, a.Delete(t.Context(), config(nil)), "it does not exist")
	require.Nil(t, options.Preconditions)
	require.Equal(t, metav1.DeletePropagationBackground, *options.PropagationPolicy)
	object := config(nil)
	object.UID = "uid-1"
	require.NoError(t, c.api.Create(t.Context(), object))
	require.NoError(t, a.Delete(t.Context(), object))
	require.Equal(t, object.UID, *options.Preconditions.UID)
	require.True(t, apierrors.IsNotFound(c.api.Get(t.Context(), client.ObjectKeyFromObject(object), config(nil))))
}

// TestRelease removes one finalizer from the version that was read.
func TestRelease(t *testing.T) {
	var answer error
	patches := 0
	c := newCluster(t, interceptor.Funcs{
		Patch: func(ctx context.Context, api client.WithWatch, object client.Object, patch client.Patch, all ...client.PatchOption) error {
			patches++
			if answer != nil {
				return answer
			}
			return api.Patch(ctx, object, patch, all...)
		},
	})
	a := Applier{Client: c.api}
	object := config(nil)
	object.Finalizers = []string{"of/ours", "of/others"}
	require.NoError(t, c.api.Create(t.Context(), object))
	read := c.live()
	read.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("ConfigMap"))
	configMaps := schema.GroupResource{Resource: "configmaps"}
	answer = apierrors.NewNotFound(configMaps, "a")
	require.NoError(t, a.Release(t.Context(), read, "of/ours"))
	answer = apierrors.NewConflict(configMaps, "a", errors.New("newer"))
	require.ErrorIs(t, a.Release(t.Context(), read, "of/ours"), ErrStale)
	answer = apierrors.NewForbidden(configMaps, "a", errors.New("no right"))
	err := a.Release(t.Context(), read, "of/ours")
	require.ErrorContains(t, err, "release ConfigMap a: ")
	require.NotErrorIs(t, err, ErrStale)
	answer = nil
	require.NoError(t, a.Release(t.Context(), read, "of/ours"))
	require.Equal(t, []string{"of/others"}, c.live().Finalizers)
	require.Equal(t, []string{"of/ours", "of/others"}, read.Finalizers, "what was read is not changed")
	require.ErrorIs(t, a.Release(t.Context(), read, "of/ours"), ErrStale, "it has changed since")
	before := patches
	require.NoError(t, a.Release(t.Context(), c.live(), "of/ours"))
	require.Equal(t, before, patches, "it does not have the finalizer")
}

// TestUnstructured checks which fields are not sent: the status, what the server keeps, and fields of Go types that are not set.
func TestUnstructured(t *testing.T) {
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "a", ResourceVersion: "7", ManagedFields: []metav1.ManagedFieldsEntry{{}}}}
	d.Status.Replicas = 3
	d.Spec.Template.Spec.Containers = []corev1.Container{{Name: "c"}}
	d.Spec.Template.Spec.Volumes = []corev1.Volume{{Name: "v", VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}}}
	sent, err := Unstructured(d)
	require.NoError(t, err)
	require.Equal(t, map[string]any{"name": "a"}, sent.Object["metadata"])
	require.NotContains(t, sent.Object, "status")
	spec := sent.Object["spec"].(map[string]any)
	require.NotContains(t, spec, "strategy")
	require.NotContains(t, spec, "selector", "it is null")
	pod := spec["template"].(map[string]any)["spec"].(map[string]any)
	require.Equal(t, []any{map[string]any{"name": "c"}}, pod["containers"])
	require.Equal(t, []any{map[string]any{"name": "v", "emptyDir": map[string]any{}}}, pod["volumes"], "an empty map may be a choice")

	d.Spec.Template.Spec.Containers[0].Resources.Limits = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}
	sent, err = Unstructured(d)
	require.NoError(t, err)
	again, err := Unstructured(sent)
	require.NoError(t, err)
	require.Equal(t, sent, again)
	require.NotSame(t, sent, again)
	container := again.Object["spec"].(map[string]any)["template"].(map[string]any)["spec"].(map[string]any)["containers"].([]any)[0]
	require.Contains(t, container, "resources")
}
