package render_test

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/randfill"

	"github.com/plaza-social/plaza/api/v1alpha1"
)

// TestSameBytes renders every sample repeatedly from copies with maps in random order.
func TestSameBytes(t *testing.T) {
	for name, sn := range specs(t) {
		t.Run(name, func(t *testing.T) {
			want := everything(t, sn)
			for range 50 {
				require.Equal(t, string(want), string(everything(t, shuffled(sn))))
			}
		})
	}
}

// TestRandomSpecs renders random specs, most of which the CRD would reject: nothing panics, equal specs give equal
// bytes, and the spec is not modified.
func TestRandomSpecs(t *testing.T) {
	const seed = 20261121
	filler := randfill.NewWithSeed(seed).NilChance(0.3).NumElements(0, 3).MaxDepth(12).Funcs(
		func(q *resource.Quantity, c randfill.Continue) {
			*q = *resource.NewMilliQuantity(c.Int63n(1e9), resource.DecimalSI)
		},
		func(code *v1alpha1.RegionCode, c randfill.Continue) {
			*code = []v1alpha1.RegionCode{v1alpha1.RegionUS, v1alpha1.RegionEU, v1alpha1.RegionSG}[c.Intn(3)]
		},
	)
	for range 300 {
		sn := &v1alpha1.SocialNetwork{}
		sn.Name, sn.Namespace = "acme", "social"
		filler.Fill(&sn.Spec)
		if len(sn.Spec.Regions) == 0 {
			sn.Spec.Regions = []v1alpha1.Region{{Code: v1alpha1.RegionSG}}
		}
		before := sn.DeepCopy()
		want := string(everything(t, sn))
		require.Equal(t, before, sn, "rendering changed the spec")
		require.Equal(t, want, string(everything(t, shuffled(sn))))
	}
}

// shuffled returns a deep copy whose maps were filled in random order.
func shuffled(sn *v1alpha1.SocialNetwork) *v1alpha1.SocialNetwork {
	out := sn.DeepCopy()
	shuffle(reflect.ValueOf(&out.Spec).Elem())
	return out
}

func shuffle(value reflect.Value) {
	switch value.Kind() {
	case reflect.Pointer:
		if !value.IsNil() {
			shuffle(value.Elem())
		}
	case reflect.Slice:
		for i := range value.Len() {
			shuffle(value.Index(i))
		}
	case reflect.Struct:
		if value.Type() == reflect.TypeFor[resource.Quantity]() {
			return
		}
		for _, field := range value.Fields() {
			shuffle(field)
		}
	case reflect.Map:
		if value.IsNil() {
			return
		}
		keys := value.MapKeys()
		rand.Shuffle(len(keys), func(i, j int) { keys[i], keys[j] = keys[j], keys[i] })
		fresh := reflect.MakeMap(value.Type())
		for _, key := range keys {
			fresh.SetMapIndex(key, value.MapIndex(key))
		}
		value.Set(fresh)
	default:
	}
}
