package conformance

import (
	flags "flag"
	"fmt"
	"os"
	"testing"

	"github.com/plaza-social/plaza/platform/apptest"
)

// reportPath is where the coverage of the contract is written. make conformance shows the file.
var reportPath = flags.String("report", "", "file for the coverage of the contract")

// runWithCoverage runs the suite and compares it with the contract: it fails if no test exercised some row of the
func runWithCoverage(m *testing.M) int {
	tables, err := loadContract()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	coverage := newContractCoverage(tables)
	observe(coverage.Observe)
	flags.Parse()
	code := apptest.Main(m)
	report := coverage.Report()
	if *reportPath != "" {
		if err := os.WriteFile(*reportPath, []byte(report.String()), 0o600); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
	}
	if code == 0 && isWholeSuite() && !report.Complete() {
		fmt.Println(report)
		return 1
	}
	return code
}

// isWholeSuite reports whether every test was selected. A subset covers little and must not fail because of that.
func isWholeSuite() bool {
	for _, name := range []string{"test.run", "test.skip", "test.list"} {
		if f := flags.Lookup(name); f != nil && f.Value.String() != "" {
			return false
		}
	}
	return true
}
