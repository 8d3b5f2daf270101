package evacuation

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/keyring"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/controllers/stage"
	"github.com/plaza-social/plaza/platform/auth"
)

// regionKeys are the digests of the server keys of a region.
type regionKeys struct {
	keys    []auth.EvacuatedKey
	missing string // why they are not known, or ""
}

func (k regionKeys) region(code v1alpha1.RegionCode) auth.EvacuatedRegion {
	return auth.EvacuatedRegion{Region: string(code), ServerKeys: k.keys}
}

func (k regionKeys) ids() []string {
	var ids []string
	for _, key := range k.keys {
		ids = append(ids, key.ID)
	}
	return ids
}

// readKeys reads the keys of the regions for which they are needed: of those that are evacuated, and of those in member clusters,
// whose digests are recorded so that they are known when the cluster cannot be reached.
func (r *run) readKeys(ctx context.Context) error {
	recorded, err := r.recorded(ctx)
	if err != nil {
		return err
	}
	record := map[string][]byte{}
	for i := range r.pass.SN.Spec.Regions {
		region := &r.pass.SN.Spec.Regions[i]
		if region.Cluster == "" && region.EvacuateTo == "" {
			continue
		}
		keys := r.keysOf(ctx, region, recorded)
		r.keys[region.Code] = keys
		if region.Cluster != "" && keys.missing == "" {
			record[recordName(region.Code)] = auth.EvacuationFile{Regions: []auth.EvacuatedRegion{keys.region(region.Code)}}.Content()
		}
	}
	if len(record) > 0 {
		own := r.pass.Own()
		secret := object(own, render.KeyDigestsSecret(r.pass.SN.Name), render.Labels(r.pass.SN.Name, render.ComponentKeys))
		secret.Data = record
		r.out.Apply(stage.Desired{Object: secret, Cluster: own})
	}
	return nil
}

func recordName(code v1alpha1.RegionCode) string { return string(code) + ".json" }

// recorded reads the Secret with the digests; it is nil if there is none.
func (r *run) recorded(ctx context.Context) (*corev1.Secret, error) {
	if len(r.pass.Clusters) == 1 {
		return nil, nil // nil is the record of a network without member clusters
	}
	name := render.KeyDigestsSecret(r.pass.SN.Name)
	secret, err := r.pass.Own().UserSecret(ctx, name)
	if apierrors.IsNotFound(err) {
		return nil, nil // as above
	}
	if err != nil {
		return nil, fmt.Errorf("Secret %s could not be read: %w", name, err) //nolint:staticcheck // Secret is the name of a kind
	}
	return secret, nil
}

// keysOf returns the keys of a region: those in its cluster, or if that cannot be reached, those that were recorded. Keys that the
// spec revokes are left out.
func (r *run) keysOf(ctx context.Context, region *v1alpha1.Region, recorded *corev1.Secret) regionKeys {
	cluster := r.pass.ClusterOf(region.Code)
	var keys regionKeys
	if cluster.IsUsable() {
		keys = r.presentKeys(ctx, cluster, region.Code)
	} else {
		keys = recordedKeys(recorded, region.Code)
	}
	sn := r.pass.SN
	revoked := append(strings.Fields(sn.Annotations[v1alpha1.AnnotationRevoke]), sn.Spec.ServerKeys.Revoke...)
	keys.keys = slices.DeleteFunc(keys.keys, func(k auth.EvacuatedKey) bool { return slices.Contains(revoked, k.ID) })
	return keys
}

// presentKeys reads the Secret that the servers of a region read.
func (r *run) presentKeys(ctx context.Context, c *stage.Cluster, code v1alpha1.RegionCode) regionKeys {
	name := render.ServerKeysSource(c.Network, code)
	secret, err := c.UserSecret(ctx, name)
	if err != nil {
		return regionKeys{missing: fmt.Sprintf("Secret %s could not be read %s: %s", name, c.Where(), err)}
	}
	file, err := keyring.ParseFile(keyring.NewSecret(string(secret.Data[keyring.ServerKeysFile])))
	if err != nil {
		return regionKeys{missing: fmt.Sprintf("Secret %s, %s: %s", name, keyring.ServerKeysFile, err)}
	}
	var keys regionKeys
	for _, entry := range file {
		keys.keys = append(keys.keys, auth.NewEvacuatedKey(entry.ID, entry.Key.Reveal(), entry.NotAfter))
	}
	return keys
}

// recordedKeys returns the keys of a region that were recorded while its cluster could be reached.
func recordedKeys(recorded *corev1.Secret, code v1alpha1.RegionCode) regionKeys {
	var content []byte
	if recorded != nil {
		content = recorded.Data[recordName(code)]
	}
	var file auth.EvacuationFile
	if err := json.Unmarshal(content, &file); err != nil || len(file.Regions) != 1 {
		return regionKeys{missing: "the cluster cannot be reached, and they were not recorded before"}
	}
	return regionKeys{keys: file.Regions[0].ServerKeys}
}
