package acceptance

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/scheme"
	"github.com/plaza-social/plaza/controllers/testenv"
)

// TestNamespacedPermissions runs the operator with the permissions of config/rbac/manager in one namespace only.
func TestNamespacedPermissions(t *testing.T) {
	ctx := t.Context()
	o := prepare(t)
	text, err := os.ReadFile(filepath.Join(testenv.Root(), "config", "rbac", "manager", "role.yaml"))
	require.NoError(t, err)
	var cluster rbacv1.ClusterRole
	require.NoError(t, yaml.Unmarshal(text, &cluster))
	meta := metav1.ObjectMeta{Name: "plaza-operator", Namespace: o.namespace}
	require.NoError(t, o.client.Create(ctx, &rbacv1.Role{ObjectMeta: meta, Rules: cluster.Rules}))
	require.NoError(t, o.client.Create(ctx, &rbacv1.RoleBinding{
		ObjectMeta: meta,
		RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: meta.Name},
		Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Name: meta.Name, Namespace: o.namespace}},
	}))
	o.config.Impersonate = rest.ImpersonationConfig{UserName: "system:serviceaccount:" + o.namespace + ":" + meta.Name}
	limited, err := client.New(rest.CopyConfig(o.config), client.Options{Scheme: scheme.New()})
	require.NoError(t, err)
	require.True(t, apierrors.IsForbidden(limited.List(ctx, &v1alpha1.SocialNetworkList{})), "it sees nothing of other namespaces")
	o.run()
	t.Cleanup(o.end)
	o.up(everyKind(t))
	o.condition("acme", v1alpha1.ConditionAlertsApplied, "True", v1alpha1.ReasonInstalled)
	o.edit("acme", func(sn *v1alpha1.SocialNetwork) {
		sn.Spec.Regions = sn.Spec.Regions[1:]
		sn.SetAnnotations(map[string]string{v1alpha1.AnnotationRotate: "now"})
	})
	o.waitStates("acme", "Active Retiring", "eu")
	o.condition("acme", v1alpha1.ConditionSwept, "True", v1alpha1.ReasonNothingLeft)
	o.condition("acme", v1alpha1.ConditionReady, "True", v1alpha1.ReasonAllHolds)
}
