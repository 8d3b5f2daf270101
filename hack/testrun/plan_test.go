package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestOrder(t *testing.T) {
	require.Equal(t, []string{"d", "b", "a", "c"}, order([]string{"a", "b", "c", "d"}, []string{"d", "elsewhere", "b"}))
	require.Equal(t, []string{"a", "b"}, order([]string{"a", "b"}, nil))
}

func TestTagsFlag(t *testing.T) {
	t.Setenv("GOFLAGS", "-trimpath -tags=one,two")
	require.Empty(t, tagsFlag(options{}))
	require.Equal(t, []string{"-tags=one,two,faults"}, tagsFlag(options{tags: "faults"}))
}

func TestPlan(t *testing.T) {
	groups, err := plan(t.Context(), options{
		patterns: []string{"."}, race: "github.com/plaza-social/plaza/hack/testrun", modules: "../tools/buf",
	})
	require.NoError(t, err)
	require.Equal(t, []group{{packages: []string{module + "hack/testrun"}, race: true}}, groups, "a module without tests is left out")
}

func TestArguments(t *testing.T) {
	own := []string{"-run", "A|B"}
	require.Equal(t, []string{"test", "-json", "-vet=off", "-timeout=40m", "-race", "-run", "A|B", "p"},
		group{packages: []string{"p"}, race: true}.arguments(own))
	require.Equal(t, []string{"-C", "hack/kind", "test", "-json", "-vet=off", "-timeout=40m", "p"},
		group{packages: []string{"p"}, dir: "hack/kind"}.arguments(own))
}
