package apply

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"
)

// TestCreateExisting creates an object that exists: if the operator created it, its cache is behind; otherwise it belongs to a user.
func TestCreateExisting(t *testing.T) {
	secret := func(labels map[string]string) *corev1.Secret {
		return &corev1.Secret{
			TypeMeta:   metav1.TypeMeta{APIVersion: "v1", Kind: "Secret"},
			ObjectMeta: metav1.ObjectMeta{Namespace: "plaza", Name: "keys", Labels: labels},
		}
	}
	ours := map[string]string{managedBy: "plaza-operator"}
	for name, c := range map[string]struct {
		labels  map[string]string
		isStale bool
	}{
		"of the operator": {ours, true}, "of another operator": {map[string]string{managedBy: "other"}, false}, "of a user": {nil, false},
	} {
		api := fake.NewClientBuilder().WithObjects(secret(c.labels)).Build()
		err := Applier{Client: api, APIReader: api}.write(t.Context(), secret(ours), CreateOnly, true)
		require.True(t, apierrors.IsAlreadyExists(err), "%s: %v", name, err)
		if c.isStale {
			require.ErrorIs(t, err, ErrStale, name)
		} else {
			require.NotErrorIs(t, err, ErrStale, name)
		}
	}
}
