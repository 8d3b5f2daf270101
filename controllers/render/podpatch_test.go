package render_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/render"
)

// TestPodPatch applies patches: those that break what the operator relies on are rejected.
func TestPodPatch(t *testing.T) {
	for name, test := range map[string]struct{ patch, wrong string }{
		"another user":  {`{"spec": {"securityContext": {"runAsUser": 1000}}}`, ""},
		"another label": {`{"metadata": {"labels": {"a": "b"}}}`, ""},
		"a label of the pods": {
			`{"metadata": {"labels": {"plaza.social/region": "eu"}}}`,
			"podPatch must not change the label plaza.social/region",
		},
		"no configuration": {
			`{"metadata": {"annotations": {"plaza.social/configuration": null}}}`,
			"podPatch must not change the annotation plaza.social/configuration",
		},
		"no server": {
			`{"spec": {"containers": [{"name": "plaza", "$patch": "delete"}]}}`,
			"podPatch must keep the container plaza and its ports",
		},
		"no ports": {
			`{"spec": {"containers": [{"name": "plaza", "ports": null}]}}`,
			"podPatch must keep the container plaza and its ports",
		},
		"a number for a text":  {`{"spec": {"schedulerName": 1}}`, "podPatch: "},
		"no object":            {`[]`, "podPatch: "},
		"an unknown directive": {`{"spec": {"$patch": "x"}}`, "podPatch: "},
	} {
		t.Run(name, func(t *testing.T) {
			sn := spec(t, "socialnetwork-minimal")
			n, r := networkOf(sn), &sn.Spec.Regions[0]
			plain := render.Deployment(n, r)
			r.PodPatch = &apiextensionsv1.JSON{Raw: []byte(test.patch)}
			err := render.PatchError(n, r)
			if test.wrong != "" {
				require.ErrorContains(t, err, test.wrong)
				require.Equal(t, plain, render.Deployment(n, r))
				return
			}
			require.NoError(t, err)
			require.NotEqual(t, plain, render.Deployment(n, r))
		})
	}
}

// TestPodPatchAddsContainers keeps the server the first container.
func TestPodPatchAddsContainers(t *testing.T) {
	sn := spec(t, "socialnetwork-minimal")
	r := &sn.Spec.Regions[0]
	r.PodPatch = &apiextensionsv1.JSON{Raw: []byte(
		`{"spec": {"containers": [{"name": "sidecar", "image": "sidecar:v1"}, {"name": "plaza", "stdin": true}]}}`)}
	pod := render.Deployment(networkOf(sn), r).Spec.Template.Spec
	require.Len(t, pod.Containers, 2)
	require.Equal(t, "plaza", pod.Containers[0].Name)
	require.True(t, pod.Containers[0].Stdin)
	require.NotEmpty(t, pod.Containers[0].Args)
	require.Equal(t, "sidecar:v1", pod.Containers[1].Image)
}

// TestCertificates mounts the certificates of the database: migrations use that of the schema's owner.
func TestCertificates(t *testing.T) {
	sn := spec(t, "full-ingress")
	n := networkOf(sn)
	server, migration := render.Deployment(n, &sn.Spec.Regions[0]).Spec.Template.Spec, render.MigrationJob(n, 1).Spec.Template.Spec
	for name, test := range map[string]struct {
		pod    corev1.PodSpec
		client string
	}{"server": {server, "database-client"}, "migration": {migration, "database-owner"}} {
		secrets := map[string]string{}
		for _, volume := range test.pod.Volumes {
			if volume.Secret != nil {
				secrets[volume.Name] = volume.Secret.SecretName
			}
		}
		require.Equal(t, "database-ca", secrets["database-ca"], name)
		require.Equal(t, test.client, secrets["database-client"], name)
		for variable, path := range map[string]string{
			"PGSSLMODE": "verify-full", "PGSSLROOTCERT": "/etc/plaza/database-ca/ca.crt",
			"PGSSLCERT": "/etc/plaza/database-client/tls.crt", "PGSSLKEY": "/etc/plaza/database-client/tls.key",
		} {
			require.Contains(t, test.pod.Containers[0].Env, corev1.EnvVar{Name: variable, Value: path}, name)
		}
		require.Equal(t, "/etc/plaza/database-ca", mountOf(t, test.pod.Containers[0], "database-ca"))
		require.Equal(t, "/etc/plaza/database-client", mountOf(t, test.pod.Containers[0], "database-client"))
	}
}

// TestPoolSize divides the connections of the database among the pods.
func TestPoolSize(t *testing.T) {
	for most, want := range map[int32]string{27: "1", 53: "1", 54: "2", 100: "3", 216: "8", 100_000: "8"} {
		sn := spec(t, "socialnetwork") // three regions with two pods, and one more of each during an update: nine
		sn.Spec.Database.MaxConnections = &most
		env := render.Deployment(networkOf(sn), &sn.Spec.Regions[0]).Spec.Template.Spec.Containers[0].Env
		require.Contains(t, env, corev1.EnvVar{Name: "PLAZA_POOL_SIZE", Value: want}, most)
	}
}

func TestUsedSecrets(t *testing.T) {
	sn := spec(t, "full-ingress")
	used := render.UsedSecrets(&sn.Spec, render.Network{SN: sn}.Regions())
	require.Equal(t, []render.UsedSecret{
		{Name: "three-urls"},
		{Name: "storage"},
		{Name: "database-ca", Keys: []string{"ca.crt"}},
		{Name: "database-client", Keys: []string{"tls.crt", "tls.key"}},
		{Name: "database-owner", Keys: []string{"tls.crt", "tls.key"}},
		{Name: "push-fcm", Keys: []string{"service-account.json"}},
		{Name: "push-apns", Keys: []string{"apns.p8"}},
		{Name: "push-web", Keys: []string{"vapid-private-key"}},
		{Name: "media", Keys: []string{"media-key"}},
		{Name: "other", Keys: []string{"url"}},
	}, used)
}

// TestOptionalSecrets checks that a Secret is optional only if every reference to it is.
func TestOptionalSecrets(t *testing.T) {
	env := func(name, key string, optional bool) corev1.EnvVar {
		return corev1.EnvVar{Name: key, ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
			LocalObjectReference: corev1.LocalObjectReference{Name: name}, Key: key, Optional: &optional,
		}}}
	}
	sn := spec(t, "socialnetwork")
	region := &v1alpha1.Region{Env: []corev1.EnvVar{
		env("first-optional", "a", true), env("first-optional", "b", false), env("then-optional", "a", false), env("then-optional", "b", true),
		env("optional", "a", true), env("optional", "b", true),
	}}
	used := render.UsedSecrets(&sn.Spec, []*v1alpha1.Region{region})
	require.Subset(t, used, []render.UsedSecret{
		{Name: "first-optional", Keys: []string{"b"}}, {Name: "then-optional", Keys: []string{"a"}}, {Name: "optional", Optional: true},
	})
}

// TestBackupJobRemovesTheSchedule checks that the Job exists until it has removed the schedule of a spec that has no backups any more.
func TestBackupJobRemovesTheSchedule(t *testing.T) {
	sn := spec(t, "socialnetwork")
	sn.Spec.Backup = nil
	require.False(t, networkOf(sn).HasBackupJob())
	sn.Status.Backup = &v1alpha1.BackupStatus{}
	require.True(t, networkOf(sn).HasBackupJob())
	require.True(t, slices.ContainsFunc(render.Everything(networkOf(sn)),
		func(o client.Object) bool { return o.GetName() == render.BackupJobName(sn.Name) }))
}
