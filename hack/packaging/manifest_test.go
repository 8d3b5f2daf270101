package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestManifest(t *testing.T) {
	out := filepath.Join(t.TempDir(), "install.yaml")
	args := []string{
		"manifest", "-root", root, "-operator-image", "localhost:5000/plaza-operator:v1", "-platform-image",
		"localhost:5000/plaza:v1", "-out", out,
	}
	require.NoError(t, run(args))
	text, err := os.ReadFile(out)
	require.NoError(t, err)
	got, want := parse(t, text), kustomized(t, "default")
	require.Len(t, got, len(want))
	require.Regexp(t, `\A#.*\napiVersion: v1\nkind: Namespace\n`, string(text), "kubectl apply -f creates the objects in order")
	require.Equal(t, "localhost:5000/plaza-operator:v1", manager(t, got)["image"])
	require.Equal(t, "localhost:5000/plaza:v1", platformImage(t, got))
}

func TestInvalidArguments(t *testing.T) {
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"no argument":      {nil, "manifest or chart"},
		"unknown argument": {[]string{"bundle"}, `unknown argument "bundle"`},
		"no image":         {[]string{"manifest"}, "a name and a tag"},
		"no tag":           {[]string{"manifest", "-operator-image", "localhost:5000/x"}, "a name and a tag"},
		"one image":        {[]string{"manifest", "-operator-image", "x:v1"}, "a name and a tag"},
		"no repository":    {[]string{"manifest", "-root", "nowhere/at/all", "-operator-image", "x:v1", "-platform-image", "y:v1"}, "nowhere"},
		"no chart":         {[]string{"chart", "-root", "nowhere"}, "Chart.yaml file is missing"},
		"an unknown flag":  {[]string{"chart", "-unknown"}, "not defined"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Chdir(t.TempDir())
			require.ErrorContains(t, run(c.args), c.want)
		})
	}
}
