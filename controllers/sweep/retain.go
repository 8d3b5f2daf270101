package sweep

import (
	"context"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/controllers/stage"
)

// defaultRetention is for objects that were created without the defaults of the CRD.
const defaultRetention = 720 * time.Hour

// retainKeys keeps the Secrets of a cluster with the server keys of removed regions until their retention ends, which the status records,
// and those of regions that moved to another cluster until they exist there.
func retainKeys(ctx context.Context, p *stage.Pass, c *stage.Cluster, before []v1alpha1.RetainedKeys, keep map[string]bool,
	out *stage.Outcome,
) error {
	for _, code := range v1alpha1.RegionCodes() {
		name := render.ServerKeysSecret(p.SN.Name, code)
		if p.Network.Region(code) != nil {
			if moved, err := hasMoved(ctx, p, c, code, name); err != nil {
				return err
			} else if !moved {
				keep[keyOf(secretKind, name)] = true
			}
			continue
		}
		var secret corev1.Secret
		err := c.Cache.Get(ctx, client.ObjectKey{Namespace: c.Namespace(), Name: name}, &secret)
		if apierrors.IsNotFound(err) {
			continue
		}
		if err != nil {
			return err
		}
		until := retainedUntil(p, before, code)
		record(p, v1alpha1.RetainedKeys{Code: code, Until: metav1.NewTime(until)}) // also at its end, until the Secret is gone
		if p.Now.Before(until) {
			keep[keyOf(secretKind, name)] = true
			out.RequeueAfter(until.Sub(p.Now))
		}
	}
	return nil
}

// recall keeps the records of keys that were not looked for in every cluster: otherwise their retention would begin again.
func recall(p *stage.Pass, before []v1alpha1.RetainedKeys) {
	for _, recorded := range before {
		if p.Network.Region(recorded.Code) == nil {
			record(p, recorded)
		}
	}
}

// record adds the keys of a region to the status, once.
func record(p *stage.Pass, keys v1alpha1.RetainedKeys) {
	if !slices.ContainsFunc(p.Status.RetainedKeys, func(r v1alpha1.RetainedKeys) bool { return r.Code == keys.Code }) {
		p.Status.RetainedKeys = append(p.Status.RetainedKeys, keys)
	}
}

// hasMoved reports whether a Secret with server keys is not needed in a cluster, because the region of it runs in another one and has
// the Secret there. It reports true for the cluster of the region itself, whose Secret the spec asks for.
func hasMoved(ctx context.Context, p *stage.Pass, c *stage.Cluster, code v1alpha1.RegionCode, name string) (bool, error) {
	now := p.ClusterOf(code)
	if now == c || p.SN.Spec.ServerKeys.ExistingSecret != nil {
		return true, nil
	}
	if !now.IsUsable() {
		return false, nil
	}
	var there corev1.Secret
	err := now.Cache.Get(ctx, client.ObjectKey{Namespace: now.Namespace(), Name: name}, &there)
	return err == nil && there.DeletionTimestamp.IsZero() && len(there.Data) > 0, client.IgnoreNotFound(err)
}

// retainedUntil returns when the retention of a region's keys ends: as recorded, or counted from now.
func retainedUntil(p *stage.Pass, recorded []v1alpha1.RetainedKeys, code v1alpha1.RegionCode) time.Time {
	if i := slices.IndexFunc(recorded, func(r v1alpha1.RetainedKeys) bool { return r.Code == code }); i >= 0 {
		return recorded[i].Until.Time
	}
	return p.Now.Add(p.SN.Spec.ServerKeys.RetainRemoved.Or(defaultRetention)).Truncate(time.Second)
}
