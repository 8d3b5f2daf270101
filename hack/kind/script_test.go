package kind

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// stub puts a program with a body in bash in PATH that records its arguments, and returns the file with them, a line for each call.
func stub(t *testing.T, name, body string) string {
	t.Helper()
	folder := t.TempDir()
	calls := filepath.Join(folder, "calls")
	script := "#!/usr/bin/env bash\necho \"" + name + " $*\" >>" + calls + "\n" + body + "\n"
	require.NoError(t, os.WriteFile(filepath.Join(folder, name), []byte(script), 0o755))
	t.Setenv("PATH", folder+string(os.PathListSeparator)+os.Getenv("PATH"))
	return calls
}

// run runs kind.sh with a stub of kind that knows clusters, and one of Docker, and returns the calls of Docker and of kind.
func run(t *testing.T, clusters, docker string, args ...string) (called, printed string, err error) {
	t.Helper()
	ofDocker := stub(t, "docker", docker)
	ofKind := stub(t, "kind", `if [[ $1 == get ]]; then printf '%s\n' `+clusters+`; fi`)
	t.Setenv("PLAZA_KIND_DIR", filepath.Join(t.TempDir(), "state"))
	t.Setenv("KIND", filepath.Join(filepath.Dir(ofKind), "kind"))
	out, err := exec.CommandContext(t.Context(), "./kind.sh", args...).CombinedOutput()
	return recorded(t, ofDocker) + recorded(t, ofKind), string(out), err
}

// recorded returns what a stub recorded, if it was called.
func recorded(t *testing.T, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if !os.IsNotExist(err) {
		require.NoError(t, err)
	}
	return string(text)
}

// rules is a Docker in whose nodes a rule exists if one was inserted. kubectl prints the node of the label in its arguments.
const rules = `
state=$(dirname "$0")/rules
all=$*
case $all in
  *" -C "*) rule=${all/ -C / }; grep -qxF -- "$rule" "$state" 2>/dev/null ;;
  *" -I "*) rule=${all/ -I / }; echo "$rule" >>"$state" ;;
  *" -D "*) rule=${all/ -D / }; grep -vxF -- "$rule" "$state" >"$state.new"; mv "$state.new" "$state" ;;
  *"get nodes -l topology.kubernetes.io/region=europe-west1 "*) printf plaza-worker2 ;;
esac`

func TestCutAndHeal(t *testing.T) {
	for clusters, node := range map[string]string{"plaza": "plaza-worker2", "plaza-us plaza-eu plaza-sg": "plaza-eu-control-plane"} {
		called, printed, err := run(t, clusters, rules, "cut", "eu")
		require.NoError(t, err, printed)
		require.Contains(t, printed, node+" is disconnected")
		for _, program := range []string{"iptables", "ip6tables"} {
			for _, rule := range []string{"INPUT -i", "FORWARD -i", "FORWARD -o", "OUTPUT -o"} {
				require.Contains(t, called, "docker exec "+node+" "+program+" -w -I "+rule+" eth0 -m comment --comment plaza-cut -j DROP\n")
			}
		}
		require.Equal(t, 8, strings.Count(called, " -I "))
		require.NotContains(t, called, " -D ")
	}
}

// TestHealRemovesWhatCutAdded cuts a region twice, which is the same as once, and heals it.
func TestHealRemovesWhatCutAdded(t *testing.T) {
	state := filepath.Join(t.TempDir(), "rules")
	docker := strings.Replace(rules, `$(dirname "$0")/rules`, state, 1)
	for _, args := range [][]string{{"cut", "eu"}, {"cut", "eu"}} {
		_, printed, err := run(t, "plaza-eu", docker, args...)
		require.NoError(t, err, printed)
	}
	text, err := os.ReadFile(state)
	require.NoError(t, err)
	require.Equal(t, 8, strings.Count(string(text), "\n"), "%s", text)
	_, printed, err := run(t, "plaza-eu", docker, "heal", "eu")
	require.NoError(t, err, printed)
	text, err = os.ReadFile(state)
	require.NoError(t, err)
	require.Empty(t, string(text))
}

func TestLoad(t *testing.T) {
	archive := filepath.Join(t.TempDir(), "image.tar")
	require.NoError(t, os.WriteFile(archive, nil, 0o600))
	called, printed, err := run(t, "other plaza-us plaza-eu", "", "load", archive)
	require.NoError(t, err, printed)
	require.Contains(t, called, "kind load image-archive "+archive+" --name plaza-us\nkind load image-archive "+archive+" --name plaza-eu\n")
	require.NotContains(t, called, "other", "other clusters of this machine are left alone")
}

func TestRefusals(t *testing.T) {
	for args, want := range map[string]string{
		"":            "kind.sh up",
		"sideways":    "kind.sh up",
		"cut":         "kind.sh cut REGION",
		"cut mars":    `unknown region "mars": want us, eu or sg`,
		"cut us":      "no cluster is running: run make kind-up",
		"load":        "kind.sh load ARCHIVE.tar …",
		"load no.tar": "no cluster is running: run make kind-up",
	} {
		_, printed, err := run(t, "", "", strings.Fields(args)...)
		require.Error(t, err, args)
		require.Contains(t, printed, want, args)
	}
	_, printed, err := run(t, "plaza", "exit 1", "up")
	require.Error(t, err)
	require.Contains(t, printed, "Docker does not answer")
	_, printed, err = run(t, "plaza-us", "", "up")
	require.Error(t, err)
	require.Contains(t, printed, "three clusters are running: run make kind-down first")
}

// TestDown removes the clusters of this project only.
func TestDown(t *testing.T) {
	called, printed, err := run(t, "other plaza", "", "down")
	require.NoError(t, err, printed)
	require.Contains(t, called, "kind delete cluster --name plaza ")
	require.NotContains(t, called, "other")
}

// TestShellcheck checks scripts that no other test runs. make test installs shellcheck on Debian.
func TestShellcheck(t *testing.T) {
	scripts := []string{
		"hack/kind/kind.sh", "hack/kind/test.sh", "hack/cluster/images.sh", "hack/cluster/test.sh", "hack/ensure-shellcheck.sh",
		"hack/lint.sh", "hack/verify.sh", "hack/generate.sh", ".ci/run",
	}
	cmd := exec.CommandContext(t.Context(), "shellcheck", append([]string{"--shell=bash", "--external-sources"}, scripts...)...)
	cmd.Dir = filepath.Join("..", "..")
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, "%s", out)
}
