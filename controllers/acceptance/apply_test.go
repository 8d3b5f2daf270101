package acceptance

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/plaza-social/plaza/controllers/apply"
	"github.com/plaza-social/plaza/controllers/testenv"
)

// TestDifferenceOnAServer applies every object of every golden sample. Difference finds nothing afterwards, nor after
// another manager adds fields, and it finds each owned field that is edited by hand.
func TestDifferenceOnAServer(t *testing.T) {
	t.Parallel()
	installKinds(t)
	golden := filepath.Join(testenv.Root(), "controllers", "render", "testdata", "golden")
	samples, err := os.ReadDir(golden)
	require.NoError(t, err)
	require.NotEmpty(t, samples)
	for i, sample := range samples {
		t.Run(sample.Name(), func(t *testing.T) {
			o := prepare(t)
			files, err := filepath.Glob(filepath.Join(golden, sample.Name(), "*.yaml"))
			require.NoError(t, err)
			for _, file := range files {
				text, err := os.ReadFile(file)
				require.NoError(t, err)
				desired := &unstructured.Unstructured{}
				require.NoError(t, yaml.Unmarshal(text, &desired.Object))
				desired.SetNamespace(o.namespace)
				o.differs(desired, i == 0)
			}
		})
	}
}

func (o *operator) differs(desired *unstructured.Unstructured, disturb bool) {
	o.t.Helper()
	ctx := o.t.Context()
	bring := func() *unstructured.Unstructured {
		o.t.Helper()
		err := o.client.Apply(ctx, client.ApplyConfigurationFromUnstructured(desired.DeepCopy()), client.FieldOwner(apply.Manager),
			client.ForceOwnership)
		require.NoError(o.t, err, "%s %s", desired.GetKind(), desired.GetName())
		live := desired.DeepCopy()
		require.NoError(o.t, o.client.Get(ctx, client.ObjectKeyFromObject(desired), live))
		require.Empty(o.t, apply.Difference(live, desired, apply.Manager), "%s %s", desired.GetKind(), desired.GetName())
		return live
	}
	live := bring()
	live.SetAnnotations(map[string]string{"other.example/note": "x"})
	require.NoError(o.t, o.client.Update(ctx, live, client.FieldOwner("user")))
	live = bring()
	if !disturb {
		return
	}
	for _, path := range leaves(live) {
		before := apply.Owned(live, apply.Manager)
		if err := o.change(live, path); err != nil {
			require.True(o.t, apierrors.IsInvalid(err), "%v: %v", path, err)
			continue
		}
		require.NoError(o.t, o.client.Get(ctx, client.ObjectKeyFromObject(desired), live))
		if equality.Semantic.DeepEqual(before, apply.Owned(live, apply.Manager)) {
			continue // it was removed, and the server's default is the same
		}
		at := apply.Difference(live, desired, apply.Manager)
		require.NotEmpty(o.t, at, "%s %s: %v", desired.GetKind(), desired.GetName(), path)
		require.True(o.t, strings.HasPrefix(at, path[0]) || at == ".", "%s is not at %v", at, path)
		live = bring()
	}
}
