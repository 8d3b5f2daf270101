package main

import (
	"context"
	"slices"
	"strings"

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
