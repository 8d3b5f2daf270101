package acceptance

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/restrictions"
)

// TestRestrictions creates no pod with an image or a Secret that the operator does not allow, by whatever field it gets there.
func TestRestrictions(t *testing.T) {
	o := prepare(t)
	allowed, err := labels.Parse("plaza.social/usable=true")
	require.NoError(t, err)
	o.restrictions = restrictions.Limits{ImagePrefixes: []string{"plaza.example/"}, SecretLabel: allowed}
	o.run()
	t.Cleanup(o.end)
	sn := sample(t, "socialnetwork-minimal")
	sn.Spec.Image = "evil.example/plaza:v1"
	o.apply(sn)
	refused := func(what string) {
		t.Helper()
		o.eventually(what+" to be refused", func() string {
			c := o.condition("acme-minimal", v1alpha1.ConditionReady, "False", v1alpha1.ReasonNotAllowed)
			if !strings.Contains(c.Message, what) {
				return c.Message
			}
			return ""
		})
	}
	refused("the image evil.example/plaza:v1")
	o.edit("acme-minimal", func(sn *v1alpha1.SocialNetwork) { sn.Spec.Image = "" })
	refused("Secret acme-minimal-db")
	require.False(t, o.exists(&corev1.ServiceAccount{}, "acme-minimal-us"), "nothing is created for pods that are not allowed")
	o.editSecret("acme-minimal-db", func(s *corev1.Secret) {
		s.Labels = labels.Merge(s.Labels, labels.Set{"plaza.social/usable": "true"})
	})
	o.migrate("acme-minimal")
	o.serve("acme-minimal", "us")
	o.condition("acme-minimal", v1alpha1.ConditionReady, "True", v1alpha1.ReasonAllHolds)
	for _, patch := range []struct{ spec, refused string }{
		{`{"initContainers": [{"name": "x", "image": "evil.example/x"}]}`, "the image evil.example/x"},
		{`{"volumes": [{"name": "node", "hostPath": {"path": "/var/lib/kubelet"}}]}`, "volume node"},
		{`{"serviceAccountName": "default"}`, "ServiceAccount default"},
	} {
		o.edit("acme-minimal", func(sn *v1alpha1.SocialNetwork) {
			sn.Spec.Regions[0].PodPatch = &apiextensionsv1.JSON{Raw: []byte(`{"spec": ` + patch.spec + `}`)}
		})
		refused(patch.refused)
	}
	require.Equal(t, int64(1), o.deployment("acme-minimal", "us").Generation, "running pods stay as they are")
}
