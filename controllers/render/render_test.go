package render_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/render"
)

// podSuffix is the length of the suffix that a controller adds to the name of a pod.
var podSuffix = map[string]int{"Deployment": len("-7d8f9c6b5d-x2x4z"), "Job": len("-x2x4z")}

// TestMetadata checks that names and labels are valid even for the longest name, and that the network owns all objects.
func TestMetadata(t *testing.T) {
	for name, sn := range specs(t) {
		seen := map[string]bool{}
		for _, object := range render.Everything(networkOf(sn)) {
			id := fileName(object)
			require.False(t, seen[id], "%s: %s twice", name, id)
			seen[id] = true
			require.NotEmpty(t, object.GetObjectKind().GroupVersionKind().Version, id)
			require.Empty(t, validation.IsDNS1123Label(object.GetName()), id)
			require.LessOrEqual(t, len(object.GetName())+podSuffix[object.GetObjectKind().GroupVersionKind().Kind], 63, id)
			require.Equal(t, sn.Namespace, object.GetNamespace(), id)
			require.True(t, metav1.IsControlledBy(object, sn), id)
			for key, value := range object.GetLabels() {
				require.Empty(t, validation.IsQualifiedName(key), id)
				require.Empty(t, validation.IsValidLabelValue(value), id)
			}
			require.Equal(t, sn.Name, object.GetLabels()[render.LabelNetwork], id)
			require.Equal(t, render.OperatorName, object.GetLabels()[render.LabelManagedBy], id)
		}
	}
}

// TestSelectors checks that each Deployment, Service, policy and budget selects the pods of its region only.
func TestSelectors(t *testing.T) {
	n := networkOf(spec(t, "socialnetwork"))
	pods := map[string]labels.Set{"migrate": render.MigrationJob(n, 1).Spec.Template.Labels}
	for i := range n.SN.Spec.Regions {
		r := &n.SN.Spec.Regions[i]
		pods[string(r.Code)] = render.Deployment(n, r).Spec.Template.Labels
	}
	other := networkOf(spec(t, "socialnetwork-minimal"))
	pods["other network"] = render.Deployment(other, &other.SN.Spec.Regions[0]).Spec.Template.Labels

	for i := range n.SN.Spec.Regions {
		r := &n.SN.Spec.Regions[i]
		for what, selector := range map[string]map[string]string{
			"deployment": render.Deployment(n, r).Spec.Selector.MatchLabels,
			"service":    render.Service(n, r).Spec.Selector,
			"policy":     render.NetworkPolicy(n, r).Spec.PodSelector.MatchLabels,
			"budget":     render.PodDisruptionBudget(n, r).Spec.Selector.MatchLabels,
			"spread":     render.Deployment(n, r).Spec.Template.Spec.TopologySpreadConstraints[0].LabelSelector.MatchLabels,
		} {
			for pod, set := range pods {
				require.Equal(t, pod == string(r.Code), labels.SelectorFromSet(selector).Matches(set), "%s of %s, pod of %s", what, r.Code, pod)
			}
		}
		monitor := labels.SelectorFromSet(render.ServiceMonitor(n).Spec.Selector.MatchLabels)
		require.True(t, monitor.Matches(labels.Set(render.Service(n, r).Labels)))
		require.False(t, monitor.Matches(labels.Set(render.Service(other, &other.SN.Spec.Regions[0]).Labels)))
	}
}

// TestRestricted checks that every pod complies with the pod security standard, and that only mounted volumes are
// writable. TestAPIServer checks the standard as well.
func TestRestricted(t *testing.T) {
	for name, sn := range specs(t) {
		for _, pod := range podsOf(networkOf(sn)) {
			s := pod.SecurityContext
			require.True(t, *s.RunAsNonRoot, name)
			require.EqualValues(t, 65532, *s.RunAsUser, name)
			require.Equal(t, corev1.SeccompProfileTypeRuntimeDefault, s.SeccompProfile.Type, name)
			require.False(t, *pod.AutomountServiceAccountToken, name)
			require.False(t, *pod.EnableServiceLinks, name)
			require.Len(t, pod.Containers, 1, name)
			c := pod.Containers[0].SecurityContext
			require.True(t, *c.ReadOnlyRootFilesystem, name)
			require.False(t, *c.AllowPrivilegeEscalation, name)
			require.Equal(t, []corev1.Capability{"ALL"}, c.Capabilities.Drop, name)
			require.Nil(t, c.Privileged, name)
			requireMounts(t, pod)
		}
	}
}

// TestOpenShift checks that where the cluster chooses the users of pods, every pod leaves them to it, and is otherwise the same.
func TestOpenShift(t *testing.T) {
	for name, sn := range specs(t) {
		chosen := networkOf(sn)
		chosen.Capabilities.SecurityContextConstraints = true
		fixed := podsOf(networkOf(sn))
		for i, pod := range podsOf(chosen) {
			require.Nil(t, pod.SecurityContext.RunAsUser, name)
			require.Nil(t, pod.SecurityContext.RunAsGroup, name)
			require.Nil(t, pod.SecurityContext.FSGroup, name)
			require.True(t, *pod.SecurityContext.RunAsNonRoot, name)
			pod.SecurityContext = fixed[i].SecurityContext
			require.Equal(t, fixed[i], pod, name)
		}
	}
}

// requireMounts checks that every volume is mounted once, as a folder, and that only empty ones and claims are writable.
func requireMounts(t *testing.T, pod corev1.PodSpec) {
	t.Helper()
	volumes, folders := map[string]corev1.Volume{}, map[string]bool{}
	for _, v := range pod.Volumes {
		volumes[v.Name] = v
		if v.EmptyDir != nil {
			require.NotNil(t, v.EmptyDir.SizeLimit, v.Name)
		}
	}
	for _, mount := range pod.Containers[0].VolumeMounts {
		volume, ok := volumes[mount.Name]
		require.True(t, ok, mount.Name)
		delete(volumes, mount.Name)
		require.Empty(t, mount.SubPath, "%s would not follow a change of the Secret", mount.Name)
		require.Equal(t, volume.EmptyDir == nil && volume.PersistentVolumeClaim == nil, mount.ReadOnly, mount.Name)
		require.False(t, folders[mount.MountPath], mount.MountPath)
		folders[mount.MountPath] = true
	}
	require.Empty(t, volumes, "volumes that nothing mounts")
}

// TestVariables checks that names are unique, which server-side apply requires, and that those of the spec take
// precedence.
func TestVariables(t *testing.T) {
	for name, sn := range specs(t) {
		for _, pod := range podsOf(networkOf(sn)) {
			var names []string
			for _, v := range pod.Containers[0].Env {
				names = append(names, v.Name)
			}
			require.Len(t, slices.Compact(slices.Sorted(slices.Values(names))), len(names), "%s: %v", name, names)
		}
	}
	n := networkOf(spec(t, "full-ingress"))
	env := render.Deployment(n, n.Region(v1alpha1.RegionEU)).Spec.Template.Spec.Containers[0].Env
	at := slices.IndexFunc(env, func(v corev1.EnvVar) bool { return v.Name == "PLAZA_DATABASE_URL_SG" })
	require.Equal(t, "other", env[at].ValueFrom.SecretKeyRef.Name)
	last := env[len(env)-1]
	require.Equal(t, "on $(NODE_NAME)", last.Value, "the spec's order stays")
}

// TestRestarts checks which changes restart pods.
func TestRestarts(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(n *render.Network, r *v1alpha1.Region)
		want   bool
	}{
		"moderation":             {func(n *render.Network, _ *v1alpha1.Region) { n.SN.Spec.Moderation.FlagLimit++ }, false},
		"rotation":               {func(n *render.Network, _ *v1alpha1.Region) { n.SN.Spec.ServerKeys.Overlap = "2h" }, false},
		"alerts":                 {func(n *render.Network, _ *v1alpha1.Region) { n.SN.Spec.Monitoring.Alerts.Availability = "99" }, false},
		"policy":                 {func(n *render.Network, _ *v1alpha1.Region) { n.SN.Spec.NetworkPolicy.Enabled = false }, false},
		"scale":                  {func(_ *render.Network, r *v1alpha1.Region) { r.Replicas = new(int32(9)) }, false},
		"autoscaling":            {func(_ *render.Network, r *v1alpha1.Region) { r.Autoscaling = &v1alpha1.Autoscaling{MaxReplicas: 9} }, false},
		"ingress":                {func(_ *render.Network, r *v1alpha1.Region) { r.Ingress = &v1alpha1.Ingress{} }, true}, // a proxy to trust
		"another region":         {func(n *render.Network, _ *v1alpha1.Region) { n.SN.Spec.Regions = n.SN.Spec.Regions[:1] }, false},
		"owner":                  {func(n *render.Network, _ *v1alpha1.Region) { n.SN.UID = "other" }, false},
		"operator's namespace":   {func(n *render.Network, _ *v1alpha1.Region) { n.OperatorNamespace = "other" }, false},
		"image":                  {func(n *render.Network, _ *v1alpha1.Region) { n.SN.Spec.Image = "plaza:v2" }, true},
		"operator's image":       {func(n *render.Network, _ *v1alpha1.Region) { n.DefaultImage = "plaza:v2" }, true},
		"locality":               {func(n *render.Network, _ *v1alpha1.Region) { n.SN.Spec.Database.Localities["eu"] = "eu-1" }, true},
		"host":                   {func(_ *render.Network, r *v1alpha1.Region) { r.Host = "other.example" }, true},
		"storage":                {func(n *render.Network, _ *v1alpha1.Region) { n.SN.Spec.Storage = &v1alpha1.Storage{URL: "s3://b"} }, true},
		"content of the Secrets": {func(n *render.Network, _ *v1alpha1.Region) { n.SecretsFingerprint = "other" }, true},
		"resources":              {func(_ *render.Network, r *v1alpha1.Region) { r.Resources = &corev1.ResourceRequirements{} }, true},
	} {
		t.Run(name, func(t *testing.T) {
			n := networkOf(spec(t, "socialnetwork"))
			r := &n.SN.Spec.Regions[0]
			before, configuration := render.TemplateHash(render.Deployment(n, r)), render.ConfigurationHash(n, r)
			tc.change(&n, r)
			d := render.Deployment(n, r)
			require.Equal(t, tc.want, before != render.TemplateHash(d))
			require.Equal(t, render.ConfigurationHash(n, r), d.Spec.Template.Annotations[render.AnnotationConfiguration])
			if !tc.want {
				require.Equal(t, configuration, render.ConfigurationHash(n, r))
			}
		})
	}
}

// TestMigrationTarget checks which changes start a new migration.
func TestMigrationTarget(t *testing.T) {
	for name, tc := range map[string]struct {
		change func(n *render.Network)
		want   bool
	}{
		"image":            {func(n *render.Network) { n.SN.Spec.Image = "plaza:v2" }, true},
		"operator's image": {func(n *render.Network) { n.DefaultImage = "plaza:v2" }, true},
		"database":         {func(n *render.Network) { n.SN.Spec.Database.SecretRef.Name = "other" }, true},
		"locality":         {func(n *render.Network) { n.SN.Spec.Database.Localities["sg"] = "sg-1" }, true},
		"survive":          {func(n *render.Network) { n.SN.Spec.Database.Survive = "region" }, true},
		"primary region":   {func(n *render.Network) { n.SN.Spec.Database.PrimaryRegion = v1alpha1.RegionSG }, true},
		"regions":          {func(n *render.Network) { n.SN.Spec.Regions = n.SN.Spec.Regions[:1] }, false},
		"resources":        {func(n *render.Network) { n.SN.Spec.Regions[0].Resources = &corev1.ResourceRequirements{} }, false},
		"password":         {func(n *render.Network) { n.SecretsFingerprint = "other" }, false},
	} {
		t.Run(name, func(t *testing.T) {
			n := networkOf(spec(t, "socialnetwork"))
			before := render.MigrationTarget(n)
			job := render.MigrationJob(n, 3)
			require.Equal(t, before, job.Annotations[render.AnnotationTarget])
			require.Equal(t, "3", job.Annotations[render.AnnotationAttempt])
			require.Equal(t, "acme-migrate-"+before[:8], job.Name)
			tc.change(&n)
			require.Equal(t, tc.want, before != render.MigrationTarget(n))
		})
	}
}

func TestRegionObjects(t *testing.T) {
	const always = "Deployment Service ServiceAccount ConfigMap"
	for name, tc := range map[string]struct {
		sample string
		region v1alpha1.RegionCode
		change func(n *render.Network, r *v1alpha1.Region)
		want   string
	}{
		"three regions":   {"socialnetwork", "eu", nil, "NetworkPolicy PodDisruptionBudget"},
		"one pod":         {"socialnetwork-minimal", "us", nil, "NetworkPolicy"},
		"no policy":       {"full-gateway", "eu", nil, "PodDisruptionBudget HorizontalPodAutoscaler HTTPRoute"},
		"at most one pod": {"full-gateway", "sg", nil, "HorizontalPodAutoscaler HTTPRoute"},
		"no Gateway API": {
			"full-gateway", "sg", func(n *render.Network, _ *v1alpha1.Region) { n.Capabilities.HTTPRoute = false },
			"HorizontalPodAutoscaler",
		},
		"autoscaling": {"socialnetwork-autoscaling", "us", nil, "NetworkPolicy PodDisruptionBudget HorizontalPodAutoscaler Ingress"},
		"gateway":     {"socialnetwork-gateway", "sg", nil, "NetworkPolicy PodDisruptionBudget HTTPRoute"},
		"one pod, ingress": {
			"socialnetwork-minimal", "us", func(_ *render.Network, r *v1alpha1.Region) { r.Ingress = &v1alpha1.Ingress{} },
			"NetworkPolicy Ingress",
		},
	} {
		t.Run(name, func(t *testing.T) {
			n := networkOf(spec(t, tc.sample))
			r := n.Region(tc.region)
			if tc.change != nil {
				tc.change(&n, r)
			}
			kinds := map[string]bool{}
			for _, object := range append(render.RegionObjects(n, r), client.Object(render.Deployment(n, r))) {
				kinds[object.GetObjectKind().GroupVersionKind().Kind] = true
				require.Contains(t, append(render.RegionKinds(), render.HTTPRouteKind), object.GetObjectKind().GroupVersionKind())
				require.Equal(t, string(tc.region), object.GetLabels()[render.LabelRegion])
			}
			require.ElementsMatch(t, strings.Fields(always+" "+tc.want), slices.Collect(maps.Keys(kinds)))
		})
	}
}

func TestReplicas(t *testing.T) {
	n := networkOf(spec(t, "socialnetwork"))
	r := &n.SN.Spec.Regions[0]
	require.EqualValues(t, 2, *render.Deployment(n, r).Spec.Replicas)
	require.Nil(t, render.HorizontalPodAutoscaler(n, r))
	r.Replicas = new(int32(5))
	require.EqualValues(t, 5, *render.Deployment(n, r).Spec.Replicas)
	r.Replicas, r.Autoscaling = nil, &v1alpha1.Autoscaling{MinReplicas: 3, MaxReplicas: 7, TargetCPUUtilization: 60}
	require.Nil(t, render.Deployment(n, r).Spec.Replicas, "the number is the autoscaler's")
	hpa := render.HorizontalPodAutoscaler(n, r)
	require.Equal(t, []int32{3, 7, 60}, []int32{
		*hpa.Spec.MinReplicas, hpa.Spec.MaxReplicas,
		*hpa.Spec.Metrics[0].Resource.Target.AverageUtilization,
	})
}

func TestNodeSelector(t *testing.T) {
	for name, tc := range map[string]struct {
		given *map[string]string
		want  map[string]string
	}{
		"locality":  {nil, map[string]string{"topology.kubernetes.io/region": "europe-west1"}},
		"any node":  {&map[string]string{}, nil},
		"the given": {&map[string]string{"pool": "social"}, map[string]string{"pool": "social"}},
	} {
		t.Run(name, func(t *testing.T) {
			n := networkOf(spec(t, "socialnetwork"))
			r := n.Region(v1alpha1.RegionEU)
			r.NodeSelector = tc.given
			require.Equal(t, tc.want, render.Deployment(n, r).Spec.Template.Spec.NodeSelector)
		})
	}
}

// TestGracePeriod checks that variables of the spec that prolong the shutdown extend the grace period.
func TestGracePeriod(t *testing.T) {
	for name, tc := range map[string]struct {
		env  []corev1.EnvVar
		want int64
	}{
		"standard":      {nil, 35},
		"longer":        {[]corev1.EnvVar{{Name: "PLAZA_SHUTDOWN_TIMEOUT", Value: "2m"}, {Name: "PLAZA_DRAIN_DELAY", Value: "1500ms"}}, 132},
		"no drain":      {[]corev1.EnvVar{{Name: "PLAZA_DRAIN_DELAY", Value: "0s"}}, 30},
		"not a time":    {[]corev1.EnvVar{{Name: "PLAZA_DRAIN_DELAY", Value: "soon"}}, 35},
		"from a Secret": {[]corev1.EnvVar{{Name: "PLAZA_DRAIN_DELAY", ValueFrom: &corev1.EnvVarSource{}}}, 35},
	} {
		t.Run(name, func(t *testing.T) {
			n := networkOf(spec(t, "socialnetwork"))
			r := &n.SN.Spec.Regions[0]
			r.Env = tc.env
			require.Equal(t, tc.want, *render.Deployment(n, r).Spec.Template.Spec.TerminationGracePeriodSeconds)
		})
	}
}

// TestStorageFolder checks that a file:// storage is writable, and has a volume only if it needs one.
func TestStorageFolder(t *testing.T) {
	for url, want := range map[string]string{
		"file:///srv/files":               "/srv/files",
		"file:///srv/files/?create_dir=1": "/srv/files",
		"file:///tmp/files":               "",
		"file:///tmp":                     "",
		"file:///":                        "",
		"s3://bucket":                     "",
	} {
		t.Run(url, func(t *testing.T) {
			n := networkOf(spec(t, "socialnetwork"))
			n.SN.Spec.Storage = &v1alpha1.Storage{URL: url}
			pod := render.Deployment(n, &n.SN.Spec.Regions[0]).Spec.Template.Spec
			requireMounts(t, pod)
			var folders []string
			for _, mount := range pod.Containers[0].VolumeMounts {
				if !mount.ReadOnly && mount.MountPath != "/tmp" {
					folders = append(folders, mount.MountPath)
				}
			}
			require.Equal(t, want, strings.Join(folders, " "))
		})
	}
}

func TestServerKeysSource(t *testing.T) {
	n := networkOf(spec(t, "socialnetwork"))
	require.Equal(t, "acme-eu-server-keys", render.ServerKeysSource(n, v1alpha1.RegionEU))
	n.SN.Spec.ServerKeys.ExistingSecret = &v1alpha1.LocalSecretReference{Name: "ours"}
	require.Equal(t, "ours", render.ServerKeysSource(n, v1alpha1.RegionEU))
}

func TestNames(t *testing.T) {
	for got, want := range map[string]string{
		render.RegionName("acme", "eu"):               "acme-eu",
		render.ServerKeysSecret("acme", "eu"):         "acme-eu-server-keys",
		render.SigningKeysSecret("acme"):              "acme-signing-keys",
		render.APIKeysSecret("acme"):                  "acme-api-keys",
		render.IdentitySecret("acme"):                 "acme-identity",
		render.MigrationName("acme"):                  "acme-migrate",
		render.MonitoringName("acme"):                 "acme",
		render.DashboardName("acme"):                  "acme-dashboard",
		render.MigrationJobName("acme", "0123456789"): "acme-migrate-01234567",
	} {
		require.Equal(t, want, got)
	}
	require.Nil(t, networkOf(spec(t, "socialnetwork-minimal")).Region(v1alpha1.RegionSG))
}

// podsOf returns every pod that a network can have.
func podsOf(n render.Network) []corev1.PodSpec {
	pods := []corev1.PodSpec{render.MigrationJob(n, 1).Spec.Template.Spec}
	for i := range n.SN.Spec.Regions {
		pods = append(pods, render.Deployment(n, &n.SN.Spec.Regions[i]).Spec.Template.Spec)
	}
	return pods
}

func TestMigrationDeadline(t *testing.T) {
	for steps, want := range map[int]time.Duration{0: time.Hour, 1: 2 * time.Hour, 30: 2 * time.Hour, 31: 3 * time.Hour, 90: 4 * time.Hour} {
		require.Equal(t, want, render.MigrationDeadline(steps), "%d steps", steps)
	}
}
