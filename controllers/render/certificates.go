package render

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
)

// The certificates of connections to the database.
const (
	caName       = "database-ca"
	clientName   = "database-client"
	caFolder     = "/etc/plaza/database-ca"
	clientFolder = "/etc/plaza/database-client"

	// CAFile is the key of the Secret with the database's authorities.
	CAFile = "ca.crt"
)

// certificateVariables are read by the database's driver. Parameters of the URL take precedence.
func certificateVariables(tls *v1alpha1.DatabaseTLS) []corev1.EnvVar {
	var out []corev1.EnvVar
	if tls == nil {
		return out
	}
	out = append(out, corev1.EnvVar{Name: "PGSSLMODE", Value: "verify-full"})
	if tls.CASecretRef != nil {
		out = append(out, corev1.EnvVar{Name: "PGSSLROOTCERT", Value: caFolder + "/" + CAFile})
	}
	if tls.ClientSecretRef != nil {
		out = append(out,
			corev1.EnvVar{Name: "PGSSLCERT", Value: clientFolder + "/" + corev1.TLSCertKey},
			corev1.EnvVar{Name: "PGSSLKEY", Value: clientFolder + "/" + corev1.TLSPrivateKeyKey})
	}
	return out
}

// certificateVolumes are the same for servers and migrations, apart from the certificate of the schema's owner.
func certificateVolumes(tls *v1alpha1.DatabaseTLS, migrates bool) []corev1.Volume {
	var out []corev1.Volume
	if tls == nil {
		return out
	}
	if tls.CASecretRef != nil {
		out = append(out, secretVolume(caName, tls.CASecretRef.Name, CAFile))
	}
	if tls.ClientSecretRef != nil {
		name := tls.ClientSecretRef.Name
		if migrates && tls.OwnerSecretRef != nil {
			name = tls.OwnerSecretRef.Name
		}
		out = append(out, secretVolume(clientName, name, corev1.TLSCertKey, corev1.TLSPrivateKeyKey))
	}
	return out
}

func certificateMounts(tls *v1alpha1.DatabaseTLS) []corev1.VolumeMount {
	var out []corev1.VolumeMount
	for _, volume := range certificateVolumes(tls, false) {
		folder := caFolder
		if volume.Name == clientName {
			folder = clientFolder
		}
		out = append(out, corev1.VolumeMount{Name: volume.Name, MountPath: folder, ReadOnly: true})
	}
	return out
}
