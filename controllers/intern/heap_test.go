package intern_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/intern"
	"github.com/plaza-social/plaza/controllers/render"
)

// BenchmarkHeap reports the heap that the cached objects of a network with one region take, with and without interning. Both
// drop the managed fields of other managers.
func BenchmarkHeap(b *testing.B) {
	for name, transform := range map[string]toolscache.TransformFunc{
		"plain":    func(object any) (any, error) { return object, nil },
		"interned": (&intern.Pool{}).Transform(nil, "plaza-operator"),
	} {
		b.Run(name, func(b *testing.B) {
			const networks = 500
			for range b.N {
				before := heap()
				var cache []any
				for i := range networks {
					cache = append(cache, cachedObjects(b, i, transform)...)
				}
				b.ReportMetric(float64(heap()-before)/networks, "B/network")
				runtime.KeepAlive(cache)
			}
		})
	}
}

func heap() int64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

// cachedObjects returns the objects of a network as an informer decodes them.
func cachedObjects(b *testing.B, i int, transform toolscache.TransformFunc) []any {
	b.Helper()
	sn := &v1alpha1.SocialNetwork{}
	sn.Name, sn.Namespace = fmt.Sprintf("network-%d", i), "plaza"
	sn.Spec.Regions = []v1alpha1.Region{{Code: v1alpha1.RegionEU, Host: "eu.example"}}
	var cached []any
	for _, object := range render.Everything(render.Network{SN: sn, NetworkID: fmt.Sprintf("%024d", i)}) {
		text, err := json.Marshal(object)
		require.NoError(b, err)
		var content any
		require.NoError(b, json.Unmarshal(text, &content))
		owned, err := json.Marshal(ownedFields(content))
		require.NoError(b, err)
		decoded, ok := reflect.TypeAssert[client.Object](reflect.New(reflect.TypeOf(object).Elem()))
		require.True(b, ok)
		require.NoError(b, json.Unmarshal(text, decoded))
		decoded.SetManagedFields([]metav1.ManagedFieldsEntry{{
			Manager: "plaza-operator", Operation: metav1.ManagedFieldsOperationApply, FieldsType: "FieldsV1",
			FieldsV1: metav1.NewFieldsV1(string(owned)),
		}})
		transformed, err := transform(decoded)
		require.NoError(b, err)
		cached = append(cached, transformed)
	}
	return cached
}

// ownedFields returns a FieldsV1 in which every field of value is owned.
func ownedFields(value any) map[string]any {
	owned := map[string]any{}
	if object, ok := value.(map[string]any); ok {
		for name, child := range object {
			owned["f:"+name] = ownedFields(child)
		}
	}
	return owned
}
