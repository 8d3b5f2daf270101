package v1alpha1

import metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

// Webhook is an address of the app's own servers, to which the network posts events. platform/delivery/README.md describes the
// requests. Administrators can register others by the API; a network has at most ten of both.
//
// +kubebuilder:validation:XValidation:rule="!self.url.contains('@') && self.url.matches('^https?://[^/?#]+')",message="url must be an https or http address with a host and without a user name"
type Webhook struct {
	// Name, which identifies the webhook: events that wait for delivery stay with it.
	// +required
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
	Name string `json:"name"`

	// Address, such as https://hooks.acme.example/plaza. Addresses that are not public must be in server.webhookNetworks.
	// +required
	// +kubebuilder:validation:MaxLength=900
	URL string `json:"url"`

	// A Secret with the secret that signs the deliveries, under `secret`: 24 to 200 characters, or `whsec_` and a key in base64.
	// Servers follow its changes within seconds.
	// +required
	SecretRef LocalSecretReference `json:"secretRef"`

	// Names of the events to send, such as v3.post.didCreate. Empty: all events.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=60
	Events []string `json:"events,omitempty"`

	// Whether events are sent. Those that happen while it is false are not sent later.
	// +optional
	// +kubebuilder:default=true
	Enabled bool `json:"enabled"`
}

// PreHook is an address of the app's own servers that the network asks before users make a change. platform/delivery/README.md
// describes the requests. While it is set, administrators cannot change it by the API.
//
// +kubebuilder:validation:XValidation:rule="!self.url.contains('@') && self.url.matches('^https?://[^/?#]+')",message="url must be an https or http address with a host and without a user name"
type PreHook struct {
	// Address, such as https://hooks.acme.example/ask. Addresses that are not public must be in server.webhookNetworks.
	// +required
	// +kubebuilder:validation:MaxLength=900
	URL string `json:"url"`

	// A Secret with the secret that signs the requests, under `secret`: 24 to 200 characters. Servers follow its changes within
	// seconds.
	// +required
	SecretRef LocalSecretReference `json:"secretRef"`

	// Names of the events before which it is asked, such as post.shouldCreate. Empty: all events.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=50
	// +kubebuilder:validation:items:MinLength=1
	// +kubebuilder:validation:items:MaxLength=60
	Events []string `json:"events,omitempty"`

	// How long an answer may take, from 100ms to 3s.
	// +optional
	// +kubebuilder:default="3s"
	// +kubebuilder:validation:XValidation:rule="duration(self) >= duration('100ms') && duration(self) <= duration('3s')",message="timeout must be between 100ms and 3s"
	Timeout Duration `json:"timeout,omitempty"`

	// What happens to a change if there is no answer in time.
	// +optional
	// +kubebuilder:default=Allow
	// +kubebuilder:validation:Enum=Allow;Deny
	DefaultAction string `json:"defaultAction,omitempty"`

	// Whether it is asked.
	// +optional
	// +kubebuilder:default=true
	Enabled bool `json:"enabled"`
}

// WebhookStatus is the observed state of a webhook of the spec.
type WebhookStatus struct {
	// Name of the webhook.
	// +required
	Name string `json:"name"`

	// Whether every server runs the webhook as the spec has it.
	// +required
	Applied bool `json:"applied"`

	// Why the servers refuse the webhook; absent if they do not.
	// +optional
	Refused string `json:"refused,omitempty"`

	// When the oldest event happened that waits for delivery; absent if none does.
	// +optional
	OldestUndelivered *metav1.Time `json:"oldestUndelivered,omitempty"`

	// Number of events that could not be delivered for 24 hours. They are kept for 30 days, and can be sent again by the API.
	// +optional
	DeadLetters int64 `json:"deadLetters,omitempty"`

	// Why the latest attempt failed: status, timeout, address, name, tls or connection; absent if it succeeded.
	// +optional
	LastFailure string `json:"lastFailure,omitempty"`
}
