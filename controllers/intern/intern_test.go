package intern_test

import (
	"errors"
	"fmt"
	"reflect"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plaza-social/plaza/controllers/intern"
)

const manager = "plaza-operator"

// deployment returns one of many Deployments that differ in their names.
func deployment(n int) *appsv1.Deployment {
	labels := func() map[string]string { return map[string]string{"app": "plaza", "region": "eu"} }
	entry := func(manager string, operation metav1.ManagedFieldsOperationType, subresource string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{
			Manager: manager, Operation: operation, Subresource: subresource, Time: new(metav1.Now()),
			FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:template":{}}}`),
		}
	}
	other := func(manager string) metav1.ManagedFieldsEntry {
		return metav1.ManagedFieldsEntry{
			Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate,
			FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:paused":{}}}`),
		}
	}
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{
		Name: fmt.Sprintf("d-%d", n), Labels: labels(),
		ManagedFields: []metav1.ManagedFieldsEntry{
			other("user"), entry(manager, metav1.ManagedFieldsOperationApply, ""),
			entry(manager, metav1.ManagedFieldsOperationApply, "scale"), entry(manager, metav1.ManagedFieldsOperationUpdate, ""),
		},
	}}
	d.Spec.Selector = &metav1.LabelSelector{MatchLabels: labels()}
	d.Spec.Template.Labels = labels()
	d.Spec.Template.Spec.NodeSelector = map[string]string{"region": "eu"}
	d.Spec.Template.Spec.Containers = append(make([]corev1.Container, 0, 4), corev1.Container{
		Name:           "plaza",
		ReadinessProbe: &corev1.Probe{PeriodSeconds: 5, ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: "/readyz"}}},
		VolumeMounts:   []corev1.VolumeMount{{Name: "keys"}, {Name: "tmp"}},
		Resources:      corev1.ResourceRequirements{Requests: corev1.ResourceList{"cpu": resource.MustParse("100m")}},
		Env:            []corev1.EnvVar{{Name: "N", Value: strconv.Itoa(n)}},
	})
	d.Spec.Template.Spec.TopologySpreadConstraints = []corev1.TopologySpreadConstraint{
		{LabelSelector: &metav1.LabelSelector{MatchLabels: labels()}},
	}
	return d
}

// address identifies a map.
func address(m map[string]string) uintptr { return reflect.ValueOf(m).Pointer() }

func TestObjectsShare(t *testing.T) {
	slim := (&intern.Pool{}).Transform(nil, manager)
	var all []*appsv1.Deployment
	for n := range 3 {
		given := deployment(n)
		got, err := slim(given)
		require.NoError(t, err)
		d, ok := got.(*appsv1.Deployment)
		require.True(t, ok)
		want := deployment(n)
		want.ManagedFields = want.ManagedFields[1:2]
		want.ManagedFields[0].Time = nil
		require.Equal(t, want, d, "its content is unchanged")
		all = append(all, d)
	}
	one := address(all[0].Labels)
	for _, d := range all {
		require.Equal(t, one, address(d.Labels))
		require.Equal(t, one, address(d.Spec.Selector.MatchLabels))
		require.Equal(t, one, address(d.Spec.Template.Labels))
		require.Equal(t, one, address(d.Spec.Template.Spec.TopologySpreadConstraints[0].LabelSelector.MatchLabels))
		require.NotEqual(t, one, address(d.Spec.Template.Spec.NodeSelector))
		c, first := d.Spec.Template.Spec.Containers, all[0].Spec.Template.Spec.Containers
		require.Equal(t, 1, cap(c))
		require.Same(t, first[0].ReadinessProbe, c[0].ReadinessProbe)
		require.Same(t, &first[0].VolumeMounts[0], &c[0].VolumeMounts[0])
		require.Equal(t, reflect.ValueOf(first[0].Resources.Requests).Pointer(), reflect.ValueOf(c[0].Resources.Requests).Pointer())
		require.Same(t, all[0].ManagedFields[0].FieldsV1, d.ManagedFields[0].FieldsV1)
	}
	changed := all[0].DeepCopy()
	changed.Labels["app"] = "else"
	changed.Spec.Template.Spec.Containers[0].ReadinessProbe.HTTPGet.Path = "/else"
	changed.Spec.Template.Spec.Containers[0].VolumeMounts[0].Name = "else"
	require.Equal(t, "plaza", all[1].Labels["app"], "a reader has a copy")
	want := deployment(1).Spec.Template.Spec.Containers
	require.Equal(t, want, all[1].Spec.Template.Spec.Containers)

	again, err := slim(all[0])
	require.NoError(t, err)
	require.Equal(t, all[0], again)
}

// TestSimilarMaps checks that similar maps are not confused.
func TestSimilarMaps(t *testing.T) {
	slim := (&intern.Pool{}).Transform(nil, manager)
	for _, labels := range []map[string]string{
		{"a": "b", "c": "d"},
		{"a": `b"c":"d`},
		{`a":"b","c`: "d"},
		{"ab": ""},
		{"a": "b"},
		{"": "ab"},
	} {
		got, err := slim(&corev1.Service{ObjectMeta: metav1.ObjectMeta{Labels: labels}})
		require.NoError(t, err)
		require.Equal(t, &corev1.Service{ObjectMeta: metav1.ObjectMeta{Labels: labels}}, got)
	}
}

func TestTransformBefore(t *testing.T) {
	pool := &intern.Pool{}
	renamed := pool.Transform(func(any) (any, error) { return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "slim"}}, nil }, manager)
	got, err := renamed(&corev1.Pod{})
	require.NoError(t, err)
	require.Equal(t, "slim", got.(*corev1.Pod).Name) // a test
	broken := errors.New("broken")
	_, err = pool.Transform(func(any) (any, error) { return nil, broken }, manager)(&corev1.Pod{})
	require.ErrorIs(t, err, broken)
	other, err := pool.Transform(nil, manager)("no object")
	require.NoError(t, err)
	require.Equal(t, "no object", other)
}

// TestPoolStaysSmall adds more values than a pool remembers, from several caches concurrently.
func TestPoolStaysSmall(t *testing.T) {
	slim := (&intern.Pool{}).Transform(nil, manager)
	var group sync.WaitGroup
	for part := range 4 {
		group.Go(func() {
			for n := range intern.Most / 2 {
				name := fmt.Sprintf("%d-%d", part, n)
				got, err := slim(&corev1.Service{ObjectMeta: metav1.ObjectMeta{
					Labels:        map[string]string{"n": name},
					ManagedFields: []metav1.ManagedFieldsEntry{{Manager: manager, Operation: "Apply", FieldsV1: metav1.NewFieldsV1(name)}},
				}})
				service, ok := got.(*corev1.Service)
				if err != nil || !ok || service.Labels["n"] != name || service.ManagedFields[0].FieldsV1.String() != name {
					t.Errorf("%s became %v, %v", name, got, err)
					return
				}
			}
		})
	}
	group.Wait()
}

// TestAdditionsAreKept checks of which other managers the managed fields are kept: those that may say what the manager added.
func TestAdditionsAreKept(t *testing.T) {
	const template, ports = `{"f:spec":{"f:template":{"f:spec":{"f:volumes":{}}}}}`, `{"f:spec":{"f:ports":{"k:{\"port\":1}":{}}}}`
	for name, test := range map[string]struct {
		manager, subresource, fields string
		kept                         bool
	}{
		"a template":              {"user", "", template, true},
		"ports":                   {"user", "", ports, true},
		"another field":           {"user", "", `{"f:spec":{"f:paused":{}}}`, false},
		"a name that is similar":  {"user", "", `{"f:spec":{"f:podTemplate":{},"f:templateOf":{},"f:port":{}}}`, false},
		"a subresource":           {"user", "scale", template, false},
		"ours, which is no apply": {manager, "", template, false},
		"no fields":               {"user", "", "", false},
	} {
		entry := metav1.ManagedFieldsEntry{
			Manager: test.manager, Operation: metav1.ManagedFieldsOperationUpdate, Subresource: test.subresource, Time: new(metav1.Now()),
		}
		if test.fields != "" {
			entry.FieldsV1 = metav1.NewFieldsV1(test.fields)
		}
		ours := metav1.ManagedFieldsEntry{Manager: manager, Operation: metav1.ManagedFieldsOperationApply}
		object := &corev1.Service{ObjectMeta: metav1.ObjectMeta{ManagedFields: []metav1.ManagedFieldsEntry{entry, ours}}}
		_, err := (&intern.Pool{}).Transform(nil, manager)(object)
		require.NoError(t, err)
		want := []metav1.ManagedFieldsEntry{ours}
		if test.kept {
			entry.Time = nil
			want = []metav1.ManagedFieldsEntry{entry, ours}
		}
		require.Equal(t, want, object.ManagedFields, name)
	}
}

// TestPartsAreShared checks every part of a pod that objects share: two equal pods share it, and pods with another value have their own.
func TestPartsAreShared(t *testing.T) {
	slim := (&intern.Pool{}).Transform(nil, manager)
	parts := func(id string) map[string]uintptr {
		pod := &corev1.Pod{}
		pod.Spec.SecurityContext = &corev1.PodSecurityContext{FSGroupChangePolicy: new(corev1.PodFSGroupChangePolicy(id))}
		pod.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{
			PreferredDuringSchedulingIgnoredDuringExecution: []corev1.PreferredSchedulingTerm{
				{Preference: corev1.NodeSelectorTerm{MatchFields: []corev1.NodeSelectorRequirement{{Key: id}}}},
			},
		}}
		pod.Spec.Tolerations = []corev1.Toleration{{Key: id}}
		items := []corev1.KeyToPath{{Key: id}}
		pod.Spec.Volumes = []corev1.Volume{{VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{Items: items}}}}
		pod.Spec.Containers = []corev1.Container{{
			LivenessProbe:   &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Path: id}}},
			Lifecycle:       &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Exec: &corev1.ExecAction{Command: []string{id}}}},
			SecurityContext: &corev1.SecurityContext{ProcMount: new(corev1.ProcMountType(id))},
			Resources:       corev1.ResourceRequirements{Limits: corev1.ResourceList{corev1.ResourceName(id): resource.MustParse("1")}},
			VolumeMounts:    []corev1.VolumeMount{{Name: id}}, Ports: []corev1.ContainerPort{{Name: id}},
		}}
		want := pod.DeepCopy()
		_, err := slim(pod)
		require.NoError(t, err)
		require.Equal(t, want, pod, "its content is unchanged")
		all, c := map[string]uintptr{}, pod.Spec.Containers[0]
		for _, part := range []any{
			pod.Spec.SecurityContext, pod.Spec.Affinity, pod.Spec.Tolerations, pod.Spec.Volumes[0].Secret.Items, c.LivenessProbe, c.Lifecycle,
			c.SecurityContext, c.Resources.Limits, c.VolumeMounts, c.Ports,
		} {
			all[reflect.TypeOf(part).String()] = reflect.ValueOf(part).Pointer()
		}
		return all
	}
	one, other := parts("one"), parts("other")
	require.Len(t, one, 10)
	require.Equal(t, one, parts("one"))
	for name, at := range one {
		require.NotEqual(t, at, other[name], name)
	}

	pod := &corev1.Pod{Spec: corev1.PodSpec{
		SecurityContext: &corev1.PodSecurityContext{},
		Containers:      []corev1.Container{{SecurityContext: &corev1.SecurityContext{}}},
	}}
	want := pod.DeepCopy()
	_, err := slim(pod)
	require.NoError(t, err)
	require.Equal(t, want, pod, "values of two types have the same text")
}

// TestFullPool checks after how many values a pool begins again.
func TestFullPool(t *testing.T) {
	slim := (&intern.Pool{}).Transform(nil, manager)
	labelled := func(name string) uintptr {
		service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"name": name}}}
		_, err := slim(service)
		require.NoError(t, err)
		return address(service.Labels)
	}
	first := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"name": "first"}}} // it stays, and with it its address
	_, err := slim(first)
	require.NoError(t, err)
	for n := range intern.Most - 1 {
		labelled(strconv.Itoa(n))
	}
	require.Equal(t, address(first.Labels), labelled("first"), "at the limit")
	labelled("one more")
	require.NotEqual(t, address(first.Labels), labelled("first"), "one past the limit")
	require.Equal(t, "first", first.Labels["name"])
}
