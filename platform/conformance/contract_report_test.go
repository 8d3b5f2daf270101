package conformance

import (
	"fmt"
	"slices"
	"strings"
)

// coverageReport is how much of the contract was exercised.
type coverageReport struct {
	Counts []rowCount
	// Missing are the rows that were not exercised, and values of a wrong type.
	Missing []string
	// Apart are the rows with weaker requirements, with the reason.
	Apart []string
}

// rowCount is the number of exercised rows of a kind.
type rowCount struct {
	Kind      rowKind
	Seen, All int
}

// Report returns the counts so far.
func (v *contractCoverage) Report() coverageReport {
	v.mu.Lock()
	defer v.mu.Unlock()
	var r coverageReport
	for _, kind := range rowKinds() {
		count := rowCount{Kind: kind, All: len(v.rows[kind])}
		for _, row := range v.rows[kind] {
			switch {
			case row.seen:
				count.Seen++
			default:
				r.Missing = append(r.Missing, string(kind)+": "+row.name)
			}
			if row.rest != "" {
				r.Apart = append(r.Apart, fmt.Sprintf("%s: %s is always empty: %s", kind, row.name, row.rest))
			}
		}
		r.Counts = append(r.Counts, count)
	}
	for name, what := range v.wrong {
		r.Missing = append(r.Missing, name+": "+what)
	}
	for _, l := range v.contract.Limits {
		if l.Apart != "" {
			r.Apart = append(r.Apart, fmt.Sprintf("%s: %s: %s", kindLimits, l.Name, l.Apart))
		}
	}
	slices.Sort(r.Missing)
	slices.Sort(r.Apart)
	return r
}

// Complete reports whether every row was exercised.
func (r coverageReport) Complete() bool { return len(r.Missing) == 0 }

// String returns the report as text.
func (r coverageReport) String() string {
	var b strings.Builder
	b.WriteString("coverage of the contract, measured on the exchanges of the suite\n\n")
	for _, c := range r.Counts {
		fmt.Fprintf(&b, "  %-40s %3d of %3d\n", c.Kind, c.Seen, c.All)
	}
	writeSection(&b, "missing", r.Missing)
	writeSection(&b, "held to less", r.Apart)
	return b.String()
}

func writeSection(b *strings.Builder, title string, lines []string) {
	if len(lines) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s:\n", title)
	for _, line := range lines {
		fmt.Fprintf(b, "  %s\n", line)
	}
}
