package main

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestCommandLine(t *testing.T) {
	for line, want := range map[string]string{
		"":              "usage: cluster [-dir DIR] up",
		"sideways":      "usage: cluster [-dir DIR] up",
		"up now":        "usage: cluster up",
		"cut":           "usage: cluster cut REGION",
		"load":          "usage: cluster load ARCHIVE.tar …",
		"outside":       "usage: cluster outside COMMAND …",
		"cut mars":      `unknown region "mars": want us, eu or sg`,
		"heal us,eu":    "unknown region",
		"load x.tar":    "no file x.tar",
		"load go.mod":   "the cluster is not running",
		"-dir":          "flag needs an argument",
		"-unknown down": "flag provided but not defined",
		"status":        "no cluster is running in",
	} {
		t.Run(line, func(t *testing.T) {
			args := strings.Fields(line)
			if line != "-dir" {
				args = append([]string{"-dir", t.TempDir()}, args...)
			}
			err := run(t.Context(), args, io.Discard)
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Fatalf("got %v, want %q", err, want)
			}
		})
	}
}

func TestDownWithoutACluster(t *testing.T) {
	var out strings.Builder
	must(t, run(t.Context(), []string{"-dir", t.TempDir(), "down"}, &out))
	if !strings.Contains(out.String(), "no cluster in") {
		t.Fatalf("output is %q", out.String())
	}
}

func TestUnsupported(t *testing.T) {
	err := unsupported("no %s", "network")
	equal(t, true, errors.Is(err, errUnsupported))
	equal(t, "this machine does not support the cluster: no network", err.Error())
}

func TestFolders(t *testing.T) {
	here, err := os.Getwd()
	must(t, err)
	repo := filepath.Dir(filepath.Dir(here))
	c, err := openCluster("")
	must(t, err)
	equal(t, filepath.Join(repo, ".plaza-cluster"), c.dir)
	equal(t, filepath.Join(repo, "bin", "cluster"), c.bin)

	t.Chdir(t.TempDir())
	_, err = openCluster("")
	if err == nil {
		t.Fatal("found a repository outside of any")
	}
}

func TestNextStepsNameTheFolder(t *testing.T) {
	c := testCluster(t)
	if steps := c.nextSteps(); !strings.Contains(steps, "run . -dir "+c.dir+" down") {
		t.Fatalf("got %s", steps)
	}
	c.dir = c.defaultDir()
	if steps := c.nextSteps(); !strings.Contains(steps, "run . down") || !strings.Contains(steps, c.kubeconfig()) {
		t.Fatalf("got %s", steps)
	}
}

func TestNodesShareNothing(t *testing.T) {
	seen := map[string]bool{}
	for _, n := range nodes {
		for _, value := range []string{n.name(), n.link(), n.address(), n.pods(), n.locality, n.zone()} {
			if seen[value] {
				t.Fatalf("%s belongs to two nodes", value)
			}
			seen[value] = true
		}
		if len(n.link()) > 15 {
			t.Fatalf("%s is too long for a link's name", n.link())
		}
	}
}

func TestNetworkConfigurationIsJSON(t *testing.T) {
	c := testCluster(t)
	for _, n := range nodes {
		var config struct {
			Plugins []struct{ Type string }
		}
		must(t, json.Unmarshal([]byte(c.cniConfig(n)), &config))
		equal(t, 2, len(config.Plugins))
		equal(t, "ptp", config.Plugins[0].Type)
	}
}

func TestLongDirectoryName(t *testing.T) {
	want := "too long for a socket"
	if os.Geteuid() != 0 {
		want = "requires root" // which is checked first
	}
	err := run(t.Context(), []string{"-dir", "/tmp/" + strings.Repeat("x", 100), "up"}, io.Discard)
	if !errors.Is(err, errUnsupported) || !strings.Contains(err.Error(), want) {
		t.Fatalf("got %v", err)
	}
}
