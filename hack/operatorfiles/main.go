// Command operatorfiles generates what follows from the code of the operator: the dashboards of all networks and of the operator in
// config/grafana, and the tables of controllers/README.md, of the alerts and of the reasons of conditions. `make generate` runs it in the
// root of the repository; tests compare the results with the files.
package main

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/plaza-social/plaza/controllers/monitoring"
)

const (
	folder      = "config/grafana"
	readmeFile  = "controllers/README.md"
	reasonsFile = "api/v1alpha1/conditions.go"
)

func main() {
	if err := errors.Join(writeDashboards(folder), write(readmeFile, reasonsFile)); err != nil {
		fmt.Fprintln(os.Stderr, "operatorfiles:", err)
		os.Exit(1)
	}
}

func writeDashboards(folder string) error {
	for name, text := range monitoring.SharedDashboards() {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	return nil
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
	return os.WriteFile(readme, []byte(text), 0o644)
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
