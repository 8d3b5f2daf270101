//go:build cluster

package clustertest

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/render"
)

// regionOfLeader returns the region whose node the leading operator runs on.
func (s *suite) regionOfLeader(t *testing.T) string {
	t.Helper()
	var pod corev1.Pod
	require.NoError(t, s.client.Get(t.Context(), client.ObjectKey{Namespace: system, Name: s.leader()}, &pod))
	var node corev1.Node
	require.NoError(t, s.client.Get(t.Context(), client.ObjectKey{Name: pod.Spec.NodeName}, &node))
	for code, locality := range s.network(t).Spec.Database.Localities {
		if node.Labels[corev1.LabelTopologyRegion] == locality {
			return code
		}
	}
	t.Fatalf("node %s is of no region", node.Name)
	return ""
}

// cutOff disconnects the region in which the leader runs, and evacuates it in the meantime.
func (s *suite) cutOff(t *testing.T) {
	t.Helper()
	leader, code := s.leader(), s.regionOfLeader(t)
	others := slices.DeleteFunc(slices.Clone(codes), func(c string) bool { return c == code })
	scheduled := s.schedule(t, code)
	s.switchNode(t, "cut", code, others)
	healed := false
	t.Cleanup(func() {
		if !healed {
			cluster(t, "heal", code)
		}
	})
	s.sayf("    %s is cut off", code)
	s.otherLeads(t, leader)
	s.within(t, "the status tells that two regions serve", func() string {
		sn := s.network(t)
		if sn.Status.RegionsReady != "2/3" {
			return sn.Status.RegionsReady
		}
		for _, region := range sn.Status.Regions {
			if available := meta.IsStatusConditionTrue(region.Conditions, v1alpha1.RegionAvailable); available == (string(region.Code) == code) {
				return fmt.Sprintf("%s is available: %t", region.Code, available)
			}
		}
		if status, reason, message := condition(sn, v1alpha1.ConditionReady); status != "False" {
			return "Ready, " + reason + ": " + message
		}
		return ""
	})
	s.moreWrites(t)
	s.nothingFailed(t)
	s.evacuate(t, code, others[0], scheduled)
	healed = true
	s.switchNode(t, "heal", code, others)
	s.sayf("    %s is found again", code)
	s.leadBack(t, code)
	s.operatorsReady(t)
	s.nothingFailed(t)
}

// switchNode disconnects a region's node, or connects it again. The test's own connections to Services may go through
// that node and break, so the writers are paused in the meantime.
func (s *suite) switchNode(t *testing.T, how, code string, others []string) {
	t.Helper()
	s.pause(codes...)
	cluster(t, how, code)
	s.resume(t, others...)
}

// leaves removes a region from the spec and adds it again.
func (s *suite) leaves(t *testing.T) {
	t.Helper()
	const code = "sg"
	s.pause(code)
	before := s.uids(t, "us", "eu")
	var taken v1alpha1.Region
	s.edit(t, func(sn *v1alpha1.SocialNetwork) {
		sn.Spec.Regions = slices.DeleteFunc(sn.Spec.Regions, func(r v1alpha1.Region) bool {
			if r.Code == code {
				taken = r
			}
			return r.Code == code
		})
	})
	keys := get(t, s, &corev1.Secret{}, render.ServerKeysSecret(network, code))
	s.within(t, "only the keys are left of "+code, func() string {
		left := s.objectsOf(t, client.MatchingLabels{render.LabelRegion: code})
		if !slices.Equal(left, []string{"Secret " + keys.Name}) {
			return fmt.Sprint(left)
		}
		return ""
	})
	require.Equal(t, "2/2", s.ready(t).Status.RegionsReady)
	s.edit(t, func(sn *v1alpha1.SocialNetwork) { sn.Spec.Regions = append(sn.Spec.Regions, taken) })
	require.Equal(t, "3/3", s.ready(t).Status.RegionsReady)
	require.Equal(t, before, s.uids(t, "us", "eu"), "the other regions were not touched")
	require.Equal(t, keys.Data, get(t, s, &corev1.Secret{}, keys.Name).Data, "the region has the keys that it had")
	s.resume(t, code)
	s.within(t, code+" has what it had", func() string {
		p := s.people[code]
		if _, err := p.do(fresh, http.MethodGet, p.base, "/api/v3/communities/"+p.community, nil); err != nil {
			return err.Error()
		}
		return ""
	})
	s.nothingFailed(t)
}

// again deletes the network and creates it again.
func (s *suite) again(t *testing.T) {
	t.Helper()
	s.nothingFailed(t)
	s.pause(codes...)
	secrets := s.secrets(t)
	require.NoError(t, s.client.Delete(t.Context(), s.network(t), client.PropagationPolicy(metav1.DeletePropagationBackground)))
	s.within(t, "only Secrets are left", func() string {
		if left := s.objectsOf(t, client.MatchingLabels{}); len(left) != len(secrets) {
			return fmt.Sprint(left)
		}
		return ""
	})
	require.Equal(t, secrets, s.secrets(t), "the keys are as they were")

	s.applyFile(t, s.namespace, root("config", "samples", "socialnetwork.yaml"))
	sn := s.ready(t)
	require.Equal(t, s.networkID, sn.Status.NetworkID)
	s.resume(t, codes...)
	for _, code := range codes {
		p := s.people[code]
		_, err := p.do(fresh, http.MethodGet, p.base, "/api/v3/communities/"+p.community, nil)
		require.NoError(t, err, "%s is still signed in", p.id)
		s.signIn(t, p.id, code)
	}
	s.stopTraffic(t)
}

// secrets returns the printable parts of the network's key files, by Secret, without those of certificates, which are
// deleted with the network.
func (s *suite) secrets(t *testing.T) map[string]string {
	t.Helper()
	var list corev1.SecretList
	require.NoError(t, s.client.List(t.Context(), &list, client.InNamespace(s.namespace), client.MatchingLabels{render.LabelNetwork: network}))
	made := map[string]string{}
	for _, secret := range list.Items {
		if len(secret.OwnerReferences) > 0 {
			continue
		}
		made[secret.Name] = fmt.Sprintf("%s %x", secret.UID, sha256.Sum256(fmt.Append(nil, secret.Data)))
	}
	require.NotEmpty(t, made)
	return made
}
