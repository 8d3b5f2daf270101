package monitoring

import (
	"fmt"
	"strings"
)

// Table returns the table of the alerts in README.md: what each fires for, and a link to its runbook.
func Table() string {
	var b strings.Builder
	b.WriteString("| alert | severity | after | fires when |\n|---|---|---|---|\n")
	for _, group := range alerts() {
		for _, a := range group.alerts {
			fmt.Fprintf(&b, "| [%s](controllers/monitoring/runbooks/%s.md) | %s | %s | %s |\n", a.name, a.name, a.severity, duration(a.after), a.meaning)
		}
	}
	return b.String()
}
