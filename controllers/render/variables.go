package render

import (
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/platform/control"
)

// databaseKeys are the supported keys of the database's Secret and the environment variables that they become. Each is
// optional here; the platform decides which must be set.
var databaseKeys = []struct{ variable, key string }{
	{"PLAZA_DATABASE_URL", "url"},
	{"PLAZA_DATABASE_URL_US", "url-us"},
	{"PLAZA_DATABASE_URL_EU", "url-eu"},
	{"PLAZA_DATABASE_URL_SG", "url-sg"},
}

// DatabaseKeys returns the keys of the database's Secret that contain URLs.
func DatabaseKeys() []string {
	keys := make([]string, 0, len(databaseKeys)+1)
	for _, k := range databaseKeys {
		keys = append(keys, k.key)
	}
	return append(keys, ownerKey)
}

// environment is a list of variables.
type environment []corev1.EnvVar

// set adds a variable, unless the value is empty.
func (e *environment) set(name, value string) {
	if value != "" {
		*e = append(*e, corev1.EnvVar{Name: name, Value: value})
	}
}

// secret adds a variable with the value of a key of a Secret.
func (e *environment) secret(name string, ref v1alpha1.LocalSecretReference, key string) {
	*e = append(*e, corev1.EnvVar{Name: name, ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
		LocalObjectReference: corev1.LocalObjectReference{Name: ref.Name}, Key: key,
	}}})
}

// variables returns the environment of a container: the operator's variables, then the spec's in their order, because a
// variable may refer to earlier ones. A variable of the spec replaces one of the operator: names must be unique.
func variables(n Network, r *v1alpha1.Region) []corev1.EnvVar {
	var own []corev1.EnvVar
	for _, k := range databaseKeys {
		own = append(own, databaseVariable(n.SN.Spec.Database, k.variable, k.key))
	}
	out := notGiven(append(own, certificateVariables(n.SN.Spec.Database.TLS)...), r)
	for i := range r.Env {
		out = append(out, *r.Env[i].DeepCopy())
	}
	return out
}

// notGiven returns the variables that the spec does not set itself.
func notGiven(own []corev1.EnvVar, r *v1alpha1.Region) []corev1.EnvVar {
	return slices.DeleteFunc(own, func(v corev1.EnvVar) bool {
		return slices.ContainsFunc(r.Env, func(given corev1.EnvVar) bool { return given.Name == v.Name })
	})
}

// limitVariables are variables of the servers. They are not part of the configuration file, so that versions without
// these settings can still read that.
func limitVariables(n Network, r *v1alpha1.Region) []corev1.EnvVar {
	var out environment
	out.set("PLAZA_RATE_LIMIT", n.SN.Spec.RateLimit)
	proxies := n.SN.Spec.TrustedProxies
	if proxies == "" && (r.Ingress != nil || r.Gateway != nil) {
		proxies = "1"
	}
	out.set("PLAZA_TRUSTED_PROXIES", proxies)
	if size := poolSize(n.SN.Spec); size > 0 {
		out.set("PLAZA_POOL_SIZE", strconv.Itoa(int(size)))
	}
	out = slices.Concat(out, serverVariables(n.SN.Spec.Server), pushVariables(n.SN.Spec.Push))
	out.set("PLAZA_CONTROL_LISTEN", ":"+strconv.Itoa(int(PortControl)))
	out.set("PLAZA_CONTROL_CERT_FILE", controlFolder+"/"+control.CertificateFile)
	out.set("PLAZA_CONTROL_KEY_FILE", controlFolder+"/"+control.KeyFile)
	out.set("PLAZA_CONTROL_CA_FILE", controlFolder+"/"+control.AuthoritiesFile)
	out.set("PLAZA_EVACUATION_FILE", evacuationFolder+"/"+EvacuationFile)
	return notGiven(append(out, tracingVariables(n.SN.Spec.Observability)...), r)
}

const (
	// defaultPoolSize is the platform's maximum number of connections to a home, and homes the number of homes.
	defaultPoolSize = 8
	homes           = 3
)

// poolSize returns the maximum number of connections of a server to each home, so that all servers together stay within the
// spec's limit; 0 without one.
func poolSize(spec v1alpha1.SocialNetworkSpec) int32 {
	if spec.Database.MaxConnections == nil {
		return 0
	}
	var pods int32
	for i := range spec.Regions {
		pods += mostReplicas(&spec.Regions[i]) + 1 // one more during an update
	}
	return min(max(*spec.Database.MaxConnections/(pods*homes), 1), defaultPoolSize)
}

// databaseVariable returns a variable with an optional key of the database's Secret.
func databaseVariable(db v1alpha1.Database, name, key string) corev1.EnvVar {
	var one environment
	one.secret(name, db.SecretRef, key)
	one[0].ValueFrom.SecretKeyRef.Optional = new(true)
	return one[0]
}

// storageVariables makes every key of the storage's Secret an environment variable.
func storageVariables(storage *v1alpha1.Storage) []corev1.EnvFromSource {
	if storage == nil || storage.SecretRef == nil {
		return nil
	}
	return []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{
		LocalObjectReference: corev1.LocalObjectReference{Name: storage.SecretRef.Name},
	}}}
}

// storageFolder returns the folder of a file:// storage, which needs a volume because the root file system is
// read-only.
func storageFolder(storage *v1alpha1.Storage) string {
	if storage == nil {
		return ""
	}
	folder, ok := strings.CutPrefix(storage.URL, "file://")
	folder, _, _ = strings.Cut(folder, "?")
	folder = strings.TrimRight(folder, "/")
	if !ok || folder == "" || folder == temporaryFolder || strings.HasPrefix(folder, temporaryFolder+"/") {
		return ""
	}
	return folder
}
