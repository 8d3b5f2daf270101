package main

import (
	"bytes"
	"errors"
	"io"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chart"
	"helm.sh/helm/v3/pkg/chartutil"
	"helm.sh/helm/v3/pkg/engine"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// root is the repository's root.
var root = filepath.Join("..", "..")

// objects maps kind, namespace and name to manifests.
type objects map[string]*unstructured.Unstructured

func nameOf(o *unstructured.Unstructured) string {
	return o.GetKind() + " " + o.GetNamespace() + "/" + o.GetName()
}

// parse parses a stream of manifests and fails for duplicate names.
func parse(t *testing.T, text []byte) objects {
	t.Helper()
	found := objects{}
	decoder := utilyaml.NewYAMLOrJSONDecoder(bytes.NewReader(text), 4096)
	for {
		var o unstructured.Unstructured
		err := decoder.Decode(&o.Object)
		if errors.Is(err, io.EOF) {
			return found
		}
		require.NoError(t, err, string(text))
		if len(o.Object) == 0 {
			continue
		}
		require.NotContains(t, found, nameOf(&o))
		found[nameOf(&o)] = &o
	}
}

// kustomized returns the rendered objects of a directory in config/.
func kustomized(t *testing.T, folder string) objects {
	t.Helper()
	text, err := kustomize(filepath.Join(root, "config", folder))
	require.NoError(t, err)
	return parse(t, text)
}

// render renders the chart with values, including its notes, like `helm install plaza-operator --namespace
// plaza-system`.
func render(t *testing.T, values string) (map[string]string, error) {
	t.Helper()
	c, err := loadChart(root)
	require.NoError(t, err)
	return tryRender(t, c, values)
}

func tryRender(t *testing.T, c *chart.Chart, values string) (map[string]string, error) {
	t.Helper()
	var given map[string]any
	require.NoError(t, yaml.Unmarshal([]byte(values), &given))
	release := chartutil.ReleaseOptions{Name: "plaza-operator", Namespace: "plaza-system", Revision: 1, IsInstall: true}
	all, err := chartutil.ToRenderValues(c, given, release, chartutil.DefaultCapabilities)
	if err != nil {
		return nil, err
	}
	return engine.Render(c, all)
}

// charted returns the chart's objects for values.
func charted(t *testing.T, values string) objects {
	t.Helper()
	c, err := loadChart(root)
	require.NoError(t, err)
	return parseFiles(t, renderChart(t, c, values))
}

func renderChart(t *testing.T, c *chart.Chart, values string) map[string]string {
	t.Helper()
	files, err := tryRender(t, c, values)
	require.NoError(t, err)
	return files
}

func parseFiles(t *testing.T, files map[string]string) objects {
	t.Helper()
	found := objects{}
	for name, text := range files {
		if filepath.Ext(name) != ".yaml" {
			continue
		}
		for key, o := range parse(t, []byte(text)) {
			require.NotContains(t, found, key)
			found[key] = o
		}
	}
	return found
}
