// Command readme generates the tables of controllers/README.md: the alerts, and the reasons of conditions. `make generate`
// runs it in the root of the repository; a test compares the result with the file.
package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/plaza-social/plaza/controllers/monitoring"
)

const (
	readmeFile  = "controllers/README.md"
	reasonsFile = "api/v1alpha1/conditions.go"
)

func main() {
	if err := write(readmeFile, reasonsFile); err != nil {
		fmt.Fprintln(os.Stderr, "readme:", err)
		os.Exit(1)
	}
}

func write(readme, reasons string) error {
	old, err := os.ReadFile(readme)
	if err != nil {
		return err
	}
	text, err := generate(string(old), reasons)
	if err != nil || text == string(old) {
		return err
	}
	return os.WriteFile(readme, []byte(text), 0o644) //nolint:gosec // a public file
}

// generate returns the README with its tables replaced.
func generate(readme, reasons string) (string, error) {
	table, err := reasonTable(reasons)
	if err != nil {
		return "", err
	}
	readme, errAlerts := between(readme, "alerts", monitoring.Table())
	readme, errReasons := between(readme, "reasons", table)
	return readme, errors.Join(errAlerts, errReasons)
}

// between replaces the lines between the marker lines <!-- name --> and <!-- /name -->.
func between(text, name, content string) (string, error) {
	begin, end := "<!-- "+name+" -->\n", "<!-- /"+name+" -->\n"
	before, rest, found := strings.Cut(text, begin)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		return text, fmt.Errorf("%s has no lines %q and %q", readmeFile, strings.TrimSpace(begin), strings.TrimSpace(end))
	}
	return before + begin + content + end + after, nil
}
