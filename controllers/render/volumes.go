package render

import (
	"path"
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
	apiKeysFolder     = "/etc/plaza/api-keys"
	signingKeysFolder = "/etc/plaza/signing-keys"
	identityFolder    = "/etc/plaza/identity"
	controlFolder     = "/etc/plaza/control"
	evacuationFolder  = "/etc/plaza/evacuation"
	caFolder          = "/etc/plaza/database-ca"
	clientFolder      = "/etc/plaza/database-client"
	temporaryFolder   = "/tmp"
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

// mounted is a volume of a pod, and the folder in which its container has it.
type mounted struct {
	corev1.Volume

	folder   string
	writable bool
}

// mount adds volumes to a pod with one container.
func mount(pod *corev1.PodSpec, volumes ...mounted) {
	c := &pod.Containers[0]
	for _, v := range volumes {
		pod.Volumes = append(pod.Volumes, v.Volume)
		c.VolumeMounts = append(c.VolumeMounts, corev1.VolumeMount{Name: v.Name, MountPath: v.folder, ReadOnly: !v.writable})
	}
}

// serverVolumes returns the volumes of a server apart from those that migrations have as well, and those of the spec.
func serverVolumes(n Network, r *v1alpha1.Region) []mounted {
	network := n.SN.Name
	config := corev1.Volume{Name: "config", VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
		LocalObjectReference: corev1.LocalObjectReference{Name: RegionName(network, r.Code)},
		DefaultMode:          new(secretMode),
	}}}
	evacuation := secretVolume(evacuationFolder, EvacuationSecret(network, r.Code), EvacuationFile)
	evacuation.Secret.Optional = new(true) // it may be created and deleted while the pod runs
	volumes := []mounted{
		{Volume: config, folder: configFolder},
		secretVolume(serverKeysFolder, ServerKeysSource(n, r.Code), keyring.ServerKeysFile),
		secretVolume(apiKeysFolder, APIKeysSecret(network), keyring.APIKeysFile),
		secretVolume(signingKeysFolder, SigningKeysSecret(network), keyring.SigningKeysFile),
		identityVolume(n),
		secretVolume(controlFolder, ControlSecret(network, r.Code), control.CertificateFile, control.KeyFile, control.AuthoritiesFile),
		evacuation,
	}
	if folder := storageFolder(n.SN.Spec.Storage); folder != "" {
		volumes = append(volumes, emptyVolume("storage", folder, "1Gi"))
	}
	return volumes
}

func identityVolume(n Network) mounted {
	return secretVolume(identityFolder, IdentitySecret(n.SN.Name), keyring.DirectoryKeyFile)
}

// commonVolumes returns the volumes of servers and migrations: the only folder that all pods can write to, and the certificates of
// connections to the database. Migrations have the certificate of the schema's owner.
func commonVolumes(n Network, migrates bool) []mounted {
	volumes := []mounted{emptyVolume("tmp", temporaryFolder, "256Mi")}
	tls := n.SN.Spec.Database.TLS
	if tls == nil {
		return volumes
	}
	if tls.CASecretRef != nil {
		volumes = append(volumes, secretVolume(caFolder, tls.CASecretRef.Name, CAFile))
	}
	if ref := tls.ClientSecretRef; ref != nil {
		if migrates && tls.OwnerSecretRef != nil {
			ref = tls.OwnerSecretRef
		}
		volumes = append(volumes, secretVolume(clientFolder, ref.Name, corev1.TLSCertKey, corev1.TLSPrivateKeyKey))
	}
	return volumes
}

// secretVolume mounts files of a Secret, or all of them; its other keys stay hidden from the server.
func secretVolume(folder, secret string, files ...string) mounted {
	source := &corev1.SecretVolumeSource{SecretName: secret, DefaultMode: new(secretMode)}
	for _, file := range files {
		source.Items = append(source.Items, corev1.KeyToPath{Key: file, Path: file})
	}
	return mounted{Volume: corev1.Volume{Name: path.Base(folder), VolumeSource: corev1.VolumeSource{Secret: source}}, folder: folder}
}

// extraVolumes returns the volumes of the spec.
func extraVolumes(r *v1alpha1.Region) []mounted {
	var out []mounted
	for _, v := range r.Volumes {
		volume := mounted{Volume: corev1.Volume{Name: v.Name}, folder: v.MountPath, writable: v.Secret == nil && v.ConfigMap == nil}
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

func emptyVolume(name, folder, size string) mounted {
	return mounted{folder: folder, writable: true, Volume: corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{
		EmptyDir: &corev1.EmptyDirVolumeSource{SizeLimit: new(resource.MustParse(size))},
	}}}
}
