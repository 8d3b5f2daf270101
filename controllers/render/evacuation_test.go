package render_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/render"
)

// find returns the object of a type with a name, or nil.
func find[T client.Object](objects []client.Object, name string) (found T) {
	for _, object := range objects {
		if typed, ok := object.(T); ok && object.GetName() == name {
			return typed
		}
	}
	return found
}

// evacuated returns the sample, in which eu (which has an Ingress) is evacuated to us (which has a Gateway if withGateway is set).
func evacuated(t *testing.T, withGateway bool) *v1alpha1.SocialNetwork {
	t.Helper()
	sn := spec(t, "socialnetwork")
	us, eu := &sn.Spec.Regions[0], &sn.Spec.Regions[1]
	require.Equal(t, v1alpha1.RegionEU, eu.Code)
	us.Ingress = &v1alpha1.Ingress{ClassName: "us-class", TLSSecretName: "us-tls", Annotations: map[string]string{"a": "b"}}
	if withGateway {
		us.Ingress, us.Gateway = nil, &v1alpha1.Gateway{ParentRef: v1alpha1.GatewayReference{Name: "us-gateway"}}
	}
	eu.Ingress = &v1alpha1.Ingress{ClassName: "eu-class", TLSSecretName: "eu-tls"}
	eu.EvacuateTo, eu.ExtraHosts = v1alpha1.RegionUS, []string{"eu.example"}
	return sn
}

// TestEvacuatedInOneCluster checks that the Service of the evacuated region, to which its Ingress leads, selects the pods of the
// other region, and that Prometheus still scrapes its own.
func TestEvacuatedInOneCluster(t *testing.T) {
	sn := evacuated(t, false)
	objects := render.Everything(networkOf(sn))
	service := find[*corev1.Service](objects, "acme-eu")
	require.Equal(t, render.RegionSelector("acme", v1alpha1.RegionUS), service.Spec.Selector)
	require.Len(t, service.Spec.Ports, 1, "the port ops of us would be scraped as that of eu")
	servers := find[*corev1.Service](objects, "acme-eu-servers")
	require.Equal(t, render.RegionSelector("acme", v1alpha1.RegionEU), servers.Spec.Selector)
	require.Equal(t, render.PortOpsName, servers.Spec.Ports[0].Name)
	require.Subset(t, servers.Labels, render.ServerSelector("acme"), "the ServiceMonitor selects it")
	require.Equal(t, "eu-class", *find[*networkingv1.Ingress](objects, "acme-eu").Spec.IngressClassName)
	require.Nil(t, find[*corev1.Service](objects, "acme-us-servers"))
	before := render.TemplateHash(render.Deployment(networkOf(sn), &sn.Spec.Regions[1]))
	sn.Spec.Regions[1].EvacuateTo = ""
	require.Equal(t, before, render.TemplateHash(render.Deployment(networkOf(sn), &sn.Spec.Regions[1])), "no pod restarts")
	require.Nil(t, find[*corev1.Service](render.Everything(networkOf(sn)), "acme-eu-servers"))
}

// TestEvacuatedFromAnotherCluster checks the objects with which a region serves the hosts of a region of another cluster.
func TestEvacuatedFromAnotherCluster(t *testing.T) {
	sn := evacuated(t, false)
	sn.Spec.Regions[1].Cluster, sn.Spec.Regions[1].Namespace = "cluster-eu", "there"
	own, eu := networkOf(sn), networkOf(sn)
	eu.Cluster, eu.Namespace = "cluster-eu", "there"
	objects := render.Everything(own)
	require.Equal(t, render.RegionSelector("acme", v1alpha1.RegionUS), find[*corev1.Service](objects, "acme-eu").Spec.Selector)
	ingress := find[*networkingv1.Ingress](objects, "acme-eu")
	require.Equal(t, sn.Namespace, ingress.Namespace)
	require.Equal(t, "us-class", *ingress.Spec.IngressClassName)
	require.Equal(t, []networkingv1.IngressTLS{{Hosts: []string{sn.Spec.Regions[1].Host, "eu.example"}, SecretName: "eu-tls"}},
		ingress.Spec.TLS)
	require.Equal(t, "acme-eu", ingress.Spec.Rules[0].HTTP.Paths[0].Backend.Service.Name)

	withTLS := sn.Spec.Regions[1].Ingress
	sn.Spec.Regions[1].Ingress = nil
	require.Empty(t, find[*networkingv1.Ingress](render.Everything(own), "acme-eu").Spec.TLS, "the certificate of us is not that of the host")
	sn.Spec.Regions[1].Ingress = withTLS

	there := render.Everything(eu)
	require.Equal(t, render.RegionSelector("acme", v1alpha1.RegionEU), find[*corev1.Service](there, "acme-eu").Spec.Selector)
	require.Equal(t, "eu-class", *find[*networkingv1.Ingress](there, "acme-eu").Spec.IngressClassName, "it still serves who reaches it")
	sn.Spec.Regions[1].EvacuateTo = ""
	require.Nil(t, find[*corev1.Service](render.Everything(own), "acme-eu"))
}

// TestEvacuatedToGateway checks that the hosts are served by the Gateway of the other region.
func TestEvacuatedToGateway(t *testing.T) {
	sn := evacuated(t, true)
	sn.Spec.Regions[1].Cluster = "cluster-eu"
	own := networkOf(sn)
	own.Capabilities.HTTPRoute = true
	route := find[*gatewayv1.HTTPRoute](render.Everything(own), "acme-eu")
	require.Equal(t, gatewayv1.ObjectName("us-gateway"), route.Spec.ParentRefs[0].Name)
	require.Len(t, route.Spec.Hostnames, 2)
	require.Nil(t, find[*networkingv1.Ingress](render.Everything(own), "acme-eu"))
	service := find[*corev1.Service](render.Everything(own), "acme-eu")
	require.Equal(t, "kubernetes.io/h2c", *service.Spec.Ports[0].AppProtocol)
}

// TestEvacuatedToAnotherNamespace checks that a cluster has one Ingress of a host.
func TestEvacuatedToAnotherNamespace(t *testing.T) {
	sn := evacuated(t, false)
	for i, namespace := range []string{"here", "there"} {
		sn.Spec.Regions[i].Cluster, sn.Spec.Regions[i].Namespace = "both", namespace
	}
	us, eu := networkOf(sn), networkOf(sn)
	us.Cluster, us.Namespace, eu.Cluster, eu.Namespace = "both", "here", "both", "there"
	require.NotNil(t, find[*networkingv1.Ingress](render.Everything(us), "acme-eu"))
	require.Nil(t, find[*networkingv1.Ingress](render.Everything(eu), "acme-eu"))
	require.NotNil(t, find[*corev1.Service](render.Everything(eu), "acme-eu"))
}
