package restrictions

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/controllers/stage"
	"github.com/plaza-social/plaza/controllers/stagetest"
)

func volume(source corev1.VolumeSource) corev1.PodSpec {
	return corev1.PodSpec{Volumes: []corev1.Volume{{Name: "v", VolumeSource: source}}}
}

func TestRefusedVolume(t *testing.T) {
	for name, c := range map[string]struct {
		source corev1.VolumeSource
		want   string
	}{
		"Secret":            {corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{}}, ""},
		"projected Secrets": {corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{}}, ""},
		"ConfigMap":         {corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{}}, ""},
		"fields of the pod": {corev1.VolumeSource{DownwardAPI: &corev1.DownwardAPIVolumeSource{}}, ""},
		"claim of the pod":  {corev1.VolumeSource{Ephemeral: &corev1.EphemeralVolumeSource{}}, ""},
		"emptyDir":          {corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{}}, ""},
		"claim":             {corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{}}, ""},
		"image":             {corev1.VolumeSource{Image: &corev1.ImageVolumeSource{}}, ""},
		"CSI with a Secret": {
			corev1.VolumeSource{CSI: &corev1.CSIVolumeSource{NodePublishSecretRef: &corev1.LocalObjectReference{Name: "x"}}}, "v",
		},
		"Azure with a Secret":  {corev1.VolumeSource{AzureFile: &corev1.AzureFileVolumeSource{SecretName: "x"}}, "v"},
		"directory of a node":  {corev1.VolumeSource{HostPath: &corev1.HostPathVolumeSource{Path: "/"}}, "v"},
		"no kind, later kinds": {corev1.VolumeSource{}, "v"},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, refusedVolume(volume(c.source))) })
	}
}

func TestRefusedImage(t *testing.T) {
	prefixes := []string{"a.example/", "b.example/"}
	containers := func(images ...string) (pod corev1.PodSpec) {
		for _, image := range images {
			pod.Containers = append(pod.Containers, corev1.Container{Image: image})
		}
		return pod
	}
	for name, c := range map[string]struct {
		pod      corev1.PodSpec
		prefixes []string
		want     string
	}{
		"any image":      {containers("evil.example/x"), nil, ""},
		"allowed":        {containers("a.example/x", "b.example/y"), prefixes, ""},
		"second":         {containers("a.example/x", "evil.example/x"), prefixes, "evil.example/x"},
		"init container": {corev1.PodSpec{InitContainers: containers("evil.example/x").Containers}, prefixes, "evil.example/x"},
		"volume": {
			volume(corev1.VolumeSource{Image: &corev1.ImageVolumeSource{Reference: "evil.example/x"}}), prefixes,
			"evil.example/x",
		},
	} {
		t.Run(name, func(t *testing.T) { require.Equal(t, c.want, refusedImage(c.pod, c.prefixes)) })
	}
}

func TestIsOwnAccount(t *testing.T) {
	sn := &v1alpha1.SocialNetwork{}
	sn.Name, sn.Spec.Regions = "acme", []v1alpha1.Region{{Code: v1alpha1.RegionUS}}
	for name, want := range map[string]bool{"acme-us": true, "acme-migrate": true, "acme-eu": false, "default": false, "": false} {
		require.Equal(t, want, isOwnAccount(sn, name), name)
	}
}

// TestSecretsOfPod finds each place of a pod that names a Secret, once.
func TestSecretsOfPod(t *testing.T) {
	reading := func(env, envFrom string) []corev1.Container {
		ref := func(name string) corev1.LocalObjectReference { return corev1.LocalObjectReference{Name: name} }
		return []corev1.Container{{
			Env: []corev1.EnvVar{
				{Value: "x"},
				{ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: ref(env)}}},
			},
			EnvFrom: []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{LocalObjectReference: ref(envFrom)}}},
		}}
	}
	projected := corev1.VolumeProjection{
		Secret: &corev1.SecretProjection{LocalObjectReference: corev1.LocalObjectReference{Name: "projected"}},
	}
	pod := corev1.PodSpec{
		ImagePullSecrets: []corev1.LocalObjectReference{{Name: "pull"}}, InitContainers: reading("init-env", "init-from"),
		Containers: reading("env", "from"),
		Volumes: []corev1.Volume{
			{VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "volume"}}},
			{VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{SecretName: "env"}}},
			{VolumeSource: corev1.VolumeSource{Projected: &corev1.ProjectedVolumeSource{Sources: []corev1.VolumeProjection{projected, {}}}}},
		},
	}
	require.Equal(t, []string{"env", "from", "init-env", "init-from", "projected", "pull", "volume"}, secretsOfPod(pod))
}

func networkNamed(name, image string) *v1alpha1.SocialNetwork {
	return &v1alpha1.SocialNetwork{
		ObjectMeta: metav1.ObjectMeta{Namespace: "plaza", Name: name}, Spec: v1alpha1.SocialNetworkSpec{Image: image},
	}
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
		limits  Limits
		secrets []client.Object
		member  bool
		patch   string // of the pods' spec
		want    string
	}{
		"no restrictions": {limits: Limits{}},
		"an image": {
			limits: Limits{ImagePrefixes: []string{"a.example/", "b.example/"}},
			want:   "The operator does not allow the image plaza:1; it must begin with a.example/ or b.example/.",
		},
		"an allowed image":          {limits: Limits{ImagePrefixes: []string{"a.example/", "plaza:"}}},
		"Secrets that do not exist": {limits: Limits{SecretLabel: usable}},
		"a Secret of pods": {
			limits: Limits{SecretLabel: usable}, secrets: []client.Object{secret("acme-db", nil), secret("crm", nil)},
			want: "The operator does not allow Secret acme-db; it must have the label usable=true.",
		},
		"a Secret of a webhook": {
			limits: Limits{SecretLabel: usable}, secrets: []client.Object{secret("acme-db", label), secret("crm", nil)},
			want: "The operator does not allow Secret crm; it must have the label usable=true.",
		},
		"a Secret of the name of a webhook's, in a member": {
			limits: Limits{SecretLabel: usable}, secrets: []client.Object{secret("acme-db", label), secret("crm", nil)}, member: true,
		},
		"any Secret and volume": {
			limits: Limits{ImagePrefixes: []string{"plaza:"}}, secrets: []client.Object{secret("acme-db", nil)},
			patch: `{"volumes": [{"name": "node", "hostPath": {"path": "/"}}], "serviceAccountName": "default"}`,
		},
		"a volume": {
			limits: Limits{SecretLabel: usable}, patch: `{"volumes": [{"name": "node", "hostPath": {"path": "/"}}]}`,
			want: "The operator does not allow volume node: its kind may contain Secrets that it cannot check.",
		},
		"a ServiceAccount": {
			limits: Limits{SecretLabel: usable}, patch: `{"serviceAccountName": "default"}`,
			want: "The operator does not allow ServiceAccount default; pods must use those of the network.",
		},
		"allowed Secrets, and those of the operator": {
			limits: Limits{SecretLabel: usable}, secrets: []client.Object{
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
			refusal, err := c.limits.Refusal(t.Context(), &stage.Pass{SN: sn, Clusters: []*stage.Cluster{at}})
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
	limits := Limits{SecretLabel: usable}
	p := &stage.Pass{SN: sn, Clusters: []*stage.Cluster{own, member}}
	refusal, err := limits.Refusal(t.Context(), p)
	require.NoError(t, err)
	require.Equal(t, "The operator does not allow Secret acme-db; it must have the label usable=true.", refusal)
	member.Reason, member.Cache, member.APIReader = v1alpha1.ReasonClusterUnreachable, nil, nil
	refusal, err = limits.Refusal(t.Context(), p)
	require.NoError(t, err)
	require.Empty(t, refusal)
	own.Cache = stagetest.Unreadable{Prefix: "acme-db"}
	_, err = limits.Refusal(t.Context(), p)
	require.EqualError(t, err, "reading Secret acme-db: the cache is gone")
}
