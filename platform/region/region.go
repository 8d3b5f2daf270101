// Package region defines the three regions and ids that contain their home region.
package region

import (
	"fmt"
	"strings"
)

// Code is the name of a region, as used in ids, labels, tables and metrics.
type Code string

// The regions of a network.
const (
	US Code = "us"
	EU Code = "eu"
	SG Code = "sg"
)

// All returns every region in display order.
func All() []Code { return []Code{US, EU, SG} }

// Parse parses a region code: "us", "eu" or "sg".
func Parse(s string) (Code, error) {
	c := Code(strings.ToLower(s))
	if !c.Valid() {
		return "", fmt.Errorf("unknown region %q: want us, eu or sg", s)
	}
	return c, nil
}

// Valid reports whether c is one of the three regions.
func (c Code) Valid() bool { return c == US || c == EU || c == SG }

// String returns the code.
func (c Code) String() string { return string(c) }
