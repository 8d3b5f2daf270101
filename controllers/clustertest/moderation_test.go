//go:build cluster

package clustertest

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/keyring"
	"github.com/plaza-social/plaza/controllers/platformclient"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/platform/control"
	"github.com/plaza-social/plaza/platform/statusz"
)

// moderation edits the settings, and then changes them outside the spec.
func (s *suite) moderation(t *testing.T) {
	t.Helper()
	want := s.moderate(t)
	s.within(t, "ModerationApplied is true", func() string {
		sn := s.network(t)
		if status, reason, message := condition(sn, v1alpha1.ConditionModerationApplied); status != "True" {
			return reason + ": " + message
		}
		return ""
	})

	drift := time.Now()
	secret := get(t, s, &corev1.Secret{}, render.SigningKeysSecret(network))
	token, err := platformclient.AdminToken(keyring.NewSecret(string(secret.Data[keyring.SigningKeysFile])), s.networkID, drift)
	require.NoError(t, err)
	header := http.Header{"Authorization": {"Bearer " + token.Reveal()}, "Content-Type": {"application/json"}}
	settings := object{"isWhitelistEnabled": false, "isReportEnabled": false}
	_, err = call(fresh, http.MethodPut, s.people["eu"].base+"/api/v3/network-settings/moderation", header, settings)
	require.NoError(t, err)
	s.run(t, want)
	s.within(t, "an event reports the drift", func() string {
		if !s.happened(t, v1alpha1.ReasonModerationDrift, drift) {
			return "there is none"
		}
		return ""
	})
	s.nothingFailed(t)
}

// moderate edits the settings, and returns them once every server runs them.
func (s *suite) moderate(t *testing.T) statusz.Moderation {
	t.Helper()
	s.edit(t, func(sn *v1alpha1.SocialNetwork) {
		sn.Spec.Moderation.FlagLimit, sn.Spec.Moderation.FlagHideLimit, sn.Spec.Moderation.WhitelistEnabled = 7, 3, true
	})
	want := statusz.Moderation{IsWhitelistEnabled: true, IsReportEnabled: true, FlagLimit: 7, FlagHideLimit: 3}
	s.run(t, want)
	return want
}

// run waits until every server reports that it runs the settings.
func (s *suite) run(t *testing.T, want statusz.Moderation) {
	t.Helper()
	servers, credentials := s.servers(), s.credentials(t)
	s.within(t, "every server runs the settings of the spec", func() string {
		for _, pod := range s.pods(t, "") {
			status, err := servers.Status(t.Context(), platformclient.Server{
				Ops: podAddress(&pod, render.PortOps), Control: podAddress(&pod, render.PortControl),
				Name: control.ServerName(pod.Labels[render.LabelRegion], s.networkID), Credentials: credentials,
			})
			if err != nil {
				return pod.Name + ": " + err.Error()
			}
			if status.Moderation.Digest != want.Hash() {
				return fmt.Sprintf("%s runs %+v", pod.Name, status.Moderation)
			}
		}
		return ""
	})
}

// servers returns a client of the platform's servers.
func (s *suite) servers() platformclient.Servers {
	if s.forwarder != nil {
		return platformclient.NewVia(s.forwarder.dial)
	}
	return platformclient.New()
}

// credentials returns those of the operator for control calls.
func (s *suite) credentials(t *testing.T) *control.Credentials {
	t.Helper()
	data := get(t, s, &corev1.Secret{}, render.ControlAuthoritySecret(network)).Data
	credentials, err := control.ParseCredentials(data[control.CertificateFile], data[control.KeyFile], data[control.AuthoritiesFile])
	require.NoError(t, err)
	return credentials
}
