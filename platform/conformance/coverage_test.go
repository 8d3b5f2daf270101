package conformance

import (
	flags "flag"
	"fmt"
	"os"
	"testing"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/conformance/contract"
)

// reportPath is where the coverage of the contract is written: make conformance shows it.
var reportPath = flags.String("report", "", "file for the coverage of the contract")

// measured runs the suite, and holds the whole of it against the contract: a row that no test exercised fails it.
func runWithCoverage(m *testing.M) int {
	tables, err := contract.Load()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	coverage := contract.NewCoverage(tables)
	apptest.Observe(coverage.Observe)
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

// isWholeSuite tells whether every test ran: a single one covers little, and is not to blame for it.
func isWholeSuite() bool {
	for _, name := range []string{"test.run", "test.skip", "test.list"} {
		if f := flags.Lookup(name); f != nil && f.Value.String() != "" {
			return false
		}
	}
	return true
}
