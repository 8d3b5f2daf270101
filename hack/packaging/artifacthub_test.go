package main

import (
	"os"
	"testing"

	"github.com/stretchr/testify/require"
	"sigs.k8s.io/yaml"
)

// readYAML reads a file.
func readYAML(t *testing.T, path string, into any) {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NoError(t, yaml.Unmarshal(text, into))
}

// TestArtifactHub compares the annotations of the chart for Artifact Hub with the CRD and the sample.
func TestArtifactHub(t *testing.T) {
	var chart struct{ Annotations map[string]string }
	readYAML(t, "../../charts/plaza-operator/Chart.yaml", &chart)
	var crd struct {
		Metadata struct{ Name string }
		Spec     struct {
			Names    struct{ Kind string }
			Versions []struct{ Name string }
		}
	}
	readYAML(t, "../../config/crd/bases/plaza.social_socialnetworks.yaml", &crd)
	var listed []struct{ Kind, Version, Name, DisplayName, Description string }
	require.NoError(t, yaml.UnmarshalStrict([]byte(chart.Annotations["artifacthub.io/crds"]), &listed))
	require.Len(t, listed, 1)
	require.Equal(t, crd.Metadata.Name, listed[0].Name)
	require.Equal(t, crd.Spec.Names.Kind, listed[0].Kind)
	require.Equal(t, crd.Spec.Versions[0].Name, listed[0].Version)
	require.NotEmpty(t, listed[0].DisplayName)
	require.NotEmpty(t, listed[0].Description)

	var examples []any
	require.NoError(t, yaml.Unmarshal([]byte(chart.Annotations["artifacthub.io/crdsExamples"]), &examples))
	var sample any
	readYAML(t, "../../config/samples/socialnetwork-minimal.yaml", &sample)
	require.Equal(t, []any{sample}, examples, "the minimal sample")
	var links []struct{ Name, URL string }
	require.NoError(t, yaml.UnmarshalStrict([]byte(chart.Annotations["artifacthub.io/links"]), &links))
	require.NotEmpty(t, links)
}
