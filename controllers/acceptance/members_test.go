package acceptance

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/controllers/sweep"
	"github.com/plaza-social/plaza/controllers/testenv"
)

// memberEnv is the control plane of every member cluster: to the operator, each is another cluster at another address.
var memberEnv struct {
	once sync.Once
	env  *testenv.Env
	err  error
}

// stopMembers stops it.
func stopMembers() {
	if memberEnv.env != nil {
		_ = memberEnv.env.Stop()
	}
}

// member is a member cluster as one test sees it: a namespace there, and a gate before its API server.
type member struct {
	*operator

	name string
	env  *testenv.Env
	gate *gate
}

// joinMember returns a member cluster with a namespace for the test. It is not registered yet.
func (o *operator) joinMember(name string) *member {
	o.t.Helper()
	started := &memberEnv
	started.once.Do(func() { started.env, started.err = testenv.StartMember() })
	require.NoError(o.t, started.err)
	view := *o
	view.client, view.member, view.namespace = started.env.Client, name, started.env.Namespace(o.t)
	address, err := url.Parse(started.env.Config.Host)
	if err != nil || address.Host == "" {
		address = &url.URL{Host: started.env.Config.Host}
	}
	m := &member{&view, name, started.env, newGate(o.t, address.Host)}
	require.NoError(o.t, view.client.Create(o.t.Context(), databaseSecret(view.namespace)))
	return m
}

func databaseSecret(namespace string) *corev1.Secret {
	return &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "acme-db", Namespace: namespace},
		StringData: map[string]string{"url": "postgres://plaza:password-of-the-database@db.example/plaza"},
	}
}

// kubeconfig returns the kubeconfig of a member, through its gate.
func (m *member) kubeconfig(change func(*clientcmdapi.Config)) []byte {
	config, c := clientcmdapi.NewConfig(), m.env.Config
	config.Clusters["member"] = &clientcmdapi.Cluster{Server: "https://" + m.gate.listener.Addr().String(), CertificateAuthorityData: c.CAData}
	config.AuthInfos["hub"] = &clientcmdapi.AuthInfo{ClientCertificateData: c.CertData, ClientKeyData: c.KeyData, Token: c.BearerToken}
	config.Contexts["member"] = &clientcmdapi.Context{Cluster: "member", AuthInfo: "hub"}
	config.CurrentContext = "member"
	if change != nil {
		change(config)
	}
	content, err := clientcmd.Write(*config)
	require.NoError(m.t, err)
	return content
}

// register creates or replaces the Secret of a member.
func (o *operator) register(m *member, allowed string, kubeconfig []byte) {
	o.t.Helper()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{
		Name: m.name, Namespace: o.clusters, Labels: map[string]string{v1alpha1.LabelKubeconfig: "true"},
		Annotations: map[string]string{v1alpha1.AnnotationAllowedNamespaces: allowed},
	}, Data: map[string][]byte{v1alpha1.KubeconfigKey: kubeconfig}}
	err := o.client.Create(context.Background(), secret)
	if client.IgnoreAlreadyExists(err) == nil && err != nil {
		err = o.client.Update(context.Background(), secret)
	}
	require.NoError(o.t, err)
}

// hub starts an operator with two registered members: eu and sg.
func hub(t *testing.T) (*operator, *member, *member) {
	t.Helper()
	o := prepare(t)
	o.clusters = env.Namespace(t)
	eu, sg := o.joinMember("cluster-eu"), o.joinMember("cluster-sg")
	for _, m := range []*member{eu, sg} {
		o.register(m, o.namespace+"="+m.namespace, m.kubeconfig(nil))
	}
	o.run()
	t.Cleanup(o.end)
	return o, eu, sg
}

// inClusters returns the sample with the regions eu and sg in members.
func inClusters(t *testing.T, members map[v1alpha1.RegionCode]*member) *v1alpha1.SocialNetwork {
	t.Helper()
	sn := sample(t, "socialnetwork")
	for i := range sn.Spec.Regions {
		if m := members[sn.Spec.Regions[i].Code]; m != nil {
			sn.Spec.Regions[i].Cluster, sn.Spec.Regions[i].Namespace = m.name, m.namespace
		}
	}
	return sn
}

// awaitRegion waits for a condition of a region that is of the network's generation.
func (o *operator) awaitRegion(name string, code v1alpha1.RegionCode, kind string, want metav1.ConditionStatus,
	reason v1alpha1.Reason,
) string {
	o.t.Helper()
	message := ""
	o.eventually(fmt.Sprintf("%s of region %s to be %s, %s", kind, code, want, reason), func() string {
		sn := get(o, &v1alpha1.SocialNetwork{}, name)
		for _, region := range sn.Status.Regions {
			c := meta.FindStatusCondition(region.Conditions, kind)
			if region.Code != code || c == nil {
				continue
			}
			if message = c.Message; c.Status == want && c.Reason == string(reason) && c.ObservedGeneration == sn.Generation {
				return ""
			}
			return fmt.Sprintf("of generation %d it is %s, %s: %s", c.ObservedGeneration, c.Status, c.Reason, c.Message)
		}
		return "it does not exist"
	})
	return message
}

// objects returns the kinds and names of the operator's objects in a namespace.
func (o *operator) objects() []string {
	o.t.Helper()
	var names []string
	for _, kind := range append(sweep.Kinds(), render.PrometheusRuleKind, render.ServiceMonitorKind, render.ProbeKind,
		render.GrafanaDashboardKind) {
		created, err := o.client.Scheme().New(kind.GroupVersion().WithKind(kind.Kind + "List"))
		require.NoError(o.t, err)
		list := created.(client.ObjectList)
		err = o.client.List(context.Background(), list, client.InNamespace(o.namespace),
			client.MatchingLabels{render.LabelManagedBy: render.OperatorName})
		if meta.IsNoMatchError(err) {
			continue
		}
		require.NoError(o.t, err)
		require.NoError(o.t, meta.EachListItem(list, func(item runtime.Object) error {
			names = append(names, kind.Kind+" "+item.(client.Object).GetName())
			return nil
		}))
	}
	slices.Sort(names)
	return names
}

// serveAll makes the regions of a network ready, each in its cluster.
func serveAll(network string, views map[v1alpha1.RegionCode]*operator) {
	for code, view := range views {
		view.serve(network, code)
	}
}

func TestMemberClusters(t *testing.T) {
	o, eu, sg := hub(t)
	views := map[v1alpha1.RegionCode]*operator{"us": o, "eu": eu.operator, "sg": sg.operator}
	sn := inClusters(t, map[v1alpha1.RegionCode]*member{"eu": eu, "sg": sg})
	sn.Spec.DeletionPolicy = v1alpha1.DeletionDelete
	sn.Spec.Rollout.Soak = "0s"
	sn.Spec.Rollout.MaxRegionsRolling = 3
	o.apply(sn)
	o.migrate(sn.Name)
	serveAll(sn.Name, views)
	o.condition(sn.Name, v1alpha1.ConditionReady, "True", v1alpha1.ReasonAllHolds)
	checkMembers(t, o, eu, sg)

	before := eu.objects()
	eu.gate.shut(true)
	require.Contains(t, o.awaitRegion(sn.Name, "eu", v1alpha1.RegionAvailable, "Unknown", v1alpha1.ReasonClusterUnreachable), "cluster-eu")
	o.condition(sn.Name, v1alpha1.ConditionReady, "False", v1alpha1.ReasonClusterUnreachable)
	o.condition(sn.Name, v1alpha1.ConditionRegionsAvailable, "Unknown", v1alpha1.ReasonClusterUnreachable)
	o.condition(sn.Name, v1alpha1.ConditionKeysReady, "Unknown", v1alpha1.ReasonClusterUnreachable)
	template := eu.deployment(sn.Name, "eu").Spec.Template
	o.edit(sn.Name, func(sn *v1alpha1.SocialNetwork) {
		for i := range sn.Spec.Regions {
			sn.Spec.Regions[i].PodAnnotations = map[string]string{"example.com/rolled": "true"}
		}
		sn.Annotations = map[string]string{v1alpha1.AnnotationRotate: "now"}
	})
	for _, view := range []*operator{o, sg.operator} {
		code := v1alpha1.RegionCode(map[bool]string{true: "us", false: "sg"}[view == o])
		o.eventually("the rollout of "+string(code), func() string {
			if view.deployment(sn.Name, code).Spec.Template.Annotations["example.com/rolled"] == "" {
				return "the template is old"
			}
			return ""
		})
		view.setReady(view.deployment(sn.Name, code))
		o.eventually("the rotation of "+string(code), func() string {
			for _, region := range get(o, &v1alpha1.SocialNetwork{}, sn.Name).Status.Regions {
				if region.Code == code && len(region.ServerKeys) == 2 {
					return ""
				}
			}
			return "it has one key"
		})
	}
	o.awaitRegion(sn.Name, "us", v1alpha1.RegionUpdated, "True", v1alpha1.ReasonUpToDate)
	require.Equal(t, before, eu.objects())
	require.Equal(t, template, eu.deployment(sn.Name, "eu").Spec.Template)

	eu.gate.shut(false)
	o.eventually("the rollout of eu", func() string {
		if eu.deployment(sn.Name, "eu").Spec.Template.Annotations["example.com/rolled"] == "" {
			return "the template is old"
		}
		return ""
	})
	eu.setReady(eu.deployment(sn.Name, "eu"))
	o.awaitRegion(sn.Name, "eu", v1alpha1.RegionUpdated, "True", v1alpha1.ReasonUpToDate)
	o.condition(sn.Name, v1alpha1.ConditionRegionsAvailable, "True", v1alpha1.ReasonServing)

	require.NoError(t, o.client.Delete(t.Context(), get(o, &v1alpha1.SocialNetwork{}, sn.Name)))
	o.gone(sn.Name)
	require.Empty(t, eu.objects())
	require.Empty(t, sg.objects())
}

// checkMembers checks which objects are in which cluster of a network that is ready.
func checkMembers(t *testing.T, o *operator, eu, sg *member) {
	t.Helper()
	for view, code := range map[*operator]string{eu.operator: "eu", sg.operator: "sg"} {
		objects := view.objects()
		for _, want := range []string{
			"Deployment acme-" + code, "Service acme-" + code, "ConfigMap acme-" + code, "Secret acme-identity", "Secret acme-api-keys",
			"Secret acme-signing-keys", "Secret acme-" + code + "-server-keys",
		} {
			require.Contains(t, objects, want, code)
		}
		for _, name := range objects {
			require.NotContains(t, name, "acme-us")
			require.NotContains(t, name, "Job", "the database is migrated in the primary region's cluster")
			require.Equal(t, strings.Contains(name, "server-keys"), name == "Secret acme-"+code+"-server-keys")
		}
		require.Empty(t, get(view, &appsv1.Deployment{}, "acme-"+code).OwnerReferences)
		require.Equal(t, get(o, &corev1.Secret{}, "acme-identity").Data, get(view, &corev1.Secret{}, "acme-identity").Data)
		require.NotContains(t, o.objects(), "Secret acme-"+code+"-server-keys")
		require.NotContains(t, o.objects(), "Deployment acme-"+code)
	}
	status := get(o, &v1alpha1.SocialNetwork{}, "acme").Status
	require.Equal(t, []v1alpha1.ClusterNamespace{
		{Name: "cluster-eu", Namespace: eu.namespace},
		{Name: "cluster-sg", Namespace: sg.namespace},
	}, status.Clusters)
	require.Equal(t, "cluster-eu", status.Regions[1].Cluster)
}

// gone waits until a network does not exist.
func (o *operator) gone(name string) {
	o.t.Helper()
	o.eventually("the network to be deleted", func() string {
		var sn v1alpha1.SocialNetwork
		if err := o.client.Get(context.Background(), client.ObjectKey{Namespace: o.namespace, Name: name},
			&sn); client.IgnoreNotFound(err) == nil && err != nil {
			return ""
		}
		ready := meta.FindStatusCondition(sn.Status.Conditions, v1alpha1.ConditionReady)
		return fmt.Sprint(ready)
	})
}

// TestClusterIsGone deletes a network with a region in a cluster that never returns, and one whose registration was removed.
func TestClusterIsGone(t *testing.T) {
	o, eu, sg := hub(t)
	sn := inClusters(t, map[v1alpha1.RegionCode]*member{"eu": eu, "sg": sg})
	o.apply(sn)
	kept := []string{"acme-api-keys", "acme-identity", "acme-sg-server-keys", "acme-signing-keys"}
	eu.eventually("the keys of eu and sg", func() string {
		if !eu.exists(&corev1.Secret{}, "acme-eu-server-keys") {
			return "eu has none"
		}
		for _, name := range kept {
			if !sg.exists(&corev1.Secret{}, name) {
				return "sg has no " + name
			}
		}
		return ""
	})
	eu.gate.shut(true)
	o.condition(sn.Name, v1alpha1.ConditionKeysReady, "Unknown", v1alpha1.ReasonClusterUnreachable)
	require.NoError(t, o.client.Delete(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: sg.name, Namespace: o.clusters}}))
	o.awaitRegion(sn.Name, "sg", v1alpha1.RegionKeysVerified, "Unknown", v1alpha1.ReasonClusterNotRegistered)
	require.NoError(t, o.client.Delete(t.Context(), get(o, &v1alpha1.SocialNetwork{}, sn.Name)))
	waits := o.condition(sn.Name, v1alpha1.ConditionReady, "False", v1alpha1.ReasonDeleting)
	require.Contains(t, waits.Message, "cluster-eu")
	require.Contains(t, waits.Message, "cluster-sg", "its registration may have been deleted by mistake")
	require.NotEmpty(t, sg.objects())
	o.clock.add(2 * time.Hour)
	o.gone(sn.Name)
	var commands []string
	o.eventually("the event", func() string {
		var events eventsv1.EventList
		require.NoError(t, o.client.List(t.Context(), &events, client.InNamespace(o.namespace)))
		var notes []string
		for _, e := range events.Items {
			if e.Reason == string(v1alpha1.ReasonClusterAbandoned) {
				notes = append(notes, e.Note)
			}
		}
		all := strings.Join(notes, "\n")
		if !strings.Contains(all, "cluster-eu") || !strings.Contains(all, "cluster-sg") {
			return all
		}
		commands = notes
		return ""
	})
	for _, note := range commands {
		if _, command, _ := strings.Cut(note, "To delete what is left there: "); strings.Contains(note, "cluster-sg") {
			kubeconfig := filepath.Join(t.TempDir(), "member")
			require.NoError(t, os.WriteFile(kubeconfig, sg.kubeconfig(nil), 0o600))
			o.shell("export KUBECONFIG=" + kubeconfig + "; " + command)()
		}
	}
	var left []string
	for _, name := range kept {
		left = append(left, "Secret "+name)
	}
	require.ElementsMatch(t, left, sg.objects(), "the network's deletion policy is Retain")
}

// TestRegistration registers, refuses, changes and removes a cluster while the operator runs.
func TestRegistration(t *testing.T) {
	o := prepare(t)
	o.clusters = env.Namespace(t)
	eu := o.joinMember("cluster-eu")
	o.run()
	t.Cleanup(o.end)
	sn := inClusters(t, map[v1alpha1.RegionCode]*member{"eu": eu})
	o.apply(sn)
	available := func(reason v1alpha1.Reason, words string) {
		t.Helper()
		message := o.awaitRegion(sn.Name, "eu", v1alpha1.RegionKeysVerified, "Unknown", reason)
		o.eventually("a message with "+words, func() string {
			if message = o.awaitRegion(sn.Name, "eu", v1alpha1.RegionKeysVerified, "Unknown", reason); strings.Contains(message, words) {
				return ""
			}
			return message
		})
	}
	available(v1alpha1.ReasonClusterNotRegistered, "cluster-eu")
	o.register(eu, "another", eu.kubeconfig(nil))
	available(v1alpha1.ReasonClusterNotAllowed, o.namespace)
	o.register(eu, o.namespace, eu.kubeconfig(nil))
	available(v1alpha1.ReasonClusterNotAllowed, eu.namespace)
	allowed := o.namespace + "=" + eu.namespace
	for words, change := range map[string]func(*clientcmdapi.Config){
		"exec plugin": func(c *clientcmdapi.Config) {
			c.AuthInfos["hub"].Exec = &clientcmdapi.ExecConfig{
				APIVersion: "client.authentication.k8s.io/v1", Command: "id",
				InteractiveMode: "Never",
			}
		},
		"auth provider": func(c *clientcmdapi.Config) {
			c.AuthInfos["hub"].AuthProvider = &clientcmdapi.AuthProviderConfig{Name: "x"}
		},
		"tokenFile": func(c *clientcmdapi.Config) { c.AuthInfos["hub"].TokenFile = "/etc/passwd" },
		"insecure-skip-tls-verify": func(c *clientcmdapi.Config) {
			c.Clusters["member"].CertificateAuthorityData = nil
			c.Clusters["member"].InsecureSkipTLSVerify = true
		},
	} {
		o.register(eu, allowed, eu.kubeconfig(change))
		available(v1alpha1.ReasonClusterRefused, words)
	}
	require.Empty(t, eu.objects())
	o.register(eu, allowed, eu.kubeconfig(func(c *clientcmdapi.Config) { c.Clusters["member"].Server = "https://127.0.0.1:1" }))
	available(v1alpha1.ReasonClusterUnreachable, "connection refused")
	o.register(eu, allowed, eu.kubeconfig(nil))
	eu.eventually("the keys", func() string {
		if !eu.exists(&corev1.Secret{}, "acme-eu-server-keys") {
			return "missing"
		}
		return ""
	})
	o.migrate(sn.Name)
	serveAll(sn.Name, map[v1alpha1.RegionCode]*operator{"us": o, "eu": eu.operator, "sg": o})
	o.condition(sn.Name, v1alpha1.ConditionReady, "True", v1alpha1.ReasonAllHolds)
	require.NoError(t, o.client.Delete(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: eu.name, Namespace: o.clusters}}))
	available(v1alpha1.ReasonClusterNotRegistered, "cluster-eu")
	require.True(t, eu.exists(&appsv1.Deployment{}, "acme-eu"), "nothing is deleted")
}

// TestPrimaryRegionInAMember migrates the database in the member, and keeps rolling out elsewhere while it is unreachable.
func TestPrimaryRegionInAMember(t *testing.T) {
	o := prepare(t)
	o.clusters = env.Namespace(t)
	us := o.joinMember("cluster-us")
	o.register(us, o.namespace+"="+us.namespace, us.kubeconfig(nil))
	o.run()
	t.Cleanup(o.end)
	sn := inClusters(t, map[v1alpha1.RegionCode]*member{"us": us})
	o.apply(sn)
	us.migrate(sn.Name)
	serveAll(sn.Name, map[v1alpha1.RegionCode]*operator{"us": us.operator, "eu": o, "sg": o})
	o.condition(sn.Name, v1alpha1.ConditionReady, "True", v1alpha1.ReasonAllHolds)
	require.NotContains(t, strings.Join(o.objects(), " "), "Job")
	us.gate.shut(true)
	o.condition(sn.Name, v1alpha1.ConditionReady, "False", v1alpha1.ReasonClusterUnreachable)
	o.condition(sn.Name, v1alpha1.ConditionSchemaMigrated, "True", v1alpha1.ReasonMigrated)
	o.edit(sn.Name, func(sn *v1alpha1.SocialNetwork) { sn.Spec.Image = "plaza.example/plaza:v2" })
	o.condition(sn.Name, v1alpha1.ConditionSchemaMigrated, "Unknown", v1alpha1.ReasonClusterUnreachable)
	var jobs batchv1.JobList
	require.NoError(t, o.client.List(t.Context(), &jobs, client.InNamespace(o.namespace)))
	require.Empty(t, jobs.Items)
}

// TestForeignObjects has networks of one name in two namespaces that are allowed to use the same namespace of a member.
func TestForeignObjects(t *testing.T) {
	a := prepare(t)
	a.clusters = env.Namespace(t)
	there := env.Namespace(t)
	a.watches = append(a.watches, there)
	eu := a.joinMember("cluster-eu")
	a.register(eu, a.namespace+"="+eu.namespace+","+there+"="+eu.namespace, eu.kubeconfig(nil))
	a.run()
	t.Cleanup(a.end)
	other := *a
	other.namespace = there
	a.apply(inClusters(t, map[v1alpha1.RegionCode]*member{"eu": eu}))
	a.eventually("the first network's objects", func() string {
		if !eu.exists(&corev1.Secret{}, "acme-identity") {
			return "missing"
		}
		return ""
	})
	first := get(eu.operator, &corev1.Secret{}, "acme-identity")
	other.apply(inClusters(t, map[v1alpha1.RegionCode]*member{"eu": eu}))
	c := other.condition("acme", v1alpha1.ConditionKeysReady, "False", v1alpha1.ReasonApplyFailed)
	require.Contains(t, c.Message, "belongs to another network")
	require.Equal(t, first.Data, get(eu.operator, &corev1.Secret{}, "acme-identity").Data)
}
