package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// RegionCode is the code of a region: us, eu or sg.
//
// +kubebuilder:validation:Enum=us;eu;sg
type RegionCode string

// The supported regions.
const (
	RegionUS RegionCode = "us"
	RegionEU RegionCode = "eu"
	RegionSG RegionCode = "sg"
)

// RegionCodes returns the supported regions.
func RegionCodes() []RegionCode { return []RegionCode{RegionUS, RegionEU, RegionSG} }

// Region is one region of a network: a Deployment of the platform with its own host name.
//
// +kubebuilder:validation:XValidation:rule="!(has(self.replicas) && has(self.autoscaling))",message="a region has replicas or autoscaling, not both"
// +kubebuilder:validation:XValidation:rule="!(has(self.ingress) && has(self.gateway))",message="a region has ingress or gateway, not both"
// +kubebuilder:validation:XValidation:rule="!has(self.__namespace__) || has(self.cluster)",message="a region has a namespace only together with a cluster; in the operator's own cluster it is the network's"
type Region struct {
	// The region's code. It is part of every id that is created in the region and cannot be changed.
	// +required
	Code RegionCode `json:"code"`

	// The host name at which clients reach the region, such as eu.api.acme.example.
	// +required
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')",message="host must be a DNS name in lower case"
	Host string `json:"host"`

	// Name of the member cluster in which the region runs: the name of a Secret with its kubeconfig in the operator's
	// namespace. Empty: the operator's own cluster. The Secrets that the spec names must exist in the region's cluster
	// and namespace.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Cluster string `json:"cluster,omitempty"`

	// Namespace of the region's objects in the member cluster. Empty: a namespace with the name of the network's.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Namespace string `json:"namespace,omitempty"`

	// Evacuates the region: the named region serves the hosts of this one, accepts its server keys and does its background
	// work, such as scheduled posts and events, until the field is removed. The region keeps its pods, if its cluster is
	// there. Rows stay in their home, whose database must respond; users and communities that are created meanwhile have the
	// home of the other region. controllers/EVACUATION.md has the runbook.
	// +optional
	EvacuateTo RegionCode `json:"evacuateTo,omitempty"`

	// More host names of the region, which its Ingress or HTTPRoute accepts.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=10
	// +kubebuilder:validation:items:MaxLength=253
	// +kubebuilder:validation:items:Pattern=`^(\*[.])?[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$`
	ExtraHosts []string `json:"extraHosts,omitempty"`

	// Scheme of the region's address as clients see it, which is also that of the URLs of files. Default: http with an
	// Ingress without certificate, otherwise https, because TLS ends in front of the pods.
	// +optional
	// +kubebuilder:validation:Enum=http;https
	Scheme string `json:"scheme,omitempty"`

	// Number of pods. Default without autoscaling: 2.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=200
	Replicas *int32 `json:"replicas,omitempty"`

	// Lets a HorizontalPodAutoscaler set the number of pods; the operator then does not change it.
	// +optional
	Autoscaling *Autoscaling `json:"autoscaling,omitempty"`

	// CPU and memory of each pod. Default: requests of 100m and 128Mi, and a memory limit of 512Mi.
	// +optional
	Resources *corev1.ResourceRequirements `json:"resources,omitempty"`

	// Labels that a node must have. Default: topology.kubernetes.io/region with the region's database locality; an
	// empty map allows any node.
	// +optional
	// +mapType=atomic
	NodeSelector *map[string]string `json:"nodeSelector,omitempty"`

	// Affinity of the pods.
	// +optional
	Affinity *corev1.Affinity `json:"affinity,omitempty"`

	// Tolerations of the pods.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=50
	Tolerations []corev1.Toleration `json:"tolerations,omitempty"`

	// Topology spread constraints of the pods. Default: spread over zones, where possible.
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

	// Additional environment variables of the platform, such as PLAZA_LOG_LEVEL. They take precedence over those that
	// the operator sets.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:XValidation:rule="self.all(e, !(e.name in ['PLAZA_REGION', 'PLAZA_NETWORK_ID', 'PLAZA_LISTEN', 'PLAZA_OPS_LISTEN', 'PLAZA_DATABASE_URL', 'PLAZA_SERVER_KEYS_FILE', 'PLAZA_API_KEYS_FILE', 'PLAZA_SIGNING_KEYS_FILE', 'PLAZA_DIRECTORY_KEY', 'PLAZA_DIRECTORY_KEY_FILE']))",message="env must not set variables of the operator: PLAZA_REGION, PLAZA_NETWORK_ID, PLAZA_LISTEN, PLAZA_OPS_LISTEN, PLAZA_DATABASE_URL and the key files"
	Env []corev1.EnvVar `json:"env,omitempty"`

	// Additional annotations of the pods.
	// +optional
	// +kubebuilder:validation:MaxProperties=50
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.startsWith('plaza.social/'))",message="podAnnotations must not start with plaza.social/, which is reserved for the operator"
	PodAnnotations map[string]string `json:"podAnnotations,omitempty"`

	// Additional labels of the pods.
	// +optional
	// +kubebuilder:validation:MaxProperties=50
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.startsWith('plaza.social/') && !k.startsWith('app.kubernetes.io/'))",message="podLabels must not start with plaza.social/ or app.kubernetes.io/, which are reserved for the operator"
	PodLabels map[string]string `json:"podLabels,omitempty"`

	// Annotations of the pods' ServiceAccount, such as the name of a cloud identity (eks.amazonaws.com/role-arn,
	// iam.gke.io/gcp-service-account, azure.workload.identity/client-id). Migrations have those of the primary region.
	// +optional
	// +kubebuilder:validation:MaxProperties=20
	ServiceAccountAnnotations map[string]string `json:"serviceAccountAnnotations,omitempty"`

	// Additional volumes of the servers.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=20
	Volumes []Volume `json:"volumes,omitempty"`

	// A strategic merge patch of the region's pod template, for what no field of this API sets: a sidecar, host
	// aliases, another user. It must not change the labels that select the pods, and must keep the container plaza; a
	// patch that cannot be applied is reported in the condition Updated, and the pods stay as they are.
	// +optional
	PodPatch *apiextensionsv1.JSON `json:"podPatch,omitempty"`

	// Creates an Ingress for the host.
	// +optional
	Ingress *Ingress `json:"ingress,omitempty"`

	// Creates an HTTPRoute for the host, if the cluster has the Gateway API.
	// +optional
	Gateway *Gateway `json:"gateway,omitempty"`
}

// Autoscaling lets a HorizontalPodAutoscaler set the number of pods.
//
// +kubebuilder:validation:XValidation:rule="self.minReplicas <= self.maxReplicas",message="minReplicas must not exceed maxReplicas"
type Autoscaling struct {
	// Minimum number of pods.
	// +optional
	// +kubebuilder:default=2
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=200
	MinReplicas int32 `json:"minReplicas,omitempty"`

	// Maximum number of pods.
	// +required
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=200
	MaxReplicas int32 `json:"maxReplicas"`

	// Target CPU utilization, as a percentage of the pods' requests.
	// +optional
	// +kubebuilder:default=70
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	TargetCPUUtilization int32 `json:"targetCPUUtilization,omitempty"`
}

// Ingress configures the region's Ingress.
type Ingress struct {
	// The IngressClass. Empty: the cluster's default.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	ClassName string `json:"className,omitempty"`

	// Secret with the TLS certificate of the host. Empty: the Ingress has no TLS section.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	TLSSecretName string `json:"tlsSecretName,omitempty"`

	// Annotations of the Ingress. Long streams and large files need those of its controller, such as
	// nginx.ingress.kubernetes.io/proxy-read-timeout: "3600" and nginx.ingress.kubernetes.io/proxy-body-size: 1g.
	// +optional
	// +kubebuilder:validation:MaxProperties=50
	Annotations map[string]string `json:"annotations,omitempty"`
}

// Gateway selects the Gateway of the region's HTTPRoute.
type Gateway struct {
	// The Gateway.
	// +required
	ParentRef GatewayReference `json:"parentRef"`

	// Maximum duration of a request. Default: 0s, which means no limit, because streams last for hours and downloads of
	// large files for minutes.
	// +optional
	// +kubebuilder:default="0s"
	RequestTimeout Duration `json:"requestTimeout,omitempty"`
}

// GatewayReference names a Gateway.
type GatewayReference struct {
	// Name of the Gateway.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`

	// Namespace of the Gateway. Empty: the network's own namespace.
	// +optional
	// +kubebuilder:validation:MaxLength=63
	Namespace string `json:"namespace,omitempty"`

	// Listener of the Gateway. Empty: all listeners that match.
	// +optional
	// +kubebuilder:validation:MaxLength=253
	SectionName string `json:"sectionName,omitempty"`
}
