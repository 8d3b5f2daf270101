package acceptance

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/plaza-social/plaza/controllers/testenv"
)

// TestDatabasesOfClusters sends the databases that the clusters of hack/kind and hack/cluster have to the API server, which validates
// them strictly: unknown fields are errors. Nothing but the namespace is created.
func TestDatabasesOfClusters(t *testing.T) {
	t.Parallel()
	fill := strings.NewReplacer("[ADDRESS]", "[172.18.0.2]", "[relay, ADDRESS]", "[relay, 10.200.0.1:15432]", "IMAGE", "echo")
	for _, file := range []string{"kind/cockroachdb.yaml", "kind/database-elsewhere.yaml", "cluster/outside.yaml"} {
		text, err := os.ReadFile(filepath.Join(testenv.Root(), "hack", file))
		require.NoError(t, err)
		var checked []string
		for part := range strings.SplitSeq(fill.Replace(string(text)), "\n---\n") {
			object := &unstructured.Unstructured{}
			require.NoError(t, yaml.UnmarshalStrict([]byte(part), &object.Object), file)
			options := []client.CreateOption{client.FieldValidation("Strict"), client.DryRunAll}
			if object.GetKind() == "Namespace" {
				options = options[:1]
			}
			require.NoError(t, client.IgnoreAlreadyExists(env.Client.Create(t.Context(), object, options...)), "%s: %s", file, object.GetKind())
			checked = append(checked, object.GetKind())
		}
		require.Contains(t, checked, "Service", file)
	}
}
