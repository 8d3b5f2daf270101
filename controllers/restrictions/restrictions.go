// Package restrictions decides whether the operator may create the pods of a network.
package restrictions

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/controllers/stage"
)

// Limits are what an administrator allows: they limit what the author of a SocialNetwork can do with the operator's permissions. Without
// them it is what a user who may create pods can do: run any image, and read every Secret of the namespace in it.
type Limits struct {
	// ImagePrefixes are the prefixes of images that containers may have; empty means any.
	ImagePrefixes []string
	// SecretLabel selects the Secrets that pods may use; nil means any.
	SecretLabel labels.Selector
}

// Refusal returns why the pods of a network must not be created, or "". Secrets that do not exist are reported elsewhere.
func (l Limits) Refusal(ctx context.Context, p *stage.Pass) (string, error) {
	if len(l.ImagePrefixes) == 0 && l.SecretLabel == nil {
		return "", nil
	}
	for _, c := range p.Usable() {
		if refusal, err := l.refusalIn(ctx, c); refusal != "" || err != nil {
			return refusal, err
		}
	}
	return "", nil
}

// refusalIn returns why the pods of a network must not be created in a cluster, or "".
func (l Limits) refusalIn(ctx context.Context, c *stage.Cluster) (string, error) {
	sn := c.Network.SN
	for _, pod := range render.Pods(c.Network) {
		if image := refusedImage(pod, l.ImagePrefixes); image != "" {
			return fmt.Sprintf("The operator does not allow the image %s; it must begin with %s.", image,
				strings.Join(l.ImagePrefixes, " or ")), nil
		}
		if l.SecretLabel == nil {
			continue
		}
		if volume := refusedVolume(pod); volume != "" {
			return fmt.Sprintf("The operator does not allow volume %s: its kind may contain Secrets that it cannot check.", volume), nil
		}
		if account := pod.ServiceAccountName; !isOwnAccount(sn, account) {
			return fmt.Sprintf("The operator does not allow ServiceAccount %s; pods must use those of the network.", account), nil
		}
		if refusal, err := l.refusedSecret(ctx, c, secretsOfPod(pod)); refusal != "" || err != nil {
			return refusal, err
		}
	}
	if l.SecretLabel == nil || c.Name != "" {
		return "", nil
	}
	return l.refusedSecret(ctx, c, render.HookSecrets(&sn.Spec)) // which the operator reads in its own cluster
}

// refusedSecret returns why one of the Secrets must not be used, or "".
func (l Limits) refusedSecret(ctx context.Context, c *stage.Cluster, names []string) (string, error) {
	for _, name := range names {
		if isOwnSecret(c.Network.SN, name) {
			continue
		}
		secret, err := c.UserSecret(ctx, name)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return "", fmt.Errorf("reading Secret %s: %w", name, err)
		}
		if !l.SecretLabel.Matches(labels.Set(secret.Labels)) {
			return fmt.Sprintf("The operator does not allow Secret %s; it must have the label %s.", name, l.SecretLabel), nil
		}
	}
	return "", nil
}

// refusedImage returns the first image without an allowed prefix, or "".
func refusedImage(pod corev1.PodSpec, prefixes []string) string {
	if len(prefixes) == 0 {
		return ""
	}
	for _, image := range imagesOfPod(pod) {
		if !slices.ContainsFunc(prefixes, func(prefix string) bool { return strings.HasPrefix(image, prefix) }) {
			return image
		}
	}
	return ""
}

// imagesOfPod returns the images of the containers and volumes.
func imagesOfPod(pod corev1.PodSpec) []string {
	var images []string
	for _, c := range slices.Concat(pod.InitContainers, pod.Containers) {
		images = append(images, c.Image)
	}
	for _, v := range pod.Volumes {
		if v.Image != nil {
			images = append(images, v.Image.Reference)
		}
	}
	return images
}

// refusedVolume returns the name of the first volume whose Secrets secretsOfPod does not know, such as a directory of the
// node, or "".
func refusedVolume(pod corev1.PodSpec) string {
	for _, v := range pod.Volumes {
		known := v.Secret != nil || v.Projected != nil || v.ConfigMap != nil || v.EmptyDir != nil || v.DownwardAPI != nil ||
			v.PersistentVolumeClaim != nil || v.Ephemeral != nil || v.Image != nil
		if !known {
			return v.Name
		}
	}
	return ""
}

// isOwnAccount reports whether a ServiceAccount is one that the operator creates for the network.
func isOwnAccount(sn *v1alpha1.SocialNetwork, name string) bool {
	return name == render.MigrationName(sn.Name) || slices.ContainsFunc(sn.Spec.Regions, func(r v1alpha1.Region) bool {
		return name == render.RegionName(sn.Name, r.Code)
	})
}

// isOwnSecret reports whether a Secret is one that the operator creates for the network.
func isOwnSecret(sn *v1alpha1.SocialNetwork, name string) bool {
	own := render.SharedSecrets(sn.Name)
	for _, region := range sn.Spec.Regions {
		own = append(own, render.ServerKeysSecret(sn.Name, region.Code), render.ControlSecret(sn.Name, region.Code),
			render.EvacuationSecret(sn.Name, region.Code))
	}
	return slices.Contains(own, name)
}

// secretsOfPod returns the names of the Secrets that a pod uses in any way, each once.
func secretsOfPod(pod corev1.PodSpec) []string {
	var names []string
	for _, ref := range pod.ImagePullSecrets {
		names = append(names, ref.Name)
	}
	for _, v := range pod.Volumes {
		if v.Secret != nil {
			names = append(names, v.Secret.SecretName)
		}
		if v.Projected != nil {
			for _, source := range v.Projected.Sources {
				if source.Secret != nil {
					names = append(names, source.Secret.Name)
				}
			}
		}
	}
	for _, c := range slices.Concat(pod.InitContainers, pod.Containers) {
		for _, from := range c.EnvFrom {
			if from.SecretRef != nil {
				names = append(names, from.SecretRef.Name)
			}
		}
		for _, env := range c.Env {
			if env.ValueFrom != nil && env.ValueFrom.SecretKeyRef != nil {
				names = append(names, env.ValueFrom.SecretKeyRef.Name)
			}
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}
