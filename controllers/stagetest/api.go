package stagetest

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/scheme"
	"github.com/plaza-social/plaza/controllers/sweep"
)

// API is the fake API server of a cluster.
type API struct {
	T      *testing.T
	Client client.Client
}

func newAPI(t *testing.T) API {
	t.Helper()
	return API{
		T:      t,
		Client: fake.NewClientBuilder().WithScheme(scheme.New()).WithStatusSubresource(&batchv1.Job{}).WithReturnManagedFields().Build(),
	}
}

// Member is a member cluster.
type Member struct {
	API

	Name string
	// Reason is why the cluster cannot be used; it is empty if it can.
	Reason v1alpha1.Reason
}

// SecretVersions returns a text that changes with every write to a Secret.
func (a API) SecretVersions() string {
	var list corev1.SecretList
	require.NoError(a.T, a.Client.List(a.T.Context(), &list))
	var all []string
	for _, secret := range list.Items {
		all = append(all, secret.Name+"="+secret.ResourceVersion)
	}
	slices.Sort(all)
	return strings.Join(all, " ")
}

// Objects returns the versions of the network's objects of all kinds, by their kinds and names.
func (a API) Objects() map[string]string {
	a.T.Helper()
	versions := map[string]string{}
	for _, kind := range sweep.Kinds() {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		require.NoError(a.T, a.Client.List(a.T.Context(), list))
		for i := range list.Items {
			versions[kind.Kind+"/"+list.Items[i].GetName()] = list.Items[i].GetResourceVersion()
		}
	}
	return versions
}

// Secret reads a Secret.
func (a API) Secret(name string) *corev1.Secret {
	a.T.Helper()
	var secret corev1.Secret
	require.NoError(a.T, a.Client.Get(a.T.Context(), client.ObjectKey{Namespace: "plaza", Name: name}, &secret))
	return &secret
}

// EditSecret changes a Secret as a user would.
func (a API) EditSecret(name string, change func(*corev1.Secret)) {
	a.T.Helper()
	secret := a.Secret(name)
	change(secret)
	require.NoError(a.T, a.Client.Update(a.T.Context(), secret, client.FieldOwner("user")))
}

// DeleteSecret deletes a Secret.
func (a API) DeleteSecret(name string) {
	a.T.Helper()
	require.NoError(a.T, a.Client.Delete(a.T.Context(), a.Secret(name)))
}

// LoseSecret deletes a Secret in spite of its finalizers, as the loss of a cluster does.
func (a API) LoseSecret(name string) {
	a.T.Helper()
	a.EditSecret(name, func(s *corev1.Secret) { s.Finalizers = nil })
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "plaza"}}
	require.NoError(a.T, client.IgnoreNotFound(a.Client.Delete(a.T.Context(), secret)))
}

// CreateSecret creates a Secret as a user would.
func (a API) CreateSecret(name string, data map[string]string) {
	a.T.Helper()
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "plaza"}, Data: map[string][]byte{}}
	for key, text := range data {
		secret.Data[key] = []byte(text)
	}
	require.NoError(a.T, a.Client.Create(a.T.Context(), secret))
}
