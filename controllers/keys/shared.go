package keys

import (
	"cmp"
	"context"
	"io"
	"maps"
	"time"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/keyring"
	"github.com/plaza-social/plaza/controllers/platformclient"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/controllers/stage"
	"github.com/plaza-social/plaza/platform/statusz"
)

const (
	defaultAPIOverlap     = 90 * 24 * time.Hour
	defaultAccessLifetime = 720 * time.Hour
	// signingMargin is for tokens that a server signs with the old key because it has not read the new file yet.
	signingMargin = time.Hour
)

// sharedSecret describes a Secret with one key file that all regions read.
type sharedSecret struct {
	keySet

	kind     keyring.Kind
	generate func(io.Reader) (keyring.Secret, error)
	check    func(keyring.Secret) error
	// request is the value of the annotation that starts a rotation, every the time between two or 0.
	request string
	every   time.Duration
	overlap time.Duration
	status  *[]v1alpha1.KeyStatus
	loaded  func(statusz.Keys) statusz.KeyFile
}

func (r *run) signingKeys() sharedSecret {
	sn := r.pass.SN
	s := sharedSecret{
		keySet: keySet{
			name: keyring.SigningKeysSet, secret: render.SigningKeysSecret(sn.Name), file: keyring.SigningKeysFile, cluster: r.pass.Own(),
			effect: "everybody is signed out",
		},
		kind: keyring.SigningKeys, generate: keyring.NewSigningKeys,
		check:   func(file keyring.Secret) error { return platformclient.CheckSigningKeys(file, r.pass.Now) },
		request: sn.Annotations[v1alpha1.AnnotationRotateSigning], overlap: accessLifetime(sn) + signingMargin,
		status: &r.pass.Status.SigningKeys, loaded: func(k statusz.Keys) statusz.KeyFile { return k.Signing },
	}
	s.configure(sn.Spec.SigningKeys)
	s.overlap = max(s.overlap, accessLifetime(sn)+signingMargin)
	return s
}

// accessLifetime returns how long access tokens of any region are valid.
func accessLifetime(sn *v1alpha1.SocialNetwork) time.Duration {
	lifetime := defaultAccessLifetime
	if server := sn.Spec.Server; server != nil && server.Tokens != nil {
		lifetime = cmp.Or(server.Tokens.AccessLifetime.Or(0), lifetime)
	}
	for i := range sn.Spec.Regions {
		for _, env := range sn.Spec.Regions[i].Env {
			if env.Name == "PLAZA_ACCESS_TOKEN_TTL" {
				lifetime = max(lifetime, v1alpha1.Duration(env.Value).Or(0))
			}
		}
	}
	return lifetime
}

func (r *run) apiKeys() sharedSecret {
	sn := r.pass.SN
	s := sharedSecret{
		keySet: keySet{
			name: keyring.APIKeysSet, secret: render.APIKeysSecret(sn.Name), file: keyring.APIKeysFile, cluster: r.pass.Own(),
			effect: "apps with the present API keys are refused",
		},
		kind: keyring.APIKeys, generate: keyring.NewAPIKeys,
		check: func(file keyring.Secret) error {
			_, _, err := keyring.Existing(file, r.pass.Now)
			return err
		},
		request: sn.Annotations[v1alpha1.AnnotationRotateAPI], overlap: defaultAPIOverlap,
		status: &r.pass.Status.APIKeys, loaded: func(k statusz.Keys) statusz.KeyFile { return k.API },
	}
	s.configure(sn.Spec.APIKeys)
	return s
}

func (s *sharedSecret) configure(spec *v1alpha1.SharedKeys) {
	if spec == nil {
		return
	}
	if spec.RotateEvery != nil {
		s.every = spec.RotateEvery.Or(0)
	}
	if spec.Overlap != nil {
		s.overlap = cmp.Or(spec.Overlap.Or(0), s.overlap)
	}
}

// rotateShared advances the rotation of keys that all regions share. A Secret that was never rotated is not changed.
func (r *run) rotateShared(ctx context.Context, s sharedSecret, found *keysSecret) {
	result, err := r.stepShared(s, found)
	if err == nil && result.Changed && found.cached {
		if found, err = refetch(ctx, r.pass.Own(), s.secret); err != nil || !found.has(s.file) { // the cache was stale
			r.out.RequeueAfter(restoredInterval)
			r.problemf(v1alpha1.ReasonProgressing, "Secret %s is read again.", s.secret)
			return
		}
		result, err = r.stepShared(s, found)
	}
	if err != nil {
		if !r.releaseDeleted(s.keySet, found, false) {
			r.problemf(v1alpha1.ReasonKeyFileBroken, "Secret %s, %s: %s.", s.secret, s.file, err)
		}
		return
	}
	r.save(s.name, found)
	if r.releaseDeleted(s.keySet, found, true) {
		return
	}
	object := r.object(r.pass.Own(), s.secret, "", map[string]keyring.Secret{s.file: result.Content})
	maps.Copy(object.Annotations, result.Annotations)
	desired := r.update(found, object, result.Changed && r.pass.SN.Spec.Paused)
	r.recordStep(desired, s.secret, "", result)
	if !result.Due.IsZero() {
		r.out.RequeueAfter(max(result.Due.Sub(r.pass.Now), time.Second))
	}
	*s.status = nil
	if len(result.Keys) > 1 {
		*s.status = keyStatus(result.Keys)
		if result.Annotations[keyring.AnnotationPending] != "" {
			r.out.RequeueAfter(verifyInterval)
		}
	}
}

func (r *run) stepShared(s sharedSecret, found *keysSecret) (keyring.Result, error) {
	content, annotations := found.file(s.file), found.annotations()
	if annotations[keyring.AnnotationActive] == "" && s.request == "" && s.every == 0 {
		return keyring.Result{Content: content}, nil
	}
	id, waits, err := keyring.CandidateShared(s.kind, content, annotations)
	if err != nil {
		return keyring.Result{}, err
	}
	in := keyring.Input{
		Kind: s.kind, Content: content, Annotations: annotations, RotateEvery: s.every, Overlap: s.overlap, Now: r.pass.Now, Random: r.Random,
		Request: s.request, Paused: r.pass.SN.Spec.Paused || !found.cached,
	}
	if waits && r.loadedByServers(s, id) {
		in.Verified = id
	}
	return keyring.StepShared(in)
}

// loadedByServers reports whether there are servers, and all of them report a key as valid.
func (r *run) loadedByServers(s sharedSecret, id string) bool {
	servers, all := r.everyServer(func(report stage.ServerReport) bool {
		key, found := s.loaded(report.Status.Keys).Find(id)
		return found && key.Valid
	})
	return all && servers > 0
}

// everyServer returns the number of servers, and reports whether all have answered and is returns true for them. Those of a cluster that
// cannot be reached have not.
func (r *run) everyServer(is func(stage.ServerReport) bool) (servers int, all bool) {
	for i := range r.pass.SN.Spec.Regions {
		code := r.pass.SN.Spec.Regions[i].Code
		if !r.pass.ClusterOf(code).IsUsable() {
			return servers, false
		}
		for _, report := range r.pass.Reports[code] {
			if report.Err != nil || !is(report) {
				return servers, false
			}
			servers++
		}
	}
	return servers, true
}
