package render

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
)

// CAFile is the key of the Secret with the database's authorities.
const CAFile = "ca.crt"

// certificateVariables are read by the database's driver. Parameters of the URL take precedence.
func certificateVariables(tls *v1alpha1.DatabaseTLS) environment {
	var out environment
	if tls == nil {
		return out
	}
	out.set("PGSSLMODE", "verify-full")
	if tls.CASecretRef != nil {
		out.set("PGSSLROOTCERT", caFolder+"/"+CAFile)
	}
	if tls.ClientSecretRef != nil {
		out.set("PGSSLCERT", clientFolder+"/"+corev1.TLSCertKey)
		out.set("PGSSLKEY", clientFolder+"/"+corev1.TLSPrivateKeyKey)
	}
	return out
}
