//go:build install && !race

package install

// buildFlags are those of the tests.
var buildFlags []string
