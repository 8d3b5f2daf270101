package keys_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/keys"
	"github.com/plaza-social/plaza/controllers/stagetest"
	"github.com/plaza-social/plaza/platform/control"
)

const day = 24 * time.Hour

// trusts returns how many authorities the holder of a Secret trusts, and the issuer of its certificate: 0 is the first authority.
func trusts(h *stagetest.Harness, name string) (count int, issuer int) {
	h.T.Helper()
	secret := h.Secret(name)
	c, err := control.ParseCredentials(secret.Data["tls.crt"], secret.Data["tls.key"], secret.Data["ca.crt"])
	require.NoError(h.T, err)
	for i, authority := range c.Authorities {
		if c.Certificate.Leaf.CheckSignatureFrom(authority) == nil {
			return len(c.Authorities), i
		}
	}
	require.Fail(h.T, "the issuer is not trusted")
	return 0, 0
}

func requireTrust(h *stagetest.Harness, count, issuer int) {
	h.T.Helper()
	for _, name := range []string{"acme-control-authority", "acme-eu-control", "acme-us-control"} {
		n, i := trusts(h, name)
		require.Equal(h.T, count, n, name)
		require.Equal(h.T, issuer, i, name)
	}
}

func secured(h *stagetest.Harness, code v1alpha1.RegionCode) string {
	h.T.Helper()
	for _, region := range h.SN.Status.Regions {
		if region.Code == code {
			c := meta.FindStatusCondition(region.Conditions, v1alpha1.RegionControlSecured)
			return string(c.Status) + " " + c.Reason + " " + c.Message
		}
	}
	return ""
}

// TestControlAuthorityRotates rotates by schedule and by annotation. A server that does not read its files holds up the rotation, and
// servers and operator trust the issuers of each other's certificates at any time.
func TestControlAuthorityRotates(t *testing.T) {
	h := stagetest.New(t, v1alpha1.RegionEU, v1alpha1.RegionUS)
	h.SettleKeys()
	requireTrust(h, 1, 0)
	require.Equal(t, "True ControlSecured 2 servers are called with mutual TLS.", secured(h, v1alpha1.RegionEU))
	require.Equal(t, h.Now.Add(90*day), h.SN.Status.Control.CertificatesNotAfter.Time)
	versions := h.SecretVersions()
	h.Now = h.Now.Add(time.Hour)
	h.RunKeys()
	require.Equal(t, versions, h.SecretVersions())
	for name, begin := range map[string]func(){
		"annotation": func() { h.SN.Annotations[v1alpha1.AnnotationRotateControl] = "now" },
		"schedule":   func() { h.Now = h.Now.Add(181 * day) },
	} {
		h.TakeEvents()
		slow := h.Servers.Pods[v1alpha1.RegionUS][1]
		slow.StaleKeys = true
		begin()
		result := h.RunKeys()
		require.Equal(t, 5*time.Second, result.Requeue, name)
		requireTrust(h, 2, 1)
		require.Contains(t, h.TakeEvents(), "RotationStarted")
		h.RunKeys()
		h.RunKeys()
		requireTrust(h, 2, 1) // one server does not trust the new one
		slow.StaleKeys = false
		require.Greater(t, h.SettleKeys().Requeue, 5*time.Second, "no server is waited for")
		requireTrust(h, 2, 0)
		h.Now = h.Now.Add(day - time.Second)
		h.SettleKeys()
		requireTrust(h, 2, 0)
		h.Now = h.Now.Add(time.Second)
		h.SettleKeys()
		requireTrust(h, 1, 0)
	}
}

// TestStaleCacheRotatesTheAuthorityOnce gives the stage the Secret from before the rotation: it must not create another authority.
func TestStaleCacheRotatesTheAuthorityOnce(t *testing.T) {
	h := stagetest.New(t, v1alpha1.RegionEU, v1alpha1.RegionUS)
	h.SettleKeys()
	stale := staleSecret{Client: h.Client, secret: h.Secret("acme-control-authority")}
	h.Servers.Pods[v1alpha1.RegionUS][1].StaleKeys = true
	h.SN.Annotations[v1alpha1.AnnotationRotateControl] = "now"
	h.SettleKeys()
	requireTrust(h, 2, 1)
	h.TakeEvents()
	before := h.SecretVersions()
	h.Cache = stale
	require.Empty(t, h.RunKeys().Errors)
	require.Empty(t, h.TakeEvents())
	require.Equal(t, before, h.SecretVersions())
}

// TestSilentServersDoNotTrust starts a rotation while a server does not answer, of which it is not known which authorities it trusts.
func TestSilentServersDoNotTrust(t *testing.T) {
	h := stagetest.New(t, v1alpha1.RegionEU, v1alpha1.RegionUS)
	h.SettleKeys()
	silent := h.Servers.Pods[v1alpha1.RegionUS][1]
	silent.Unreachable = true
	h.SN.Annotations[v1alpha1.AnnotationRotateControl] = "now"
	h.RunKeys()
	h.RunKeys()
	h.RunKeys()
	requireTrust(h, 2, 1)
	silent.Unreachable = false
	h.SettleKeys()
	requireTrust(h, 2, 0)
}

// TestControlCertificatesAreRenewed renews certificates before they end, also while the network is paused.
func TestControlCertificatesAreRenewed(t *testing.T) {
	h := stagetest.New(t, v1alpha1.RegionEU, v1alpha1.RegionUS)
	h.SettleKeys()
	before := h.Secret("acme-eu-control").Data["tls.crt"]
	h.Now = h.Now.Add(60*day - time.Second)
	h.SettleKeys()
	require.Equal(t, before, h.Secret("acme-eu-control").Data["tls.crt"])
	h.SN.Spec.Paused = true
	h.Now = h.Now.Add(time.Second)
	h.RunKeys()
	require.NotEqual(t, before, h.Secret("acme-eu-control").Data["tls.crt"])
	require.Equal(t, h.Now.Add(90*day), h.SN.Status.Control.CertificatesNotAfter.Time)
	requireTrust(h, 1, 0)
}

// TestControlRepairs deletes and breaks the Secrets.
func TestControlRepairs(t *testing.T) {
	h := stagetest.New(t, v1alpha1.RegionEU, v1alpha1.RegionUS)
	h.SettleKeys()
	authority := h.Secret("acme-control-authority").Data["authorities.pem"]
	h.DeleteSecret("acme-us-control")
	h.EditSecret("acme-eu-control", func(s *corev1.Secret) { s.Data["tls.key"] = []byte(secretText) })
	h.SettleKeys()
	requireTrust(h, 1, 0)
	require.Equal(t, authority, h.Secret("acme-control-authority").Data["authorities.pem"])

	h.EditSecret("acme-control-authority", func(s *corev1.Secret) { s.Data["authorities.pem"] = []byte(secretText) })
	result := h.SettleKeys()
	require.Equal(t, v1alpha1.ReasonKeyFileBroken, result.Reason)
	require.Contains(t, result.Message, "Secret acme-control-authority, authorities.pem")
	require.NotContains(t, result.Message, secretText)
	h.DeleteSecret("acme-control-authority")
	require.Equal(t, metav1.ConditionTrue, h.SettleKeys().Status)
	requireTrust(h, 1, 0)
	require.NotEqual(t, authority, h.Secret("acme-control-authority").Data["authorities.pem"])
}

// TestEndOfCertificates renews some certificates before the others: the status has the end of the first, and it is renewed in time.
func TestEndOfCertificates(t *testing.T) {
	for name, renewed := range map[string][]string{
		"the operator's": {"acme-control-authority"}, "those of the servers": {"acme-eu-control", "acme-us-control"},
		"of one region": {"acme-control-authority", "acme-us-control"},
	} {
		h := stagetest.New(t, v1alpha1.RegionEU, v1alpha1.RegionUS)
		h.SettleKeys()
		end := h.Now.Add(90 * day)
		h.Now = h.Now.Add(20 * day)
		for _, secret := range renewed {
			before := h.Secret(secret).Data["tls.crt"]
			h.EditSecret(secret, func(s *corev1.Secret) { s.Data["tls.key"] = nil })
			h.SettleKeys()
			require.NotEqual(t, before, h.Secret(secret).Data["tls.crt"])
		}
		result := h.SettleKeys()
		require.Equal(t, end, h.SN.Status.Control.CertificatesNotAfter.Time, name)
		require.LessOrEqual(t, result.Requeue, 40*day, name)
	}
}

// TestSecured reports whether servers are called with mutual TLS.
func TestSecured(t *testing.T) {
	h := stagetest.New(t, v1alpha1.RegionEU, v1alpha1.RegionUS)
	require.Equal(t, metav1.ConditionTrue, h.SettleKeys().Status)
	require.True(t, strings.HasPrefix(secured(h, v1alpha1.RegionUS), "True"))
	h.Servers.Pods[v1alpha1.RegionEU][0].Unreachable = true
	h.SettleKeys()
	require.Contains(t, secured(h, v1alpha1.RegionEU), "Unknown ServersSilent Pod acme-eu-0: ")
	h.Servers.Pods[v1alpha1.RegionEU] = nil
	h.SettleKeys()
	require.Contains(t, secured(h, v1alpha1.RegionEU), "Unknown NoServers")
}

// TestCredentials reads those of the operator.
func TestCredentials(t *testing.T) {
	h := stagetest.New(t, v1alpha1.RegionEU)
	h.RunKeys()
	credentials, err := keys.Credentials(t.Context(), h.Pass.Own(), "acme")
	require.NoError(t, err)
	require.Nil(t, credentials)
	h.SettleKeys()
	credentials, err = keys.Credentials(t.Context(), h.Pass.Own(), "acme")
	require.NoError(t, err)
	require.NoError(t, credentials.Certificate.Leaf.VerifyHostname(control.OperatorName(h.SN.Status.NetworkID)))
	h.EditSecret("acme-control-authority", func(s *corev1.Secret) { s.Labels = nil })
	credentials, err = keys.Credentials(t.Context(), h.Clusters()[0], "acme")
	require.NoError(t, err)
	require.NotNil(t, credentials, "the cache does not hold the Secret")
	h.Cache = stagetest.Unreadable{Client: h.Client, Prefix: "acme-control-authority"}
	_, err = keys.Credentials(t.Context(), h.Clusters()[0], "acme")
	require.ErrorContains(t, err, "reading the credentials for control calls: ")
	h.Cache = nil
	h.EditSecret("acme-control-authority", func(s *corev1.Secret) { s.Data["tls.key"] = nil })
	credentials, err = keys.Credentials(t.Context(), h.Pass.Own(), "acme")
	require.NoError(t, err)
	require.Nil(t, credentials)
}
