package clusters

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/plaza-social/plaza/api/v1alpha1"
)

// TestUnknownClusters checks why a cluster without a registration cannot be used: the Secrets were not read yet, or cannot be, or there is
// none for it.
func TestUnknownClusters(t *testing.T) {
	r := New(Options{Namespace: "operators"})
	connect := func() error {
		connection, err := r.Connect("west", "plaza", "plaza")
		require.Nil(t, connection)
		return err
	}
	require.ErrorIs(t, connect(), ErrPending)
	close(r.started)
	require.Equal(t, &Error{
		v1alpha1.ReasonClusterNotRegistered,
		"No Secret west with the label sigs.k8s.io/multicluster-runtime-kubeconfig in namespace operators registers the cluster.",
	}, connect())
	isListed := false
	r.listed = func() bool { return isListed }
	require.Equal(t, &Error{
		v1alpha1.ReasonClusterUnreachable,
		"The Secrets with the label sigs.k8s.io/multicluster-runtime-kubeconfig in namespace operators, which register clusters, cannot be " +
			"listed.",
	}, connect())
	isListed = true
	require.ErrorContains(t, connect(), "No Secret west")
}

// TestRegistrationsEnd replaces and removes the registration of a cluster: nothing of the former one goes on, and the networks in the
// cluster are reconciled with what holds from then on.
func TestRegistrationsEnd(t *testing.T) {
	errRefused := errors.New("an exec plugin")
	var r *Registry
	var changed []string // the clusters, and why they cannot be used at that time
	r = New(Options{Namespace: "operators", Changed: func(cluster string, object client.Object) {
		require.Nil(t, object)
		_, err := r.Connect(cluster, "plaza", "plaza")
		require.Error(t, err)
		changed = append(changed, cluster+": "+err.Error())
	}})
	close(r.started)
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "west", ResourceVersion: "2"}}
	first := &member{name: "west", err: ErrPending}
	former, cancel := context.WithCancel(t.Context())
	first.cancel = cancel
	refused := newMember(secret, registration{refused: errRefused}, first, r.options)
	present, cancel := context.WithCancel(t.Context())
	refused.cancel = cancel
	r.members["west"], r.members["east"] = refused, &member{name: "east", err: ErrPending, cancel: func() {}}
	require.NoError(t, former.Err(), "it is used until the first attempt has ended")
	refused.start(t.Context())
	require.ErrorIs(t, former.Err(), context.Canceled)
	const isRefused = "west: The kubeconfig of cluster west is refused: an exec plugin."
	require.Equal(t, []string{isRefused}, changed)

	r.registered(t.Context(), secret) // the cache repeats what it has
	require.Same(t, refused, r.members["west"])
	require.Equal(t, []string{"east", "west"}, namesOf(r))
	require.NoError(t, present.Err())

	r.removed("no Secret")
	require.Len(t, changed, 1)
	for _, object := range []any{secret, toolscache.DeletedFinalStateUnknown{Key: "operators/west", Obj: secret}} {
		r.members["west"], changed = refused, nil
		r.removed(object)
		require.ErrorIs(t, present.Err(), context.Canceled)
		require.Equal(t, []string{"east"}, namesOf(r))
		require.Len(t, changed, 1)
		require.Contains(t, changed[0], "west: No Secret west")
	}
	r.removed(secret) // of which it does not know
	require.Equal(t, []string{"east"}, namesOf(r))
}

// TestChangedRegistrations changes the Secret of a cluster: the networks in it are reconciled, and the members of the former Secret end.
func TestChangedRegistrations(t *testing.T) {
	var changed []string
	r := New(Options{Namespace: "operators", Changed: func(cluster string, _ client.Object) { changed = append(changed, cluster) }})
	var former *member
	for i, version := range []string{"1", "2"} {
		r.registered(t.Context(), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "west", ResourceVersion: version}})
		require.Len(t, changed, i+1)
		require.NotSame(t, former, r.members["west"])
		former = r.members["west"]
	}
	require.Equal(t, []string{"west", "west"}, changed)
	r.registered(t.Context(), "no Secret")
	require.Len(t, r.members, 1)
	var ended []string
	end := func(name string) context.CancelFunc { return func() { ended = append(ended, name) } }
	r.members["west"].cancel = end("west")
	r.members["east"] = &member{name: "east", cancel: end("east"), before: &member{cancel: end("the former east")}}
	r.disconnect()
	require.ElementsMatch(t, []string{"west", "east", "the former east"}, ended, "the end of the operator ends every connection")
	r.disconnect()
	require.Len(t, ended, 5, "a former one is ended once")
}

// TestObjectsOfMembers checks for which objects of a member cluster a network is reconciled.
func TestObjectsOfMembers(t *testing.T) {
	var changed []string
	m := &member{name: "west", options: Options{Changed: func(cluster string, object client.Object) {
		changed = append(changed, cluster+"/"+object.GetName())
	}}}
	created := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "created"}}
	m.changed(created)
	m.changed(toolscache.DeletedFinalStateUnknown{Obj: &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "deleted"}}})
	m.changed("no object")
	require.Equal(t, []string{"west/created", "west/deleted"}, changed)
}

// silentAPI is an API server of which no request receives a response.
type silentAPI struct{ err error }

func (s silentAPI) RoundTrip(req *http.Request) (*http.Response, error) {
	return nil, cmp.Or(req.Context().Err(), s.err)
}

// TestLostConnections checks which requests without a response report that the connection to a member is lost: the first one, unless it is
// a watch, which ends now and then, or its caller has given up.
func TestLostConnections(t *testing.T) {
	errSilent := errors.New("no response")
	gone, leave := context.WithCancel(t.Context())
	leave()
	for name, test := range map[string]struct {
		ctx   context.Context
		query string
		lost  bool
	}{
		"a request":                  {t.Context(), "", true},
		"a watch":                    {t.Context(), "?watch=true", false},
		"a caller that has given up": {gone, "", false},
	} {
		lost := make(chan error, 1)
		r := &roundTripper{silentAPI{errSilent}, lost}
		for range 2 { // the second one does not wait
			req, err := http.NewRequestWithContext(test.ctx, http.MethodGet, "https://west.example/api"+test.query, http.NoBody)
			require.NoError(t, err)
			_, err = r.RoundTrip(req) //nolint:bodyclose // there is no response
			require.Error(t, err, name)
			require.Equal(t, test.lost, IsUnreachable(err), name)
		}
		if !test.lost {
			require.Empty(t, lost, name)
			continue
		}
		require.Len(t, lost, 1, name)
		require.ErrorIs(t, <-lost, errSilent, name)
	}
}

// namesOf returns the names of the registered clusters.
func namesOf(r *Registry) []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Sorted(maps.Keys(r.members))
}
