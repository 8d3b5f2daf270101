//go:build cluster

package clustertest

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/controllers/scheme"
	"github.com/plaza-social/plaza/controllers/sweep"
)

// member is a member cluster, which has the region of its name.
type member struct {
	region string
	// server is the address of the API server for pods of the hub.
	server    string
	config    *rest.Config
	client    client.Client
	forwarder *forwarder // nil if this machine has a route to Services and pods
}

// members connects to the clusters of CLUSTER_MEMBERS, such as eu=PATH,sg=PATH.
func members(t *testing.T) []*member {
	t.Helper()
	var all []*member
	servers := perRegion("CLUSTER_MEMBER_SERVERS")
	for region, path := range perRegion("CLUSTER_MEMBERS") {
		config, err := clientcmd.BuildConfigFromFlags("", path)
		require.NoError(t, err)
		config.Timeout = 10 * time.Second
		c, err := client.New(config, client.Options{Scheme: scheme.New()})
		require.NoError(t, err)
		all = append(all, &member{region, cmp.Or(servers[region], config.Host), config, c, newForwarder(t, config, c)})
	}
	slices.SortFunc(all, func(a, b *member) int { return strings.Compare(a.region, b.region) })
	return all
}

// perRegion parses a variable such as eu=A,sg=B.
func perRegion(variable string) map[string]string {
	values := map[string]string{}
	for entry := range strings.SplitSeq(os.Getenv(variable), ",") {
		if region, value, found := strings.Cut(entry, "="); found {
			values[region] = value
		}
	}
	return values
}

// TestThreeClusters has a network with each region in a cluster of its own.
func TestThreeClusters(t *testing.T) {
	if os.Getenv("CLUSTER_MEMBERS") == "" {
		t.Skip("the test wants CLUSTER_MEMBERS: CLUSTERS=three hack/cluster/test.sh sets it")
	}
	s := open(t)
	defer s.explain(t)
	s.install(t)
	joined := members(t)
	for _, m := range joined {
		s.join(t, m)
	}
	var sn v1alpha1.SocialNetwork
	for _, object := range documents(t, root("config", "samples", "socialnetwork.yaml")) {
		if object.GetKind() == v1alpha1.Kind {
			require.NoError(t, runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, &sn))
		}
	}
	sn.Namespace, sn.Spec.DeletionPolicy, sn.Spec.Rollout.Soak = s.namespace, v1alpha1.DeletionDelete, "1s"
	for i := range sn.Spec.Regions {
		if slices.ContainsFunc(joined, func(m *member) bool { return m.region == string(sn.Spec.Regions[i].Code) }) {
			sn.Spec.Regions[i].Cluster = "cluster-" + string(sn.Spec.Regions[i].Code)
		}
	}
	require.NoError(t, s.client.Create(t.Context(), &sn))
	s.sayf("=== three clusters become ready")
	s.ready(t)
	s.homes, s.members = map[string]*member{}, map[string]*member{}
	for _, m := range joined {
		s.homes[m.region], s.members[m.region] = m, m
	}
	s.serves(t)
	s.moreWrites(t)
	s.sayf("=== one is cut off with its API server, and the others roll out and rotate")
	lost := joined[0]
	s.rollWithout(t, lost)
	s.sayf("=== its region is evacuated to the hub")
	s.evacuateCluster(t, lost)
	s.sayf("=== it returns")
	cluster(t, "heal", lost.region)
	s.homes[lost.region] = lost
	s.ready(t)
	s.pause(lost.region)
	s.follow(t, "return", lost.region, "")
	s.resume(t, lost.region)
	s.moreWrites(t)
	s.sayf("=== the hub is lost, and everybody is still signed in")
	s.loseHub(t, "us")
	s.stopTraffic(t)
	s.sayf("=== deletion leaves nothing")
	require.NoError(t, s.client.Delete(t.Context(), s.network(t)))
	s.within(t, "the network is deleted", func() string {
		err := s.client.Get(t.Context(), client.ObjectKey{Namespace: s.namespace, Name: network}, &sn)
		if apierrors.IsNotFound(err) {
			return ""
		}
		_, reason, message := condition(&sn, v1alpha1.ConditionReady)
		return fmt.Sprint(err, reason, message)
	})
	for _, m := range joined {
		require.Empty(t, m.objects(t, s.namespace), m.region)
	}
}

// join prepares a member as controllers/CLUSTERS.md describes, and registers it.
func (s *suite) join(t *testing.T, m *member) {
	t.Helper()
	ctx := context.WithoutCancel(t.Context())
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{
		Name:   s.namespace,
		Labels: map[string]string{"pod-security.kubernetes.io/enforce": "restricted"},
	}}
	require.NoError(t, m.client.Create(ctx, ns))
	t.Cleanup(func() { require.NoError(t, client.IgnoreNotFound(m.client.Delete(ctx, ns))) })
	for _, file := range []string{"account.yaml", "namespace/role.yaml", "namespace/role_binding.yaml"} {
		for _, object := range documents(t, root("config", "member", file)) {
			if strings.HasPrefix(file, "namespace/") {
				object.SetNamespace(s.namespace)
			}
			applyIn(t, m.client, object)
		}
	}
	var database corev1.Secret
	require.NoError(t, s.client.Get(ctx, client.ObjectKey{Namespace: s.namespace, Name: "acme-db"}, &database))
	require.NoError(t,
		m.client.Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: s.namespace, Name: "acme-db"}, Data: database.Data}))
	name := "cluster-" + m.region
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Name: name, Namespace: system, Labels: map[string]string{v1alpha1.LabelKubeconfig: "true"},
		Annotations: map[string]string{v1alpha1.AnnotationAllowedNamespaces: s.namespace},
	}, Data: map[string][]byte{v1alpha1.KubeconfigKey: s.kubeconfigOf(t, m)}}
	require.NoError(t,
		client.IgnoreNotFound(s.client.Delete(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: system}})))
	require.NoError(t, s.client.Create(ctx, secret))
	t.Cleanup(func() { require.NoError(t, client.IgnoreNotFound(s.client.Delete(ctx, secret))) })
}

// kubeconfigOf returns a kubeconfig with the token of the member's account.
func (s *suite) kubeconfigOf(t *testing.T, m *member) []byte {
	t.Helper()
	var token corev1.Secret
	s.within(t, "the token of "+m.region, func() string {
		err := m.client.Get(t.Context(), client.ObjectKey{Namespace: "plaza-member", Name: "plaza-member-token"}, &token)
		if err != nil || len(token.Data["token"]) == 0 {
			return fmt.Sprint("there is none ", err)
		}
		return ""
	})
	config := clientcmdapi.NewConfig()
	config.Clusters["member"] = &clientcmdapi.Cluster{Server: m.server, CertificateAuthorityData: token.Data["ca.crt"]}
	config.AuthInfos["hub"] = &clientcmdapi.AuthInfo{Token: string(token.Data["token"])}
	config.Contexts["member"] = &clientcmdapi.Context{Cluster: "member", AuthInfo: "hub"}
	config.CurrentContext = "member"
	content, err := clientcmd.Write(*config)
	require.NoError(t, err)
	return content
}

func applyIn(t *testing.T, c client.Client, object *unstructured.Unstructured) {
	t.Helper()
	err := c.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(object), client.FieldOwner("person"), client.ForceOwnership)
	require.NoError(t, err, "%s %s", object.GetKind(), object.GetName())
}

// rollWithout cuts a member off, and rolls out a change and rotates the keys in the other regions.
func (s *suite) rollWithout(t *testing.T, m *member) {
	t.Helper()
	before := s.network(t).Status
	_, s.keyOfLost = s.activeKey(t, m.region)
	s.pause(m.region)
	cluster(t, "cut", m.region)
	t.Cleanup(func() { cluster(t, "heal", m.region) }) // again does no harm
	s.within(t, "the cluster is unreachable", func() string {
		_, reason, message := condition(s.network(t), v1alpha1.ConditionRegionsAvailable)
		if reason != string(v1alpha1.ReasonClusterUnreachable) {
			return reason + ": " + message
		}
		return ""
	})
	s.edit(t, eachRegion(func(r *v1alpha1.Region) { r.PodAnnotations = map[string]string{"example.com/rolled": "true"} }))
	s.edit(t, func(sn *v1alpha1.SocialNetwork) {
		metav1.SetMetaDataAnnotation(&sn.ObjectMeta, v1alpha1.AnnotationRotate, "now")
	})
	s.within(t, "the other regions are updated and have new keys", func() string {
		sn := s.network(t)
		for i, region := range sn.Status.Regions {
			updated := meta.FindStatusCondition(region.Conditions, v1alpha1.RegionUpdated)
			if string(region.Code) == m.region {
				if updated == nil || updated.Reason != string(v1alpha1.ReasonClusterUnreachable) {
					return fmt.Sprint("the region that is cut off: ", updated)
				}
				continue
			}
			if updated == nil || updated.Status != metav1.ConditionTrue || updated.ObservedGeneration != sn.Generation {
				return fmt.Sprint(region.Code, updated)
			}
			if keys := region.ServerKeys; len(keys) < 2 || keys[0].State != v1alpha1.KeyActive || keys[0].ID == before.Regions[i].ServerKeys[0].ID {
				return fmt.Sprint(region.Code, keys)
			}
		}
		return ""
	})
	s.nothingFailed(t)
}

// evacuateCluster follows the runbook to evacuate the region of a cluster that is cut off to the hub. Its user then reads and writes
// there, and the app's server uses the region's key there.
func (s *suite) evacuateCluster(t *testing.T, m *member) {
	t.Helper()
	s.follow(t, "evacuate", m.region, "us")
	delete(s.homes, m.region) // the hub has the Service of the region
	s.resume(t, m.region)
	p := s.people[m.region]
	require.NoError(t, p.read("/api/v3/posts/"+s.traffic.writers[m.region].posts[0]), "what was written before")
	require.NoError(t, useServerKey(p.base, s.keyOfLost), "the region's server key")
	s.moreWrites(t)
	s.nothingFailed(t)
}

// objects returns the kinds and names of the operator's objects in a namespace of the member.
func (m *member) objects(t *testing.T, namespace string) []string {
	t.Helper()
	var names []string
	for _, kind := range sweep.Kinds() {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		match := client.MatchingLabels{render.LabelManagedBy: render.OperatorName}
		require.NoError(t, m.client.List(t.Context(), list, client.InNamespace(namespace), match))
		for _, object := range list.Items {
			names = append(names, kind.Kind+" "+object.GetName())
		}
	}
	return names
}
