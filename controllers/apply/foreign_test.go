package apply

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TestForeign checks which objects of a member cluster an apply must not replace.
func TestForeign(t *testing.T) {
	config := func(namespace string, owners ...metav1.OwnerReference) *corev1.ConfigMap {
		m := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{OwnerReferences: owners, Labels: map[string]string{}}}
		if namespace != "" {
			m.Labels[ownerNamespace] = namespace
		}
		return m
	}
	yes := true
	controller, other := metav1.OwnerReference{Name: "theirs", Controller: &yes}, metav1.OwnerReference{Name: "theirs"}
	for name, c := range map[string]struct {
		live, desired *corev1.ConfigMap
		want          bool
	}{
		"of the network":                 {config("social"), config("social"), false},
		"of a network elsewhere":         {config("other"), config("social"), true},
		"without an owner":               {config(""), config("social"), false},
		"of a controller of the cluster": {config("", controller), config("social"), true},
		"of an owner, no controller":     {config("", other), config("social"), false},
		"in the operator's own cluster":  {config("", controller), config(""), false},
	} {
		require.Equal(t, c.want, isForeign(c.live, c.desired), name)
	}
}
