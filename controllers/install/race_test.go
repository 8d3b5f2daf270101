//go:build race

package install

// buildFlags build the operator as the tests were built: with the race detector, and from the same compiled packages.
var buildFlags = []string{"-race"}
