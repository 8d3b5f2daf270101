package monitoring

import (
	"fmt"
	"strings"
)

// Table returns the table of alerts for controllers/monitoring/README.md.
func Table() string {
	var b strings.Builder
	b.WriteString("| alert | severity | after | fires when |\n|---|---|---|---|\n")
	for _, group := range alerts() {
		for _, a := range group.alerts {
			fmt.Fprintf(&b, "| [%s](monitoring/runbooks/%s.md) | %s | %s | %s |\n", a.name, a.name, a.severity, duration(a.after), a.meaning)
		}
	}
	return b.String()
}
