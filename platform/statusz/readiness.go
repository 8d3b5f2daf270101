package statusz

import (
	"fmt"
	"strings"
)

// ReadyPath is the path of the readiness checks on the operations port. GET returns Readiness if JSON is accepted, with
// status 503 while the server is not ready.
const ReadyPath = "/readyz"

// Readiness is the response of ReadyPath.
type Readiness struct {
	Ready  bool          `json:"ready"`
	Checks []CheckResult `json:"checks"`
}

// CheckDatabase is the name of the check of the database, which passes while any home is reachable. The names of the
// advisory checks of single homes begin with it: "database us".
const CheckDatabase = "database"

// CheckResult is the result of one check.
type CheckResult struct {
	Name     string `json:"name"`
	Ready    bool   `json:"ready"`
	Advisory bool   `json:"advisory,omitempty"`
	Reason   string `json:"reason,omitempty"`
}

// String returns the response as text. Failed checks come first, because Kubernetes events show only the beginning.
func (r Readiness) String() string {
	var bad, good strings.Builder
	for _, c := range r.Checks {
		switch {
		case c.Ready:
			fmt.Fprintf(&good, "%s: ok\n", c.Name)
		case c.Advisory:
			fmt.Fprintf(&bad, "%s: %s (advisory)\n", c.Name, c.Reason)
		default:
			fmt.Fprintf(&bad, "%s: %s\n", c.Name, c.Reason)
		}
	}
	head := "ready\n"
	if !r.Ready {
		head = "not ready\n"
	}
	return head + bad.String() + good.String()
}
