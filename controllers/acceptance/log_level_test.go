package acceptance

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/render"
)

// TestLogLevel changes the log level of running servers: no pod is replaced, and the variable of a region takes precedence.
func TestLogLevel(t *testing.T) {
	o := start(t)
	sn := sample(t, "socialnetwork")
	sn.Spec.Server = nil
	sn.Spec.Regions[1].Env = []corev1.EnvVar{{Name: "PLAZA_LOG_LEVEL", Value: "info"}}
	o.up(sn)
	generation := o.deployment("acme", "us").Generation
	o.edit("acme", func(sn *v1alpha1.SocialNetwork) { sn.Spec.Server = &v1alpha1.Server{LogLevel: "debug"} })
	o.reports("us", "debug")
	o.reports("sg", "debug")
	o.reports("eu", "info")
	o.edit("acme", func(sn *v1alpha1.SocialNetwork) { sn.Spec.Server = nil })
	o.reports("us", "info")
	require.Equal(t, generation, o.deployment("acme", "us").Generation, "the pods were not replaced")
}

// reports waits until the server of a region reports a log level.
func (o *operator) reports(code v1alpha1.RegionCode, level string) {
	o.t.Helper()
	o.eventually("the log level of "+string(code), func() string {
		var have string
		for _, pod := range o.pods("acme", code) {
			o.servers.at(pod.Status.PodIP+":"+strconv.Itoa(int(render.PortOps)), func(s *server) { have = s.status.LogLevel.Current })
		}
		return notEqual(have, level)
	})
}
