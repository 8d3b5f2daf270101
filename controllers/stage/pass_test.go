package stage

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/keyring"
	"github.com/plaza-social/plaza/controllers/platformclient"
	"github.com/plaza-social/plaza/controllers/podcause"
	"github.com/plaza-social/plaza/controllers/render"
)

// passOf returns a pass of a network in the operator's own cluster and, for the regions that name it, in the cluster west.
func passOf(regions ...v1alpha1.Region) *Pass {
	sn := &v1alpha1.SocialNetwork{ObjectMeta: metav1.ObjectMeta{Name: "acme", Namespace: "plaza"}}
	sn.Spec.Regions = regions
	own := &Cluster{Network: render.Network{SN: sn}}
	west := &Cluster{Name: "west", Network: render.Network{SN: sn, Cluster: "west", Namespace: "away"}}
	return &Pass{SN: sn, Clusters: []*Cluster{own, west}, Network: own.Network, Status: &v1alpha1.SocialNetworkStatus{}}
}

// TestClusters checks which cluster a region is in, and which of them cannot be used.
func TestClusters(t *testing.T) {
	p := passOf(v1alpha1.Region{Code: "us"}, v1alpha1.Region{Code: "eu", Cluster: "west", Namespace: "away", EvacuateTo: "us"})
	own, west := p.Clusters[0], p.Clusters[1]
	require.Same(t, own, p.Own())
	require.Same(t, own, p.ClusterOf("us"))
	require.Same(t, west, p.ClusterOf("eu"))
	require.Same(t, own, p.ClusterOf("sg"), "the spec does not have it")
	require.Equal(t, "in the namespace", own.Where())
	require.Equal(t, "in namespace away of cluster west", west.Where())
	require.True(t, p.IsEvacuated("eu"))
	require.False(t, p.IsEvacuated("us"))
	require.False(t, p.IsEvacuated("sg"), "the spec does not have it")
	require.Equal(t, p.Clusters, p.Usable())
	require.Nil(t, p.Unusable())

	west.Reason = v1alpha1.ReasonClusterUnreachable
	require.Equal(t, []*Cluster{own}, p.Usable())
	require.Nil(t, p.Unusable(), "its region is evacuated")
	p.SN.Spec.Regions[1].EvacuateTo = ""
	require.Same(t, west, p.Unusable())
	p.SN.Spec.Regions[1].Cluster = ""
	require.Nil(t, p.Unusable(), "no region is in it")
	own.Reason = v1alpha1.ReasonClusterUnreachable
	require.Same(t, own, p.Unusable())
	require.Empty(t, p.Usable())
}

// TestPublish checks that the facts of a stage are those of all later ones, and that a stage without facts changes none.
func TestPublish(t *testing.T) {
	p := passOf()
	own, west := p.Clusters[0], p.Clusters[1]
	p.publish(Facts{NetworkID: "id", SecretsFingerprints: map[*Cluster]string{own: "a", west: "b"}, SchemaReady: true})
	p.publish(Facts{})
	require.True(t, p.SchemaReady)
	require.Equal(t, own.Network, p.Network)
	for c, fingerprint := range map[*Cluster]string{own: "a", west: "b"} {
		require.Equal(t, "id", c.Network.NetworkID)
		require.Equal(t, fingerprint, c.Network.SecretsFingerprint)
	}
	p.publish(Facts{NetworkID: "other", SecretsFingerprints: map[*Cluster]string{west: "c"}})
	require.Equal(t, "other", p.Network.NetworkID)
	require.Equal(t, "a", own.Network.SecretsFingerprint)
	require.Equal(t, "c", west.Network.SecretsFingerprint)
	require.True(t, p.SchemaReady)
	fresh := passOf()
	fresh.publish(Facts{NetworkID: "id"})
	require.False(t, fresh.SchemaReady)
}

// TestSilence checks why it is not known what the servers of a network report.
func TestSilence(t *testing.T) {
	p := passOf(v1alpha1.Region{Code: "us"}, v1alpha1.Region{Code: "eu", Cluster: "west", Namespace: "away"}, v1alpha1.Region{Code: "sg"})
	silence := func() string {
		reason, message := p.silence("settings", func(r ServerReport) string {
			if r.Err != nil {
				return r.Err.Error()
			}
			return ""
		})
		return string(reason) + " " + message
	}
	answers, fails := ServerReport{Pod: "a"}, ServerReport{Pod: "b", Err: errors.New("time-out")}
	require.Equal(t, "NoServers No server is ready in us, eu and sg.", silence())
	p.Reports = map[v1alpha1.RegionCode][]ServerReport{"us": {answers}, "sg": {fails}}
	require.Equal(t, "NoServers No server is ready in eu.", silence())
	p.Reports["eu"] = []ServerReport{answers, fails}
	require.Equal(t, "ServersSilent Servers do not report their settings in eu (pod b: time-out) and sg (pod b: time-out).", silence())
	p.SN.Spec.Regions[1].EvacuateTo = "us"
	require.Equal(t, "ServersSilent Servers do not report their settings in sg (pod b: time-out).", silence())
	p.Reports["sg"] = []ServerReport{answers}
	require.Equal(t, " ", silence(), "an evacuated region does not count")
	p.SN.Spec.Regions[1].EvacuateTo, p.Reports["sg"] = "", []ServerReport{fails}
	require.Equal(t, "ServersSilent Servers do not report their settings in eu (pod b: time-out) and sg (pod b: time-out).", silence())
	p.Clusters[1].Reason, p.Clusters[1].Message = v1alpha1.ReasonClusterUnreachable, "west is away"
	require.Equal(t, "ClusterUnreachable west is away", silence())

	require.Equal(t, []v1alpha1.RegionCode{"eu", "sg"}, p.RegionsWhere(func(r ServerReport) bool { return r.Err != nil }))
	require.Len(t, p.AllReports(), 4)
	require.Equal(t, "a", p.AllReports()[0].Pod)
}

// TestUserSecret checks that a Secret without the operator's label, which is not cached, is read from the API server.
func TestUserSecret(t *testing.T) {
	secret := func(text string) client.WithWatch {
		object := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "urls", Namespace: "plaza"}, Data: map[string][]byte{"url": []byte(text)}}
		return fake.NewClientBuilder().WithObjects(object).Build()
	}
	none := fake.NewClientBuilder().Build()
	c := passOf().Own()
	c.Cache, c.APIReader = secret("cached"), secret("newer")
	for _, want := range []string{"cached", "newer"} {
		found, err := c.UserSecret(t.Context(), "urls")
		require.NoError(t, err)
		require.Equal(t, want, string(found.Data["url"]))
		c.Cache = none
	}
	c.APIReader = none
	found, err := c.UserSecret(t.Context(), "urls")
	require.Error(t, err)
	require.Nil(t, found)
}

// syncOf returns a run for servers of which each differs from the spec.
func syncOf(p *Pass, push func(context.Context, platformclient.Server, keyring.Secret) error) *Sync {
	p.Reports = map[v1alpha1.RegionCode][]ServerReport{}
	for _, region := range p.SN.Spec.Regions {
		p.Reports[region.Code] = []ServerReport{{Server: platformclient.Server{Name: string(region.Code)}}}
	}
	return &Sync{Pass: p, Settings: Settings{
		Noun: "settings", PushFailed: "Failed",
		Read:   func(ServerReport) (time.Time, string) { return time.Now(), "" },
		Differ: func(ServerReport) bool { return true },
		Push: func(
			ctx context.Context, _ platformclient.Servers, to platformclient.Server, token keyring.Secret,
		) ([]platformclient.Refusal, error) {
			return nil, push(ctx, to, token)
		},
	}}
}

// TestPushWithoutToken checks that nothing is pushed while the network has no signing keys.
func TestPushWithoutToken(t *testing.T) {
	p := passOf(v1alpha1.Region{Code: "us"})
	p.Own().Cache = fake.NewClientBuilder().Build()
	s := syncOf(p, func(context.Context, platformclient.Server, keyring.Secret) error {
		require.Fail(t, "nothing is pushed without a token")
		return nil
	})
	s.Push(t.Context())
	require.True(t, s.SummarizeDiffering())
	require.Contains(t, s.Out.Message, "The settings could not be pushed: reading Secret acme-signing-keys: ")
}

// TestPush checks that every region is called with a token and a deadline, and that the errors are in the order of the regions.
func TestPush(t *testing.T) {
	p := passOf(v1alpha1.Region{Code: "us"}, v1alpha1.Region{Code: "eu"}, v1alpha1.Region{Code: "sg"})
	content, err := keyring.NewSigningKeys(zeros{})
	require.NoError(t, err)
	p.Own().Cache = fake.NewClientBuilder().WithObjects(&corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "acme-signing-keys", Namespace: "plaza"},
		Data:       map[string][]byte{keyring.SigningKeysFile: []byte(content.Reveal())},
	}).Build()
	s := syncOf(p, func(ctx context.Context, to platformclient.Server, token keyring.Secret) error {
		if end, hasDeadline := ctx.Deadline(); !hasDeadline || time.Until(end) > 5*time.Second || token.Reveal() == "" || to.Name == "us" {
			return nil
		}
		return errors.New(to.Name)
	})
	s.Push(t.Context())
	require.True(t, s.HasPushed)
	require.Equal(t, []string{"region eu: eu", "region sg: sg"}, s.failed)
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { clear(p); return len(p), nil }

// TestUpdateInProgress records an update if there are rules for it.
func TestUpdateInProgress(t *testing.T) {
	p, recorded := passOf(), 0
	p.UpdateInProgress()
	p.Updates.InProgress = func() { recorded++ }
	p.UpdateInProgress()
	require.Equal(t, 1, recorded)
}

// TestOutcomes checks the status of each kind of outcome.
func TestOutcomes(t *testing.T) {
	for status, out := range map[metav1.ConditionStatus]Outcome{
		metav1.ConditionTrue: True("Why", "so"), metav1.ConditionFalse: False("Why", "so"), metav1.ConditionUnknown: Unknown("Why", "so"),
	} {
		require.Equal(t, Outcome{Status: status, Reason: "Why", Message: "so"}, out)
	}
	require.Equal(t, "pod acme-us-1: it crashes", PodCause{Pod: "acme-us-1", Cause: podcause.Cause{Message: "it crashes"}}.String())
}
