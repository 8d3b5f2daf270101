//go:build cluster

package clustertest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/render"
)

// fresh applies the sample with the image of the previous release and waits until it is ready.
func (s *suite) fresh(t *testing.T) {
	t.Helper()
	s.image = s.previousRelease()
	for _, object := range documents(t, root("config", "samples", "socialnetwork.yaml")) {
		object.SetNamespace(s.namespace)
		if s.image != "" && object.GetKind() == v1alpha1.Kind {
			require.NoError(t, unstructured.SetNestedField(object.Object, s.image, "spec", "image"))
		}
		s.apply(t, object)
	}
	sn := s.ready(t)
	require.Equal(t, "3/3", sn.Status.RegionsReady)
	require.NotEmpty(t, sn.Status.NetworkID)
	s.networkID = sn.Status.NetworkID

	row := s.table(t)
	require.Equal(t, network, row["Name"])
	require.Equal(t, "True", row["Ready"])
	require.Equal(t, "3/3", row["Regions"])
	require.Equal(t, sn.Status.Version, row["Version"])
	require.Equal(t, sn.Status.Schema.Target, row["Schema"])
	require.Equal(t, "False", row["Paused"])
	require.Contains(t, []any{"True", "False"}, row["Alerts"]) // depends on whether the cluster has the kinds of Prometheus
	require.NotEmpty(t, row["Version"])
	s.sayf("    kubectl get sn: %v", row)

	for _, region := range sn.Spec.Regions {
		code := string(region.Code)
		pods := s.pods(t, code)
		require.Len(t, pods, 2, code)
		for _, pod := range pods {
			var node corev1.Node
			require.NoError(t, s.client.Get(t.Context(), client.ObjectKey{Name: pod.Spec.NodeName}, &node))
			require.Equal(t, sn.Spec.Database.Localities[code], node.Labels[corev1.LabelTopologyRegion], pod.Name)
			require.Zero(t, pod.Status.ContainerStatuses[0].RestartCount, pod.Name)
		}
	}
}

// table returns the row that kubectl get sn prints.
func (s *suite) table(t *testing.T) object {
	t.Helper()
	c, err := rest.HTTPClientFor(s.config)
	require.NoError(t, err)
	address := fmt.Sprintf("%s/apis/plaza.social/v1alpha1/namespaces/%s/socialnetworks/%s", s.config.Host, s.namespace, network)
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, nil)
	require.NoError(t, err)
	req.Header.Set("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io")
	resp, err := c.Do(req)
	require.NoError(t, err)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	require.NoError(t, err)
	var table struct {
		ColumnDefinitions []struct {
			Name     string
			Priority int
		}
		Rows []struct{ Cells []any }
	}
	require.NoError(t, json.Unmarshal(text, &table))
	require.Len(t, table.Rows, 1, "%s", text)
	row := object{}
	for i, column := range table.ColumnDefinitions {
		if column.Priority == 0 {
			row[column.Name] = fmt.Sprint(table.Rows[0].Cells[i])
		}
	}
	row["Paused"] = map[any]string{"false": "False", "true": "True"}[row["Paused"]]
	return row
}

// serves creates content in each region and reads it in the others.
func (s *suite) serves(t *testing.T) {
	t.Helper()
	for _, code := range codes {
		p := s.signIn(t, "user of "+code, code)
		made, err := p.do(kept, http.MethodPost, p.base, "/api/v3/communities", object{"displayName": "community of " + code})
		require.NoError(t, err)
		p.community = field(made, "communities", "communityId")
		require.NotEmpty(t, p.community)
		s.people[code] = p
	}
	for _, reader := range s.people {
		for _, p := range s.people {
			got, err := reader.do(kept, http.MethodGet, reader.base, "/api/v3/communities/"+p.community, nil)
			require.NoError(t, err, "%s reads at %s what was made at %s", reader.id, reader.code, p.code)
			require.Equal(t, "community of "+p.code, field(got, "communities", "displayName"))
		}
	}
	for _, code := range codes {
		id, key := s.activeKey(t, code)
		require.NoError(t, useServerKey(s.people[code].base, key), "server key %s of %s", id, code)
		for _, other := range codes {
			if other != code {
				require.True(t, refused(useServerKey(s.people[other].base, key)), "a key of %s is none of %s", code, other)
			}
		}
	}
	s.startTraffic(t)
}

// quick shortens the waiting times of the sample.
func quick(sn *v1alpha1.SocialNetwork) {
	sn.Spec.Rollout.Soak = "5s"
	sn.Spec.ServerKeys.Overlap = "1m"
}

// objectsOf returns the objects with the network's label in the namespace, by kind and name.
func (s *suite) objectsOf(t *testing.T, labels client.MatchingLabels) []string {
	t.Helper()
	labels[render.LabelNetwork] = network
	var names []string
	kinds := append(render.RegionKinds(), corev1.SchemeGroupVersion.WithKind("Secret"), corev1.SchemeGroupVersion.WithKind("Pod"))
	for _, kind := range kinds {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind.GroupVersion().WithKind(kind.Kind + "List"))
		require.NoError(t, s.client.List(t.Context(), list, client.InNamespace(s.namespace), labels))
		for _, item := range list.Items {
			names = append(names, kind.Kind+" "+item.GetName())
		}
	}
	return names
}
