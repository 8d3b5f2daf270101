// Package region names the three regions and makes ids that carry their home.
package region

import (
	"fmt"
	"strings"
)

// Code is a region's name as it stands in ids, labels, tables and metrics.
type Code string

// The regions of a network.
const (
	US Code = "us"
	EU Code = "eu"
	SG Code = "sg"
)

// All returns every region, in the order in which they are shown to people.
func All() []Code { return []Code{US, EU, SG} }

// Parse reads a region code; anything but "us", "eu" or "sg" is an error.
func Parse(s string) (Code, error) {
	c := Code(strings.ToLower(s))
	if !c.Valid() {
		return "", fmt.Errorf("unknown region %q: want us, eu or sg", s)
	}
	return c, nil
}

// Valid reports whether c is one of the three regions.
func (c Code) Valid() bool { return c == US || c == EU || c == SG }

// String returns the code as text.
func (c Code) String() string { return string(c) }
