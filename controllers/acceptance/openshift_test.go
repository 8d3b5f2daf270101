package acceptance

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/render"
)

// TestOpenShift installs a kind that only OpenShift has: then no pod has a fixed user, which OpenShift would reject. It changes the whole
// cluster, so it does not run in parallel.
func TestOpenShift(t *testing.T) {
	crds := envtest.CRDInstallOptions{CRDs: crdsOf(map[string]schema.GroupVersionKind{
		"securitycontextconstraints": render.SecurityContextConstraintsKind,
	})}
	_, err := envtest.InstallCRDs(env.Config, crds)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.IgnoreNotFound(envtest.UninstallCRDs(env.Config, crds))) })
	o := newOperator(t)
	o.run()
	t.Cleanup(o.end)
	o.up(sample(t, "socialnetwork"))
	users := func(pod corev1.PodSpec) []*int64 {
		return []*int64{pod.SecurityContext.RunAsUser, pod.SecurityContext.RunAsGroup, pod.SecurityContext.FSGroup}
	}
	chosen := []*int64{nil, nil, nil}
	require.Equal(t, chosen, users(o.job("acme").Spec.Template.Spec), "the migration")
	for _, code := range []v1alpha1.RegionCode{"us", "eu", "sg"} {
		require.Equal(t, chosen, users(o.deployment("acme", code).Spec.Template.Spec), code)
	}
	require.NoError(t, envtest.UninstallCRDs(env.Config, crds))
	o.eventually("us to have the user of the image again", func() string {
		if users(o.deployment("acme", "us").Spec.Template.Spec)[0] == nil {
			return "it has none"
		}
		return ""
	})
}
