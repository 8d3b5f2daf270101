package render

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/plaza-social/plaza/api/v1alpha1"
)

// Service returns the Service of a region: the API on port http, and operations on port ops for Prometheus and the
// operator.
func Service(n Network, r *v1alpha1.Region) *corev1.Service {
	api := servicePort(PortHTTPName, PortHTTP)
	if r.Gateway != nil { // gRPC needs HTTP/2 up to the pod
		api.AppProtocol = new("kubernetes.io/h2c")
	}
	return &corev1.Service{
		TypeMeta:   typeMeta(corev1.SchemeGroupVersion, "Service"),
		ObjectMeta: n.regionMeta(r.Code),
		Spec: corev1.ServiceSpec{
			Type:     corev1.ServiceTypeClusterIP,
			Selector: RegionSelector(n.SN.Name, r.Code),
			Ports: []corev1.ServicePort{
				api,
				servicePort(PortOpsName, PortOps),
			},
		},
	}
}

func servicePort(name string, port int32) corev1.ServicePort {
	return corev1.ServicePort{
		Name:       name,
		Protocol:   corev1.ProtocolTCP,
		Port:       port,
		TargetPort: intstr.FromString(name),
	}
}

// ServiceAccount returns the ServiceAccount of a region's pods. It has no permissions, and its token is not mounted.
func ServiceAccount(n Network, r *v1alpha1.Region) *corev1.ServiceAccount {
	account := &corev1.ServiceAccount{
		TypeMeta:                     typeMeta(corev1.SchemeGroupVersion, "ServiceAccount"),
		ObjectMeta:                   n.regionMeta(r.Code),
		AutomountServiceAccountToken: new(false),
	}
	account.Annotations = maps.Clone(r.ServiceAccountAnnotations)
	return account
}
