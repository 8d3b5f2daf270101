package controllers

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
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
