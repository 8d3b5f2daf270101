// Command dashboards writes the dashboards of all networks and of the operator to config/grafana. `make generate` runs it in the root of the
// repository; a test compares the result with the files.
package main

import (
	"fmt"
	"os"
	"path/filepath"

	"github.com/plaza-social/plaza/controllers/monitoring"
)

const folder = "config/grafana"

func main() {
	if err := write(folder); err != nil {
		fmt.Fprintln(os.Stderr, "dashboards:", err)
		os.Exit(1)
	}
}

func write(folder string) error {
	for name, text := range monitoring.SharedDashboards() {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o644); err != nil { //nolint:gosec // a public file
			return err
		}
	}
	return nil
}
