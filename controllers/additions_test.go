package controllers

import (
	"context"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/plaza-social/plaza/controllers/apply"
	"github.com/plaza-social/plaza/controllers/stage"
)

// recorded is a stage whose desired objects with a part that is pruned are recorded, one for each kind and part.
type recorded struct {
	stage.Stage

	pruned map[string]stage.Desired
}

func (r recorded) Run(ctx context.Context, p *stage.Pass) stage.Outcome {
	out := r.Stage.Run(ctx, p)
	r.record(out.Objects)
	return out
}

func (r recorded) record(all []stage.Desired) {
	for _, d := range all {
		r.record(d.Prerequisites)
		if d.Prune != nil {
			r.pruned[d.Object.GetObjectKind().GroupVersionKind().Kind+" "+strings.Join(d.Prune, ".")] = d
		}
	}
}

// TestCacheKeepsAdditions checks, for every part of an object from which a stage removes what others added, that the cache keeps who added
// something to it.
func TestCacheKeepsAdditions(t *testing.T) {
	n := newAwayNetwork(t)
	pruned := map[string]stage.Desired{}
	for i, s := range n.stages {
		n.stages[i] = recorded{s, pruned}
	}
	n.pass(8)
	require.Contains(t, pruned, "Service spec.ports")
	require.Contains(t, pruned, "Deployment spec.template.spec")
	for name, d := range pruned {
		live, err := apply.Unstructured(d.Object)
		require.NoError(t, err)
		want := addTo(t, live, d.Prune)
		cached, err := transformOf(d.Object)(live)
		require.NoError(t, err)
		object, ok := cached.(*unstructured.Unstructured)
		require.True(t, ok)
		found, err := apply.Added(object, apply.Manager, d.Prune...)
		require.NoError(t, err)
		require.Equal(t, []string{want}, found, name)
	}
}

// addTo adds a value to the part of an object at path, as a user, and returns the path of the value.
func addTo(t *testing.T, object *unstructured.Unstructured, path []string) (added string) {
	t.Helper()
	value, found, err := unstructured.NestedFieldNoCopy(object.Object, path...)
	require.NoError(t, err)
	require.True(t, found)
	ours, theirs := "{}", ""
	added = strings.Join(path, ".")
	switch v := value.(type) {
	case []any:
		require.NoError(t, unstructured.SetNestedSlice(object.Object, append(v, map[string]any{"name": "added"}), path...))
		theirs, added = `{"k:{\"name\":\"added\"}":{}}`, added+`[{"name":"added"}]`
	case map[string]any:
		v["added"] = "by hand"
		theirs, added = `{"f:added":{}}`, added+".added"
	default:
		require.Failf(t, "nothing can be added", "%T", value)
	}
	for _, name := range slices.Backward(path) {
		ours, theirs = `{"f:`+name+`":`+ours+`}`, `{"f:`+name+`":`+theirs+`}`
	}
	object.SetManagedFields([]metav1.ManagedFieldsEntry{
		{Manager: apply.Manager, Operation: metav1.ManagedFieldsOperationApply, FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(ours)},
		{Manager: "user", Operation: metav1.ManagedFieldsOperationUpdate, FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(theirs)},
	})
	return added
}

// transformOf returns what the cache does with objects of a kind.
func transformOf(object client.Object) toolscache.TransformFunc {
	options := CacheOptions(nil)
	for of, by := range options.ByObject {
		if reflect.TypeOf(of) == reflect.TypeOf(object) && by.Transform != nil {
			return by.Transform
		}
	}
	return options.DefaultTransform
}
