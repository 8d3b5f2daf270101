package render

import (
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
)

// user is the user and group `nobody` of the platform's image.
const user = 65532

// podSpec returns the common part of the pods of servers and migrations, with a container without arguments and volumes. It
// complies with the pod security standard "restricted".
func podSpec(n Network, r *v1alpha1.Region) corev1.PodSpec {
	return corev1.PodSpec{
		Containers:                   []corev1.Container{container(n, r)},
		AutomountServiceAccountToken: new(false),
		EnableServiceLinks:           new(false),
		ImagePullSecrets:             pullSecrets(n.SN.Spec.ImagePullSecrets),
		NodeSelector:                 nodeSelector(n, r),
		Affinity:                     r.Affinity.DeepCopy(),
		Tolerations:                  slices.Clone(r.Tolerations),
		PriorityClassName:            r.PriorityClassName,
		DNSConfig:                    r.DNSConfig.DeepCopy(),
		SecurityContext:              podSecurity(n.Capabilities),
	}
}

// podSecurity returns the security context of pods. Where the cluster chooses the user and the groups, they are left to it.
func podSecurity(has Capabilities) *corev1.PodSecurityContext {
	security := &corev1.PodSecurityContext{
		RunAsNonRoot:   new(true),
		SeccompProfile: &corev1.SeccompProfile{Type: corev1.SeccompProfileTypeRuntimeDefault},
	}
	if !has.SecurityContextConstraints {
		security.RunAsUser, security.RunAsGroup, security.FSGroup = new(int64(user)), new(int64(user)), new(int64(user))
	}
	return security
}

// container returns the platform's container without arguments and volumes.
func container(n Network, r *v1alpha1.Region) corev1.Container {
	return corev1.Container{
		Name:            ContainerName,
		Image:           n.Image(),
		ImagePullPolicy: corev1.PullPolicy(n.SN.Spec.ImagePullPolicy),
		Env:             variables(n, r),
		Resources:       resources(r),
		SecurityContext: &corev1.SecurityContext{
			AllowPrivilegeEscalation: new(false),
			ReadOnlyRootFilesystem:   new(true),
			Capabilities:             &corev1.Capabilities{Drop: []corev1.Capability{"ALL"}},
		},
	}
}

// ServerImage returns the image of the platform's container in a pod, or "".
func ServerImage(pod corev1.PodSpec) string {
	for i := range pod.Containers {
		if pod.Containers[i].Name == ContainerName {
			return pod.Containers[i].Image
		}
	}
	return ""
}

func pullSecrets(refs []v1alpha1.LocalSecretReference) []corev1.LocalObjectReference {
	var out []corev1.LocalObjectReference
	for _, ref := range refs {
		out = append(out, corev1.LocalObjectReference{Name: ref.Name})
	}
	return out
}

// nodeSelector selects the nodes in the region's locality, unless the spec sets a selector; an empty map selects all
// nodes.
func nodeSelector(n Network, r *v1alpha1.Region) map[string]string {
	if r.NodeSelector != nil {
		if len(*r.NodeSelector) == 0 {
			return nil
		}
		return maps.Clone(*r.NodeSelector)
	}
	name := n.SN.Spec.Database.Localities[string(r.Code)]
	if name == "" {
		return nil
	}
	return map[string]string{corev1.LabelTopologyRegion: name}
}

// spread returns the topology spread constraints of a region's pods: those of the spec, or by default over zones and
// nodes, where possible. A constraint of the spec without a selector applies to the region's pods.
func spread(n Network, r *v1alpha1.Region) []corev1.TopologySpreadConstraint {
	own := &metav1.LabelSelector{MatchLabels: RegionSelector(n.SN.Name, r.Code)}
	if r.TopologySpreadConstraints == nil {
		return []corev1.TopologySpreadConstraint{
			spreadOver(corev1.LabelTopologyZone, own),
			spreadOver(corev1.LabelHostname, own),
		}
	}
	var out []corev1.TopologySpreadConstraint
	for i := range r.TopologySpreadConstraints {
		constraint := r.TopologySpreadConstraints[i].DeepCopy()
		if constraint.LabelSelector == nil {
			constraint.LabelSelector = own.DeepCopy()
		}
		out = append(out, *constraint)
	}
	return out
}

// spreadOver counts only pods with the same template; the old pods of a rollout would skew it.
func spreadOver(topologyKey string, selector *metav1.LabelSelector) corev1.TopologySpreadConstraint {
	return corev1.TopologySpreadConstraint{
		MaxSkew:           1,
		TopologyKey:       topologyKey,
		WhenUnsatisfiable: corev1.ScheduleAnyway,
		LabelSelector:     selector.DeepCopy(),
		MatchLabelKeys:    []string{"pod-template-hash"},
	}
}

// resources returns a container's resources. There is no CPU limit by default: it would only slow down requests while
// the node has idle CPUs.
func resources(r *v1alpha1.Region) corev1.ResourceRequirements {
	if r.Resources != nil {
		return *r.Resources.DeepCopy()
	}
	return corev1.ResourceRequirements{
		Requests: corev1.ResourceList{
			corev1.ResourceCPU:    resource.MustParse("100m"),
			corev1.ResourceMemory: resource.MustParse("128Mi"),
		},
		Limits: corev1.ResourceList{corev1.ResourceMemory: resource.MustParse("512Mi")},
	}
}

// gracePeriod returns the termination grace period in seconds: the preStop sleep, the drain delay and the shutdown
// timeout, which the spec's variables may change, and a margin.
func gracePeriod(r *v1alpha1.Region) int64 {
	drain := durationVariable(r, "PLAZA_DRAIN_DELAY", drainSeconds)
	shutdown := durationVariable(r, "PLAZA_SHUTDOWN_TIMEOUT", shutdownSeconds)
	return preStopSeconds + drain + shutdown + graceMarginSeconds
}

// durationVariable returns the value of a variable of the spec in seconds, rounded up.
func durationVariable(r *v1alpha1.Region, name string, standard int64) int64 {
	for _, v := range r.Env {
		if v.Name != name {
			continue
		}
		if d, err := time.ParseDuration(v.Value); err == nil && d >= 0 {
			return int64((d + time.Second - 1) / time.Second)
		}
	}
	return standard
}
