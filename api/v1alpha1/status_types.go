package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// SocialNetworkStatus is the observed state of a network.
type SocialNetworkStatus struct {
	// Generation of the spec that this status describes.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Ready is the summary; each other condition belongs to one stage. controllers/README.md has a table of all
	// reasons.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// Number of available regions of those in the spec, such as 2/3.
	// +optional
	RegionsReady string `json:"regionsReady,omitempty"`

	// Version of the platform that runs in every region, or a sorted list of versions while the regions differ.
	// +optional
	Version string `json:"version,omitempty"`

	// The network's id, 24 lowercase hexadecimal characters. It is created once and never changes.
	// +optional
	NetworkID string `json:"networkID,omitempty"`

	// The database schema.
	// +optional
	Schema SchemaStatus `json:"schema,omitempty"`

	// The backups of the database. It is absent while spec.backup is, and the schedule was removed.
	// +optional
	Backup *BackupStatus `json:"backup,omitempty"`

	// The webhooks of the spec.
	// +optional
	// +listType=map
	// +listMapKey=name
	Webhooks []WebhookStatus `json:"webhooks,omitempty"`

	// The rotation of the server keys.
	// +optional
	ServerKeys ServerKeysStatus `json:"serverKeys,omitempty"`

	// The keys that sign tokens, while more than one is valid or one waits for the servers.
	// +optional
	// +listType=atomic
	SigningKeys []KeyStatus `json:"signingKeys,omitempty"`

	// The API keys, while more than one is valid or one waits for the servers.
	// +optional
	// +listType=atomic
	APIKeys []KeyStatus `json:"apiKeys,omitempty"`

	// The certificates of the calls between the operator and the servers.
	// +optional
	Control ControlStatus `json:"control,omitempty"`

	// Secrets whose keys were lost, of which no copy is left. No pod is created or replaced until they are restored or given up.
	// +optional
	// +listType=atomic
	MissingKeys []string `json:"missingKeys,omitempty"`

	// Regions that the spec no longer names and whose server keys are kept for a while.
	// +optional
	// +listType=map
	// +listMapKey=code
	RetainedKeys []RetainedKeys `json:"retainedKeys,omitempty"`

	// The namespaces of member clusters that have, or may have, objects of the network.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +listMapKey=namespace
	Clusters []ClusterNamespace `json:"clusters,omitempty"`

	// The regions of the spec.
	// +optional
	// +listType=map
	// +listMapKey=code
	Regions []RegionStatus `json:"regions,omitempty"`

	// Changes that the operator would make if spec.paused were false, such as: change Deployment acme-eu: image from …:v1
	// to …:v2; the pods are replaced. Values of Secrets and variables are not shown.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	PendingChanges []string `json:"pendingChanges,omitempty"`
}

// ClusterNamespace is a namespace of a member cluster.
type ClusterNamespace struct {
	// Name of the cluster.
	// +required
	Name string `json:"name"`

	// The namespace.
	// +required
	Namespace string `json:"namespace"`
}

// SchemaStatus is the observed and the required database schema.
type SchemaStatus struct {
	// Version of the database schema, as reported by the servers and the last migration.
	// +optional
	Current string `json:"current,omitempty"`

	// Version that the image needs. For an image other than the operator's default it is empty until the first
	// migration attempt has ended.
	// +optional
	Target string `json:"target,omitempty"`

	// Number of attempts to migrate to the target, including failed ones.
	// +optional
	Attempts int32 `json:"attempts,omitempty"`

	// Error of the last migration attempt, without secrets.
	// +optional
	// +kubebuilder:validation:MaxLength=1000
	LastError string `json:"lastError,omitempty"`

	// Hash of the image, database and placement of the last completed migration.
	// +optional
	Completed string `json:"completed,omitempty"`

	// When the next attempt starts, after a failed one.
	// +optional
	NextRetry *metav1.Time `json:"nextRetry,omitempty"`
}

// ServerKeysStatus is the rotation of the server keys.
type ServerKeysStatus struct {
	// When the server keys of all regions had been rotated last.
	// +optional
	LastRotation *metav1.Time `json:"lastRotation,omitempty"`

	// When the next rotation is due. Absent for keys of an existing Secret.
	// +optional
	NextRotation *metav1.Time `json:"nextRotation,omitempty"`
}

// ControlStatus are the certificates of the calls between the operator and the servers.
type ControlStatus struct {
	// When the first of the certificates ends: those of the authority, the operator and the regions. The operator renews
	// each at least 30 days before its end.
	// +optional
	CertificatesNotAfter *metav1.Time `json:"certificatesNotAfter,omitempty"`
}

// RetainedKeys are the server keys of a removed region.
type RetainedKeys struct {
	// The region's code.
	// +required
	Code RegionCode `json:"code"`

	// When the Secret with the keys is deleted.
	// +required
	Until metav1.Time `json:"until"`
}

// RegionStatus is the observed state of a region.
type RegionStatus struct {
	// The region's code.
	// +required
	Code RegionCode `json:"code"`

	// Member cluster of the region; empty means the operator's own.
	// +optional
	Cluster string `json:"cluster,omitempty"`

	// Region that serves the clients of this one, and does its background work.
	// +optional
	EvacuatedTo RegionCode `json:"evacuatedTo,omitempty"`

	// Address of the region's API.
	// +optional
	Endpoint string `json:"endpoint,omitempty"`

	// Image of the region's Deployment.
	// +optional
	Image string `json:"image,omitempty"`

	// Version that the region's servers report.
	// +optional
	Version string `json:"version,omitempty"`

	// Desired number of pods.
	// +optional
	Replicas int32 `json:"replicas,omitempty"`

	// Number of ready pods.
	// +optional
	ReadyReplicas int32 `json:"readyReplicas,omitempty"`

	// The server keys, newest first.
	// +optional
	// +listType=map
	// +listMapKey=id
	// +kubebuilder:validation:MaxItems=20
	ServerKeys []KeyStatus `json:"serverKeys,omitempty"`

	// Hash of the configuration whose changes restart the region's pods.
	// +optional
	ConfigurationHash string `json:"configurationHash,omitempty"`

	// Hash of the moderation settings that the region's servers run.
	// +optional
	ModerationHash string `json:"moderationHash,omitempty"`

	// The conditions Available, Updated, KeysVerified, ControlSecured and, with a Gateway, Routed of this region, and while
	// the region is evacuated, Evacuated.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// KeyStatus is the state of a server key.
type KeyStatus struct {
	// The key's id, which is not secret.
	// +required
	ID string `json:"id"`

	// Pending keys are not verified yet, the Active key is the one to use, and Retiring keys are accepted until
	// notAfter. Revoked keys are not listed.
	// +required
	// +kubebuilder:validation:Enum=Pending;Active;Retiring
	State KeyState `json:"state"`

	// When the key expires. Absent for the active key.
	// +optional
	NotAfter *metav1.Time `json:"notAfter,omitempty"`
}

// KeyState is the state of a server key.
type KeyState string

// The states of a server key, in the order of its life cycle.
const (
	// KeyPending is a new key that is not verified yet; clients should not use it.
	KeyPending KeyState = "Pending"
	// KeyActive is the key to use.
	KeyActive KeyState = "Active"
	// KeyRetiring is an old key that is accepted until its notAfter.
	KeyRetiring KeyState = "Retiring"
)
