package testdb

import (
	"testing"

	"go.uber.org/goleak"
)

// Main runs the tests of a package and fails if goroutines are left afterwards, other than those of the shared database
// server. Call it in TestMain. It does not return.
func Main(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.IgnoreAnyFunction("github.com/plaza-social/plaza/platform/devdb.spawn.func1"))
}
