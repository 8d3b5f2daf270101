package keys

import (
	"context"
	"fmt"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/keyring"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/controllers/stage"
	"github.com/plaza-social/plaza/platform/control"
)

// Credentials returns the operator's credentials for control calls to the servers of a network, or nil while there are none that are
// valid.
func Credentials(ctx context.Context, c *stage.Cluster, network string) (*control.Credentials, error) {
	secret, err := c.UserSecret(ctx, render.ControlAuthoritySecret(network)) // also one that lost its label
	if apierrors.IsNotFound(err) {
		return nil, nil // nil is the credentials of a network that has none
	}
	if err != nil {
		return nil, fmt.Errorf("reading the credentials for control calls: %w", err)
	}
	credentials, err := control.ParseCredentials(secret.Data[control.CertificateFile], secret.Data[control.KeyFile],
		secret.Data[control.AuthoritiesFile])
	if err != nil {
		return nil, nil //nolint:nilerr // the stage issues new ones
	}
	return credentials, nil
}

// control creates and rotates the authority of control calls, and the certificates of the operator and of each region's servers.
func (r *run) control(ctx context.Context) {
	r.pass.Status.Control = v1alpha1.ControlStatus{}
	if r.pass.Status.NetworkID == "" {
		return // certificates name the network
	}
	authorities, ok := r.authorities(ctx)
	if !ok {
		return
	}
	for i := range r.pass.SN.Spec.Regions {
		code := r.pass.SN.Spec.Regions[i].Code
		if c := r.pass.ClusterOf(code); c.IsUsable() {
			r.regionCertificate(ctx, c, code, authorities)
		}
		r.setSecured(code)
	}
}

// authorities advances the rotation of the authority, and renews the operator's certificate, which is in the same Secret.
func (r *run) authorities(ctx context.Context) (keyring.Authorities, bool) {
	own, name := r.pass.Own(), render.ControlAuthoritySecret(r.pass.SN.Name)
	found, err := r.find(ctx, own, name)
	if err != nil {
		r.problemf(v1alpha1.ReasonApplyFailed, "Secret %s could not be read: %s.", name, err)
		return keyring.Authorities{}, false
	}
	result, err := r.stepAuthority(found)
	if err == nil && result.Changed && found != nil && found.cached {
		if found, err = refetch(ctx, own, name); err == nil {
			result, err = r.stepAuthority(found)
		}
	}
	if err != nil {
		r.problemf(v1alpha1.ReasonKeyFileBroken, "Secret %s, %s: %s. Delete the Secret to get a new authority.", name, keyring.AuthoritiesFile,
			err)
		return keyring.Authorities{}, false
	}
	certificate, err := result.Certify(r.Random, certificateOf(found), control.OperatorName(r.pass.Status.NetworkID), control.Operator,
		r.pass.Now)
	if err != nil {
		r.problemf(v1alpha1.ReasonProgressing, "Secret %s could not be created: %s.", name, err)
		return keyring.Authorities{}, false
	}
	object := r.controlObject(own, name, "", certificate)
	maps.Copy(object.Annotations, result.Annotations)
	object.Data[keyring.AuthoritiesFile] = []byte(result.Content.Reveal())
	desired := r.createOrUpdate(own, found, object, true)
	for _, event := range result.Events {
		r.eventf(desired, event.Reason, "%s", event)
	}
	r.ends(certificate.NotAfter, certificate.Due())
	r.ends(result.Active.Certificate.NotAfter, result.Due)
	if len(result.All) > 1 && result.All[0] != result.Active {
		r.out.RequeueAfter(verifyInterval)
	}
	return result, true
}

func (r *run) stepAuthority(found *keysSecret) (keyring.Authorities, error) {
	content := found.file(keyring.AuthoritiesFile)
	return keyring.StepAuthority(keyring.AuthorityInput{
		Content: content, Annotations: found.annotations(), NetworkID: r.pass.Status.NetworkID, Now: r.pass.Now, Random: r.Random,
		Request: r.pass.SN.Annotations[v1alpha1.AnnotationRotateControl], Trusted: r.trustedByServers(keyring.NewestAuthority(content)),
	})
}

// trustedByServers returns id if every server trusts the authority with the id, otherwise "".
func (r *run) trustedByServers(id string) string {
	if _, all := r.everyServer(func(report stage.ServerReport) bool { return report.Status.Control.Trusts(id) }); !all {
		return ""
	}
	return id
}

// regionCertificate keeps the Secret that the servers of a region read.
func (r *run) regionCertificate(ctx context.Context, c *stage.Cluster, code v1alpha1.RegionCode, authorities keyring.Authorities) {
	name := render.ControlSecret(r.pass.SN.Name, code)
	found, err := r.find(ctx, c, name)
	if err != nil {
		r.problemf(v1alpha1.ReasonApplyFailed, "Secret %s could not be read: %s.", name, err)
		return
	}
	holder := control.ServerName(string(code), r.pass.Status.NetworkID)
	certificate, err := authorities.Certify(r.Random, certificateOf(found), holder, control.Server, r.pass.Now)
	if err != nil {
		r.problemf(v1alpha1.ReasonProgressing, "Secret %s could not be created: %s.", name, err)
		return
	}
	r.createOrUpdate(c, found, r.controlObject(c, name, code, certificate), true)
	r.ends(certificate.NotAfter, certificate.Due())
}

func certificateOf(found *keysSecret) keyring.Certificate {
	return keyring.Certificate{
		Certificate: []byte(found.file(control.CertificateFile).Reveal()), Key: []byte(found.file(control.KeyFile).Reveal()),
	}
}

// controlObject returns a Secret with a certificate. Unlike keys it is deleted with the network: it is of no use to another one.
func (r *run) controlObject(c *stage.Cluster, name string, code v1alpha1.RegionCode, certificate keyring.Certificate) *corev1.Secret {
	object := r.object(c, name, code, nil)
	object.Finalizers = nil
	c.Network.SetOwner(&object.ObjectMeta)
	object.Data = map[string][]byte{
		control.CertificateFile: certificate.Certificate, control.KeyFile: certificate.Key, control.AuthoritiesFile: certificate.Authorities,
	}
	return object
}

// createOrUpdate writes a Secret: certificates are renewed even while the network is paused, because they would end otherwise.
func (r *run) createOrUpdate(c *stage.Cluster, found *keysSecret, object *corev1.Secret, ignorePause bool) *stage.Desired {
	if found == nil {
		return r.create(c, object)
	}
	return r.update(found, object, ignorePause)
}

// ends records when a certificate ends, and that it is renewed before.
func (r *run) ends(at, due time.Time) {
	status := &r.pass.Status.Control
	status.CertificatesNotAfter = earliest(status.CertificatesNotAfter, at)
	r.out.RequeueAfter(max(due.Sub(r.pass.Now), time.Second))
}

// setSecured reports whether the servers of a region are called with mutual TLS.
func (r *run) setSecured(code v1alpha1.RegionCode) {
	reports := r.pass.Reports[code]
	set := func(status metav1.ConditionStatus, reason v1alpha1.Reason, message string) {
		r.out.SetRegionCondition(code, v1alpha1.RegionControlSecured, status, reason, message)
	}
	if c := r.pass.ClusterOf(code); !c.IsUsable() {
		set(metav1.ConditionUnknown, c.Reason, c.Message)
		return
	}
	if len(reports) == 0 {
		set(metav1.ConditionUnknown, v1alpha1.ReasonNoServers, "No server of the region is ready yet.")
		return
	}
	for _, report := range reports {
		if report.Err != nil {
			set(metav1.ConditionUnknown, v1alpha1.ReasonServersSilent, fmt.Sprintf("Pod %s: %s.", report.Pod, report.Err))
			return
		}
	}
	set(metav1.ConditionTrue, v1alpha1.ReasonControlSecured,
		fmt.Sprintf("%s called with mutual TLS.", serversAre(serverCount(len(reports)), len(reports))))
}

func serversAre(count string, n int) string {
	if n == 1 {
		return count + " is"
	}
	return count + " are"
}
