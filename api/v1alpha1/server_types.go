package v1alpha1

// Server configures the servers of all regions. The variables of a region's env take precedence. An empty field keeps the default
// of the platform.
type Server struct {
	// Minimum level of log records. Running servers change it without a restart; a server that starts has the level info until the
	// operator has read its status. The variable PLAZA_LOG_LEVEL of a region's env takes precedence.
	// +optional
	// +kubebuilder:validation:Enum=debug;info;warn;error
	LogLevel string `json:"logLevel,omitempty"`

	// Origins that may call the API from a browser, such as https://app.acme.example. Empty: all origins.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:items:MaxLength=300
	// +kubebuilder:validation:items:Pattern=`^https?://[^/, ]+$`
	CORSOrigins []string `json:"corsOrigins,omitempty"`

	// Networks, such as 10.1.0.0/16, in which webhooks and the pre-hook can be although their addresses are not public, at any port.
	// Empty: only public addresses are called, at the ports 80 and 443.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=20
	// +kubebuilder:validation:items:MaxLength=43
	// +kubebuilder:validation:items:Pattern=`^[0-9a-fA-F:.]+/[0-9]{1,3}$`
	WebhookNetworks []string `json:"webhookNetworks,omitempty"`

	// The media server of live streams.
	// +optional
	Media *Media `json:"media,omitempty"`

	// Limits of uploads.
	// +optional
	Uploads *Uploads `json:"uploads,omitempty"`

	// Lifetimes of tokens.
	// +optional
	Tokens *Tokens `json:"tokens,omitempty"`
}

// Media configures the media server of live streams.
type Media struct {
	// URL to which broadcasters stream, such as rtmp://ingest.acme.example/live.
	// +optional
	// +kubebuilder:validation:MaxLength=500
	IngestURL string `json:"ingestURL,omitempty"`

	// URL at which streams are watched, such as https://play.acme.example/live.
	// +optional
	// +kubebuilder:validation:MaxLength=500
	PlaybackURL string `json:"playbackURL,omitempty"`

	// A Secret with the key that authenticates the media server, under `media-key`. Pods restart when it changes.
	// +optional
	KeySecretRef *LocalSecretReference `json:"keySecretRef,omitempty"`
}

// Uploads limits what users upload.
type Uploads struct {
	// Maximum size of a file, such as 1GiB.
	// +optional
	MaxFileSize Size `json:"maxFileSize,omitempty"`

	// Number of files that a user can upload per day (in UTC).
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=1000000
	DailyFiles int32 `json:"dailyFiles,omitempty"`

	// Size of all files that a user can upload per day, such as 20GiB.
	// +optional
	DailySize Size `json:"dailySize,omitempty"`
}

// Size is a number of bytes, such as 1GiB.
//
// +kubebuilder:validation:MaxLength=20
// +kubebuilder:validation:Pattern=`^[1-9][0-9]*(KiB|MiB|GiB)?$`
type Size string

// Tokens configures the lifetimes of tokens.
type Tokens struct {
	// Validity of access tokens, from 1 minute to one year.
	// +optional
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1m') && duration(self) <= duration('8784h')",message="accessLifetime must be between 1m and 8784h"
	AccessLifetime Duration `json:"accessLifetime,omitempty"`

	// Validity of the tokens that the servers of apps request for their users, from 1 minute to one day.
	// +optional
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('1m') && duration(self) <= duration('24h')",message="authLifetime must be between 1m and 24h"
	AuthLifetime Duration `json:"authLifetime,omitempty"`
}

// Volume is an additional volume of the servers. Exactly one source must be set.
//
// +kubebuilder:validation:XValidation:rule="[has(self.secret), has(self.configMap), has(self.persistentVolumeClaim), has(self.emptyDir)].filter(x, x).size() == 1",message="a volume must have exactly one of secret, configMap, persistentVolumeClaim and emptyDir"
type Volume struct {
	// Name of the volume.
	// +required
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	// +kubebuilder:validation:XValidation:rule="!(self in ['config', 'server-keys', 'api-keys', 'signing-keys', 'identity', 'tmp', 'storage', 'database-ca', 'database-client'])",message="the volume's name is one of the operator's"
	Name string `json:"name"`

	// Folder at which the server sees the volume. Secrets and ConfigMaps are read-only.
	// +required
	// +kubebuilder:validation:MaxLength=500
	// +kubebuilder:validation:XValidation:rule="self.startsWith('/') && !self.startsWith('/etc/plaza') && self != '/tmp' && !self.contains(':')",message="mountPath must be an absolute path other than /tmp and outside of /etc/plaza"
	MountPath string `json:"mountPath"`

	// A Secret, whose keys become files. They follow its changes without a restart.
	// +optional
	Secret *LocalSecretReference `json:"secret,omitempty"`

	// A ConfigMap, whose keys become files. They follow its changes without a restart.
	// +optional
	ConfigMap *LocalSecretReference `json:"configMap,omitempty"`

	// A PersistentVolumeClaim.
	// +optional
	PersistentVolumeClaim *LocalSecretReference `json:"persistentVolumeClaim,omitempty"`

	// An empty folder.
	// +optional
	EmptyDir *EmptyDir `json:"emptyDir,omitempty"`
}

// EmptyDir is a folder that exists as long as the pod.
type EmptyDir struct {
	// Maximum size of its files, such as 1GiB.
	// +required
	SizeLimit Size `json:"sizeLimit"`
}
