//go:build !race

package install

// buildFlags build the operator as the tests were built.
var buildFlags []string
