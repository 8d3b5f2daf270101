package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// SocialNetworkStatus is what a network is, as the operator last saw it.
type SocialNetworkStatus struct {
	// Generation of the spec that this status speaks of.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`

	// Ready sums up; each further condition speaks of one stage. README.md has a table of all reasons.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// Regions that serve, of those in the spec, such as 2/3.
	// +optional
	RegionsReady string `json:"regionsReady,omitempty"`

	// Version of the platform that serves in every region; the versions in order while they differ.
	// +optional
	Version string `json:"version,omitempty"`

	// The network's id, of 24 lowercase hexadecimal characters. It is made once and never changes.
	// +optional
	NetworkID string `json:"networkID,omitempty"`

	// The database's schema.
	// +optional
	Schema SchemaStatus `json:"schema,omitempty"`

	// The server keys and their rotation.
	// +optional
	ServerKeys ServerKeysStatus `json:"serverKeys,omitempty"`

	// Each region of the spec.
	// +optional
	// +listType=map
	// +listMapKey=code
	Regions []RegionStatus `json:"regions,omitempty"`

	// What the operator would do if spec.paused were false. Empty when nothing waits.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	PendingChanges []string `json:"pendingChanges,omitempty"`
}

// SchemaStatus is what the database's schema is and should be.
type SchemaStatus struct {
	// Version that the database has, as the servers and the last migration reported it.
	// +optional
	Current string `json:"current,omitempty"`

	// Version that the image needs. For another image than the operator's own it is empty until the first attempt to migrate has
	// ended, well or not.
	// +optional
	Target string `json:"target,omitempty"`

	// Attempts to migrate to the target, those that failed included.
	// +optional
	Attempts int32 `json:"attempts,omitempty"`

	// Last error of a migration to the target, in a line without secrets.
	// +optional
	// +kubebuilder:validation:MaxLength=1000
	LastError string `json:"lastError,omitempty"`

	// When the next attempt starts, after one that failed.
	// +optional
	NextRetry *metav1.Time `json:"nextRetry,omitempty"`
}

// ServerKeysStatus is how the server keys stand.
type ServerKeysStatus struct {
	// When the server keys were last rotated in every region.
	// +optional
	LastRotation *metav1.Time `json:"lastRotation,omitempty"`

	// When they will be rotated next. Absent for keys of an existing Secret.
	// +optional
	NextRotation *metav1.Time `json:"nextRotation,omitempty"`
}

// RegionStatus is what one region is.
type RegionStatus struct {
	// The region's code.
	// +required
	Code RegionCode `json:"code"`

	// Address of the region's API.
	// +optional
	Endpoint string `json:"endpoint,omitempty"`

	// Image that the region's deployment has now.
	// +optional
	Image string `json:"image,omitempty"`

	// Version that the region's servers report.
	// +optional
	Version string `json:"version,omitempty"`

	// Pods wanted.
	// +optional
	Replicas int32 `json:"replicas,omitempty"`

	// Pods of the newest template that are ready.
	// +optional
	ReadyReplicas int32 `json:"readyReplicas,omitempty"`

	// The server keys by their ids, newest first.
	// +optional
	// +listType=map
	// +listMapKey=id
	// +kubebuilder:validation:MaxItems=20
	ServerKeys []KeyStatus `json:"serverKeys,omitempty"`

	// Hash of the configuration that the region's pods restart for.
	// +optional
	ConfigurationHash string `json:"configurationHash,omitempty"`

	// Hash of the moderation settings that the region's servers report as the ones they run.
	// +optional
	ModerationHash string `json:"moderationHash,omitempty"`

	// Available, Updated and KeysVerified of this region.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// KeyStatus is how one server key stands.
type KeyStatus struct {
	// The key's id. It is no secret.
	// +required
	ID string `json:"id"`

	// Active is the one to use, Retiring is accepted until notAfter; a revoked key is gone from the list.
	// +required
	// +kubebuilder:validation:Enum=Pending;Active;Retiring
	State KeyState `json:"state"`

	// When the key ends. Absent for the active key.
	// +optional
	NotAfter *metav1.Time `json:"notAfter,omitempty"`
}

// KeyState is the state of a server key.
type KeyState string

// The states of a server key, in their order. A revoked key is no longer listed.
const (
	// KeyPending is new and not yet verified: clients should not use it yet.
	KeyPending KeyState = "Pending"
	// KeyActive is the key to use.
	KeyActive KeyState = "Active"
	// KeyRetiring is still accepted, until its notAfter.
	KeyRetiring KeyState = "Retiring"
)
