package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// SocialNetwork is one social network: up to three regions of the Plaza platform on one database.
//
// The operator makes the keys, migrates the database's schema, runs one deployment per region, applies the moderation
// settings, and installs alerts and dashboards. `kubectl get sn` shows what holds; the conditions say why.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=socialnetworks,scope=Namespaced,shortName=sn,categories=plaza
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`,description="Whether everything the spec asks for is true"
// +kubebuilder:printcolumn:name="Regions",type=string,JSONPath=`.status.regionsReady`,description="Regions that serve, of those in the spec"
// +kubebuilder:printcolumn:name="Version",type=string,JSONPath=`.status.version`,description="Version of the platform that serves in every region"
// +kubebuilder:printcolumn:name="Schema",type=string,JSONPath=`.status.schema.current`,description="Version of the database's schema"
// +kubebuilder:printcolumn:name="Alerts",type=string,JSONPath=`.status.conditions[?(@.type=="AlertsApplied")].status`,description="Whether the alerts and dashboards are in place"
// +kubebuilder:printcolumn:name="Paused",type=boolean,JSONPath=`.spec.paused`,description="Whether the operator only watches"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,description="Why the network is ready, or is not"
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].message`,description="The same in a sentence"
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 40",message="metadata.name may have at most 40 characters, because the names of the network's objects are made from it"
// +kubebuilder:validation:XValidation:rule="self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="metadata.name must be a DNS label that starts with a letter, because Services are named after it"
type SocialNetwork struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// What the network should be.
	// +required
	Spec SocialNetworkSpec `json:"spec"`

	// What the network is, as the operator last saw it.
	// +optional
	Status SocialNetworkStatus `json:"status,omitempty"`
}

// SocialNetworkList is a list of SocialNetworks.
//
// +kubebuilder:object:root=true
type SocialNetworkList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`
	Items           []SocialNetwork `json:"items"`
}

// SocialNetworkSpec is what a network should be.
//
// +kubebuilder:validation:XValidation:rule="self.regions.all(r, r.code in self.database.localities)",message="database.localities must name every region of the spec"
type SocialNetworkSpec struct {
	// Image of the platform. Empty: the image of the operator's own version.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=500
	// +kubebuilder:validation:XValidation:rule="!self.contains(' ')",message="image must be an image reference without blanks"
	Image string `json:"image,omitempty"`

	// When the image is pulled. Empty: the cluster's default (Always for the tag latest, else IfNotPresent).
	// +optional
	// +kubebuilder:validation:Enum=Always;IfNotPresent;Never
	ImagePullPolicy string `json:"imagePullPolicy,omitempty"`

	// Secrets of this namespace with which the image is pulled.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=10
	ImagePullSecrets []LocalSecretReference `json:"imagePullSecrets,omitempty"`

	// The one database of the network.
	// +required
	Database Database `json:"database"`

	// The regions in which the network serves, one to three, each with an address of its own.
	// +required
	// +listType=map
	// +listMapKey=code
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=3
	// +kubebuilder:validation:XValidation:rule="self.all(r, self.exists_one(o, o.host == r.host))",message="each region needs a host of its own"
	// +kubebuilder:validation:XValidation:rule="self.all(r, !oldSelf.exists(o, o.code == r.code && o.host != r.host))",message="the host of a region is immutable: clients hold it"
	Regions []Region `json:"regions"`

	// The keys with which apps' own servers call the platform.
	// +optional
	// +kubebuilder:default={}
	ServerKeys ServerKeys `json:"serverKeys,omitempty"`

	// Network-wide moderation settings. Changes made to them elsewhere are put back.
	// +optional
	// +kubebuilder:default={}
	Moderation Moderation `json:"moderation,omitempty"`

	// Where uploaded files are kept.
	// +optional
	Storage *Storage `json:"storage,omitempty"`

	// Alerts, dashboards and scraping.
	// +optional
	// +kubebuilder:default={}
	Monitoring Monitoring `json:"monitoring,omitempty"`

	// Which traffic reaches and leaves the pods.
	// +optional
	// +kubebuilder:default={}
	NetworkPolicy NetworkPolicy `json:"networkPolicy,omitempty"`

	// How a change of the pods is rolled over the regions.
	// +optional
	// +kubebuilder:default={}
	Rollout Rollout `json:"rollout,omitempty"`

	// While true the operator only watches: status and metrics stay fresh, status.pendingChanges lists what it would do, and
	// only the revocation of keys whose time is over still happens.
	// +optional
	// +kubebuilder:default=false
	Paused bool `json:"paused"`

	// What becomes of the network's keys when the SocialNetwork is deleted. Retain keeps the Secrets with the keys, so that the
	// same network can be made again; Delete removes them. The database is never touched.
	// +optional
	// +kubebuilder:default=Retain
	// +kubebuilder:validation:Enum=Retain;Delete
	DeletionPolicy DeletionPolicy `json:"deletionPolicy,omitempty"`
}

// DeletionPolicy says what becomes of the keys of a deleted network.
type DeletionPolicy string

// The deletion policies.
const (
	DeletionRetain DeletionPolicy = "Retain"
	DeletionDelete DeletionPolicy = "Delete"
)

// LocalSecretReference names a Secret of the network's namespace.
//
// +structType=atomic
type LocalSecretReference struct {
	// Name of the Secret.
	// +required
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=253
	Name string `json:"name"`
}

// Database is the one database of the network.
//
// +kubebuilder:validation:XValidation:rule="self.localities.all(c, c in ['us', 'eu', 'sg'])",message="localities may name us, eu and sg only"
// +kubebuilder:validation:XValidation:rule="self.localities.all(c, self.localities.exists_one(o, self.localities[o] == self.localities[c]))",message="two regions cannot have the same database locality"
type Database struct {
	// The Secret with the connection URL: key `url` for all homes, or `url-us`, `url-eu` and `url-sg` for the rows of one home
	// each, such as the database nodes nearest to them.
	// +required
	SecretRef LocalSecretReference `json:"secretRef"`

	// The region whose database nodes hold what belongs to no home, such as the migrations' own table.
	// +optional
	// +kubebuilder:default=us
	PrimaryRegion RegionCode `json:"primaryRegion,omitempty"`

	// The database cluster's own names of the regions, as its nodes carry them in --locality=region=…. Every region of the spec
	// needs one; a region without one keeps the standard name.
	// +optional
	// +kubebuilder:default={us: us-east1, eu: europe-west1, sg: asia-southeast1}
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=3
	// +kubebuilder:validation:XValidation:rule="self.all(c, size(self[c]) <= 63 && self[c].matches('^[A-Za-z0-9][A-Za-z0-9_-]*$'))",message="a locality must have 1 to 63 letters, digits, hyphens and underscores"
	Localities map[string]string `json:"localities,omitempty"`

	// What the database survives without losing a row: the loss of a zone, or of a whole region, which costs every write a
	// round trip to another region.
	// +optional
	// +kubebuilder:default=zone
	// +kubebuilder:validation:Enum=zone;region
	Survive string `json:"survive,omitempty"`
}

// ServerKeys says how the keys are made and renewed with which apps' own servers call the platform.
//
// +kubebuilder:validation:XValidation:rule="!has(self.existingSecret) || !has(self.rotateEvery)",message="existingSecret excludes rotateEvery: keys that you bring are rotated by you"
// +kubebuilder:validation:XValidation:rule="!has(self.rotateEvery) || duration(self.overlap) < duration(self.rotateEvery)",message="overlap must be shorter than rotateEvery"
type ServerKeys struct {
	// Time from one rotation to the next, between 10 minutes and one year. Absent: 720h (30 days).
	// +optional
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('10m') && duration(self) <= duration('8784h')",message="rotateEvery must be between 10m and 8784h"
	RotateEvery *Duration `json:"rotateEvery,omitempty"`

	// How long an old key is still accepted beside the new one, between 1 minute and 7 days.
	// +optional
	// +kubebuilder:default="1h"
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1m') && duration(self) <= duration('168h')",message="overlap must be between 1m and 168h"
	Overlap Duration `json:"overlap,omitempty"`

	// A Secret of yours with the key file under `server-keys.json`, in place of keys that the operator makes.
	// +optional
	ExistingSecret *LocalSecretReference `json:"existingSecret,omitempty"`
}

// Duration is written like 30s, 5m or 720h.
//
// +kubebuilder:validation:MaxLength=20
// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
type Duration string

// Moderation is what the network's moderation settings should be.
type Moderation struct {
	// Whether links are allowed from a list of hosts only.
	// +optional
	// +kubebuilder:default=false
	WhitelistEnabled bool `json:"whitelistEnabled"`

	// Whether users can report (flag) content.
	// +optional
	// +kubebuilder:default=true
	ReportEnabled bool `json:"reportEnabled"`

	// Most flags a post, comment or story can have.
	// +optional
	// +kubebuilder:default=100
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	FlagLimit int32 `json:"flagLimit,omitempty"`
}

// Storage is where uploaded files are kept.
type Storage struct {
	// URL of the bucket: s3://bucket?region=…, gs://bucket, azblob://container, or file:///folder for trying it out.
	// +required
	// +kubebuilder:validation:MaxLength=1000
	// +kubebuilder:validation:XValidation:rule="self.startsWith('s3://') || self.startsWith('gs://') || self.startsWith('azblob://') || self.startsWith('file:///')",message="storage.url must start with s3://, gs://, azblob:// or file:///"
	URL string `json:"url"`

	// A Secret whose keys become environment variables of the platform, such as AWS_ACCESS_KEY_ID.
	// +optional
	SecretRef *LocalSecretReference `json:"secretRef,omitempty"`
}

// NetworkPolicy says which traffic reaches and leaves the pods.
type NetworkPolicy struct {
	// Whether the operator makes a NetworkPolicy per region: in from anywhere to the API port and from the operator and Prometheus
	// to the operations port; out to DNS, the database, and storage.
	// +optional
	// +kubebuilder:default=true
	Enabled bool `json:"enabled"`
}

// Rollout says how a change of the pods is rolled over the regions.
type Rollout struct {
	// Most regions that roll at once.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3
	MaxRegionsRolling int32 `json:"maxRegionsRolling,omitempty"`

	// How long a region has to stay ready before the next one rolls, at most 24h.
	// +optional
	// +kubebuilder:default="30s"
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('0s') && duration(self) <= duration('24h')",message="soak must be between 0s and 24h"
	Soak Duration `json:"soak,omitempty"`
}
