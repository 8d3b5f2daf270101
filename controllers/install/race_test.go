//go:build install && race

package install

// buildFlags are those of the tests: with the race detector, so that compiled packages are reused.
var buildFlags = []string{"-race"}
