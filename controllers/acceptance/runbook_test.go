package acceptance

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/render"
	"github.com/plaza-social/plaza/controllers/testenv"
	"github.com/plaza-social/plaza/platform/statusz"
)

// shell runs commands as an administrator with kubectl, and returns what waits for them and returns what they printed.
func (o *operator) shell(commands string, variables ...string) (wait func() string) {
	o.t.Helper()
	content, err := env.AddUser(envtest.User{Name: "admin", Groups: []string{"system:masters"}})
	require.NoError(o.t, err)
	kubeconfig := filepath.Join(o.t.TempDir(), "kubeconfig")
	require.NoError(o.t, os.WriteFile(kubeconfig, content, 0o600))
	assets := os.Getenv("KUBEBUILDER_ASSETS")
	if assets == "" {
		assets = filepath.Join(testenv.Root(), "bin", "envtest")
	}
	cmd := exec.CommandContext(o.t.Context(), "bash", "-euo", "pipefail", "-c", commands)
	cmd.Env = append(os.Environ(), append(variables, "KUBECONFIG="+kubeconfig, "PATH="+assets+":"+os.Getenv("PATH"))...)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	require.NoError(o.t, cmd.Start())
	return func() string {
		o.t.Helper()
		require.NoError(o.t, cmd.Wait(), "%s", &out)
		return out.String()
	}
}

// TestEvacuationRunbook runs the commands of EVACUATION.md.
func TestEvacuationRunbook(t *testing.T) {
	o := start(t)
	sn := o.up(sample(t, "socialnetwork"))
	o.servers.all(func(s *server) { s.status.Evacuated = &statusz.Evacuated{} })
	variables := []string{"NAMESPACE=" + o.namespace, "NETWORK=" + sn.Name, "REGION=eu", "TO=us"}

	wait := o.shell(testenv.Commands(t, "EVACUATION.md", "evacuate"), variables...)
	o.eventually("the Secret of the evacuation", func() string {
		if o.exists(&corev1.Secret{}, render.EvacuationSecret(sn.Name, "us")) {
			return ""
		}
		return "it does not exist"
	})
	o.readEvacuation(sn.Name)
	printed := wait()
	require.Contains(t, printed, "eu\tTrue\t")
	require.Contains(t, printed, "condition met")
	o.condition(sn.Name, v1alpha1.ConditionReady, "True", v1alpha1.ReasonEvacuated)
	require.Equal(t, v1alpha1.RegionUS, get(o, &v1alpha1.SocialNetwork{}, sn.Name).Spec.Regions[1].EvacuateTo)

	wait = o.shell(testenv.Commands(t, "EVACUATION.md", "return"), variables...)
	o.eventually("the Secret to be deleted", func() string {
		if o.exists(&corev1.Secret{}, render.EvacuationSecret(sn.Name, "us")) {
			return "it exists"
		}
		return ""
	})
	o.readEvacuation(sn.Name)
	require.Contains(t, wait(), "condition met")
	after := get(o, &v1alpha1.SocialNetwork{}, sn.Name)
	require.Empty(t, after.Spec.Regions[1].EvacuateTo)
	require.Equal(t, sn.Spec.Regions[1].Host, after.Spec.Regions[1].Host, "nothing else of the region is changed")
	o.condition(sn.Name, v1alpha1.ConditionReady, "True", v1alpha1.ReasonAllHolds)
}
