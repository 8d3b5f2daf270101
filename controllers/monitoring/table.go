package monitoring

import (
	"fmt"
	"strings"
)

// Table returns the table of alerts for controllers/README.md.
func Table() string {
	var b strings.Builder
	b.WriteString("| alert | severity | after | fires when | threshold |\n|---|---|---|---|---|\n")
	for _, group := range alertGroups() {
		for _, a := range group.Alerts {
			fmt.Fprintf(&b, "| [%s](monitoring/runbooks/%s.md) | %s | %s | %s | %s |\n", a.Alert, a.Alert, a.Severity, a.For, a.Meaning, a.Threshold)
		}
	}
	return b.String()
}
