package render

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/keyring"
)

// How a server shuts down: the kubelet waits preStopSeconds while the pod's address is removed from the Services. The
// server then receives SIGTERM, reports not ready but keeps answering for drainDelay, and finishes running requests
// within shutdownTimeout. The values are written into the configuration because the pod's grace period must cover them.
const (
	preStopSeconds     = 5
	drainSeconds       = 5
	shutdownSeconds    = 20
	graceMarginSeconds = 5
)

// Configuration returns the configuration file of a region's servers. All of it is read once, at startup.
//
// The file has the lowest precedence, so that a variable of the spec's `env` overrides it. It must only contain
// settings that every version of the platform knows: a server refuses a file with unknown settings.
func Configuration(n Network, r *v1alpha1.Region) string {
	var file configuration
	file.set("region", string(r.Code))
	file.set("network-id", n.NetworkID)
	file.set("listen", fmt.Sprintf(":%d", PortHTTP))
	file.set("ops-listen", fmt.Sprintf(":%d", PortOps))
	file.set("public-url", Endpoint(r))
	for _, locality := range localities(n.SN.Spec.Database) {
		file.set("locality-"+locality.code, locality.name)
	}
	file.set("primary-region", string(primaryRegion(n.SN.Spec.Database)))
	file.set("survive", survive(n.SN.Spec.Database))
	file.set("server-keys-file", serverKeysFolder+"/"+keyring.ServerKeysFile)
	file.set("api-keys-file", apiKeysFolder+"/"+keyring.APIKeysFile)
	file.set("signing-keys-file", signingKeysFolder+"/"+keyring.SigningKeysFile)
	file.set("directory-key-file", identityFolder+"/"+keyring.DirectoryKeyFile)
	if storage := n.SN.Spec.Storage; storage != nil {
		if storage.URL != "" {
			file.set("storage-url", storage.URL)
		}
		for _, home := range storage.Homes {
			file.set("storage-url-"+string(home.Code), home.URL)
		}
	}
	file.set("drain-delay", fmt.Sprintf("%ds", drainSeconds))
	file.set("shutdown-timeout", fmt.Sprintf("%ds", shutdownSeconds))
	file.set("log-format", "json")
	return file.String()
}

// Endpoint returns the address at which clients reach a region. An Ingress without a certificate serves HTTP, unless the spec says
// otherwise; TLS ends there, at the Gateway, or in front of the cluster.
func Endpoint(r *v1alpha1.Region) string {
	scheme := "https"
	if r.Ingress != nil && r.Ingress.TLSSecretName == "" {
		scheme = "http"
	}
	return cmp.Or(r.Scheme, scheme) + "://" + r.Host
}

// ConfigMap returns the ConfigMap with a region's configuration file. It belongs to the pod template: apply it right
// before the Deployment.
func ConfigMap(n Network, r *v1alpha1.Region) *corev1.ConfigMap {
	return &corev1.ConfigMap{
		TypeMeta:   typeMeta(corev1.SchemeGroupVersion, "ConfigMap"),
		ObjectMeta: n.regionMeta(r.Code),
		Data:       map[string]string{ConfigFile: Configuration(n, r)},
	}
}

// configuration is a YAML file with one setting per line.
type configuration struct{ text strings.Builder }

func (c *configuration) set(name, value string) {
	c.text.WriteString(name + ": " + strconv.Quote(value) + "\n")
}

func (c *configuration) String() string { return c.text.String() }

// locality returns the database's name of a region.
type locality struct{ code, name string }

// localities returns the localities of the spec, ordered by region code.
func localities(db v1alpha1.Database) []locality {
	var out []locality
	for _, code := range v1alpha1.RegionCodes() {
		if name := db.Localities[string(code)]; name != "" {
			out = append(out, locality{string(code), name})
		}
	}
	return out
}

func survive(db v1alpha1.Database) string { return cmp.Or(db.Survive, "zone") }

func primaryRegion(db v1alpha1.Database) v1alpha1.RegionCode {
	return cmp.Or(db.PrimaryRegion, v1alpha1.RegionUS)
}
