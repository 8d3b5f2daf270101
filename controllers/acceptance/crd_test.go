package acceptance

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/testenv"
)

// TestInvalidManifests checks every validation rule of the CRD: each manifest is refused with the message in its first line, and for each
// rule there is a manifest that no other rule refuses. A manifest that follows another in the same file is an update of it.
func TestInvalidManifests(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(testenv.Root(), "controllers", "testdata", "invalid", "*.yaml"))
	require.NoError(t, err)
	namespace, rules, refusing := env.Namespace(t), crdRules(t), map[rule]string{}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		t.Run(name, func(t *testing.T) {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			messages, manifests := readInvalid(t, string(text))
			err = refused(t, namespace, manifests)
			require.ErrorContains(t, err, messages[0])
			broken := brokenRules(rules, complaintsOf(t, err))
			for _, r := range broken {
				require.True(t, slices.ContainsFunc(messages, func(m string) bool { return strings.Contains(r.message, m) }), "%v refuses it as well",
					r)
				refusing[r] = name
			}
			require.LessOrEqual(t, len(broken), len(messages))
		})
	}
	for _, r := range rules {
		require.Contains(t, refusing, r, "no manifest of testdata/invalid breaks the rule of %s: %s", r.path, r.message)
	}
}

// readInvalid returns the messages in the comment at the beginning of a file, which are those of all rules that refuse its last manifest,
// and the manifests.
func readInvalid(t *testing.T, text string) (messages []string, manifests []*unstructured.Unstructured) {
	t.Helper()
	for line := range strings.SplitSeq(text, "\n") {
		message, isComment := strings.CutPrefix(line, "# ")
		if !isComment {
			break
		}
		messages = append(messages, message)
	}
	for part := range strings.SplitSeq(text, "\n---\n") {
		manifest := &unstructured.Unstructured{}
		require.NoError(t, yaml.Unmarshal([]byte(part), &manifest.Object))
		manifests = append(manifests, manifest)
	}
	return messages, manifests
}

// refused creates the first manifest, updates it to the second, if there is one, and returns the error of the last step.
func refused(t *testing.T, namespace string, manifests []*unstructured.Unstructured) error {
	t.Helper()
	last := manifests[len(manifests)-1]
	last.SetNamespace(namespace)
	if len(manifests) == 1 {
		return env.Client.Create(t.Context(), last, client.DryRunAll)
	}
	manifests[0].SetNamespace(namespace)
	require.NoError(t, env.Client.Create(t.Context(), manifests[0]))
	last.SetResourceVersion(manifests[0].GetResourceVersion())
	return env.Client.Update(t.Context(), last, client.DryRunAll)
}

// brokenRules returns the rules because of which the API server refused an object.
func brokenRules(rules []rule, complaints []complaint) []rule {
	var broken []rule
	for _, r := range rules {
		if slices.ContainsFunc(complaints, func(c complaint) bool { return c.path == r.path && strings.Contains(c.message, r.message) }) {
			broken = append(broken, r)
		}
	}
	return broken
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
	require.Equal(t, v1alpha1.Monitoring{
		ServiceMonitor: true, Dashboards: true,
		Alerts: v1alpha1.Alerts{Enabled: true, Availability: "99.9", LatencyP99: "500ms"},
	}, spec.Monitoring)
	require.True(t, spec.NetworkPolicy.Enabled)
}
