package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
)

// RegionCode is the code of a region: us, eu or sg.
//
// +kubebuilder:validation:Enum=us;eu;sg
type RegionCode string

// The regions there are.
const (
	RegionUS RegionCode = "us"
	RegionEU RegionCode = "eu"
	RegionSG RegionCode = "sg"
)

// Region is one region of a network: a deployment of the platform with an address of its own.
//
// +kubebuilder:validation:XValidation:rule="!(has(self.replicas) && has(self.autoscaling))",message="a region has replicas or autoscaling, not both"
// +kubebuilder:validation:XValidation:rule="!(has(self.ingress) && has(self.gateway))",message="a region has ingress or gateway, not both"
type Region struct {
	// The region's code. It is part of every id that is made there, and cannot change.
	// +required
	Code RegionCode `json:"code"`

	// The host under which clients reach the region, such as eu.api.acme.example.
	// +required
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')",message="host must be a DNS name in lower case"
	Host string `json:"host"`

	// Number of pods. Absent, and without autoscaling: 2.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=200
	Replicas *int32 `json:"replicas,omitempty"`

	// Lets a HorizontalPodAutoscaler choose the number of pods; the operator then leaves the number alone.
	// +optional
	Autoscaling *Autoscaling `json:"autoscaling,omitempty"`

	// Processor and memory of each pod. Absent: requests of 100m and 128Mi, and a memory limit of 512Mi.
	// +optional
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`

	// Labels a node must have. Absent: topology.kubernetes.io/region with the region's database locality; an empty map: any node.
	// +optional
	// +mapType=atomic
	NodeSelector *map[string]string `json:"nodeSelector,omitempty"`

	// Affinity of the pods.
	// +optional
	Affinity *corev1.Affinity `json:"affinity,omitempty"`

	// Taints of nodes that the pods tolerate.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=50
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`

	// How the pods are spread. Absent: over the zones, where possible.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=10
	TopologySpreadConstraints []corev1.TopologySpreadConstraint `json:"topologySpreadConstraints,omitempty"`

	// PriorityClass of the pods.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	PriorityClassName string `json:"priorityClassName,omitempty"`

	// DNS settings of the pods.
	// +optional
	DNSConfig *corev1.PodDNSConfig `json:"dnsConfig,omitempty"`

	// Further environment variables of the platform, such as PLAZA_LOG_LEVEL. They win over what the operator sets.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:XValidation:rule="self.all(e, !(e.name in ['PLAZA_REGION', 'PLAZA_NETWORK_ID', 'PLAZA_LISTEN', 'PLAZA_OPS_LISTEN', 'PLAZA_DATABASE_URL', 'PLAZA_SERVER_KEYS_FILE', 'PLAZA_API_KEYS_FILE', 'PLAZA_SIGNING_KEYS_FILE', 'PLAZA_DIRECTORY_KEY', 'PLAZA_DIRECTORY_KEY_FILE']))",message="env cannot set what the operator decides: PLAZA_REGION, PLAZA_NETWORK_ID, PLAZA_LISTEN, PLAZA_OPS_LISTEN, PLAZA_DATABASE_URL and the key files"
	Env []corev1.EnvVar `json:"env,omitempty"`

	// Further annotations of the pods.
	// +optional
	// +kubebuilder:validation:MaxProperties=50
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.startsWith('plaza.social/'))",message="podAnnotations cannot start with plaza.social/: those are the operator's own"
	PodAnnotations map[string]string `json:"podAnnotations,omitempty"`

	// Makes an Ingress for the host.
	// +optional
	Ingress *Ingress `json:"ingress,omitempty"`

	// Makes an HTTPRoute for the host, where the Gateway API is installed.
	// +optional
	Gateway *Gateway `json:"gateway,omitempty"`
}

// Autoscaling lets a HorizontalPodAutoscaler choose the number of pods.
//
// +kubebuilder:validation:XValidation:rule="self.minReplicas <= self.maxReplicas",message="minReplicas must not be more than maxReplicas"
type Autoscaling struct {
	// Fewest pods.
	// +optional
	// +kubebuilder:default=2
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=200
	MinReplicas int32 `json:"minReplicas,omitempty"`

	// Most pods.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=200
	MaxReplicas int32 `json:"maxReplicas"`

	// Processor use that the autoscaler aims for, in percent of what the pods request.
	// +optional
	// +kubebuilder:default=70
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	TargetCPUUtilization int32 `json:"targetCPUUtilization,omitempty"`
}

// Ingress says how the region's Ingress looks.
type Ingress struct {
	// The IngressClass. Empty: the cluster's default.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	ClassName string `json:"className,omitempty"`

	// Secret with the certificate of the host. Empty: the Ingress has no TLS part.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	TLSSecretName string `json:"tlsSecretName,omitempty"`

	// Annotations of the Ingress.
	// +optional
	// +kubebuilder:validation:MaxProperties=50
	Annotations map[string]string `json:"annotations,omitempty"`
}

// Gateway says to which Gateway the region's HTTPRoute attaches.
type Gateway struct {
	// The Gateway.
	// +required
	ParentRef GatewayReference `json:"parentRef"`
}

// GatewayReference names a Gateway.
type GatewayReference struct {
	// Name of the Gateway.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// Namespace of the Gateway. Empty: the network's own.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`

	// Listener of the Gateway. Empty: every one that fits.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	SectionName string `json:"sectionName,omitempty"`
}
