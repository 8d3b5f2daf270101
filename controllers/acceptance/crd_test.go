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

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/testenv"
)

// TestInvalidManifests checks every validation rule of the CRD: each manifest is rejected with the message in its first
// line.
func TestInvalidManifests(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(testenv.Root(), "controllers", "testdata", "invalid", "*.yaml"))
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(files), 25)
	namespace := env.Namespace(t)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".yaml"), func(t *testing.T) {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			first, _, _ := strings.Cut(string(text), "\n")
			var object unstructured.Unstructured
			require.NoError(t, yaml.Unmarshal(text, &object.Object))
			object.SetNamespace(namespace)
			err = env.Client.Create(t.Context(), &object)
			require.ErrorContains(t, err, strings.TrimPrefix(first, "# "))
		})
	}
}

// TestImmutableFields checks the rules that compare an update with the old object.
func TestImmutableFields(t *testing.T) {
	ctx := t.Context()
	sn := sample(t, "socialnetwork")
	sn.Namespace = env.Namespace(t)
	require.NoError(t, env.Client.Create(ctx, sn))
	sn.Spec.Regions[0].Host = "elsewhere.acme.example"
	require.ErrorContains(t, env.Client.Update(ctx, sn), "the host of a region is immutable, because clients store it")
}

// TestLocalitiesAreGuarded changes the locality of a region, which moves its rows.
func TestLocalitiesAreGuarded(t *testing.T) {
	ctx := t.Context()
	sn := sample(t, "socialnetwork")
	sn.Namespace = env.Namespace(t)
	require.NoError(t, env.Client.Create(ctx, sn))
	refused := "repeat its new name in database.confirmLocalities"
	sn.Spec.Database.Localities["eu"] = "europe-west3"
	require.ErrorContains(t, env.Client.Update(ctx, sn), refused)
	sn.Spec.Database.ConfirmLocalities = map[string]string{"eu": "europe-west4", "us": "europe-west3"}
	require.ErrorContains(t, env.Client.Update(ctx, sn), refused)
	sn.Spec.Database.ConfirmLocalities["eu"] = "europe-west3"
	require.NoError(t, env.Client.Update(ctx, sn))
	sn.Spec.Database.Localities["eu"] = "europe-west1"
	require.ErrorContains(t, env.Client.Update(ctx, sn), refused, "the way back needs a confirmation, too")
}

// TestSamplesAreAccepted applies every sample.
func TestSamplesAreAccepted(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(testenv.Root(), "config", "samples", "socialnetwork*.yaml"))
	require.NoError(t, err)
	require.NotEmpty(t, files)
	namespace := env.Namespace(t)
	for _, file := range files {
		sn := manifest(t, strings.TrimSuffix(filepath.Base(file), ".yaml"))
		sn.SetNamespace(namespace)
		require.NoError(t, env.Client.Create(t.Context(), sn), file)
	}
}

// TestCRDFitsClientSideApply keeps the CRD smaller than the limit of the annotation of client-side apply.
func TestCRDFitsClientSideApply(t *testing.T) {
	info, err := os.Stat(filepath.Join(testenv.Root(), "config", "crd", "bases", "plaza.social_socialnetworks.yaml"))
	require.NoError(t, err)
	require.Less(t, info.Size(), int64(256<<10))
}

// TestDefaultsAreVisible reads a network with defaults for all optional fields.
func TestDefaultsAreVisible(t *testing.T) {
	sn := manifest(t, "socialnetwork-minimal")
	sn.SetNamespace(env.Namespace(t))
	require.NoError(t, env.Client.Create(t.Context(), sn))
	var read v1alpha1.SocialNetwork
	require.NoError(t, env.Client.Get(t.Context(), client.ObjectKeyFromObject(sn), &read))
	spec := read.Spec
	require.Equal(t, v1alpha1.DeletionRetain, spec.DeletionPolicy)
	require.Equal(t, v1alpha1.RegionUS, spec.Database.PrimaryRegion)
	require.Equal(t, "zone", spec.Database.Survive)
	require.Equal(t, map[string]string{"us": "us-east1", "eu": "europe-west1", "sg": "asia-southeast1"}, spec.Database.Localities)
	require.Equal(t, v1alpha1.Moderation{ReportEnabled: true, FlagLimit: 100}, spec.Moderation)
	require.Equal(t, v1alpha1.Duration("1h"), spec.ServerKeys.Overlap)
	require.Equal(t, v1alpha1.Rollout{MaxRegionsRolling: 1, Soak: "30s", MaxErrorPercent: new(int32(5))}, spec.Rollout)
	require.Equal(t, v1alpha1.Monitoring{ServiceMonitor: true, Dashboards: true, Alerts: v1alpha1.Alerts{Enabled: true, Availability: "99.9", LatencyP99: "500ms"}}, spec.Monitoring)
	require.True(t, spec.NetworkPolicy.Enabled)
}
