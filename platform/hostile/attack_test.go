package hostile

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/defence"
)

// attack is what hostile clients do to a network, and the most that it may cost.
type attack struct {
	name    string
	finding string  // of the review of the platform, such as A1; empty if it is an older attack
	unit    string  // of what it costs
	most    float64 // cost with all defences
	// run attacks and returns the cost. It fails if the network does not answer as the attack requires.
	run func(ctx context.Context, n *network) (float64, error)

	// The defence without which the attack must cost more: either one of package defence or variables of the environment.
	without  defence.Name
	settings []string
}

// control describes what the network of the control lacks.
func (a attack) control() string {
	if a.without != "" {
		return "without " + string(a.without)
	}
	return strings.Join(a.settings, ", ")
}

// attacks returns all attacks. Those that count what the whole program does come first, while the network has few users.
func attacks() []attack {
	return slices.Concat(allocationAttacks(), roundTripAttacks(), rowAttacks(), rateAttacks(), fileAttacks(), connectionAttacks())
}

var (
	errTooMuch  = errors.New("the attack costs more than allowed")
	errHarmless = errors.New("the attack stays within its limit without the defence, so that it proves nothing")
)

// attackTimeout bounds an attack: none takes a minute.
const attackTimeout = 3 * time.Minute

// outcome is what an attack costs.
type outcome struct {
	attack

	cost, controlCost float64 // with and without the defence
	err               error   // for which the attack or its control could not be carried out
}

// measure carries the attack out.
func (o *outcome) measure(ctx context.Context, n *network) float64 {
	ctx, cancel := context.WithTimeout(ctx, attackTimeout)
	defer cancel()
	cost, err := o.run(ctx, n)
	o.err = errors.Join(o.err, err)
	return cost
}

// verdict returns why an outcome is a failure; nil if it is not one.
func (o *outcome) verdict() error {
	switch {
	case o.err != nil:
		return o.err
	case o.cost > o.most:
		return errTooMuch
	case o.controlCost <= o.most:
		return errHarmless
	}
	return nil
}

// short returns a cost with the precision that matters.
func short(cost float64) string {
	if cost > 0 && cost < 100 && cost != float64(int64(cost)) {
		return fmt.Sprintf("%.1f", cost)
	}
	return fmt.Sprintf("%.0f", cost)
}

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
			o := outcome{attack: attack{most: 10}, cost: test.cost, controlCost: test.control}
			require.ErrorIs(t, o.verdict(), test.want)
		})
	}
}

// TestErrorsAreVerdicts checks that an attack which cannot be carried out is not mistaken for one that costs nothing.
func TestErrorsAreVerdicts(t *testing.T) {
	t.Parallel()
	failed := errors.New("no answer")
	o := outcome{attack: attack{most: 10, run: func(context.Context, *network) (float64, error) { return 1, failed }}, controlCost: 11}
	require.NoError(t, o.verdict())
	o.cost = o.measure(t.Context(), nil)
	require.ErrorIs(t, o.verdict(), failed)
}

// TestProgramThatEnds starts a program that ends at once.
func TestProgramThatEnds(t *testing.T) {
	program, err := exec.LookPath("false")
	require.NoError(t, err)
	folder := t.TempDir()
	t.Setenv("TMPDIR", folder)
	_, err = startNetwork(t.Context(), program)
	require.ErrorContains(t, err, "plaza dev has ended")
	left, err := os.ReadDir(folder)
	require.NoError(t, err)
	require.Empty(t, left)
}
