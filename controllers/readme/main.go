// Readme writes the tables of README.md that are made from the code: the alerts, and the reasons of conditions. `make generate` runs it
// in the repository's root; a test holds README.md against it.
package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/plaza-social/plaza/controllers/monitoring"
)

const (
	readmeFile  = "README.md"
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
	return os.WriteFile(readme, []byte(text), 0o644) //nolint:gosec // the file is for everybody
}

// generate returns the README with its tables made anew.
func generate(readme, reasons string) (string, error) {
	table, err := reasonTable(reasons)
	if err != nil {
		return "", err
	}
	readme, errAlerts := between(readme, "alerts", monitoring.Table())
	readme, errReasons := between(readme, "reasons", table)
	return readme, errors.Join(errAlerts, errReasons)
}

// between puts content between the markers <!-- name --> and <!-- /name -->, each on a line of its own.
func between(text, name, content string) (string, error) {
	begin, end := "<!-- "+name+" -->\n", "<!-- /"+name+" -->\n"
	before, rest, found := strings.Cut(text, begin)
	_, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		return text, fmt.Errorf("%s has no lines %q and %q", readmeFile, strings.TrimSpace(begin), strings.TrimSpace(end))
	}
	return before + begin + content + end + after, nil
}
