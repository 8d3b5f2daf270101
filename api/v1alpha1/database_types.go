package v1alpha1

// DatabaseTLS names Secrets with certificates for the connections to the database. They are mounted into the servers and the
// migrations, and pods restart, region by region, when their content changes. Connections then use sslmode=verify-full, unless the
// URL sets another mode.
//
// +kubebuilder:validation:XValidation:rule="has(self.caSecretRef) || has(self.clientSecretRef)",message="database.tls must have caSecretRef or clientSecretRef"
// +kubebuilder:validation:XValidation:rule="!has(self.ownerSecretRef) || has(self.clientSecretRef)",message="database.tls.ownerSecretRef requires clientSecretRef"
type DatabaseTLS struct {
	// A Secret with the certificates of the authorities that may sign the database's certificate, under the key `ca.crt`.
	// Empty: the public authorities.
	// +optional
	CASecretRef *LocalSecretReference `json:"caSecretRef,omitempty"`

	// A Secret of type kubernetes.io/tls with the certificate of the role in the URL, under the keys `tls.crt` and
	// `tls.key`.
	// +optional
	ClientSecretRef *LocalSecretReference `json:"clientSecretRef,omitempty"`

	// Like clientSecretRef, for the role in `owner-url`. Empty: migrations use clientSecretRef.
	// +optional
	OwnerSecretRef *LocalSecretReference `json:"ownerSecretRef,omitempty"`
}
