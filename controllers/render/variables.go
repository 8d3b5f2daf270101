package render

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
)

// databaseKeys are the keys that the database's Secret may have, and the variables that they become. Each is optional here:
// which of them there have to be is for the platform to say, which takes any one of them for those that are missing.
var databaseKeys = []struct{ variable, key string }{
	{"PLAZA_DATABASE_URL", "url"},
	{"PLAZA_DATABASE_URL_US", "url-us"},
	{"PLAZA_DATABASE_URL_EU", "url-eu"},
	{"PLAZA_DATABASE_URL_SG", "url-sg"},
}

// variables returns the environment of a container: the operator's, then the spec's in its order, because a variable may refer
// to those before it. A variable of the spec takes the place of one of ours: names have to be unique.
func variables(n Network, r *v1alpha1.Region) []corev1.EnvVar {
	given := make(map[string]bool, len(r.Env))
	for _, v := range r.Env {
		given[v.Name] = true
	}
	var out []corev1.EnvVar
	for _, v := range databaseVariables(n.SN.Spec.Database) {
		if !given[v.Name] {
			out = append(out, v)
		}
	}
	for i := range r.Env {
		out = append(out, *r.Env[i].DeepCopy())
	}
	return out
}

func databaseVariables(db v1alpha1.Database) []corev1.EnvVar {
	out := make([]corev1.EnvVar, 0, len(databaseKeys))
	for _, k := range databaseKeys {
		out = append(out, corev1.EnvVar{
			Name: k.variable,
			ValueFrom: &corev1.EnvVarSource{SecretKeyRef: &corev1.SecretKeySelector{
				LocalObjectReference: corev1.LocalObjectReference{Name: db.SecretRef.Name},
				Key:                  k.key,
				Optional:             new(true),
			}},
		})
	}
	return out
}

// storageVariables makes every key of the storage's Secret a variable.
func storageVariables(storage *v1alpha1.Storage) []corev1.EnvFromSource {
	if storage == nil || storage.SecretRef == nil {
		return nil
	}
	return []corev1.EnvFromSource{{SecretRef: &corev1.SecretEnvSource{
		LocalObjectReference: corev1.LocalObjectReference{Name: storage.SecretRef.Name},
	}}}
}

// storageFolder returns the folder of storage for trying it out, which needs a volume because the root is read-only.
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
