package render

import (
	"cmp"
	"maps"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	gatewayv1 "sigs.k8s.io/gateway-api/apis/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
)

// Ingress returns the Ingress of a region's host, or nil if the spec does not enable it.
func Ingress(n Network, r *v1alpha1.Region) *networkingv1.Ingress {
	if r.Ingress == nil {
		return nil
	}
	ingress := &networkingv1.Ingress{
		TypeMeta:   typeMeta(networkingv1.SchemeGroupVersion, "Ingress"),
		ObjectMeta: n.regionMeta(r.Code),
		Spec:       networkingv1.IngressSpec{},
	}
	for _, host := range hosts(r) {
		ingress.Spec.Rules = append(ingress.Spec.Rules, ingressRule(host, RegionName(n.SN.Name, r.Code)))
	}
	ingress.Annotations = maps.Clone(r.Ingress.Annotations)
	if r.Ingress.ClassName != "" {
		ingress.Spec.IngressClassName = new(r.Ingress.ClassName)
	}
	if r.Ingress.TLSSecretName != "" {
		ingress.Spec.TLS = []networkingv1.IngressTLS{{Hosts: hosts(r), SecretName: r.Ingress.TLSSecretName}}
	}
	return ingress
}

func ingressRule(host, service string) networkingv1.IngressRule {
	return networkingv1.IngressRule{
		Host: host,
		IngressRuleValue: networkingv1.IngressRuleValue{HTTP: &networkingv1.HTTPIngressRuleValue{
			Paths: []networkingv1.HTTPIngressPath{{
				Path:     "/",
				PathType: new(networkingv1.PathTypePrefix),
				Backend: networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{
					Name: service,
					Port: networkingv1.ServiceBackendPort{Name: PortHTTPName},
				}},
			}},
		}},
	}
}

// HTTPRoute returns the HTTPRoute of a region's host, or nil if the spec does not enable it. It does not depend on
// whether the cluster has the kind.
func HTTPRoute(n Network, r *v1alpha1.Region) *gatewayv1.HTTPRoute {
	if r.Gateway == nil {
		return nil
	}
	return &gatewayv1.HTTPRoute{
		TypeMeta:   metav1.TypeMeta{APIVersion: gatewayv1.GroupVersion.String(), Kind: "HTTPRoute"},
		ObjectMeta: n.regionMeta(r.Code),
		Spec: gatewayv1.HTTPRouteSpec{
			CommonRouteSpec: gatewayv1.CommonRouteSpec{ParentRefs: []gatewayv1.ParentReference{parentRef(r.Gateway.ParentRef)}},
			Hostnames:       hostnames(r),
			Rules: []gatewayv1.HTTPRouteRule{{
				Matches: []gatewayv1.HTTPRouteMatch{{
					Path: &gatewayv1.HTTPPathMatch{Type: new(gatewayv1.PathMatchPathPrefix), Value: new("/")},
				}},
				Timeouts: &gatewayv1.HTTPRouteTimeouts{Request: new(gatewayv1.Duration(cmp.Or(r.Gateway.RequestTimeout, "0s")))},
				BackendRefs: []gatewayv1.HTTPBackendRef{{
					BackendRef: gatewayv1.BackendRef{
						BackendObjectReference: gatewayv1.BackendObjectReference{
							Group: new(gatewayv1.Group("")),
							Kind:  new(gatewayv1.Kind("Service")),
							Name:  gatewayv1.ObjectName(RegionName(n.SN.Name, r.Code)),
							Port:  new(PortHTTP),
						},
						Weight: new(int32(1)),
					},
				}},
			}},
		},
	}
}

// hosts returns all host names of a region.
func hosts(r *v1alpha1.Region) []string { return append([]string{r.Host}, r.ExtraHosts...) }

func hostnames(r *v1alpha1.Region) []gatewayv1.Hostname {
	var names []gatewayv1.Hostname
	for _, host := range hosts(r) {
		names = append(names, gatewayv1.Hostname(host))
	}
	return names
}

func parentRef(ref v1alpha1.GatewayReference) gatewayv1.ParentReference {
	parent := gatewayv1.ParentReference{
		Group: new(gatewayv1.Group(gatewayv1.GroupName)),
		Kind:  new(gatewayv1.Kind("Gateway")),
		Name:  gatewayv1.ObjectName(ref.Name),
	}
	if ref.Namespace != "" {
		parent.Namespace = new(gatewayv1.Namespace(ref.Namespace))
	}
	if ref.SectionName != "" {
		parent.SectionName = new(gatewayv1.SectionName(ref.SectionName))
	}
	return parent
}
