package main

import (
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v3/pkg/chart/loader"
	"helm.sh/helm/v3/pkg/lint"
	"helm.sh/helm/v3/pkg/lint/support"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// Attributes of the chart's objects that those of the kustomization lack.
var (
	helmLabels      = []string{"app.kubernetes.io/instance", "app.kubernetes.io/managed-by", "app.kubernetes.io/version", "helm.sh/chart"}
	helmAnnotations = []string{"helm.sh/resource-policy"}
)

// namespace is created by helm itself, with --create-namespace.
const namespace = "Namespace /plaza-system"

// TestChartEqualsKustomization checks that both ways of installation create the same objects.
func TestChartEqualsKustomization(t *testing.T) {
	for name, c := range map[string]struct {
		values  string
		folders []string
	}{
		"for the cluster":      {"", []string{"default"}},
		"with Prometheus":      {"serviceMonitor: {enabled: true}", []string{"default", "prometheus"}},
		"with dashboards":      {"dashboards: {enabled: true}", []string{"default", "grafana"}},
		"for single namespace": {"watchNamespaces: [plaza]", []string{"namespaced"}},
	} {
		t.Run(name, func(t *testing.T) {
			want := objects{}
			for _, folder := range c.folders {
				maps.Copy(want, kustomized(t, folder))
			}
			require.Contains(t, want, namespace)
			delete(want, namespace)
			got := charted(t, c.values)
			require.ElementsMatch(t, slices.Collect(maps.Keys(want)), slices.Collect(maps.Keys(got)))
			for key, o := range got {
				require.Equal(t, want[key].Object, withoutHelm(t, o).Object, key)
			}
		})
	}
}

// withoutHelm removes exactly what helm adds to the kustomization's objects; each label must exist.
func withoutHelm(t *testing.T, o *unstructured.Unstructured) *unstructured.Unstructured {
	t.Helper()
	labels := o.GetLabels()
	for _, name := range helmLabels {
		require.NotEmpty(t, labels[name], "%s: label %s", nameOf(o), name)
		delete(labels, name)
	}
	o.SetLabels(labels)
	annotations := o.GetAnnotations()
	for _, name := range helmAnnotations {
		delete(annotations, name)
	}
	if len(annotations) == 0 {
		annotations = nil
	}
	o.SetAnnotations(annotations)
	return o
}

// TestChartFiles checks that the chart's copies equal the originals.
func TestChartFiles(t *testing.T) {
	crd := filepath.Join("config", "crd", "bases", "plaza.social_socialnetworks.yaml")
	want, err := os.ReadFile(filepath.Join(root, crd))
	require.NoError(t, err)
	have, err := os.ReadFile(filepath.Join(chartFolder(root), "files", filepath.Base(crd)))
	require.NoError(t, err)
	require.Equal(t, string(want), string(have), "run make generate")
	require.Equal(t, rulesOf(kustomized(t, "default")["ClusterRole /plaza-operator"]),
		rulesOf(charted(t, "")["ClusterRole /plaza-operator"]), "run make generate")
}

func rulesOf(o *unstructured.Unstructured) any { return o.Object["rules"] }

// TestCRDIsKept checks that uninstalling the chart does not remove all networks.
func TestCRDIsKept(t *testing.T) {
	const crd = "CustomResourceDefinition /socialnetworks.plaza.social"
	require.Equal(t, "keep", charted(t, "")[crd].GetAnnotations()["helm.sh/resource-policy"])
	require.NotContains(t, charted(t, "crds: {enabled: false}"), crd)
}

// TestMember checks that the chart creates in a member cluster what config/member does.
func TestMember(t *testing.T) {
	want := kustomized(t, "member")
	got := charted(t, "{mode: member, member: {namespaces: [one, plaza]}, serviceAccount: {name: plaza-member}}")
	require.Len(t, got, 6, "an account, its token, and a role and its binding in each namespace")
	require.Equal(t, rulesOf(want["Role plaza/plaza-member"]), rulesOf(got["Role plaza/plaza-operator"]))
	require.Equal(t, rulesOf(want["Role plaza/plaza-member"]), rulesOf(got["Role one/plaza-operator"]))
	token := got["Secret plaza-system/plaza-member-token"]
	require.Equal(t, "plaza-member", token.GetAnnotations()["kubernetes.io/service-account.name"])
	subjects, _, err := unstructured.NestedSlice(got["RoleBinding one/plaza-operator"].Object, "subjects")
	require.NoError(t, err)
	require.Equal(t, []any{map[string]any{"kind": "ServiceAccount", "name": "plaza-member", "namespace": "plaza-system"}}, subjects)
}

// TestMemberRules checks that the account of a member has the operator's permissions but those on networks and events, and in
// addition port-forwards.
func TestMemberRules(t *testing.T) {
	rules := func(o *unstructured.Unstructured) map[string]any {
		byResources := map[string]any{}
		list, _, err := unstructured.NestedSlice(o.Object, "rules")
		require.NoError(t, err)
		for _, rule := range list {
			fields, ok := rule.(map[string]any)
			require.True(t, ok)
			byResources[fmt.Sprint(fields["apiGroups"], fields["resources"])] = fields["verbs"]
		}
		return byResources
	}
	hub, member := rules(kustomized(t, "default")["ClusterRole /plaza-operator"]), rules(kustomized(t, "member")["Role plaza/plaza-member"])
	for key := range hub {
		if strings.Contains(key, "plaza.social") || strings.Contains(key, "events.k8s.io") {
			delete(hub, key)
		}
	}
	require.Equal(t, []any{"get", "create"}, member["[] [pods/portforward]"])
	delete(member, "[] [pods/portforward]")
	require.Equal(t, hub, member)
}

// TestNamespaced checks that an operator of single namespaces has no permissions elsewhere.
func TestNamespaced(t *testing.T) {
	got := charted(t, "{watchNamespaces: [one, two], rbac: {clusterRoles: false}, crds: {enabled: false}}")
	cluster := charted(t, "")["ClusterRole /plaza-operator"]
	for key, o := range got {
		require.NotEmpty(t, o.GetNamespace(), "%s is cluster-scoped", key)
	}
	for _, ns := range []string{"one", "two"} {
		require.Equal(t, rulesOf(cluster), rulesOf(got["Role "+ns+"/plaza-operator"]))
		subjects, _, err := unstructured.NestedSlice(got["RoleBinding "+ns+"/plaza-operator"].Object, "subjects")
		require.NoError(t, err)
		require.Equal(t, []any{map[string]any{"kind": "ServiceAccount", "name": "plaza-operator", "namespace": "plaza-system"}}, subjects)
	}
	require.Contains(t, argsOf(t, got), "--watch-namespaces=one,two")
}

func manager(t *testing.T, o objects) map[string]any {
	t.Helper()
	containers, _, err := unstructured.NestedSlice(o["Deployment plaza-system/plaza-operator"].Object, "spec", "template", "spec",
		"containers")
	require.NoError(t, err)
	require.Len(t, containers, 1)
	container, ok := containers[0].(map[string]any)
	require.True(t, ok)
	return container
}

func argsOf(t *testing.T, o objects) []string {
	t.Helper()
	args, _, err := unstructured.NestedStringSlice(manager(t, o), "args")
	require.NoError(t, err)
	return args
}

// TestValues checks the effect of values.
func TestValues(t *testing.T) {
	got := charted(t, `
image: {repository: registry.example/operator, tag: v2, pullPolicy: Always}
platformImage: {repository: registry.example/plaza, tag: v3}
imagePullSecrets: [{name: registry}]
replicas: 1
logLevel: debug
maxConcurrentRollouts: 3
networkPolicy: {enabled: false}
serviceAccount: {create: false, name: theirs}
serviceMonitor: {enabled: true, labels: {release: prometheus}, interval: 30s}
nodeSelector: {kubernetes.io/os: linux}
tolerations: [{key: infra, operator: Exists}]
priorityClassName: high
podLabels: {team: social}
podAnnotations: {note: x}
`)
	container := manager(t, got)
	require.Equal(t, "registry.example/operator:v2", container["image"])
	require.Equal(t, "Always", container["imagePullPolicy"])
	require.Equal(t, "registry.example/plaza:v3", platformImage(t, got))
	require.Contains(t, argsOf(t, got), "--log-level=debug")
	require.Contains(t, argsOf(t, got), "--max-concurrent-rollouts=3")
	require.NotContains(t, got, "PodDisruptionBudget plaza-system/plaza-operator", "it would prevent eviction of the only pod")
	require.NotContains(t, got, "NetworkPolicy plaza-system/plaza-operator")
	require.NotContains(t, got, "ServiceAccount plaza-system/plaza-operator")
	pod, _, err := unstructured.NestedMap(got["Deployment plaza-system/plaza-operator"].Object, "spec", "template")
	require.NoError(t, err)
	text, err := yaml.Marshal(pod)
	require.NoError(t, err)
	for _, part := range []string{
		"serviceAccountName: theirs", "team: social", "note: x", "priorityClassName: high", "key: infra",
		"kubernetes.io/os: linux", "- name: registry",
	} {
		require.Contains(t, string(text), part)
	}
	monitor := got["ServiceMonitor plaza-system/plaza-operator"]
	require.Equal(t, "prometheus", monitor.GetLabels()["release"])
}

// TestFurtherValues checks the values for digests, arguments, variables, scheduling, security contexts and labels.
func TestFurtherValues(t *testing.T) {
	digest := "sha256:" + strings.Repeat("a", 64)
	got := charted(t, `
image: {repository: registry.example/operator, tag: v2, digest: "`+digest+`"}
platformImage: {repository: registry.example/plaza, digest: "`+digest+`"}
extraArgs: [--kube-api-qps=200]
extraEnv: [{name: GOMEMLIMIT, value: 400MiB}]
topologySpreadConstraints: [{maxSkew: 2, topologyKey: rack, whenUnsatisfiable: DoNotSchedule}]
podSecurityContext: {fsGroup: 1000}
securityContext: {seLinuxOptions: {level: s0}}
commonLabels: {team: social}
`)
	container := manager(t, got)
	require.Equal(t, "registry.example/operator@"+digest, container["image"])
	require.Equal(t, "registry.example/plaza@"+digest, platformImage(t, got))
	require.Contains(t, argsOf(t, got), "--kube-api-qps=200")
	require.Contains(t, container["env"], map[string]any{"name": "GOMEMLIMIT", "value": "400MiB"})
	require.Equal(t, map[string]any{
		"allowPrivilegeEscalation": false, "readOnlyRootFilesystem": true, "capabilities": map[string]any{"drop": []any{"ALL"}},
		"seLinuxOptions": map[string]any{"level": "s0"},
	}, container["securityContext"])
	pod, _, err := unstructured.NestedMap(got["Deployment plaza-system/plaza-operator"].Object, "spec", "template", "spec")
	require.NoError(t, err)
	require.Equal(t, map[string]any{
		"runAsNonRoot": true, "seccompProfile": map[string]any{"type": "RuntimeDefault"}, "fsGroup": 1000.0,
	}, pod["securityContext"])
	constraints, ok := pod["topologySpreadConstraints"].([]any)
	require.True(t, ok)
	require.Len(t, constraints, 1)
	for name, object := range got {
		if object.GetKind() != "CustomResourceDefinition" {
			require.Equal(t, "social", object.GetLabels()["team"], name)
		}
	}
}

func platformImage(t *testing.T, o objects) string {
	t.Helper()
	env, ok := manager(t, o)["env"].([]any)
	require.True(t, ok)
	for _, v := range env {
		if variable, ok := v.(map[string]any); ok && variable["name"] == "PLAZA_IMAGE" {
			value, _ := variable["value"].(string)
			return value
		}
	}
	t.Fatal("PLAZA_IMAGE is not set")
	return ""
}

// TestInvalidValues checks that the schema rejects mistakes before anything is installed.
func TestInvalidValues(t *testing.T) {
	for values, want := range map[string]string{
		"unknown: true":                                      "unknown",
		"image: {repo: plaza}":                               "repo",
		"image: {repository: ''}":                            "repository",
		"image: {tag: 'a b'}":                                "tag",
		"image: {pullPolicy: Sometimes}":                     "pullPolicy",
		"replicas: 0":                                        "replicas",
		"replicas: two":                                      "replicas",
		"watchNamespaces: plaza":                             "watchNamespaces",
		"watchNamespaces: [Plaza]":                           "watchNamespaces",
		"watchNamespaces: [a, a]":                            "watchNamespaces",
		"maxConcurrentRollouts: -1":                          "maxConcurrentRollouts",
		"logLevel: loud":                                     "logLevel",
		"crds: {install: true}":                              "install",
		"rbac: {clusterRoles: maybe}":                        "clusterRoles",
		"serviceAccount: {create: false}":                    "serviceAccount",
		"resources: {limits: {memory: lots}}":                "memory",
		"serviceMonitor: {interval: often}":                  "interval",
		"podLabels: {app.kubernetes.io/name: other}":         "podLabels",
		"podAnnotations: {n: 1}":                             "podAnnotations",
		"tolerations: {key: infra}":                          "tolerations",
		"extraArgs: [x]":                                     "extraArgs",
		"extraEnv: [{value: x}]":                             "extraEnv",
		"image: {digest: 'sha256:abc'}":                      "digest",
		"commonLabels: {app.kubernetes.io/name: x}":          "commonLabels",
		"topologySpreadConstraints: {maxSkew: 1}":            "topologySpreadConstraints",
		"imagePullSecrets: [registry]":                       "imagePullSecrets",
		"networkPolicy: {enabled: 'true'}":                   "networkPolicy",
		"podDisruptionBudget: {minAvailable: 1}":             "minAvailable",
		"platformImage: {repository: plaza, digest: sha256}": "digest",
	} {
		t.Run(values, func(t *testing.T) {
			_, err := render(t, values)
			require.ErrorContains(t, err, want)
		})
	}
}

// TestLint checks that helm lint reports nothing except the missing icon.
func TestLint(t *testing.T) {
	for _, values := range []map[string]any{nil, {"watchNamespaces": []any{"plaza"}, "serviceMonitor": map[string]any{"enabled": true}}} {
		result := lint.AllWithKubeVersionAndSchemaValidation(chartFolder(root), values, "plaza-system", nil, false)
		require.Empty(t, slices.DeleteFunc(result.Messages, func(m support.Message) bool {
			return m.Severity == support.InfoSev && strings.Contains(m.Error(), "icon is recommended")
		}))
	}
}

// TestNotes checks that the notes after an installation refer to the installed objects.
func TestNotes(t *testing.T) {
	const notes = "plaza-operator/templates/NOTES.txt"
	files, err := render(t, "")
	require.NoError(t, err)
	require.Contains(t, files[notes], "kubectl -n plaza-system rollout status deployment/plaza-operator")
	require.Contains(t, files[notes], "in every namespace")
	files, err = render(t, "watchNamespaces: [plaza]")
	require.NoError(t, err)
	require.Contains(t, files[notes], "kubectl -n plaza get sn acme -o wide")
}

// TestReadmeHasEveryValue checks that the chart's README documents every value.
func TestReadmeHasEveryValue(t *testing.T) {
	readme, err := os.ReadFile(filepath.Join(chartFolder(root), "README.md"))
	require.NoError(t, err)
	c, err := loadChart(root)
	require.NoError(t, err)
	for name, value := range c.Values {
		nested, _ := value.(map[string]any)
		if len(nested) == 0 || name == "resources" || strings.HasSuffix(strings.ToLower(name), "securitycontext") {
			require.Contains(t, string(readme), "`"+name+"`")
			continue
		}
		for below := range nested {
			require.Contains(t, string(readme), "`"+name+"."+below+"`")
		}
	}
}

// TestArchive checks that the packaged chart refers to the given images.
func TestArchive(t *testing.T) {
	folder := t.TempDir()
	args := []string{"chart", "-root", root, "-version", "v1.2.3", "-operator-image", "localhost:5000/operator:v1.2.3", "-out", folder}
	require.NoError(t, run(append(args, "-platform-image", "localhost:5000/platform:v1.2.3")))
	c, err := loader.LoadFile(filepath.Join(folder, "plaza-operator-1.2.3.tgz"))
	require.NoError(t, err)
	require.NotNil(t, c.Schema)
	got := parseFiles(t, renderChart(t, c, ""))
	require.Equal(t, "localhost:5000/operator:v1.2.3", manager(t, got)["image"])
	require.Equal(t, "localhost:5000/platform:v1.2.3", platformImage(t, got))
	require.ErrorContains(t, run(append(args, "-platform-image", "localhost:5000/platform:v2")), "different tags")
}

func TestChartVersion(t *testing.T) {
	for version, want := range map[string]string{
		"v1.2.3":                 "1.2.3",
		"1.2.3-rc.1":             "1.2.3-rc.1",
		"v1.2.3-4-gc0110b8":      "1.2.3-4-gc0110b8",
		"v1.2.3-4-gc01-dirty":    "1.2.3-4-gc01-dirty",
		"c0110b8":                "0.0.0-gc0110b8",
		"0123456-dirty":          "0.0.0-g0123456-dirty",
		"devel":                  "0.0.0-devel",
		"some/branch_name-dirty": "0.0.0-gsome-branch-name-dirty",
	} {
		require.Equal(t, want, chartVersion(version))
	}
}
