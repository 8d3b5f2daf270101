package moderation

import (
	"fmt"
	"net"
	"strconv"

	corev1 "k8s.io/api/core/v1"

	"github.com/plaza-social/plaza/controllers/render"
)

// apiAddress returns the host and port of a region's API: the cluster IP of its Service, so that no cluster DNS is needed.
func apiAddress(service *corev1.Service) (string, error) {
	ip := service.Spec.ClusterIP
	if ip == "" || ip == corev1.ClusterIPNone {
		return "", fmt.Errorf("no cluster IP of Service %s yet", service.Name)
	}
	port := render.PortHTTP
	for _, p := range service.Spec.Ports {
		if p.Name == render.PortHTTPName {
			port = p.Port
		}
	}
	return net.JoinHostPort(ip, strconv.Itoa(int(port))), nil
}
