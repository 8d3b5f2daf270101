package controllers

import (
	"reflect"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
)

// notIndexed are references of the spec to Secrets, and other objects, whose changes start no pass: the operator reads none of them.
var notIndexed = regexp.MustCompile(`^ImagePullSecrets\.|^Regions\.Volumes\.(Secret|ConfigMap|PersistentVolumeClaim)\.`)

// TestEverySecretIsIndexed names another Secret in every reference of the spec, and checks that a change of it starts a pass.
func TestEverySecretIsIndexed(t *testing.T) {
	sn := &v1alpha1.SocialNetwork{}
	var names []string
	nameSecrets(reflect.ValueOf(&sn.Spec).Elem(), "", &names)
	require.Contains(t, names, "Webhooks.SecretRef.Name")
	require.Contains(t, names, "Regions.Env.ValueFrom.SecretKeyRef.Name")
	indexed := secretsOf(sn)
	for _, name := range names {
		if !notIndexed.MatchString(name) {
			require.Contains(t, indexed, name, "nothing happens when the Secret changes")
		}
	}
}

// nameSecrets fills a spec, in which each Secret is named after the field that refers to it.
func nameSecrets(value reflect.Value, path string, names *[]string) {
	switch value.Type() {
	case reflect.TypeFor[v1alpha1.LocalSecretReference](), reflect.TypeFor[corev1.SecretKeySelector]():
		name := strings.TrimPrefix(path+".Name", ".")
		value.FieldByName("Name").SetString(name)
		*names = append(*names, name)
		return
	case reflect.TypeFor[corev1.EnvVar](), reflect.TypeFor[corev1.EnvVarSource]():
	default:
		if value.Kind() == reflect.Struct && value.Type().PkgPath() != reflect.TypeFor[v1alpha1.SocialNetworkSpec]().PkgPath() {
			return
		}
	}
	switch value.Kind() {
	case reflect.Pointer:
		value.Set(reflect.New(value.Type().Elem()))
		nameSecrets(value.Elem(), path, names)
	case reflect.Slice:
		value.Set(reflect.MakeSlice(value.Type(), 1, 1))
		nameSecrets(value.Index(0), path, names)
	case reflect.Struct:
		for i := range value.NumField() {
			nameSecrets(value.Field(i), path+"."+value.Type().Field(i).Name, names)
		}
	default:
	}
}
