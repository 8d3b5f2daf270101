package plugin_test

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"filippo.io/age"
	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
	"sigs.k8s.io/yaml"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/keyring"
	"github.com/plaza-social/plaza/controllers/plugin"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/controllers/testenv"
)

var env *testenv.Env

func TestMain(m *testing.M) { testenv.Main(m, &env) }

// user runs commands in a namespace with the rights of the role editor.
type user struct {
	t                     *testing.T
	namespace, kubeconfig string
}

func newUser(t *testing.T) *user {
	t.Helper()
	u := &user{t: t, namespace: env.Namespace(t), kubeconfig: filepath.Join(t.TempDir(), "kubeconfig")}
	text, err := os.ReadFile(filepath.Join(testenv.Root(), "config", "rbac", "socialnetwork_editor_role.yaml"))
	require.NoError(t, err)
	var role rbacv1.ClusterRole
	require.NoError(t, yaml.Unmarshal(text, &role))
	role.Name, role.Labels = "editor-"+u.namespace, nil
	require.NoError(t, env.Client.Create(t.Context(), &role))
	require.NoError(t, env.Client.Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "editor", Namespace: u.namespace},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: role.Name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: "user-" + u.namespace}},
	}))
	content, err := env.AddUser(envtest.User{Name: "user-" + u.namespace})
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(u.kubeconfig, content, 0o600))
	return u
}

// try runs a command.
func (u *user) try(args ...string) (string, error) {
	u.t.Helper()
	cmd := plugin.New()
	var out bytes.Buffer
	cmd.SetOut(&out)
	cmd.SetErr(&out)
	cmd.SetArgs(append(args, "--kubeconfig", u.kubeconfig, "-n", u.namespace))
	err := cmd.ExecuteContext(u.t.Context())
	return out.String(), err
}

// run runs a command that must succeed.
func (u *user) run(args ...string) string {
	u.t.Helper()
	out, err := u.try(args...)
	require.NoError(u.t, err, out)
	return out
}

// refused runs a command that must fail, and returns the error.
func (u *user) refused(args ...string) string {
	u.t.Helper()
	_, err := u.try(args...)
	require.Error(u.t, err)
	return err.Error()
}

// create creates the sample as the operator would report it: ready, with a key in each region.
func (u *user) create(change func(*v1alpha1.SocialNetwork)) *v1alpha1.SocialNetwork {
	u.t.Helper()
	text, err := os.ReadFile(filepath.Join(testenv.Root(), "config", "samples", "socialnetwork.yaml"))
	require.NoError(u.t, err)
	var sn v1alpha1.SocialNetwork
	for part := range strings.SplitSeq(string(text), "\n---\n") {
		if strings.Contains(part, "kind: SocialNetwork") {
			require.NoError(u.t, yaml.UnmarshalStrict([]byte(part), &sn))
		}
	}
	sn.Namespace = u.namespace
	require.NoError(u.t, env.Client.Create(u.t.Context(), &sn))
	u.report(&sn, func(status *v1alpha1.SocialNetworkStatus) {
		status.Version, status.RegionsReady, status.NetworkID = "v1.2.3", "3/3", "0123456789abcdef01234567"
		set(&status.Conditions, v1alpha1.ConditionReady, "True", v1alpha1.ReasonAllHolds, "Every region serves the spec.")
		for i := range sn.Spec.Regions {
			code := sn.Spec.Regions[i].Code
			region := v1alpha1.RegionStatus{
				Code: code, Replicas: 2, ReadyReplicas: 2,
				ServerKeys: []v1alpha1.KeyStatus{{ID: "k-" + string(code), State: v1alpha1.KeyActive}},
			}
			set(&region.Conditions, v1alpha1.RegionAvailable, "True", v1alpha1.ReasonServing, "2 pods are ready.")
			set(&region.Conditions, v1alpha1.RegionUpdated, "True", v1alpha1.ReasonUpToDate, "All pods have the newest template.")
			status.Regions = append(status.Regions, region)
		}
	})
	if change != nil {
		change(&sn)
		require.NoError(u.t, env.Client.Update(u.t.Context(), &sn))
	}
	return &sn
}

// report changes the status of a network as the operator does.
func (u *user) report(sn *v1alpha1.SocialNetwork, change func(*v1alpha1.SocialNetworkStatus)) {
	u.t.Helper()
	require.NoError(u.t, env.Client.Get(u.t.Context(), client.ObjectKeyFromObject(sn), sn))
	sn.Status.ObservedGeneration = sn.Generation
	change(&sn.Status)
	require.NoError(u.t, env.Client.Status().Update(u.t.Context(), sn))
}

func set(conditions *[]metav1.Condition, kind string, status metav1.ConditionStatus, reason v1alpha1.Reason, message string) {
	c := metav1.Condition{Type: kind, Status: status, Reason: string(reason), Message: message, LastTransitionTime: metav1.Now()}
	for i := range *conditions {
		if (*conditions)[i].Type == kind {
			(*conditions)[i] = c
			return
		}
	}
	*conditions = append(*conditions, c)
}

// read reads a network.
func (u *user) read(sn *v1alpha1.SocialNetwork) *v1alpha1.SocialNetwork {
	u.t.Helper()
	var found v1alpha1.SocialNetwork
	require.NoError(u.t, env.Client.Get(u.t.Context(), client.ObjectKeyFromObject(sn), &found))
	return &found
}

func TestStatus(t *testing.T) {
	u := newUser(t)
	require.Contains(t, u.refused("status", "acme"), `"acme" not found`)
	sn := u.create(nil)
	u.report(sn, func(status *v1alpha1.SocialNetworkStatus) {
		set(&status.Conditions, v1alpha1.ConditionReady, "False", v1alpha1.ReasonMigrationFailed, "SchemaMigrated: no disk.")
		set(&status.Conditions, v1alpha1.ConditionSchemaMigrated, "False", v1alpha1.ReasonMigrationFailed, "No disk.")
		set(&status.Regions[1].Conditions, v1alpha1.RegionAvailable, "Unknown", v1alpha1.ReasonClusterUnreachable,
			"Cluster eu cannot be reached.")
		status.Regions[1].Cluster, status.Regions[1].EvacuatedTo = "cluster-eu", "us"
		end := metav1.NewTime(time.Now().Add(3 * time.Hour))
		status.APIKeys = []v1alpha1.KeyStatus{{ID: "a-1", State: v1alpha1.KeyRetiring, NotAfter: &end}}
		status.PendingChanges = []string{"delete Job x"}
	})
	require.Regexp(t, `NAMESPACE +NAME +READY +REASON +REGIONS +VERSION +EVACUATED\n`+u.namespace+
		` +acme +False +MigrationFailed +3/3 +v1.2.3 +-\n`, u.run("status"))
	out := u.run("status", "acme")
	for _, line := range []string{
		"Ready is False (MigrationFailed)", "\n  SchemaMigrated: no disk.\n", "Version v1.2.3, schema -, network id 0123456789abcdef01234567",
		"\nConditions that are not True:\n  SchemaMigrated is False, MigrationFailed: No disk.\n  eu: Available is Unknown, " +
			"ClusterUnreachable: Cluster eu cannot be reached.\n",
		"\nAPI key a-1 is Retiring and ends ", "in 3h0m", "\n1 changes wait",
	} {
		require.Contains(t, out, line)
	}
	require.Regexp(t, `\nus +- +True \(Serving\) +True +2/2 +k-us +-\neu +cluster-eu +Unknown \(ClusterUnreachable\) +True +2/2 +k-eu +us\n`,
		out)
	require.NotContains(t, u.run("status", "acme"), "has not seen the newest spec")
	require.ErrorContains(t, errors.New(u.refused("status", "-A")), "forbidden", "the user may read one namespace only")
}

func TestPending(t *testing.T) {
	u := newUser(t)
	sn := u.create(nil)
	require.Contains(t, u.run("pending", "acme"), "The network is not paused")
	sn.Spec.Paused = true
	require.NoError(t, env.Client.Update(t.Context(), sn))
	require.Contains(t, u.run("pending", "acme"), "The operator has not seen the newest spec yet")
	u.report(sn, func(*v1alpha1.SocialNetworkStatus) {})
	require.Contains(t, u.run("pending", "acme"), "no changes wait")
	u.report(sn, func(status *v1alpha1.SocialNetworkStatus) {
		status.PendingChanges = []string{"change Deployment acme-eu: image from a to b; the pods are replaced"}
	})
	out := u.run("pending", "acme")
	require.Contains(t, out, "change Deployment acme-eu: image from a to b; the pods are replaced\n")
	require.Contains(t, out, `patch sn acme --type merge -p '{"spec": {"paused": false}}'`)
}

func TestRotate(t *testing.T) {
	u := newUser(t)
	sn := u.create(nil)
	require.Contains(t, u.refused("rotate", "acme", "keys"),
		`unknown kind "keys": want one of api-keys, control-authority, server-keys, signing-keys`)
	for kind, annotation := range map[string]string{
		"server-keys": v1alpha1.AnnotationRotate, "signing-keys": v1alpha1.AnnotationRotateSigning, "api-keys": v1alpha1.AnnotationRotateAPI,
		"control-authority": v1alpha1.AnnotationRotateControl,
	} {
		require.Empty(t, u.read(sn).Annotations[annotation])
		before := time.Now().Truncate(time.Second)
		require.Contains(t, u.run("rotate", "acme", kind), "The rotation of the "+kind+" was requested.")
		at, err := time.Parse(time.RFC3339, u.read(sn).Annotations[annotation])
		require.NoError(t, err)
		require.WithinRange(t, at, before, time.Now())
	}
	sn = u.read(sn)
	sn.Spec.ServerKeys.ExistingSecret = &v1alpha1.LocalSecretReference{Name: "own-keys"}
	sn.Spec.ServerKeys.RotateEvery = nil
	require.NoError(t, env.Client.Update(t.Context(), sn))
	require.Contains(t, u.refused("rotate", "acme", "server-keys"), "own-keys")
	sn.Spec.Paused = true
	require.NoError(t, env.Client.Update(t.Context(), sn))
	require.Contains(t, u.refused("rotate", "acme", "api-keys"), "is paused")
}

func TestRevoke(t *testing.T) {
	u := newUser(t)
	sn := u.create(func(sn *v1alpha1.SocialNetwork) {
		sn.Annotations = map[string]string{v1alpha1.AnnotationRevoke: "k-older"}
	})
	require.Contains(t, u.refused("revoke", "acme", "k-eu", "k-nowhere"), "no region has a server key k-nowhere")
	require.Equal(t, "k-older", u.read(sn).Annotations[v1alpha1.AnnotationRevoke])
	out := u.run("revoke", "acme", "k-eu")
	require.Contains(t, out,
		"Server key k-eu is revoked.\n  It was the active key of eu: give your servers the new one of Secret acme-eu-server-keys.")
	u.run("revoke", "acme", "k-eu", "k-nowhere", "--force")
	require.Equal(t, "k-older k-eu k-nowhere", u.read(sn).Annotations[v1alpha1.AnnotationRevoke], "ids that were revoked before stay revoked")
}

func TestEvacuate(t *testing.T) {
	u := newUser(t)
	sn := u.create(nil)
	require.Contains(t, u.refused("evacuate", "acme", "eu"), "at least one of the flags in the group [to end] is required")
	require.Contains(t, u.refused("evacuate", "acme", "mars", "--to", "us"), `no region "mars"; it has us, eu, sg`)
	require.Contains(t, u.refused("evacuate", "acme", "eu", "--to", "eu"), "evacuateTo must name another region")
	require.Contains(t, u.refused("evacuate", "acme", "eu", "--end"), "region eu is not evacuated")

	require.Contains(t, u.run("evacuate", "acme", "eu", "--to", "us", "--wait=false"), "It was requested.")
	require.Equal(t, v1alpha1.RegionUS, u.read(sn).Spec.Regions[1].EvacuateTo)
	require.Contains(t, u.refused("evacuate", "acme", "eu", "--to", "us", "--timeout", "1ms"),
		"waiting for the evacuation of eu: context deadline exceeded")
	u.report(sn, func(status *v1alpha1.SocialNetworkStatus) {
		set(&status.Regions[1].Conditions, v1alpha1.RegionEvacuated, "True", v1alpha1.ReasonEvacuated, "us serves.")
		set(&status.Regions[1].Conditions, v1alpha1.RegionAvailable, "False", v1alpha1.ReasonNotServing, "No pod is ready.")
	})
	require.Contains(t, u.run("evacuate", "acme", "eu", "--to", "us"), "us serves the clients of eu.")
	require.Contains(t, u.run("status"), "eu to us")

	require.Contains(t, u.refused("evacuate", "acme", "eu", "--end"),
		"region eu, which would serve the clients, is not available (NotServing)")
	require.Equal(t, v1alpha1.RegionUS, u.read(sn).Spec.Regions[1].EvacuateTo)
	u.run("evacuate", "acme", "eu", "--end", "--force", "--wait=false")
	require.Empty(t, u.read(sn).Spec.Regions[1].EvacuateTo)
	require.Equal(t, "eu.api.acme.example", u.read(sn).Spec.Regions[1].Host)
	require.Contains(t, u.refused("evacuate", "acme", "sg", "--to", "eu"), "is not available")
}

// TestEvacuateOfAnotherManager ends an evacuation that kubectl apply of a manifest has set as well.
func TestEvacuateOfAnotherManager(t *testing.T) {
	u := newUser(t)
	u.create(func(sn *v1alpha1.SocialNetwork) { sn.Spec.Regions[1].EvacuateTo = v1alpha1.RegionUS })
	require.Contains(t, u.refused("evacuate", "acme", "eu", "--end"), "another field manager has set evacuateTo as well; remove it there")
}

func TestReport(t *testing.T) {
	u := newUser(t)
	u.create(func(sn *v1alpha1.SocialNetwork) {
		sn.Spec.Regions[0].Env = []corev1.EnvVar{{Name: "MY_PASSWORD", Value: "hush-hush"}}
		sn.Annotations = map[string]string{"kubectl.kubernetes.io/last-applied-configuration": `{"env": "hush-hush"}`}
	})
	labels := render.RegionLabels("acme", render.ComponentServer, "us")
	require.NoError(t, env.Client.Create(t.Context(),
		&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "acme-us", Namespace: u.namespace, Labels: labels}}))
	require.NoError(t, env.Client.Create(t.Context(), &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "acme-us-server-keys", Namespace: u.namespace, Labels: labels},
		StringData: map[string]string{"key": "hush-hush"},
	}))
	require.NoError(t, env.Client.Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "view", Namespace: u.namespace},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "reader-" + u.namespace},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: "user-" + u.namespace}},
	}))
	require.NoError(t, env.Client.Create(t.Context(), &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: "reader-" + u.namespace},
		Rules: []rbacv1.PolicyRule{{
			APIGroups: []string{""}, Resources: []string{"configmaps", "pods", "services", "events"},
			Verbs: []string{"get", "list"},
		}},
	}))
	path := filepath.Join(t.TempDir(), "report.tar.gz")
	require.Equal(t, path+"\n", u.run("report", "acme", "-f", path))
	files := plugin.Unpack(t, path)
	require.Contains(t, files["socialnetwork.yaml"], "MY_PASSWORD")
	require.Contains(t, files["objects/ConfigMap.yaml"], "name: acme-us")
	require.Contains(t, files["errors.txt"], "Deployment: deployments.apps is forbidden", "what the user may not read is named")
	for name, content := range files {
		require.NotContains(t, content, "hush-hush", name)
		require.NotContains(t, content, "managedFields", name)
	}
}

// TestReportOfMembers writes an archive of a network with regions in two member clusters, for one of which the user has a context.
func TestReportOfMembers(t *testing.T) {
	hub, member := newUser(t), newUser(t)
	sn := hub.create(nil)
	hub.report(sn, func(status *v1alpha1.SocialNetworkStatus) {
		status.Clusters = []v1alpha1.ClusterNamespace{{Name: "eu", Namespace: member.namespace}, {Name: "sg", Namespace: "plaza"}}
	})
	require.NoError(t, env.Client.Create(t.Context(), &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{
		Name: "acme-eu", Namespace: member.namespace, Labels: render.RegionLabels("acme", render.ComponentServer, "eu"),
	}}))
	require.NoError(t, env.Client.Create(t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: "view", Namespace: member.namespace},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: "view-" + member.namespace},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: "user-" + member.namespace}},
	}))
	require.NoError(t, env.Client.Create(t.Context(), &rbacv1.ClusterRole{
		ObjectMeta: metav1.ObjectMeta{Name: "view-" + member.namespace},
		Rules:      []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{"configmaps"}, Verbs: []string{"list"}}},
	}))
	both, err := clientcmd.LoadFromFile(hub.kubeconfig)
	require.NoError(t, err)
	other, err := clientcmd.LoadFromFile(member.kubeconfig)
	require.NoError(t, err)
	current := other.Contexts[other.CurrentContext]
	both.Clusters["eu"], both.AuthInfos["eu"] = other.Clusters[current.Cluster], other.AuthInfos[current.AuthInfo]
	both.Contexts["admin@eu"] = &clientcmdapi.Context{Cluster: "eu", AuthInfo: "eu"}
	require.NoError(t, clientcmd.WriteToFile(*both, hub.kubeconfig))

	path := filepath.Join(t.TempDir(), "report.tar.gz")
	hub.run("report", "acme", "-f", path, "--member", "eu=admin@eu")
	files := plugin.Unpack(t, path)
	require.Contains(t, files["clusters/eu/"+member.namespace+"/objects/ConfigMap.yaml"], "name: acme-eu")
	require.Contains(t, files["errors.txt"], "clusters/eu/"+member.namespace+"/Deployment: deployments.apps is forbidden")
	require.Contains(t, files["errors.txt"],
		`cluster sg: reading the kubeconfig: context "sg" does not exist; name a context of the kubeconfig with --member sg=CONTEXT`)
}

// TestHelp checks that every command explains itself with an example.
func TestHelp(t *testing.T) {
	root := plugin.New()
	require.Equal(t, "kubectl plaza", root.CommandPath())
	names := []string{}
	for _, cmd := range root.Commands() {
		names = append(names, cmd.Name())
		require.NotEmpty(t, cmd.Short, cmd.Name())
		require.Contains(t, cmd.Example, "kubectl plaza "+cmd.Name(), cmd.Name())
	}
	require.Equal(t, []string{"evacuate", "keys", "pending", "report", "revoke", "rotate", "status"}, names)
}

// allow gives a user rights in the namespace.
func (u *user) allow(name string, rules ...rbacv1.PolicyRule) {
	u.t.Helper()
	require.NoError(u.t, env.Client.Create(u.t.Context(),
		&rbacv1.Role{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: u.namespace}, Rules: rules}))
	require.NoError(u.t, env.Client.Create(u.t.Context(), &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: u.namespace},
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: name},
		Subjects:   []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: "User", Name: "user-" + u.namespace}},
	}))
}

// TestKeys backs up the keys with the rights of the Role of KEYS.md, loses them, and restores them with those that the command names.
func TestKeys(t *testing.T) {
	u := newUser(t)
	sn := u.create(func(sn *v1alpha1.SocialNetwork) { sn.Spec.Regions = sn.Spec.Regions[:1] })
	u.report(sn, func(status *v1alpha1.SocialNetworkStatus) {
		set(&status.Conditions, v1alpha1.ConditionKeysReady, "True", v1alpha1.ReasonKeysVerified, "All keys exist.")
	})
	key, err := age.GenerateX25519Identity()
	require.NoError(t, err)
	folder := t.TempDir()
	file, identity := filepath.Join(folder, "acme.age"), filepath.Join(folder, "key.txt")
	require.NoError(t, os.WriteFile(identity, []byte(key.String()), 0o600))
	backup := []string{"keys", "backup", "acme", "--file", file, "--recipient", key.Recipient().String()}
	require.Contains(t, u.refused(backup...), `secrets "acme-recovery-keys" is forbidden`)
	u.allow("backup", guideRole(t).Rules...)
	require.Contains(t, u.refused(backup...), "Secret "+u.namespace+"/acme-recovery-keys does not exist")

	server := `{"keys": [{"id": "k-1", "key": "0123456789abcdef0123456789abcdef"}]}`
	seed := base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("s"), 32))
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{
			Name: "acme-recovery-keys", Namespace: u.namespace, Labels: render.RecoveryLabels("acme"),
			Finalizers: []string{v1alpha1.FinalizerKeys},
		},
		Data: map[string][]byte{},
	}
	for set, files := range map[string]map[string][]byte{
		"identity":       {"network-id": []byte(sn.Status.NetworkID), "directory-key": []byte("hush-hush")},
		"signing-keys":   {"signing-keys.json": []byte(`{"keys": [{"kid": "s-1", "seed": "` + seed + `"}]}`)},
		"api-keys":       {"api-keys.json": []byte(server)},
		"server-keys-us": {"server-keys.json": []byte(server)},
	} {
		secret.Data[set] = []byte(keyring.Save(files, nil).Encode().Reveal())
	}
	require.NoError(t, env.Client.Create(t.Context(), secret))
	require.Contains(t, u.run(backup...), "acme.age has the keys of network acme, network id "+sn.Status.NetworkID)

	require.NoError(t, env.Client.Delete(t.Context(), secret))
	u.shell(testenv.Commands(t, "KEYS.md", "release"), "SECRET=acme-recovery-keys")
	require.True(t, apierrors.IsNotFound(env.Client.Get(t.Context(), client.ObjectKeyFromObject(secret), &corev1.Secret{})))
	restore := []string{"keys", "restore", "acme", "--file", file, "--identity", identity}
	require.Contains(t, u.refused(restore...), `is forbidden`)
	u.allow("restore", rbacv1.PolicyRule{APIGroups: []string{""}, Resources: []string{"secrets"}, Verbs: []string{"get", "create", "update"}})
	require.Contains(t, u.run(restore...), "No keys are missing.")
	require.Contains(t, u.run(restore...), "keeps its own copies")
	var restored corev1.Secret
	require.NoError(t, env.Client.Get(t.Context(), client.ObjectKeyFromObject(secret), &restored))
	require.Equal(t, secret.Data, restored.Data)
	require.Equal(t, secret.Labels, restored.Labels)
	require.Equal(t, secret.Finalizers, restored.Finalizers)

	delete(restored.Data, "api-keys")
	require.NoError(t, env.Client.Update(t.Context(), &restored))
	require.Contains(t, u.run(restore...), "has from the backup now: api-keys.")

	u.shell(testenv.Commands(t, "KEYS.md", "give-up"))
	require.Equal(t, sn.Status.NetworkID, u.read(sn).Annotations[v1alpha1.AnnotationGiveUpKeys])
	require.Equal(t, sn.Status.NetworkID, strings.TrimSpace(u.shell(testenv.Commands(t, "KEYS.md", "check"))))
	deletion := strings.ReplaceAll(testenv.Commands(t, "KEYS.md", "delete"), "delete secret", "delete --wait=false secret") // no operator runs
	u.shell(deletion+testenv.Commands(t, "KEYS.md", "release"), "SECRET=acme-recovery-keys")
	require.True(t, apierrors.IsNotFound(env.Client.Get(t.Context(), client.ObjectKeyFromObject(secret), &corev1.Secret{})))
}

// guideRole returns the Role of KEYS.md.
func guideRole(t *testing.T) *rbacv1.Role {
	t.Helper()
	var role rbacv1.Role
	for document := range strings.SplitSeq(guideManifests(t), "\n---\n") {
		if strings.Contains(document, "kind: Role\n") {
			require.NoError(t, yaml.UnmarshalStrict([]byte(document), &role))
		}
	}
	require.NotEmpty(t, role.Rules)
	return &role
}

func guideManifests(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(testenv.Root(), "controllers", "KEYS.md"))
	require.NoError(t, err)
	block := regexp.MustCompile("(?s)```yaml\n(.*?)```").FindStringSubmatch(string(text))
	require.NotNil(t, block)
	return block[1]
}

// TestGuideManifests creates the CronJob of KEYS.md and what it needs.
func TestGuideManifests(t *testing.T) {
	u := newUser(t)
	require.Contains(t, u.shell("kubectl -n $NAMESPACE apply -f - <<'END'\n"+guideManifests(t)+"END"), "cronjob.batch/keys-backup created")
}

// TestKeysCommandsOfGuides parses the commands of the guides, of the alert's runbook and of the condition's message.
func TestKeysCommandsOfGuides(t *testing.T) {
	commands := []string{"keys restore acme -n plaza --file BACKUP"}
	for _, path := range []string{"controllers/KEYS.md", "controllers/BACKUP.md", "config/README.md"} {
		text, err := os.ReadFile(filepath.Join(testenv.Root(), path))
		require.NoError(t, err)
		found := regexp.MustCompile("kubectl[- ]plaza (keys [^`#\n]*)").FindAllStringSubmatch(string(text), -1)
		require.NotEmpty(t, found, path)
		for _, command := range found {
			commands = append(commands, command[1])
		}
	}
	for _, command := range commands {
		cmd, args, err := plugin.New().Find(strings.Fields(command))
		require.NoError(t, err, command)
		require.True(t, cmd.Runnable(), command)
		require.NoError(t, cmd.ParseFlags(args), command)
		require.NoError(t, cmd.ValidateArgs(cmd.Flags().Args()), command)
		require.NoError(t, cmd.ValidateRequiredFlags(), command)
		require.NoError(t, cmd.ValidateFlagGroups(), command)
	}
}

// shell runs commands of a guide as an administrator with kubectl.
func (u *user) shell(commands string, variables ...string) string {
	u.t.Helper()
	content, err := env.AddUser(envtest.User{Name: "admin", Groups: []string{"system:masters"}})
	require.NoError(u.t, err)
	kubeconfig := filepath.Join(u.t.TempDir(), "kubeconfig")
	require.NoError(u.t, os.WriteFile(kubeconfig, content, 0o600))
	assets := cmp.Or(os.Getenv("KUBEBUILDER_ASSETS"), filepath.Join(testenv.Root(), "bin", "envtest"))
	cmd := exec.CommandContext(u.t.Context(), "bash", "-euo", "pipefail", "-c", commands)
	cmd.Env = append(os.Environ(), append(variables, "NAMESPACE="+u.namespace, "NETWORK=acme", "KUBECONFIG="+kubeconfig,
		"PATH="+assets+":"+os.Getenv("PATH"))...)
	out, err := cmd.CombinedOutput()
	require.NoError(u.t, err, "%s", out)
	return string(out)
}

// TestInstallableByVersion checks that go install accepts the program with a version: it refuses modules that replace others.
func TestInstallableByVersion(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(testenv.Root(), "go.mod"))
	require.NoError(t, err)
	require.NotRegexp(t, `(?m)^\s*(replace|exclude)\b`, string(text))
}
