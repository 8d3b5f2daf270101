package v1alpha1

// Push configures the providers of push notifications. Nothing is sent by a provider that is absent. Pods restart when one of the
// Secrets changes.
type Push struct {
	// Firebase Cloud Messaging, for Android.
	// +optional
	FCM *FCM `json:"fcm,omitempty"`

	// Apple Push Notification service.
	// +optional
	APNs *APNs `json:"apns,omitempty"`

	// Web Push, for browsers.
	// +optional
	Web *WebPush `json:"web,omitempty"`
}

// FCM configures Firebase Cloud Messaging.
type FCM struct {
	// A Secret with the JSON of the service account, under `service-account.json`.
	// +required
	CredentialsSecretRef LocalSecretReference `json:"credentialsSecretRef"`
}

// APNs configures the Apple Push Notification service.
type APNs struct {
	// A Secret with the PEM of the signing key (.p8), under `apns.p8`.
	// +required
	KeySecretRef LocalSecretReference `json:"keySecretRef"`

	// Id of the key.
	// +required
	// +kubebuilder:validation:Pattern=`^[A-Z0-9]{10}$`
	KeyID string `json:"keyID"`

	// Id of the team that the key belongs to.
	// +required
	// +kubebuilder:validation:Pattern=`^[A-Z0-9]{10}$`
	TeamID string `json:"teamID"`

	// Bundle id of the app, such as com.example.acme.
	// +required
	// +kubebuilder:validation:MaxLength=200
	// +kubebuilder:validation:Pattern=`^[A-Za-z0-9.-]+$`
	Topic string `json:"topic"`

	// Whether notifications go to development builds of the app.
	// +optional
	// +kubebuilder:default=false
	Sandbox bool `json:"sandbox"`
}

// WebPush configures Web Push.
type WebPush struct {
	// A Secret with the VAPID private key, 32 bytes in base64url, under `vapid-private-key`.
	// +required
	KeySecretRef LocalSecretReference `json:"keySecretRef"`

	// Mail address or https URL at which push services reach the network's operator.
	// +required
	// +kubebuilder:validation:MaxLength=300
	// +kubebuilder:validation:Pattern=`^(mailto:[^@\s]+@[^@\s]+|https://\S+)$`
	Subject string `json:"subject"`
}
