package render_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/plaza-social/plaza/controllers/render"
)

var update = flag.Bool("update", false, "rewrite the golden files")

const goldenFolder = "testdata/golden"

// TestGolden compares every object of every sample with its file. A change of a Deployment's template restarts every
// network when the operator is upgraded: make sure that it is worth that.
func TestGolden(t *testing.T) {
	got := map[string]string{}
	for sample, sn := range specs(t) {
		for _, object := range render.Everything(networkOf(sn)) {
			got[filepath.Join(sample, fileName(object))] = string(manifest(t, object))
		}
	}
	if *update {
		require.NoError(t, os.RemoveAll(goldenFolder))
		for name, text := range got {
			path := filepath.Join(goldenFolder, name)
			require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o755))
			require.NoError(t, os.WriteFile(path, []byte(text), 0o644))
		}
	}
	want := goldenFiles(t)
	for name, text := range got {
		require.Equal(t, want[name], text, "%s: go test ./controllers/render -update rewrites it", name)
		delete(want, name)
	}
	require.Empty(t, want, "golden files that nothing renders")
}

func fileName(object client.Object) string {
	kind := object.GetObjectKind().GroupVersionKind().Kind
	return strings.ToLower(kind) + "-" + object.GetName() + ".yaml"
}

// manifest returns the object as it is applied.
func manifest(t *testing.T, object client.Object) []byte {
	t.Helper()
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	require.NoError(t, err)
	delete(content, "status")
	text, err := yaml.Marshal(content)
	require.NoError(t, err)
	return text
}

func goldenFiles(t *testing.T) map[string]string {
	t.Helper()
	files := map[string]string{}
	err := filepath.WalkDir(goldenFolder, func(path string, entry os.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		name, _ := filepath.Rel(goldenFolder, path)
		files[name] = string(text)
		return err
	})
	require.NoError(t, err)
	return files
}
