package keys

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/apply"
	"github.com/plaza-social/plaza/controllers/keyring"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/controllers/stage"
)

// keySet is a set of keys that is created once: the identity, keys that all regions share, or the server keys of a region.
type keySet struct {
	name    string // in the recovery Secret and in AnnotationKeySets
	secret  string // the name of its Secret
	file    string // a Secret without this file has lost its keys
	cluster *stage.Cluster
	region  v1alpha1.RegionCode // of server keys
	effect  string              // what giving the keys up means to users
}

func (r *run) identityKeySet() keySet {
	return keySet{name: keyring.IdentitySet, secret: render.IdentitySecret(r.pass.SN.Name), file: keyring.NetworkIDFile, cluster: r.pass.Own()}
}

func (r *run) serverKeySet(c *stage.Cluster, code v1alpha1.RegionCode) keySet {
	return keySet{
		name: keyring.ServerKeysSet + string(code), secret: render.ServerKeysSecret(r.pass.SN.Name, code), file: keyring.ServerKeysFile,
		cluster: c, region: code,
		effect: "requests with the present server keys of the region are refused",
	}
}

// restoredInterval is when a Secret that was restored is read.
const restoredInterval = time.Second

// may is what may be done about a set of keys that does not exist.
type may int

const (
	mayNotCreate may = iota // they were lost, or it is not known whether they exist
	mayCreate               // there were none, or they were given up
)

// restore handles a set of keys that does not exist. It restores the keys if there is a copy. Otherwise it reports whether new keys may
// be created: not if the network had keys that were lost.
func (r *run) restore(ctx context.Context, s keySet, found *keysSecret) may {
	if r.releaseDeleted(s, found, false) {
		return mayNotCreate
	}
	if r.unread || r.identityFound == nil { // the identity has the names of the sets that exist
		r.missingf(s, v1alpha1.ReasonProgressing, "Secret %s does not exist %s; it is created or restored when the identity has been read.",
			s.secret, s.cluster.Where())
		return mayNotCreate
	}
	saved, from, err := r.copyOf(ctx, s, r.id)
	switch {
	case err != nil:
		r.missingf(s, v1alpha1.ReasonApplyFailed, "Secret %s does not exist %s, and copies of it could not be looked for: %s.", s.secret,
			s.cluster.Where(), err)
		return mayNotCreate
	case from != "":
		r.createCopy(s, found, saved, from)
		return mayNotCreate
	case !slices.Contains(r.sets, s.name) && (r.hasSets || r.pass.Unreadable() == nil):
		return mayCreate
	}
	if c := r.pass.Unreadable(); c != nil {
		r.missingf(s, c.Reason, "Secret %s does not exist %s; a copy may be in a cluster that cannot be read. %s", s.secret, s.cluster.Where(),
			c.Message)
		return mayNotCreate
	}
	request := r.pass.SN.Annotations[v1alpha1.AnnotationGiveUpKeys]
	if request == r.id && !slices.Contains(r.givenUp, s.name) {
		r.givenUp = append(r.givenUp, s.name)
		return mayCreate
	}
	r.pass.Status.MissingKeys = append(r.pass.Status.MissingKeys, s.secret)
	again := ""
	if request == r.id {
		again = fmt.Sprintf(" (first remove the annotation %s, which was used)", v1alpha1.AnnotationGiveUpKeys)
	}
	sn := r.pass.SN
	r.missingf(s, v1alpha1.ReasonKeysMissing, "Secret %s does not exist %s, and no copy of its keys is left. To restore them from a backup: "+
		"kubectl plaza keys restore %s -n %s --file BACKUP. To give them up and create new ones: kubectl -n %s annotate sn %s --overwrite "+
		"%s=%s%s; then %s.",
		s.secret, s.cluster.Where(), sn.Name, sn.Namespace, sn.Namespace, sn.Name, v1alpha1.AnnotationGiveUpKeys, r.id, again, s.effect)
	return mayNotCreate
}

// missingf reports a problem with a set of keys that does not exist.
func (r *run) missingf(s keySet, reason v1alpha1.Reason, format string, args ...any) {
	if s.region != "" {
		r.notVerified(s.region, reason, fmt.Sprintf(format, args...))
		return
	}
	r.problemf(reason, format, args...)
}

// createCopy restores a Secret, also while the network is paused.
func (r *run) createCopy(s keySet, found *keysSecret, saved keyring.Saved, from string) {
	object := r.objectOf(s.cluster, s.secret, s.region, saved)
	var desired *stage.Desired
	if found == nil {
		desired = r.out.Apply(stage.Desired{Object: object, Mode: apply.CreateOnly, Cluster: s.cluster, IgnorePause: true})
	} else {
		desired = r.update(found, object, true)
	}
	r.eventf(desired, v1alpha1.ReasonKeysRestored, "restored the lost Secret %s %s from the copy %s", s.secret, s.cluster.Where(),
		strings.TrimPrefix(from, "in "))
	r.missingf(s, v1alpha1.ReasonProgressing, "Secret %s is being restored from a copy.", s.secret)
	r.out.RequeueAfter(restoredInterval)
}

// applyIdentity writes the identity's Secret as it was read, with the names of all sets of keys that exist.
func (r *run) applyIdentity() {
	if r.identityFound == nil {
		return
	}
	sets := slices.DeleteFunc(slices.Clone(r.sets), func(set string) bool { return !r.isKept(set) })
	for set := range r.recovery.after {
		if set != keyring.IdentitySet && !slices.Contains(sets, set) {
			sets = append(sets, set)
		}
	}
	slices.Sort(sets)
	object := r.identityObject(r.identityFound.secret.Name, r.identityRead)
	object.Annotations[keyring.AnnotationKeySets] = strings.Join(sets, " ")
	if r.pass.Status.Schema.Completed != "" {
		object.Annotations[keyring.AnnotationAccepted] = "true"
	} else if accepted := r.identityFound.annotations()[keyring.AnnotationAccepted]; accepted != "" {
		object.Annotations[keyring.AnnotationAccepted] = accepted
	}
	object.Annotations[keyring.AnnotationGivenUp] = strings.Join(r.givenUp, " ") // also if it is empty: leaving it out may not remove it
	if !r.releaseDeleted(r.identityKeySet(), r.identityFound, true) {
		r.update(r.identityFound, object, false)
	}
}

// readSets reads the names of the sets of keys that exist, or should, from the identity's annotations.
func (r *run) readSets(annotations map[string]string) {
	_, r.hasSets = annotations[keyring.AnnotationKeySets]
	r.sets = strings.Fields(annotations[keyring.AnnotationKeySets])
	r.givenUp = strings.Fields(annotations[keyring.AnnotationGivenUp])
	if r.pass.SN.Annotations[v1alpha1.AnnotationGiveUpKeys] == "" {
		r.givenUp = nil
	}
}

// has reports whether a Secret has a file that is not empty.
func (s *keysSecret) has(file string) bool { return strings.TrimSpace(s.file(file).Reveal()) != "" }

// hasServerKeys reports whether a Secret has server keys, or a file that is not valid.
func (s *keysSecret) hasServerKeys() bool {
	file, err := keyring.ParseFile(s.file(keyring.ServerKeysFile))
	return err != nil || len(file) > 0
}

// foreign returns whose keys a Secret in a member cluster has if they are not those of this network, as the end of a sentence, or "".
func (r *run) foreign(found *keysSecret) string {
	if found == nil || found.cluster.Name == "" {
		return ""
	}
	if from := found.secret.Labels[render.LabelOwnerNamespace]; from != "" && from != r.pass.SN.Namespace {
		return " of another namespace"
	}
	if id := found.networkID(); id != "" && r.id != "" && id != r.id {
		return fmt.Sprintf(" with id %s; this one has id %s", id, r.id)
	}
	return ""
}

// networkID returns the id of the network whose keys a Secret has.
func (s *keysSecret) networkID() string { return s.annotations()[keyring.AnnotationNetworkID] }
