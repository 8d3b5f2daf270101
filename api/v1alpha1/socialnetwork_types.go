package v1alpha1

import (
	"time"

	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// SocialNetwork is one social network: one to three regions of the Plaza platform on one database.
//
// The operator creates the keys, migrates the database schema, runs one Deployment per region, applies the moderation
// settings, and installs alerts and dashboards. `kubectl get sn` shows the state; the conditions explain it.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:path=socialnetworks,scope=Namespaced,shortName=sn,categories=plaza
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`,description="Whether the network matches the spec"
// +kubebuilder:printcolumn:name="Regions",type=string,JSONPath=`.status.regionsReady`,description="Available regions of those in the spec"
// +kubebuilder:printcolumn:name="Version",type=string,JSONPath=`.status.version`,description="Version of the platform in every region"
// +kubebuilder:printcolumn:name="Schema",type=string,JSONPath=`.status.schema.current`,description="Version of the database schema"
// +kubebuilder:printcolumn:name="Alerts",type=string,JSONPath=`.status.conditions[?(@.type=="AlertsApplied")].status`,description="Whether the alerts and dashboards are installed"
// +kubebuilder:printcolumn:name="Paused",type=boolean,JSONPath=`.spec.paused`,description="Whether the operator only observes"
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:printcolumn:name="Reason",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`,description="Reason of the condition Ready"
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].message`,description="Message of the condition Ready"
// +kubebuilder:validation:XValidation:rule="size(self.metadata.name) <= 40",message="metadata.name must have at most 40 characters, because the names of the network's objects are derived from it"
// +kubebuilder:validation:XValidation:rule="self.metadata.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$')",message="metadata.name must be a DNS label that starts with a letter, because Services are named after it"
type SocialNetwork struct {
	metav1.TypeMeta `json:",inline"`
	// +optional
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// Desired state of the network.
	// +required
	Spec SocialNetworkSpec `json:"spec"`

	// Observed state of the network.
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

// SocialNetworkSpec is the desired state of a network.
//
// +kubebuilder:validation:XValidation:rule="self.regions.all(r, r.code in self.database.localities)",message="database.localities must name every region of the spec"
// +kubebuilder:validation:XValidation:rule="!has(self.storage) || size(self.regions) == 1 || self.storage.shared || (has(self.storage.url) && self.storage.url.startsWith('file:///')) || self.regions.all(r, has(self.storage.homes) && self.storage.homes.exists(h, h.code == r.code))",message="storage.homes must name every region, so that files are stored in the region of their home; storage.shared allows one bucket for all regions"
// +kubebuilder:validation:XValidation:rule="!has(self.database.maxConnections) || self.database.maxConnections >= 3 * self.regions.map(r, (has(r.autoscaling) ? r.autoscaling.maxReplicas : (has(r.replicas) ? r.replicas : 2)) + 1).sum()",message="database.maxConnections must allow three connections for every pod: those of all regions, and one more of each region during an update"
type SocialNetworkSpec struct {
	// Image of the platform. Empty: the image of the operator's own version.
	// +optional
	// +kubebuilder:validation:MinLength=1
	// +kubebuilder:validation:MaxLength=500
	// +kubebuilder:validation:XValidation:rule="!self.contains(' ')",message="image must be an image reference without spaces"
	Image string `json:"image,omitempty"`

	// Pull policy of the image. Empty: the cluster's default (Always for the tag latest, otherwise IfNotPresent).
	// +optional
	// +kubebuilder:validation:Enum=Always;IfNotPresent;Never
	ImagePullPolicy string `json:"imagePullPolicy,omitempty"`

	// Secrets in the same namespace with credentials for pulling the image.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=10
	ImagePullSecrets []LocalSecretReference `json:"imagePullSecrets,omitempty"`

	// The database of the network.
	// +required
	Database Database `json:"database"`

	// The regions in which the network serves, one to three, each with its own host name.
	// +required
	// +listType=map
	// +listMapKey=code
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=3
	// +kubebuilder:validation:XValidation:rule="self.all(r, self.exists_one(o, o.host == r.host))",message="each region must have its own host"
	// +kubebuilder:validation:XValidation:rule="self.all(r, !oldSelf.exists(o, o.code == r.code && o.host != r.host))",message="the host of a region is immutable, because clients store it"
	// +kubebuilder:validation:XValidation:rule="self.all(r, !oldSelf.exists(o, o.code == r.code && ((has(o.cluster) ? o.cluster : '') != (has(r.cluster) ? r.cluster : '') || (has(o.__namespace__) ? o.__namespace__ : '') != (has(r.__namespace__) ? r.__namespace__ : ''))))",message="the cluster and the namespace of a region are immutable; remove the region and add it again"
	// +kubebuilder:validation:XValidation:rule="self.all(r, !has(r.evacuateTo) || r.evacuateTo != r.code)",message="evacuateTo must name another region"
	// +kubebuilder:validation:XValidation:rule="self.all(r, !has(r.evacuateTo) || self.exists(t, t.code == r.evacuateTo))",message="evacuateTo must name a region of the spec"
	// +kubebuilder:validation:XValidation:rule="self.all(r, !has(r.evacuateTo) || self.all(t, t.code != r.evacuateTo || !has(t.evacuateTo)))",message="evacuateTo must name a region that is not evacuated itself"
	Regions []Region `json:"regions"`

	// The keys with which the servers of apps authenticate to the platform.
	// +optional
	// +kubebuilder:default={}
	ServerKeys ServerKeys `json:"serverKeys,omitempty"`

	// The rotation of the keys that sign the tokens of users. Old access tokens stay valid until they expire.
	// +optional
	SigningKeys *SharedKeys `json:"signingKeys,omitempty"`

	// The rotation of the keys that are built into apps.
	// +optional
	APIKeys *SharedKeys `json:"apiKeys,omitempty"`

	// Network-wide moderation settings. Changes that are made outside the spec are overwritten.
	// +optional
	// +kubebuilder:default={}
	Moderation Moderation `json:"moderation,omitempty"`

	// Addresses of the app's own servers, to which the network posts events. An administrator can register others by the API; those
	// of the spec can be changed in the spec only.
	// +optional
	// +listType=map
	// +listMapKey=name
	// +kubebuilder:validation:MaxItems=10
	Webhooks []Webhook `json:"webhooks,omitempty"`

	// Address of the app's own servers that is asked before users make a change. Empty: the one that administrators set by the API.
	// +optional
	PreHook *PreHook `json:"preHook,omitempty"`

	// Providers of push notifications.
	// +optional
	Push *Push `json:"push,omitempty"`

	// Maximum rate of requests per user, such as 100/5s: 1 to 1,000,000 requests per 1s to 1h; off: no rate limits.
	// Empty: the default of the platform. The network setting rateLimit takes precedence, if an administrator has set it.
	// +optional
	// +kubebuilder:validation:MaxLength=40
	// +kubebuilder:validation:Pattern=`^(off|[1-9][0-9]{0,6}/([0-9]+h)?([0-9]+m)?([0-9]+s)?)$`
	RateLimit string `json:"rateLimit,omitempty"`

	// Proxies in front of the pods whose header X-Forwarded-For names the client: their number, or their addresses, such
	// as 10.0.0.0/8,192.0.2.7. Empty: one in regions with an Ingress or a Gateway, none in the others, where all clients
	// of a proxy would share the rate limits of its address.
	// +optional
	// +kubebuilder:validation:MaxLength=500
	// +kubebuilder:validation:Pattern=`^[0-9a-fA-F:./, ]*$`
	TrustedProxies string `json:"trustedProxies,omitempty"`

	// Storage of uploaded files.
	// +optional
	Storage *Storage `json:"storage,omitempty"`

	// Backups of the database.
	// +optional
	Backup *Backup `json:"backup,omitempty"`

	// Scraping, alerts and dashboards.
	// +optional
	// +kubebuilder:default={}
	Monitoring Monitoring `json:"monitoring,omitempty"`

	// Traffic to and from the pods.
	// +optional
	// +kubebuilder:default={}
	NetworkPolicy NetworkPolicy `json:"networkPolicy,omitempty"`

	// How a change of the pods is rolled out over the regions.
	// +optional
	// +kubebuilder:default={}
	Rollout Rollout `json:"rollout,omitempty"`

	// When updates may begin: the migration of the database, and the replacement of a region's pods, also after an upgrade of
	// the operator or a change of a Secret. An update that has begun in a region is finished there. Keys, settings, the number
	// of pods, and the repair of an update that failed do not wait. Empty: at any time.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=20
	MaintenanceWindows []MaintenanceWindow `json:"maintenanceWindows,omitempty"`

	// Settings of the servers.
	// +optional
	Server *Server `json:"server,omitempty"`

	// Traces of the servers.
	// +optional
	Observability *Observability `json:"observability,omitempty"`

	// Whether the operator only observes: it updates status and metrics and lists the changes that it would make in
	// status.pendingChanges. Expired keys are still revoked.
	// +optional
	// +kubebuilder:default=false
	Paused bool `json:"paused"`

	// What happens to the network's keys when the SocialNetwork is deleted. Retain keeps the Secrets with the keys, so
	// that the same network can be created again; Delete removes them. The database is never touched.
	// +optional
	// +kubebuilder:default=Retain
	// +kubebuilder:validation:Enum=Retain;Delete
	DeletionPolicy DeletionPolicy `json:"deletionPolicy,omitempty"`
}

// DeletionPolicy determines what happens to the keys of a deleted network.
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

// Database configures the database of the network.
//
// +kubebuilder:validation:XValidation:rule="self.localities.all(c, c in ['us', 'eu', 'sg'])",message="localities must only name us, eu and sg"
// +kubebuilder:validation:XValidation:rule="self.localities.all(c, !(c in oldSelf.localities) || self.localities[c] == oldSelf.localities[c] || (has(self.confirmLocalities) && c in self.confirmLocalities && self.confirmLocalities[c] == self.localities[c]))",message="a changed locality moves every row of its region to other nodes: repeat its new name in database.confirmLocalities"
// +kubebuilder:validation:XValidation:rule="self.localities.all(c, self.localities.exists_one(o, self.localities[o] == self.localities[c]))",message="regions must have different database localities"
type Database struct {
	// The Secret with the connection URL: key `url` for the rows of all regions, or `url-us`, `url-eu` and `url-sg` for
	// the rows of one region each, for example of the database nodes nearest to them. With the key `owner-url`, migrations
	// use that role, and the others need not be able to change the schema.
	// +required
	SecretRef LocalSecretReference `json:"secretRef"`

	// Certificates for connections to a database with its own authority, or with client certificates.
	// +optional
	TLS *DatabaseTLS `json:"tls,omitempty"`

	// Maximum number of connections of all servers together. A server keeps up to 8 for the rows of each of the three
	// homes: 24, or 216 for three regions with two pods, of which one more exists in each region during an update. With
	// this limit every server keeps as many fewer as needed; leave ten connections of the database to migrations and
	// people.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	MaxConnections *int32 `json:"maxConnections,omitempty"`

	// The region whose database nodes store rows that belong to no region, such as the table of the migrations.
	// +optional
	// +kubebuilder:default=us
	PrimaryRegion RegionCode `json:"primaryRegion,omitempty"`

	// The names of the regions in the database cluster, as set by --locality=region=… on its nodes. Every region of the
	// spec needs one; regions that the spec does not name keep the default.
	// +optional
	// +kubebuilder:default={us: us-east1, eu: europe-west1, sg: asia-southeast1}
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=3
	// +kubebuilder:validation:XValidation:rule="self.all(c, size(self[c]) <= 63 && self[c].matches('^[A-Za-z0-9][A-Za-z0-9_-]*$'))",message="a locality must consist of 1 to 63 letters, digits, hyphens and underscores"
	Localities map[string]string `json:"localities,omitempty"`

	// Confirms that a locality is changed, which moves every row of its region to the nodes of the new one, perhaps in
	// another jurisdiction: the new name by the region's code. It has no other effect.
	// +optional
	// +kubebuilder:validation:MaxProperties=3
	// +kubebuilder:validation:XValidation:rule="self.all(c, c in ['us', 'eu', 'sg'] && size(self[c]) <= 63)",message="confirmLocalities must only name us, eu and sg"
	ConfirmLocalities map[string]string `json:"confirmLocalities,omitempty"`

	// Whether Ready requires that the database stores the rows of every table where the spec requires (RegionsPinned). It
	// never does on PostgreSQL, which has no regions, nor, with one region, on CockroachDB nodes without localities.
	// +optional
	// +kubebuilder:default=true
	RequirePinned bool `json:"requirePinned"`

	// What the database survives without losing a row: the loss of a zone, or of a region. Surviving the loss of a
	// region adds a round trip to another region to every write, and spreads the replicas of all rows over all regions:
	// rows are no longer stored in their region only.
	// +optional
	// +kubebuilder:default=zone
	// +kubebuilder:validation:Enum=zone;region
	Survive string `json:"survive,omitempty"`
}

// ServerKeys configures the keys with which the servers of apps authenticate to the platform, and their rotation.
//
// +kubebuilder:validation:XValidation:rule="!has(self.existingSecret) || !has(self.rotateEvery)",message="rotateEvery must not be set together with existingSecret: you rotate the keys that you provide"
// +kubebuilder:validation:XValidation:rule="!has(self.rotateEvery) || duration(self.overlap) < duration(self.rotateEvery)",message="overlap must be shorter than rotateEvery"
type ServerKeys struct {
	// Time between two rotations, from 10 minutes to one year. Default: 720h (30 days).
	// +optional
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('10m') && duration(self) <= duration('8784h')",message="rotateEvery must be between 10m and 8784h"
	RotateEvery *Duration `json:"rotateEvery,omitempty"`

	// How long an old key is accepted after its replacement became active, from 1 minute to 7 days.
	// +optional
	// +kubebuilder:default="1h"
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1m') && duration(self) <= duration('168h')",message="overlap must be between 1m and 168h"
	Overlap Duration `json:"overlap,omitempty"`

	// Ids of keys that are revoked immediately, without overlap, for example because they became known to others: they are
	// removed from the Secrets of all regions, even while the network is paused, and servers refuse them as soon as the
	// kubelets have updated the mounted Secrets, within about a minute. A revoked active key is replaced by a new one. An
	// id that no region has is ignored. The annotation plaza.social/revoke-server-keys does the same.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=50
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=100
	Revoke []string `json:"revoke,omitempty"`

	// How long the Secret with the keys of a removed region is kept, so that the region has the same keys if it is added
	// again. From 0s to one year.
	// +optional
	// +kubebuilder:default="720h"
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('0s') && duration(self) <= duration('8784h')",message="retainRemoved must be between 0s and 8784h"
	RetainRemoved Duration `json:"retainRemoved,omitempty"`

	// A Secret that you provide, with the key file under `server-keys.json`. The operator then creates no keys.
	// +optional
	ExistingSecret *LocalSecretReference `json:"existingSecret,omitempty"`
}

// SharedKeys configures the rotation of keys that all regions share. The annotations plaza.social/rotate-signing-keys and
// plaza.social/rotate-api-keys start a rotation at once.
type SharedKeys struct {
	// Time between two rotations, from 1 day to 10 years. By default there are none but those that an annotation starts.
	// +optional
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('24h') && duration(self) <= duration('87840h')",message="rotateEvery must be between 24h and 87840h"
	RotateEvery *Duration `json:"rotateEvery,omitempty"`

	// How long an old key is accepted after its replacement became active, up to one year. Signing keys are accepted for at
	// least the validity of access tokens. Default: 2160h (90 days) for API keys, and the validity of access tokens for
	// signing keys.
	// +optional
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1m') && duration(self) <= duration('8784h')",message="overlap must be between 1m and 8784h"
	Overlap *Duration `json:"overlap,omitempty"`
}

// Duration is a duration such as 30s, 5m or 720h.
//
// +kubebuilder:validation:MaxLength=20
// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(ms|s|m|h))+$`
type Duration string

// Or returns the duration, or fallback if there is none, as in objects that were created without the defaults of the CRD.
func (d Duration) Or(fallback time.Duration) time.Duration {
	if parsed, err := time.ParseDuration(string(d)); err == nil {
		return parsed
	}
	return fallback
}

// Moderation is the desired moderation settings.
type Moderation struct {
	// Whether links are allowed only to hosts on a list.
	// +optional
	// +kubebuilder:default=false
	WhitelistEnabled bool `json:"whitelistEnabled"`

	// Whether users can report (flag) content.
	// +optional
	// +kubebuilder:default=true
	ReportEnabled bool `json:"reportEnabled"`

	// Maximum number of flags of a post, comment or story.
	// +optional
	// +kubebuilder:default=100
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000
	FlagLimit int32 `json:"flagLimit,omitempty"`

	// Number of users whose flags hide a post, comment, story or message until a moderator decides, or escalate a user in
	// the moderators' queue. 0: flags do neither.
	// +optional
	// +kubebuilder:default=0
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=1000
	FlagHideLimit int32 `json:"flagHideLimit"`
}

// Storage configures the storage of uploaded files.
//
// +kubebuilder:validation:XValidation:rule="has(self.url) || has(self.homes)",message="storage must have url or homes"
// +kubebuilder:validation:XValidation:rule="!has(self.homes) || self.homes.all(h, self.homes.exists_one(o, o.url == h.url) && (self.shared || !has(self.url) || h.url != self.url))",message="the homes must have different storage URLs"
type Storage struct {
	// URL of the bucket: s3://bucket?region=…, gs://bucket, azblob://container, or file:///folder for evaluation. With
	// several regions, homes has a bucket for each.
	// +optional
	// +kubebuilder:validation:MaxLength=1000
	// +kubebuilder:validation:XValidation:rule="self.startsWith('s3://') || self.startsWith('gs://') || self.startsWith('azblob://') || self.startsWith('file:///')",message="storage.url must start with s3://, gs://, azblob:// or file:///"
	URL string `json:"url,omitempty"`

	// The buckets of single homes: the files of a region's users are stored in the bucket of that region. Servers of every
	// region must reach every bucket.
	// +optional
	// +listType=map
	// +listMapKey=code
	// +kubebuilder:validation:MaxItems=3
	Homes []HomeStorage `json:"homes,omitempty"`

	// Whether one bucket stores the files of several regions, wherever that is.
	// +optional
	// +kubebuilder:default=false
	Shared bool `json:"shared"`

	// A Secret whose keys become environment variables of the platform, such as AWS_ACCESS_KEY_ID.
	// +optional
	SecretRef *LocalSecretReference `json:"secretRef,omitempty"`
}

// HomeStorage is the bucket with the files of one home.
type HomeStorage struct {
	// The home's code.
	// +required
	Code RegionCode `json:"code"`

	// URL of the bucket.
	// +required
	// +kubebuilder:validation:MaxLength=1000
	// +kubebuilder:validation:XValidation:rule="self.startsWith('s3://') || self.startsWith('gs://') || self.startsWith('azblob://')",message="storage.homes[].url must start with s3://, gs:// or azblob://"
	URL string `json:"url"`
}

// NetworkPolicy configures the traffic to and from the pods.
type NetworkPolicy struct {
	// Whether to create NetworkPolicies for the servers and the migrations. They allow traffic from anywhere to the API
	// port, from the operator and Prometheus to the operations port, and to DNS, the database and the storage; and to
	// the cloud's identity agents, if the region has serviceAccountAnnotations.
	// +optional
	// +kubebuilder:default=true
	Enabled bool `json:"enabled"`

	// Pods that may scrape the operations port, apart from the operator. Empty: those labelled
	// app.kubernetes.io/name: prometheus, in all namespaces.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=20
	MetricsFrom []networkingv1.NetworkPolicyPeer `json:"metricsFrom,omitempty"`
}

// Rollout configures how a change of the pods is rolled out over the regions.
type Rollout struct {
	// Maximum number of regions that are updated at the same time.
	// +optional
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=3
	MaxRegionsRolling int32 `json:"maxRegionsRolling,omitempty"`

	// How long a region must be ready before the next one is updated, at most 24h.
	// +optional
	// +kubebuilder:default="30s"
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('0s') && duration(self) <= duration('24h')",message="soak must be between 0s and 24h"
	Soak Duration `json:"soak,omitempty"`

	// Maximum share of requests to the updated pods of a region that may fail because of the server (5xx), in percent, since
	// the pods started, within a day: the next region is not updated while it is higher, and at least ten requests failed. 100 turns it
	// off.
	// +optional
	// +kubebuilder:default=5
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	MaxErrorPercent *int32 `json:"maxErrorPercent,omitempty"`
}

// Weekday is a day of the week.
//
// +kubebuilder:validation:Enum=Monday;Tuesday;Wednesday;Thursday;Friday;Saturday;Sunday
type Weekday string

// MaintenanceWindow is a time of the week at which updates may begin.
type MaintenanceWindow struct {
	// The days on which the window opens. Empty: every day.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=7
	Days []Weekday `json:"days,omitempty"`

	// The time of the day at which it opens, such as 22:30.
	// +required
	// +kubebuilder:validation:Pattern=`^([01][0-9]|2[0-3]):[0-5][0-9]$`
	Start string `json:"start"`

	// How long it is open, from 10 minutes to 7 days.
	// +required
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('10m') && duration(self) <= duration('168h')",message="the duration of a maintenance window must be between 10m and 168h"
	Duration Duration `json:"duration"`

	// The time zone of start, such as Europe/Berlin.
	// +optional
	// +kubebuilder:default=UTC
	// +kubebuilder:validation:MaxLength=64
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9_+/-]+$`
	TimeZone string `json:"timeZone,omitempty"`
}
