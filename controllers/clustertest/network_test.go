//go:build cluster

package clustertest

import (
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/render"
)

// documents reads the objects of a file, in order.
func documents(t *testing.T, path string) []*unstructured.Unstructured {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	var objects []*unstructured.Unstructured
	for part := range strings.SplitSeq("\n"+string(text), "\n---\n") {
		object := &unstructured.Unstructured{}
		require.NoError(t, yaml.Unmarshal([]byte(part), &object.Object))
		if object.GetKind() != "" {
			objects = append(objects, object)
		}
	}
	require.NotEmpty(t, objects, path)
	return objects
}

// applyFile works like kubectl apply --server-side -f.
func (s *suite) applyFile(t *testing.T, namespace, path string) {
	t.Helper()
	for _, object := range documents(t, path) {
		if namespace != "" {
			object.SetNamespace(namespace)
		}
		s.apply(t, object)
	}
}

func (s *suite) apply(t *testing.T, object *unstructured.Unstructured) {
	t.Helper()
	err := s.client.Apply(t.Context(), client.ApplyConfigurationFromUnstructured(object), client.FieldOwner("person"), client.ForceOwnership)
	require.NoError(t, err, "%s %s", object.GetKind(), object.GetName())
}

// network reads the network.
func (s *suite) network(t *testing.T) *v1alpha1.SocialNetwork {
	t.Helper()
	return get(t, s, &v1alpha1.SocialNetwork{}, network)
}

// get reads an object in the network's namespace.
func get[T client.Object](t *testing.T, s *suite, into T, name string) T {
	t.Helper()
	require.NoError(t, s.client.Get(t.Context(), client.ObjectKey{Namespace: s.namespace, Name: name}, into))
	return into
}

// getIn reads an object in the network's namespace in the cluster of a region.
func getIn[T client.Object](t *testing.T, s *suite, code string, into T, name string) T {
	t.Helper()
	from := s.client
	if home := s.homes[code]; home != nil {
		from = home.client
	}
	require.NoError(t, from.Get(t.Context(), client.ObjectKey{Namespace: s.namespace, Name: name}, into))
	return into
}

// edit edits the network as a user would.
func (s *suite) edit(t *testing.T, change func(*v1alpha1.SocialNetwork)) {
	t.Helper()
	s.within(t, "the network is changed", func() string {
		sn := s.network(t)
		change(sn)
		err := s.client.Update(t.Context(), sn, client.FieldOwner("person"))
		if apierrors.IsConflict(err) {
			return err.Error() // retry
		}
		require.NoError(t, err)
		return ""
	})
}

// eachRegion edits every region of a spec.
func eachRegion(change func(*v1alpha1.Region)) func(*v1alpha1.SocialNetwork) {
	return func(sn *v1alpha1.SocialNetwork) {
		for i := range sn.Spec.Regions {
			change(&sn.Spec.Regions[i])
		}
	}
}

// pods returns the servers of a region that are not being stopped, or those of all regions if code is empty.
func (s *suite) pods(t *testing.T, code string) []corev1.Pod {
	t.Helper()
	return slices.DeleteFunc(s.everyPod(t, code), func(pod corev1.Pod) bool { return pod.DeletionTimestamp != nil })
}

// everyPod returns the servers of a region, or of all regions if code is empty, with those that are being stopped.
func (s *suite) everyPod(t *testing.T, code string) []corev1.Pod {
	t.Helper()
	match := client.MatchingLabels{render.LabelNetwork: network, render.LabelComponent: string(render.ComponentServer)}
	if code != "" {
		match[render.LabelRegion] = code
	}
	var list corev1.PodList
	require.NoError(t, s.client.List(t.Context(), &list, client.InNamespace(s.namespace), match))
	return list.Items
}

// uids returns the UIDs of all pods by name, except of those that are being stopped; they change with a restart.
func (s *suite) uids(t *testing.T, codes ...string) map[string]string {
	t.Helper()
	uids := map[string]string{}
	for _, code := range codes {
		for _, pod := range s.pods(t, code) {
			for _, c := range pod.Status.ContainerStatuses {
				uids[pod.Name] = string(pod.UID) + " " + c.ContainerID
			}
		}
	}
	return uids
}

// condition returns a condition of the network; it is empty if there is none of the current generation.
func condition(sn *v1alpha1.SocialNetwork, kind string) (status, reason, message string) {
	for _, c := range sn.Status.Conditions {
		if c.Type == kind && c.ObservedGeneration == sn.Generation {
			return string(c.Status), c.Reason, c.Message
		}
	}
	return "", "", ""
}

// happened reports whether the network has an event with a reason after a time.
func (s *suite) happened(t *testing.T, reason v1alpha1.Reason, since time.Time) bool {
	t.Helper()
	var events corev1.EventList
	require.NoError(t, s.client.List(t.Context(), &events, client.InNamespace(s.namespace)))
	for _, e := range events.Items {
		if e.InvolvedObject.Kind == v1alpha1.Kind && e.Reason == string(reason) && e.CreationTimestamp.Unix() >= since.Unix() {
			return true
		}
	}
	return false
}
