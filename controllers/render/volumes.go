package render

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/keyring"
	"github.com/plaza-social/plaza/platform/control"
)

// Paths of the server's files. Each Secret is mounted as a folder: a file mounted by subPath would never be updated.
const (
	configFolder      = "/etc/plaza/config"
	serverKeysFolder  = "/etc/plaza/server-keys"
	apiKeysFolder     = "/etc/plaza/api-keys" //nolint:gosec // the name of a folder
	signingKeysFolder = "/etc/plaza/signing-keys"
	identityFolder    = "/etc/plaza/identity"
	controlFolder     = "/etc/plaza/control"
	evacuationFolder  = "/etc/plaza/evacuation"
	temporaryFolder   = "/tmp"

	temporaryName = "tmp"
	storageName   = "storage"
)

// secretMode lets only the group of the pod read a Secret's files.
const secretMode int32 = 0o440

// ServerKeysSource returns the name of the Secret with a region's server keys: the one that the spec names, or the one
// that the operator creates.
func ServerKeysSource(n Network, code v1alpha1.RegionCode) string {
	if own := n.SN.Spec.ServerKeys.ExistingSecret; own != nil {
		return own.Name
	}
	return ServerKeysSecret(n.SN.Name, code)
}

// serverVolumes returns the volumes of a server apart from the temporary one.
func serverVolumes(n Network, r *v1alpha1.Region) []corev1.Volume {
	network := n.SN.Name
	volumes := []corev1.Volume{
		{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: RegionName(network, r.Code)},
			DefaultMode:          new(secretMode),
		}}},
		secretVolume("server-keys", ServerKeysSource(n, r.Code), keyring.ServerKeysFile),
		secretVolume("api-keys", APIKeysSecret(network), keyring.APIKeysFile),
		secretVolume("signing-keys", SigningKeysSecret(network), keyring.SigningKeysFile),
		secretVolume("identity", IdentitySecret(network), keyring.DirectoryKeyFile),
		secretVolume("control", ControlSecret(network, r.Code), control.CertificateFile, control.KeyFile, control.AuthoritiesFile),
		optionalVolume("evacuation", EvacuationSecret(network, r.Code), EvacuationFile),
	}
	if storageFolder(n.SN.Spec.Storage) != "" {
		volumes = append(volumes, emptyVolume(storageName, "1Gi"))
	}
	return volumes
}

func serverMounts(storage *v1alpha1.Storage) []corev1.VolumeMount {
	mounts := []corev1.VolumeMount{
		{Name: "config", MountPath: configFolder, ReadOnly: true},
		{Name: "server-keys", MountPath: serverKeysFolder, ReadOnly: true},
		{Name: "api-keys", MountPath: apiKeysFolder, ReadOnly: true},
		{Name: "signing-keys", MountPath: signingKeysFolder, ReadOnly: true},
		{Name: "identity", MountPath: identityFolder, ReadOnly: true},
		{Name: "control", MountPath: controlFolder, ReadOnly: true},
		{Name: "evacuation", MountPath: evacuationFolder, ReadOnly: true},
	}
	if folder := storageFolder(storage); folder != "" {
		mounts = append(mounts, corev1.VolumeMount{Name: storageName, MountPath: folder})
	}
	return mounts
}

// secretVolume mounts files of a Secret; its other keys stay hidden from the server.
func secretVolume(name, secret string, files ...string) corev1.Volume {
	items := make([]corev1.KeyToPath, 0, len(files))
	for _, file := range files {
		items = append(items, corev1.KeyToPath{Key: file, Path: file})
	}
	return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{Secret: &corev1.SecretVolumeSource{
		SecretName: secret, Items: items, DefaultMode: new(secretMode),
	}}}
}

// optionalVolume mounts files of a Secret that may be created and deleted while the pod runs.
func optionalVolume(name, secret string, files ...string) corev1.Volume {
	volume := secretVolume(name, secret, files...)
	volume.Secret.Optional = new(true)
	return volume
}

// extraVolumes returns the volumes of the spec.
func extraVolumes(r *v1alpha1.Region) []corev1.Volume {
	var out []corev1.Volume
	for _, v := range r.Volumes {
		volume := corev1.Volume{Name: v.Name}
		switch {
		case v.Secret != nil:
			volume.Secret = &corev1.SecretVolumeSource{SecretName: v.Secret.Name, DefaultMode: new(secretMode)}
		case v.ConfigMap != nil:
			volume.ConfigMap = &corev1.ConfigMapVolumeSource{
				LocalObjectReference: corev1.LocalObjectReference{Name: v.ConfigMap.Name}, DefaultMode: new(secretMode),
			}
		case v.PersistentVolumeClaim != nil:
			volume.PersistentVolumeClaim = &corev1.PersistentVolumeClaimVolumeSource{ClaimName: v.PersistentVolumeClaim.Name}
		case v.EmptyDir != nil:
			size, err := resource.ParseQuantity(strings.TrimSuffix(string(v.EmptyDir.SizeLimit), "B"))
			volume.EmptyDir = &corev1.EmptyDirVolumeSource{}
			if err == nil {
				volume.EmptyDir.SizeLimit = &size
			}
		}
		out = append(out, volume)
	}
	return out
}

func extraMounts(r *v1alpha1.Region) []corev1.VolumeMount {
	var out []corev1.VolumeMount
	for _, v := range r.Volumes {
		out = append(out, corev1.VolumeMount{Name: v.Name, MountPath: v.MountPath, ReadOnly: v.Secret != nil || v.ConfigMap != nil})
	}
	return out
}

// temporaryVolume returns the only folder that all pods can write to.
func temporaryVolume() corev1.Volume { return emptyVolume(temporaryName, "256Mi") }

func emptyVolume(name, size string) corev1.Volume {
	return corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{EmptyDir: &corev1.EmptyDirVolumeSource{
		SizeLimit: new(resource.MustParse(size)),
	}}}
}
