package main

import (
	"fmt"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/defence"
)

// TestEveryAttackHasAControl checks that each attack has one control, and that each defence is the control of an attack.
func TestEveryAttackHasAControl(t *testing.T) {
	t.Parallel()
	missing := defence.All()
	for _, a := range attacks() {
		require.NotEqual(t, a.without == "", len(a.settings) == 0, "%s: one of both", a.name)
		missing = slices.DeleteFunc(missing, func(n defence.Name) bool { return n == a.without })
	}
	require.Empty(t, missing, "defences that no attack needs")
}

// TestEveryFindingIsAttacked checks that the review's findings of what one user does to others have an attack.
func TestEveryFindingIsAttacked(t *testing.T) {
	t.Parallel()
	found := map[string]bool{}
	for _, a := range attacks() {
		found[a.finding] = true
	}
	for i := range 15 {
		require.True(t, found[fmt.Sprintf("A%d", i+1)], "A%d", i+1)
	}
}

// TestReadme checks that README.md describes every attack, with its limit.
func TestReadme(t *testing.T) {
	t.Parallel()
	readme, err := os.ReadFile("README.md")
	require.NoError(t, err)
	for _, a := range attacks() {
		name := a.name
		if a.finding != "" {
			name += " (" + a.finding + ")"
		}
		require.Contains(t, string(readme), fmt.Sprintf("| %s | %s | %s %s |", name, a.control(), short(a.most), a.unit))
	}
}

// TestVerdicts lists what fails: more than the limit, or a control that does not exceed it.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		cost, control float64
		want          error
	}{
		"at the limit":               {10, 11, nil},
		"beyond the limit":           {10.1, 11, errTooMuch},
		"control at the limit":       {1, 10, errHarmless},
		"neither costs too much":     {0, 0, errHarmless},
		"both cost too much":         {11, 12, errTooMuch},
		"control costs much more":    {0, 1e6, nil},
		"only the attack costs much": {11, 0, errTooMuch},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.ErrorIs(t, outcome{attack: attack{most: 10}, cost: test.cost, controlCost: test.control}.verdict(), test.want)
		})
	}
}
