// Package control is the mutual TLS of the control endpoints, at which the operator asks the servers of a network for their status
// and pushes settings: the names in certificates, the authorities that issue them, and the configurations of both sides.
//
// A network has an authority of its own, and each certificate names the network, so that neither a server nor an operator of
// another network is accepted. During a rotation both sides trust the old and the new authority. The package keeps no state and
// reads no files or clock.
package control

// The files of a server's or an operator's certificate.
const (
	CertificateFile = "tls.crt" // the certificate, PEM
	KeyFile         = "tls.key" // its private key, PEM
	AuthoritiesFile = "ca.crt"  // the certificates of the trusted authorities, PEM
)

// ServerName returns the name in the certificate of a region's servers.
func ServerName(region, networkID string) string { return region + "." + suffix(networkID) }

// OperatorName returns the name in the certificate of a network's operator.
func OperatorName(networkID string) string { return "operator." + suffix(networkID) }

func suffix(networkID string) string { return networkID + ".control.plaza.internal" }
