package acceptance

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/apply"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/controllers/testenv"
)

// childKinds are the kinds of the objects that the operator keeps converged: all but Jobs.
var childKinds = []schema.GroupVersionKind{
	{Group: "apps", Version: "v1", Kind: "Deployment"},
	{Version: "v1", Kind: "Service"},
	{Version: "v1", Kind: "ServiceAccount"},
	{Version: "v1", Kind: "ConfigMap"},
	{Version: "v1", Kind: "Secret"},
	{Group: "networking.k8s.io", Version: "v1", Kind: "NetworkPolicy"},
	{Group: "networking.k8s.io", Version: "v1", Kind: "Ingress"},
	{Group: "policy", Version: "v1", Kind: "PodDisruptionBudget"},
	{Group: "autoscaling", Version: "v2", Kind: "HorizontalPodAutoscaler"},
	{Group: "monitoring.coreos.com", Version: "v1", Kind: "ServiceMonitor"},
	{Group: "monitoring.coreos.com", Version: "v1", Kind: "PrometheusRule"},
	{Group: "monitoring.coreos.com", Version: "v1", Kind: "Probe"},
	{Group: "grafana.integreatly.org", Version: "v1beta1", Kind: "GrafanaDashboard"},
	{Group: "gateway.networking.k8s.io", Version: "v1", Kind: "HTTPRoute"},
}

// children returns all objects that the operator created in the namespace.
func (o *operator) children() []unstructured.Unstructured {
	o.t.Helper()
	var all []unstructured.Unstructured
	for _, kind := range childKinds {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		err := o.client.List(context.Background(), list, client.InNamespace(o.namespace),
			client.MatchingLabels{render.LabelManagedBy: render.OperatorName})
		if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
			continue // an optional kind
		}
		require.NoError(o.t, err)
		all = append(all, list.Items...)
	}
	return all
}

// everyKind returns a network that has an object of every kind.
func everyKind(t *testing.T) *v1alpha1.SocialNetwork {
	t.Helper()
	sn := sample(t, "socialnetwork")
	sn.Spec.Regions = sn.Spec.Regions[:2]
	sn.Spec.Regions[0].Autoscaling = &v1alpha1.Autoscaling{MinReplicas: 2, MaxReplicas: 4, TargetCPUUtilization: 70}
	sn.Spec.Regions[0].Ingress = &v1alpha1.Ingress{
		ClassName: "nginx", TLSSecretName: "us-tls",
		Annotations: map[string]string{"a.example/b": "c"},
	}
	sn.Spec.Regions[1].Gateway = &v1alpha1.Gateway{ParentRef: v1alpha1.GatewayReference{
		Name: "public", Namespace: "gateways",
		SectionName: "https",
	}}
	sn.Spec.Regions[1].PodAnnotations = map[string]string{"a.example/b": "c"}
	sn.Spec.Monitoring.Probe = &v1alpha1.Probe{Prober: "blackbox-exporter.monitoring:9115"}
	return sn
}

// TestOwnedFieldsAreRestored edits every single field that the operator owns, of every object.
func TestOwnedFieldsAreRestored(t *testing.T) {
	o := start(t)
	sn := everyKind(t)
	sn.Spec.Rollout.MaxRegionsRolling = 3 // a template is restored when it is its region's turn; here all regions may roll
	o.up(sn)
	o.condition("acme", v1alpha1.ConditionAlertsApplied, "True", v1alpha1.ReasonInstalled)
	o.settle("acme")
	kinds := map[string]int{}
	var mu sync.Mutex
	var wrong []string
	var group sync.WaitGroup
	for _, object := range o.children() {
		kinds[object.GetKind()]++
		group.Go(func() {
			said := o.disturb(&object)
			mu.Lock()
			defer mu.Unlock()
			wrong = append(wrong, said...)
		})
	}
	group.Wait()
	require.Empty(t, wrong)
	require.Len(t, kinds, len(childKinds), "%v", slices.Sorted(maps.Keys(kinds)))
}

// disturb edits each owned field of an object, one after another, and returns those that were not restored.
func (o *operator) disturb(object *unstructured.Unstructured) (wrong []string) {
	before := apply.Owned(object, apply.Manager)
	if len(before) == 0 {
		return []string{object.GetKind() + " " + object.GetName() + " has no owned fields"}
	}
	changed := 0
	for _, path := range leaves(object) {
		if object.GetKind() == "Secret" && !slices.Contains(path, "labels") {
			continue // the state of the keys, which the operator adopts
		}
		name := fmt.Sprintf("%s %s: %s", object.GetKind(), object.GetName(), strings.Join(path, "."))
		switch err := o.change(object, path); {
		case apierrors.IsInvalid(err):
			continue // immutable
		case err != nil:
			wrong = append(wrong, name+": "+err.Error())
			continue
		}
		changed++
		if last := o.comesBack(object, before); last != "" {
			wrong = append(wrong, name+" was not restored: "+last)
			return wrong
		}
	}
	if changed < 5 {
		wrong = append(wrong, fmt.Sprintf("%s %s: only %d fields could be changed", object.GetKind(), object.GetName(), changed))
	}
	return wrong
}

func (o *operator) comesBack(object *unstructured.Unstructured, before map[string]any) string {
	var last string
	_ = wait.PollUntilContextTimeout(o.t.Context(), 20*time.Millisecond, testenv.Patience, true, func(ctx context.Context) (bool, error) {
		live := object.DeepCopy()
		last = ""
		if err := o.client.Get(ctx, client.ObjectKeyFromObject(object), live); err != nil {
			last = err.Error()
		} else if now := apply.Owned(live, apply.Manager); !equality.Semantic.DeepEqual(now, before) {
			text, _ := json.Marshal(now)
			last = string(text)
		}
		return last == "", nil
	})
	return last
}

// change edits the field at path, with the first of several values that the API server accepts.
func (o *operator) change(object *unstructured.Unstructured, path []string) error {
	var err error
	for _, other := range []func(any) (any, bool){another, removed} {
		for {
			live := object.DeepCopy()
			if err := o.client.Get(context.Background(), client.ObjectKeyFromObject(object), live); err != nil {
				return err
			}
			live.Object, _ = changeAt(live.Object, path, other).(map[string]any)
			err = o.client.Update(context.Background(), live, client.FieldOwner("user"))
			if !apierrors.IsConflict(err) {
				break
			}
		}
		if !apierrors.IsInvalid(err) && !apierrors.IsBadRequest(err) {
			return err
		}
	}
	return err
}

// another returns another value of the same type.
func another(value any) (any, bool) {
	switch v := value.(type) {
	case string:
		return v + "x", true
	case int64:
		return v + 1, true
	case float64:
		return v + 1, true
	case bool:
		return !v, true
	}
	return nil, false
}

func removed(any) (any, bool) { return nil, false }

// changeAt returns value with another value at path. An item of a list whose key would change is removed.
func changeAt(value any, path []string, other func(any) (any, bool)) any {
	step := path[0]
	switch v := value.(type) {
	case map[string]any:
		if len(path) > 1 {
			v[step] = changeAt(v[step], path[1:], other)
			return v
		}
		if changed, ok := other(v[step]); ok {
			v[step] = changed
		} else {
			delete(v, step)
		}
		return v
	case []any:
		return slices.DeleteFunc(v, func(item any) bool {
			have, _ := item.(map[string]any)
			var by map[string]any
			if have == nil || json.Unmarshal([]byte(step), &by) != nil {
				return fmt.Sprint(item) == step
			}
			for name, want := range by {
				if fmt.Sprint(have[name]) != fmt.Sprint(want) {
					return false
				}
			}
			if len(path) == 1 || by[path[1]] != nil {
				return true
			}
			changeAt(item, path[1:], other)
			return false
		})
	}
	return value
}

// leaves returns the paths of the fields that the operator owns.
func leaves(object *unstructured.Unstructured) [][]string {
	for _, entry := range object.GetManagedFields() {
		if entry.Manager == apply.Manager && entry.Operation == "Apply" && entry.Subresource == "" {
			var owned map[string]any
			if json.Unmarshal(entry.FieldsV1.GetRawBytes(), &owned) == nil {
				return leavesOf(owned, nil)
			}
		}
	}
	return nil
}

func leavesOf(owned map[string]any, path []string) [][]string {
	var all [][]string
	for _, key := range slices.Sorted(maps.Keys(owned)) {
		if key == "." {
			continue
		}
		below, _ := owned[key].(map[string]any)
		all = append(all, leavesOf(below, append(slices.Clip(path), key[2:]))...)
	}
	if len(all) == 0 && len(path) > 0 {
		all = append(all, path)
	}
	return all
}

// TestFieldsOfOthersAreKept adds fields to each object that the operator does not set.
func TestFieldsOfOthersAreKept(t *testing.T) {
	ctx := t.Context()
	o := start(t)
	o.up(everyKind(t))
	children := o.children()
	for i := range children {
		object := &children[i]
		require.NoError(t, o.client.Get(ctx, client.ObjectKeyFromObject(object), object))
		before := object.DeepCopy()
		require.NoError(t, unstructured.SetNestedField(object.Object, "stays", "metadata", "annotations", "other.example/note"))
		require.NoError(t, unstructured.SetNestedField(object.Object, "stays", "metadata", "labels", "other.example/note"))
		require.NoError(t, o.client.Patch(ctx, object, client.MergeFrom(before), client.FieldOwner("user")))
	}
	d := o.deployment("acme", v1alpha1.RegionUS)
	before := d.DeepCopy()
	d.Spec.Paused = true
	d.Spec.Template.Annotations["other.example/note"] = "stays" // as kubectl rollout restart does
	d.Spec.Replicas = new(int32(3))                             // owned by the autoscaler
	require.NoError(t, o.client.Patch(ctx, d, client.StrategicMergeFrom(before), client.FieldOwner("user")))
	o.serve("acme", v1alpha1.RegionUS)
	for range 3 {
		o.pass("acme")
	}
	for i := range children {
		live := children[i].DeepCopy()
		require.NoError(t, o.client.Get(ctx, client.ObjectKeyFromObject(live), live))
		require.Equal(t, "stays", live.GetAnnotations()["other.example/note"], "%s %s", live.GetKind(), live.GetName())
		require.Equal(t, "stays", live.GetLabels()["other.example/note"], "%s %s", live.GetKind(), live.GetName())
	}
	d = o.deployment("acme", v1alpha1.RegionUS)
	require.True(t, d.Spec.Paused)
	require.Equal(t, "stays", d.Spec.Template.Annotations["other.example/note"])
	require.Equal(t, int32(3), *d.Spec.Replicas)
}

// TestNothingIsWrittenWhenNothingChanges reconciles a settled network repeatedly.
func TestNothingIsWrittenWhenNothingChanges(t *testing.T) {
	o := start(t)
	o.up(everyKind(t))
	o.condition("acme", v1alpha1.ConditionAlertsApplied, "True", v1alpha1.ReasonInstalled)
	o.clock.add(time.Minute) // the soak has ended
	o.pass("acme")
	o.settle("acme")
	for range 5 {
		o.pass("acme")
	}
	o.requireNoWrites("acme")
	o.end() // a new process has nothing to do either
	o.run()
	o.pass("acme")
	o.pass("acme")
	o.requireNoWrites("acme")
}

// requireNoWrites checks that the operator has written nothing since the last call, not even asynchronously.
func (o *operator) requireNoWrites(network string) {
	o.t.Helper()
	o.pass(network)
	require.Empty(o.t, o.writes.take())
}

// TestAdditionsAreRemoved adds parts to objects by hand, as kubectl set env and kubectl edit do.
func TestAdditionsAreRemoved(t *testing.T) {
	o := start(t)
	o.up(sample(t, "socialnetwork-minimal"))
	o.settle("acme-minimal")
	code := get(o, &v1alpha1.SocialNetwork{}, "acme-minimal").Spec.Regions[0].Code
	o.editDeployment("acme-minimal", code, func(d *appsv1.Deployment) {
		pod := &d.Spec.Template.Spec
		d.Spec.Template.Annotations["kubectl.kubernetes.io/restartedAt"] = "2026-11-23T03:00:00Z"
		pod.Containers[0].Env = append(pod.Containers[0].Env, corev1.EnvVar{Name: "PLAZA_STATEMENT_TIMEOUT", Value: "17s"})
		pod.Containers = append(pod.Containers, corev1.Container{Name: "sidecar", Image: "evil:v1"})
		pod.Volumes = append(pod.Volumes, corev1.Volume{Name: "extra"})
	})
	service := get(o, &corev1.Service{}, render.RegionName("acme-minimal", code))
	o.onNewest(service, func() error {
		service.Spec.Ports = append(service.Spec.Ports, corev1.ServicePort{Name: "extra", Port: 1234})
		return o.client.Update(t.Context(), service, client.FieldOwner("kubectl-edit"))
	})
	o.eventually("the additions to be removed", func() string {
		pod := o.deployment("acme-minimal", code).Spec.Template.Spec
		text, err := json.Marshal([]any{pod, get(o, &corev1.Service{}, service.Name).Spec.Ports})
		require.NoError(t, err)
		for _, added := range []string{"STATEMENT_TIMEOUT", "sidecar", `"extra"`} {
			if strings.Contains(string(text), added) {
				return added + " is left"
			}
		}
		return ""
	})
	o.setReady(o.deployment("acme-minimal", code))
	o.condition("acme-minimal", v1alpha1.ConditionReady, "True", v1alpha1.ReasonAllHolds)
	o.settle("acme-minimal")
	require.Contains(t, o.deployment("acme-minimal", code).Spec.Template.Annotations, "kubectl.kubernetes.io/restartedAt",
		"a restart by hand stays")
}
