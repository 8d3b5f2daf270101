package keys

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/keyring"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/controllers/stage"
	"github.com/plaza-social/plaza/platform/statusz"
)

// identity publishes the network's id. Without an identity it restores the one of a copy, or creates that of a network that never had
// one.
func (r *run) identity(ctx context.Context) {
	name := render.IdentitySecret(r.pass.SN.Name)
	r.id = r.pass.SN.Status.NetworkID
	found, err := r.find(ctx, r.pass.Own(), name)
	switch {
	case err != nil:
		r.problemf(v1alpha1.ReasonApplyFailed, "Secret %s could not be read: %s.", name, err)
		r.unread = true
	case found == nil && !r.unread:
		if r.isRefused() && r.recovery.id != "" { // see replaceIdentity, whose status may not have been written
			r.id, r.pass.Status.NetworkID = "", ""
		}
		r.findIdentity(ctx)
	case found != nil:
		r.useIdentity(ctx, found)
	}
}

func (r *run) useIdentity(ctx context.Context, found *keysSecret) {
	identity := keyring.Save(found.secret.Data, nil).Identity()
	if err := identity.Check(); err != nil {
		if r.releaseDeleted(r.identityKeySet(), found, false) {
			return
		}
		r.problemf(v1alpha1.ReasonIdentityChanged, "Secret %s: %s. Delete it to restore it from a copy.", found.secret.Name, err)
		return
	}
	// See replaceIdentity, whose status may not have been written.
	if r.id != identity.NetworkID && r.recovery.id == identity.NetworkID && r.isRefused() {
		r.id, r.pass.Status.Schema.LastError = "", ""
	}
	if r.id != "" && r.id != identity.NetworkID {
		r.problemf(v1alpha1.ReasonIdentityChanged, "Secret %s belongs to another network; restore the Secret of network %s.", found.secret.Name,
			r.id)
		return
	}
	r.id, r.identityFound, r.identityRead = identity.NetworkID, found, identity
	r.readSets(found.annotations())
	if r.isRefused() && r.replaceIdentity(ctx) {
		return
	}
	r.out.Facts.NetworkID, r.pass.Status.NetworkID = identity.NetworkID, identity.NetworkID
	r.save(keyring.IdentitySet, found)
}

// findIdentity restores the identity from a copy. It creates one if the network has no id and no cluster of it has a copy. If the
// database belongs to another identity, the migration refuses the new one.
func (r *run) findIdentity(ctx context.Context) {
	s, sn := r.identityKeySet(), r.pass.SN
	copies, err := r.identities(ctx)
	if err != nil {
		r.problemf(v1alpha1.ReasonApplyFailed, "Secret %s does not exist, and copies of it could not be looked for: %s.", s.secret, err)
		return
	}
	known := r.id
	maps.DeleteFunc(copies, func(id string, _ identityCopy) bool { return known != "" && id != known })
	ids := slices.Sorted(maps.Keys(copies))
	switch unreadable := r.pass.Unreadable(); {
	case len(ids) == 1:
		r.id = ids[0]
		r.createCopy(s, nil, copies[r.id].saved, copies[r.id].from)
		r.id = known
	case len(ids) > 1:
		r.pass.Status.MissingKeys = []string{s.secret}
		r.problemf(v1alpha1.ReasonKeysMissing,
			"Secret %s does not exist, and its copies are of several networks: %s. Delete those of the others.", s.secret, describe(copies))
	case unreadable != nil:
		r.problemf(unreadable.Reason, "Secret %s does not exist; a copy may be in a cluster that cannot be read. %s", s.secret,
			unreadable.Message)
	case known != "":
		r.pass.Status.MissingKeys = []string{s.secret}
		r.problemf(v1alpha1.ReasonKeysMissing,
			"Secret %s does not exist in the namespace, and no copy of its keys is left. Without it no user of the database can be found. "+
				"Running servers keep the keys that they have read. To restore it from a backup: kubectl plaza keys restore %s -n %s --file BACKUP. "+
				"It cannot be given up: without it, the network must begin again with an empty database.", s.secret, sn.Name, sn.Namespace)
	default:
		r.createIdentity(s.secret)
	}
}

// identityCopy is a copy of an identity and where it was found.
type identityCopy struct {
	saved keyring.Saved
	from  string
}

// identities returns the copies of identities of networks of this name, by their ids.
func (r *run) identities(ctx context.Context) (map[string]identityCopy, error) {
	copies := map[string]identityCopy{}
	add := func(saved keyring.Saved, from string) {
		identity := saved.Identity()
		if _, found := copies[identity.NetworkID]; !found && identity.Check() == nil {
			copies[identity.NetworkID] = identityCopy{saved, from}
		}
	}
	if saved, found := r.recovery.before[keyring.IdentitySet]; found {
		add(saved, "in Secret "+render.RecoverySecret(r.pass.SN.Name))
	}
	s := r.identityKeySet()
	for _, c := range r.pass.Usable() {
		if c == s.cluster {
			continue
		}
		found, err := refetch(ctx, c, s.secret)
		if err != nil {
			return nil, fmt.Errorf("reading Secret %s %s: %w", s.secret, c.Where(), err)
		}
		if found != nil && r.isOurs(found) {
			add(keyring.Save(found.secret.Data, found.secret.Annotations), c.Where())
		}
	}
	return copies, nil
}

func describe(copies map[string]identityCopy) string {
	var words []string
	for _, id := range slices.Sorted(maps.Keys(copies)) {
		words = append(words, id+" "+copies[id].from)
	}
	return strings.Join(words, ", ")
}

// createIdentity creates the identity. It is published by the next pass, when it has been read back: nothing may be
// created for an id that was not stored.
func (r *run) createIdentity(name string) {
	identity, err := keyring.NewIdentity(r.Random)
	if err != nil {
		r.problemf(v1alpha1.ReasonProgressing, "The network's identity could not be created: %s.", err)
		return
	}
	r.id = identity.NetworkID
	created := r.create(r.pass.Own(), r.identityObject(name, identity))
	r.id = ""
	r.eventf(created, v1alpha1.ReasonKeysCreated, "created the network's identity with network id %s", identity.NetworkID)
	r.problemf(v1alpha1.ReasonProgressing, "The network's identity is being created.")
	r.out.RequeueAfter(time.Second)
}

func (r *run) identityObject(name string, identity keyring.Identity) *corev1.Secret {
	object := r.object(r.pass.Own(), name, "", map[string]keyring.Secret{
		keyring.DirectoryKeyFile: identity.DirectoryKey, keyring.NetworkIDFile: keyring.NewSecret(identity.NetworkID),
	})
	object.Immutable = new(true)
	return object
}

// isRefused reports whether the database has refused an identity that no database has accepted: the operator created it, but the
// database belongs to another network, or to this one, which has lost its keys.
func (r *run) isRefused() bool {
	schema := r.pass.Status.Schema
	wasAccepted := schema.Completed != "" || r.identityFound.annotations()[keyring.AnnotationAccepted] != ""
	return !wasAccepted && strings.Contains(schema.LastError, statusz.OtherNetwork)
}

// replaceIdentity replaces an identity that the database has refused, and the keys that were created with it, with those of a backup
// that was restored to the recovery Secret. It reports false if there is none: then the keys are missing.
func (r *run) replaceIdentity(ctx context.Context) bool {
	sn := r.pass.SN
	if r.recovery.id == "" || r.recovery.id == r.id {
		r.pass.Status.MissingKeys = []string{r.identityFound.secret.Name}
		r.problemf(v1alpha1.ReasonKeysMissing,
			"The database belongs to a network with other keys. If they are the lost keys of this network, restore them from a backup: "+
				"kubectl plaza keys restore %s -n %s --file BACKUP. Otherwise give the network a database of its own.", sn.Name, sn.Namespace)
		return false
	}
	for _, c := range r.pass.Usable() {
		for _, name := range r.secretsIn(c) {
			found, err := refetch(ctx, c, name)
			if err != nil {
				r.problemf(v1alpha1.ReasonApplyFailed, "Secret %s could not be read: %s.", name, err)
				continue
			}
			if found != nil && r.isOurs(found) && found.networkID() == r.id {
				r.out.Deletions = append(r.out.Deletions, stage.Deletion{Object: found.secret, Cluster: c})
			}
		}
	}
	r.id, r.pass.Status.NetworkID = "", ""
	if sn.Spec.Paused {
		r.problemf(v1alpha1.ReasonPausedBySpec,
			"The keys are replaced with those of network %s, which were restored to Secret %s, when spec.paused is false.",
			r.recovery.id, r.recovery.found.secret.Name)
		return true
	}
	r.pass.Status.Schema.LastError = "" // it is about the identity that goes
	r.problemf(v1alpha1.ReasonProgressing, "The keys are being replaced with those of network %s, which were restored to Secret %s.",
		r.recovery.id, r.recovery.found.secret.Name)
	r.out.RequeueAfter(restoredInterval)
	return true
}

// secretsIn returns the names of the Secrets with keys that a cluster may have.
func (r *run) secretsIn(c *stage.Cluster) []string {
	names := render.SharedSecrets(r.pass.SN.Name)
	for _, region := range c.Network.Regions() {
		names = append(names, render.ServerKeysSecret(r.pass.SN.Name, region.Code))
	}
	return names
}
