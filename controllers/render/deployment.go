package render

import (
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/plaza-social/plaza/api/v1alpha1"
)

// Deployment returns the Deployment of a region. With autoscaling, it does not set replicas.
func Deployment(n Network, r *v1alpha1.Region) *appsv1.Deployment {
	return &appsv1.Deployment{
		TypeMeta:   typeMeta(appsv1.SchemeGroupVersion, "Deployment"),
		ObjectMeta: n.regionMeta(r.Code),
		Spec: appsv1.DeploymentSpec{
			Replicas:                replicas(r),
			Selector:                &metav1.LabelSelector{MatchLabels: RegionSelector(n.SN.Name, r.Code)},
			Template:                template(n, r),
			MinReadySeconds:         10,
			ProgressDeadlineSeconds: new(int32(600)),
			RevisionHistoryLimit:    new(int32(3)),
			Strategy: appsv1.DeploymentStrategy{
				Type: appsv1.RollingUpdateDeploymentStrategyType,
				RollingUpdate: &appsv1.RollingUpdateDeployment{
					MaxUnavailable: new(intstr.FromInt32(0)),
					MaxSurge:       new(intstr.FromInt32(1)),
				},
			},
		},
	}
}

// template returns the pod template of a region's servers: every change of it restarts them.
func template(n Network, r *v1alpha1.Region) corev1.PodTemplateSpec {
	annotations := maps.Clone(r.PodAnnotations)
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[AnnotationConfiguration] = ConfigurationHash(n, r)

	spec := podSpec(n, r)
	spec.ServiceAccountName = RegionName(n.SN.Name, r.Code)
	serve(n, r, &spec.Containers[0])
	mount(&spec, slices.Concat(serverVolumes(n, r), commonVolumes(n, false), extraVolumes(r))...)
	spec.TopologySpreadConstraints = spread(n, r)
	spec.TerminationGracePeriodSeconds = new(gracePeriod(r))
	labels := RegionLabels(n.SN.Name, ComponentServer, r.Code)
	for name, value := range r.PodLabels {
		if _, own := labels[name]; !own {
			labels[name] = value
		}
	}
	plain := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels, Annotations: annotations}, Spec: spec}
	if patched, err := patchTemplate(n, r, &plain); err == nil {
		return *patched
	}
	return plain // the caller checks PatchError first
}

// serve makes a container that of `plaza serve`.
func serve(n Network, r *v1alpha1.Region, c *corev1.Container) {
	c.Args = []string{"serve", "--config=" + configFolder + "/" + ConfigFile}
	c.Env = append(limitVariables(n, r), c.Env...)
	c.EnvFrom = storageVariables(n.SN.Spec.Storage)
	c.Ports = []corev1.ContainerPort{
		{Name: PortHTTPName, ContainerPort: PortHTTP, Protocol: corev1.ProtocolTCP},
		{Name: PortOpsName, ContainerPort: PortOps, Protocol: corev1.ProtocolTCP},
		{Name: PortControlName, ContainerPort: PortControl, Protocol: corev1.ProtocolTCP},
	}
	// A starting server may wait for the database; it is live as soon as it listens. Liveness does not depend on the
	// database, because a restart would not bring the database back.
	c.StartupProbe = probe("/livez", 2, 30)
	c.LivenessProbe = probe("/livez", 10, 3)
	c.ReadinessProbe = probe("/readyz", 5, 2)
	// A server that exits explains itself in the last line of its log, which becomes the region's condition.
	c.TerminationMessagePolicy = corev1.TerminationMessageFallbackToLogsOnError
	c.Lifecycle = &corev1.Lifecycle{PreStop: &corev1.LifecycleHandler{Sleep: &corev1.SleepAction{Seconds: preStopSeconds}}}
}

// probe returns an HTTP probe that fails after the given number of failures in a row.
func probe(path string, period, failures int32) *corev1.Probe {
	return &corev1.Probe{
		ProbeHandler: corev1.ProbeHandler{
			HTTPGet: &corev1.HTTPGetAction{Path: path, Port: intstr.FromString(PortOpsName), Scheme: corev1.URISchemeHTTP},
		},
		PeriodSeconds:    period,
		TimeoutSeconds:   3,
		SuccessThreshold: 1,
		FailureThreshold: failures,
	}
}
