package controllers

import (
	"context"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/platformclient"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/controllers/scheme"
	"github.com/plaza-social/plaza/controllers/stage"
	"github.com/plaza-social/plaza/controllers/stagetest"
	"github.com/plaza-social/plaza/platform/statusz"
)

// TestMembersAreRecorded records the member clusters of a network after its finalizer was set, and sets the finalizer of its keys while
// they are deleted with it.
func TestMembersAreRecorded(t *testing.T) {
	sn := networkNamed("acme", "")
	sn.Spec.DeletionPolicy = v1alpha1.DeletionDelete
	sn.Spec.Regions = []v1alpha1.Region{
		{Code: "us"}, {Code: "eu", Cluster: "west", Namespace: "social"}, {Code: "sg", Cluster: "west", Namespace: "social"},
	}
	r := &Reconciler{Client: fake.NewClientBuilder().WithScheme(scheme.New()).WithObjects(sn).WithStatusSubresource(sn).Build()}
	record := func(changes bool) {
		t.Helper()
		changed, err := r.recordMembers(t.Context(), sn)
		require.NoError(t, err)
		require.Equal(t, changes, changed)
		require.NoError(t, r.Client.Get(t.Context(), client.ObjectKeyFromObject(sn), sn))
	}
	requireFinalizers := func(want ...string) {
		t.Helper()
		require.ElementsMatch(t, want, sn.Finalizers)
	}
	record(true)
	requireFinalizers(v1alpha1.FinalizerClusters, v1alpha1.FinalizerKeys)
	require.Empty(t, sn.Status.Clusters, "nothing is created in a cluster before the finalizer is set")
	record(true)
	require.Equal(t, []v1alpha1.ClusterNamespace{{Name: "west", Namespace: "social"}}, sn.Status.Clusters, "once")
	record(false)
	requireUnchangedConflict(t, r, sn)

	sn.Spec.DeletionPolicy = v1alpha1.DeletionRetain
	require.NoError(t, r.Client.Update(t.Context(), sn))
	record(true)
	requireFinalizers(v1alpha1.FinalizerClusters)
	sn.Spec.Regions = sn.Spec.Regions[:1]
	require.NoError(t, r.Client.Update(t.Context(), sn))
	record(false)
	requireFinalizers(v1alpha1.FinalizerClusters)
	sn.Status.Clusters = nil // the stage sweep has found nothing there
	require.NoError(t, r.Client.Status().Update(t.Context(), sn))
	record(true)
	requireFinalizers()
}

// requireUnchangedConflict records the members of a version of a network that is not the newest: the next pass reads it again, and what
// others wrote stays.
func requireUnchangedConflict(t *testing.T, r *Reconciler, sn *v1alpha1.SocialNetwork) {
	t.Helper()
	old := sn.DeepCopy()
	sn.Finalizers = append(sn.Finalizers, "of/others")
	require.NoError(t, r.Client.Update(t.Context(), sn))
	for name, change := range map[string]func(sn *v1alpha1.SocialNetwork){
		"the finalizers": func(sn *v1alpha1.SocialNetwork) { sn.Spec.DeletionPolicy = v1alpha1.DeletionRetain },
		"the status":     func(sn *v1alpha1.SocialNetwork) { sn.Status.Clusters = nil },
	} {
		stale := old.DeepCopy()
		change(stale)
		changed, err := r.recordMembers(t.Context(), stale)
		require.NoError(t, err, name)
		require.True(t, changed, name)
		require.NoError(t, r.Client.Get(t.Context(), client.ObjectKeyFromObject(sn), sn))
		require.ElementsMatch(t, []string{v1alpha1.FinalizerClusters, v1alpha1.FinalizerKeys, "of/others"}, sn.Finalizers, name)
	}
	sn.Finalizers = old.Finalizers
	require.NoError(t, r.Client.Update(t.Context(), sn))
}

// TestNetworksOfASecret checks of which networks a pass begins when a Secret changes.
func TestNetworksOfASecret(t *testing.T) {
	using := func(name, namespace, secret string) *v1alpha1.SocialNetwork {
		sn := networkNamed(name, "")
		sn.Namespace, sn.Spec.Database.SecretRef.Name = namespace, secret
		return sn
	}
	indexed := fake.NewClientBuilder().WithScheme(scheme.New()).WithIndex(&v1alpha1.SocialNetwork{}, secretIndex, secretsOf)
	r := &Reconciler{Client: indexed.WithObjects(
		using("uses", "plaza", "db"), using("another", "plaza", "db"), using("elsewhere", "other", "db"), using("not", "plaza", "db2"),
	).Build()}
	for name, c := range map[string]struct {
		labels map[string]string
		want   []string
	}{
		"db":  {nil, []string{"another", "uses"}},
		"db3": {nil, nil},
		"a":   {map[string]string{render.LabelNetwork: "of"}, []string{"of"}},
		"b":   {render.RecoveryLabels("lost"), []string{"lost"}},
		"db2": {map[string]string{render.LabelNetwork: "not"}, []string{"not"}},
	} {
		var networks []string
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "plaza", Labels: c.labels}}
		for _, request := range r.networksOfSecret(t.Context(), secret) {
			require.Equal(t, "plaza", request.Namespace)
			networks = append(networks, request.Name)
		}
		require.Equal(t, c.want, networks, name)
	}
}

// TestChangesInMembers checks of which networks a pass begins when something changes in a member cluster.
func TestChangesInMembers(t *testing.T) {
	in, had, not := networkNamed("in", ""), networkNamed("had", ""), networkNamed("not", "")
	in.Spec.Regions = []v1alpha1.Region{{Code: "us"}, {Code: "eu", Cluster: "west"}}
	had.Status.Clusters = []v1alpha1.ClusterNamespace{{Name: "west", Namespace: "plaza"}}
	not.Spec.Regions = []v1alpha1.Region{{Code: "us"}, {Code: "eu", Cluster: "east"}}
	r := &Reconciler{
		Client: fake.NewClientBuilder().WithScheme(scheme.New()).WithObjects(in, had, not).Build(),
		Kinds:  &OptionalKinds{events: make(chan event.GenericEvent, 10)},
	}
	changed := func(labels map[string]string) []string {
		var object client.Object
		if labels != nil {
			object = &corev1.Service{ObjectMeta: metav1.ObjectMeta{Labels: labels}}
		}
		r.clusterChanged(t.Context(), "west", object)
		var networks []string
		for range len(r.Kinds.events) {
			e := <-r.Kinds.events
			networks = append(networks, e.Object.GetNamespace()+"/"+e.Object.GetName())
		}
		slices.Sort(networks)
		return networks
	}
	require.Equal(t, []string{"plaza/had", "plaza/in"}, changed(nil), "the connection changed")
	require.Equal(t, []string{"social/acme"}, changed(map[string]string{render.LabelNetwork: "acme", render.LabelOwnerNamespace: "social"}))
	require.Equal(t, []string{"plaza/had", "plaza/in"}, changed(map[string]string{render.LabelNetwork: "acme"}),
		"the owner's namespace is not known")
	require.Equal(t, []string{"plaza/had", "plaza/in"}, changed(map[string]string{render.LabelOwnerNamespace: "social"}))
}

// TestRefusal checks which Secrets and images the operator's restrictions do not allow.
func TestRefusal(t *testing.T) {
	usable, err := labels.Parse("usable=true")
	require.NoError(t, err)
	secret := func(name string, labels map[string]string) *corev1.Secret {
		return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "plaza", Labels: labels}}
	}
	label := map[string]string{"usable": "true"}
	for name, c := range map[string]struct {
		limits  Restrictions
		secrets []client.Object
		member  bool
		patch   string // of the pods' spec
		want    string
	}{
		"no restrictions": {limits: Restrictions{}},
		"an image": {
			limits: Restrictions{ImagePrefixes: []string{"a.example/", "b.example/"}},
			want:   "The operator does not allow the image plaza:1; it must begin with a.example/ or b.example/.",
		},
		"an allowed image":          {limits: Restrictions{ImagePrefixes: []string{"a.example/", "plaza:"}}},
		"Secrets that do not exist": {limits: Restrictions{SecretLabel: usable}},
		"a Secret of pods": {
			limits: Restrictions{SecretLabel: usable}, secrets: []client.Object{secret("acme-db", nil), secret("crm", nil)},
			want: "The operator does not allow Secret acme-db; it must have the label usable=true.",
		},
		"a Secret of a webhook": {
			limits: Restrictions{SecretLabel: usable}, secrets: []client.Object{secret("acme-db", label), secret("crm", nil)},
			want: "The operator does not allow Secret crm; it must have the label usable=true.",
		},
		"a Secret of the name of a webhook's, in a member": {
			limits: Restrictions{SecretLabel: usable}, secrets: []client.Object{secret("acme-db", label), secret("crm", nil)}, member: true,
		},
		"any Secret and volume": {
			limits: Restrictions{ImagePrefixes: []string{"plaza:"}}, secrets: []client.Object{secret("acme-db", nil)},
			patch: `{"volumes": [{"name": "node", "hostPath": {"path": "/"}}], "serviceAccountName": "default"}`,
		},
		"a volume": {
			limits: Restrictions{SecretLabel: usable}, patch: `{"volumes": [{"name": "node", "hostPath": {"path": "/"}}]}`,
			want: "The operator does not allow volume node: its kind may contain Secrets that it cannot check.",
		},
		"a ServiceAccount": {
			limits: Restrictions{SecretLabel: usable}, patch: `{"serviceAccountName": "default"}`,
			want: "The operator does not allow ServiceAccount default; pods must use those of the network.",
		},
		"allowed Secrets, and those of the operator": {
			limits: Restrictions{SecretLabel: usable}, secrets: []client.Object{
				secret("acme-db", label), secret("crm", label), secret("acme-identity", nil), secret("acme-signing-keys", nil),
				secret("acme-api-keys", nil),
				secret("acme-eu-server-keys", nil), secret("acme-eu-control", nil), secret("acme-eu-evacuation", nil),
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			sn := networkNamed("acme", "plaza:1")
			sn.Spec.Database.SecretRef.Name, sn.Spec.Regions = "acme-db", []v1alpha1.Region{{Code: "eu"}}
			sn.Spec.Webhooks = []v1alpha1.Webhook{{SecretRef: v1alpha1.LocalSecretReference{Name: "crm"}}}
			if c.patch != "" {
				sn.Spec.Regions[0].PodPatch = &apiextensionsv1.JSON{Raw: []byte(`{"spec": ` + c.patch + `}`)}
			}
			api := fake.NewClientBuilder().WithObjects(c.secrets...).Build()
			at := &stage.Cluster{Cache: api, APIReader: api, Network: render.Network{SN: sn}}
			if c.member {
				sn.Spec.Regions[0].Cluster, at.Name, at.Network.Cluster, at.Network.Namespace = "west", "west", "west", "plaza"
			}
			r := &Reconciler{Options: Options{Restrictions: c.limits}}
			refusal, err := r.refusal(t.Context(), &stage.Pass{SN: sn, Clusters: []*stage.Cluster{at}})
			require.NoError(t, err)
			require.Equal(t, c.want, refusal)
		})
	}
}

// TestRefusalInAMember checks the Secrets of every cluster that can be used, and of none that cannot.
func TestRefusalInAMember(t *testing.T) {
	usable, err := labels.Parse("usable=true")
	require.NoError(t, err)
	sn := networkNamed("acme", "plaza:1")
	sn.Spec.Database.SecretRef.Name, sn.Spec.Regions = "acme-db", []v1alpha1.Region{{Code: "us"}, {Code: "eu", Cluster: "west"}}
	at := func(name string, labels map[string]string) *stage.Cluster {
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "acme-db", Namespace: "plaza", Labels: labels}}
		api := fake.NewClientBuilder().WithObjects(secret).Build()
		return &stage.Cluster{Name: name, Cache: api, APIReader: api, Network: render.Network{SN: sn, Cluster: name, Namespace: "plaza"}}
	}
	own, member := at("", map[string]string{"usable": "true"}), at("west", nil)
	r := &Reconciler{Options: Options{Restrictions: Restrictions{SecretLabel: usable}}}
	p := &stage.Pass{SN: sn, Clusters: []*stage.Cluster{own, member}}
	refusal, err := r.refusal(t.Context(), p)
	require.NoError(t, err)
	require.Equal(t, "The operator does not allow Secret acme-db; it must have the label usable=true.", refusal)
	member.Reason, member.Cache, member.APIReader = v1alpha1.ReasonClusterUnreachable, nil, nil
	refusal, err = r.refusal(t.Context(), p)
	require.NoError(t, err)
	require.Empty(t, refusal)
	own.Cache = stagetest.Unreadable{Prefix: "acme-db"}
	_, err = r.refusal(t.Context(), p)
	require.EqualError(t, err, "reading Secret acme-db: the cache is gone")
}

// levelServers record the log levels that are set.
type levelServers struct {
	platformclient.Servers

	set []string
}

func (s *levelServers) SetLogLevel(_ context.Context, _ platformclient.Server, level string) error {
	s.set = append(s.set, level)
	return nil
}

// TestSetLogLevel checks when the log level of a server is set.
func TestSetLogLevel(t *testing.T) {
	for name, c := range map[string]struct {
		level  string // of the spec
		change func(sn *v1alpha1.SocialNetwork, report *stage.ServerReport)
		want   []string
	}{
		"another level":      {level: "debug", want: []string{"debug"}},
		"the same level":     {level: "warn"},
		"the level at start": {level: "", want: []string{""}},
		"paused":             {level: "debug", change: func(sn *v1alpha1.SocialNetwork, _ *stage.ServerReport) { sn.Spec.Paused = true }},
		"no answer": {
			level: "debug", change: func(_ *v1alpha1.SocialNetwork, report *stage.ServerReport) { report.Err = errors.New("silent") },
		},
		"a level that cannot be changed": {
			level: "debug", change: func(_ *v1alpha1.SocialNetwork, report *stage.ServerReport) { report.Status.LogLevel = nil },
		},
		"a variable": {level: "debug", change: func(sn *v1alpha1.SocialNetwork, _ *stage.ServerReport) {
			sn.Spec.Regions[1].Env = []corev1.EnvVar{{Name: "PLAZA_LOG_LEVEL"}}
		}, want: []string{""}},
		"a variable elsewhere": {level: "debug", change: func(sn *v1alpha1.SocialNetwork, _ *stage.ServerReport) {
			sn.Spec.Regions[0].Env = []corev1.EnvVar{{Name: "PLAZA_LOG_LEVEL"}}
		}, want: []string{"debug"}},
		"no settings of servers": {
			level: "debug", change: func(sn *v1alpha1.SocialNetwork, _ *stage.ServerReport) { sn.Spec.Server = nil }, want: []string{""},
		},
	} {
		t.Run(name, func(t *testing.T) {
			sn := networkNamed("acme", "")
			sn.Spec.Regions, sn.Spec.Server = []v1alpha1.Region{{Code: "us"}, {Code: "eu"}}, &v1alpha1.Server{LogLevel: c.level}
			report := &stage.ServerReport{
				Server: platformclient.Server{Control: "10.0.0.1:9443"},
				Status: statusz.Status{LogLevel: &statusz.LogLevel{Current: "warn", Configured: "info"}},
			}
			if c.change != nil {
				c.change(sn, report)
			}
			servers := &levelServers{}
			setLogLevel(t.Context(), servers, sn, "eu", report)
			require.Equal(t, c.want, servers.set)
		})
	}
}

// TestTurnOfAMigration checks that a network keeps its turn during a migration, and not while it waits for a maintenance window.
func TestTurnOfAMigration(t *testing.T) {
	r := &Reconciler{Options: Options{DefaultImage: "plaza:default", MaxConcurrentRollouts: 1}}
	schema := func(status metav1.ConditionStatus, reason v1alpha1.Reason) *v1alpha1.SocialNetworkStatus {
		return &v1alpha1.SocialNetworkStatus{Conditions: []metav1.Condition{
			{Type: v1alpha1.ConditionSchemaMigrated, Status: status, Reason: string(reason)},
		}}
	}
	hold := func(name string) stage.Hold { return r.updates(networkNamed(name, ""), time.Now()).MayBegin() }
	require.Empty(t, hold("first").Reason)
	r.endTurn(networkNamed("first", ""), schema(metav1.ConditionFalse, v1alpha1.ReasonMigrating))
	require.Equal(t, stage.Hold{
		Reason: v1alpha1.ReasonWaitingForTurn, Message: "Other networks are updated first: plaza/first.", Again: 15 * time.Second,
	}, hold("second"))
	require.Empty(t, hold("first").Reason, "it has its turn")
	r.endTurn(networkNamed("first", ""), schema(metav1.ConditionFalse, v1alpha1.ReasonWaitingForWindow))
	require.Empty(t, hold("second").Reason)
	r.endTurn(networkNamed("second", ""), schema(metav1.ConditionUnknown, v1alpha1.ReasonClusterUnreachable))
	require.Empty(t, hold("first").Reason)
}

// TestClosedWindow checks that an update waits for a maintenance window of its network, and takes no turn before.
func TestClosedWindow(t *testing.T) {
	r := &Reconciler{Options: Options{DefaultImage: "plaza:default", MaxConcurrentRollouts: 1}}
	sn := networkNamed("first", "")
	sn.Spec.MaintenanceWindows = []v1alpha1.MaintenanceWindow{{Start: "02:00", Duration: "1h", TimeZone: "UTC"}}
	now := time.Date(2026, 11, 21, 1, 0, 0, 0, time.UTC)
	require.Equal(t, stage.Hold{
		Reason: v1alpha1.ReasonWaitingForWindow, Message: "The update begins in the next maintenance window, at 2026-11-21T02:00:00Z.",
		Again: time.Hour,
	}, r.updates(sn, now).MayBegin())
	require.Empty(t, r.updates(networkNamed("second", ""), now).MayBegin().Reason)
	hold := r.updates(sn, now.Add(time.Hour)).MayBegin()
	require.Equal(t, v1alpha1.ReasonWaitingForTurn, hold.Reason, "the window is open, and the other network has the turn")
	sn.Spec.MaintenanceWindows[0].TimeZone = "Mars"
	hold = r.updates(sn, now.Add(time.Hour)).MayBegin()
	require.Equal(t, v1alpha1.ReasonWindowInvalid, hold.Reason)
	require.Contains(t, hold.Message, "spec.maintenanceWindows: unknown time zone")
	require.Zero(t, hold.Again, "after the next change of the spec")
}
