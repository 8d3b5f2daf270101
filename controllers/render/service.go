package render

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/plaza-social/plaza/api/v1alpha1"
)

// Service returns the Service of a region: the API on port http, and operations on port ops for Prometheus. While the region is
// evacuated to another one of the namespace, it selects the pods of that one, and ServersService has the port ops.
func Service(n Network, r *v1alpha1.Region) *corev1.Service {
	serving := n.serving(r)
	ports := []corev1.ServicePort{apiPort(r)}
	if serving == r.Code {
		ports = append(ports, servicePort(PortOpsName, PortOps))
	}
	return n.service(n.regionMeta(r.Code), serving, ports...)
}

// ServersService returns the Service with which Prometheus scrapes the pods of a region while Service selects those of another one;
// nil while it does not.
func ServersService(n Network, r *v1alpha1.Region) *corev1.Service {
	if n.serving(r) == r.Code {
		return nil
	}
	meta := n.regionMeta(r.Code)
	meta.Name += "-servers"
	return n.service(meta, r.Code, servicePort(PortOpsName, PortOps))
}

func (n Network) service(meta metav1.ObjectMeta, pods v1alpha1.RegionCode, ports ...corev1.ServicePort) *corev1.Service {
	return &corev1.Service{
		TypeMeta:   typeMeta(corev1.SchemeGroupVersion, "Service"),
		ObjectMeta: meta,
		Spec: corev1.ServiceSpec{
			Type: corev1.ServiceTypeClusterIP, Selector: RegionSelector(n.SN.Name, pods), Ports: ports,
		},
	}
}

func apiPort(r *v1alpha1.Region) corev1.ServicePort {
	api := servicePort(PortHTTPName, PortHTTP)
	if r.Gateway != nil { // gRPC needs HTTP/2 up to the pod
		api.AppProtocol = new("kubernetes.io/h2c")
	}
	return api
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
	return serviceAccount(n.regionMeta(r.Code), r)
}

func serviceAccount(meta metav1.ObjectMeta, r *v1alpha1.Region) *corev1.ServiceAccount {
	meta.Annotations = maps.Clone(r.ServiceAccountAnnotations)
	return &corev1.ServiceAccount{
		TypeMeta:                     typeMeta(corev1.SchemeGroupVersion, "ServiceAccount"),
		ObjectMeta:                   meta,
		AutomountServiceAccountToken: new(false),
	}
}
