package kind

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	yaml "go.yaml.in/yaml/v3"
	"sigs.k8s.io/kind/pkg/apis/config/v1alpha4"
	"sigs.k8s.io/kind/pkg/cluster"
	k8syaml "sigs.k8s.io/yaml"
)

const (
	labelRegion = "topology.kubernetes.io/region"
	labelZone   = "topology.kubernetes.io/zone"
)

var regions = []string{"us", "eu", "sg"}

// decode reads a configuration like kind does: unknown fields are errors.
func decode(t *testing.T, file string) *v1alpha4.Cluster {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	decoder := yaml.NewDecoder(bytes.NewReader(text))
	decoder.KnownFields(true)
	config := &v1alpha4.Cluster{}
	require.NoError(t, decoder.Decode(config), file)
	v1alpha4.SetDefaultsCluster(config)
	return config
}

// localities returns the localities of the samples, by region.
func localities(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "..", "config", "samples", "socialnetwork.yaml"))
	require.NoError(t, err)
	var sample struct {
		Spec struct {
			Database struct{ Localities map[string]string }
		}
	}
	require.NoError(t, k8syaml.Unmarshal(text, &sample))
	require.Len(t, sample.Spec.Database.Localities, len(regions))
	return sample.Spec.Database.Localities
}

func TestOneCluster(t *testing.T) {
	config, want := decode(t, "cluster.yaml"), localities(t)
	require.Len(t, config.Nodes, 1+len(regions))
	require.Equal(t, v1alpha4.ControlPlaneRole, config.Nodes[0].Role)
	require.Empty(t, config.Nodes[0].Labels[labelRegion], "no server runs with the database, which survives the loss of a region")
	for i, code := range regions {
		node := config.Nodes[i+1]
		require.Equal(t, v1alpha4.WorkerRole, node.Role, code)
		require.Equal(t, want[code], node.Labels[labelRegion])
		require.True(t, strings.HasPrefix(node.Labels[labelZone], want[code]+"-"), code)
	}
}

func TestThreeClusters(t *testing.T) {
	want, ranges := localities(t), map[string]bool{}
	for _, code := range regions {
		config := decode(t, "cluster-"+code+".yaml")
		require.Len(t, config.Nodes, 1, code)
		require.Equal(t, v1alpha4.ControlPlaneRole, config.Nodes[0].Role, code)
		require.Equal(t, want[code], config.Nodes[0].Labels[labelRegion])
		require.True(t, strings.HasPrefix(config.Nodes[0].Labels[labelZone], want[code]+"-"), code)
		ranges[config.Networking.PodSubnet], ranges[config.Networking.ServiceSubnet] = true, true
	}
	require.Len(t, ranges, 2*len(regions), "clusters that reach each other have different ranges")
}

// TestKindAcceptsConfigs runs kind itself up to its first change of Docker, which comes after the validation of a configuration.
func TestKindAcceptsConfigs(t *testing.T) {
	stub(t, "docker", `case $1 in info) echo '{"CgroupVersion": "2"}' ;; network) echo "the network is created" >&2; exit 1 ;; esac`)
	provider := cluster.NewProvider(cluster.ProviderWithDocker())
	for _, file := range []string{"cluster.yaml", "cluster-us.yaml", "cluster-eu.yaml", "cluster-sg.yaml"} {
		err := provider.Create("plaza", cluster.CreateWithConfigFile(file))
		require.ErrorContains(t, err, "failed to ensure docker network", file)
	}
	err := provider.Create("plaza",
		cluster.CreateWithRawConfig([]byte("kind: Cluster\napiVersion: kind.x-k8s.io/v1alpha4\nnodes: [{role: worker}]\n")))
	require.ErrorContains(t, err, "must have at least one control-plane node", "a configuration that kind does not accept")
}
