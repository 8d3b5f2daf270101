package db

import (
	"fmt"
	"regexp"
	"strconv"
)

// Release is a release of CockroachDB, such as v25.4. Patches of a release have the same SQL.
type Release struct{ Year, Number int }

// MinimumCockroachDB is the oldest release of CockroachDB that Plaza runs on. The function with which servers delete old audit
// events decides it: SECURITY DEFINER is in v24.3 and later. By the documentation, nothing else is newer than v23.2.
var MinimumCockroachDB = Release{24, 3}

// String returns the release as CockroachDB's documentation writes it.
func (r Release) String() string { return fmt.Sprintf("v%d.%d", r.Year, r.Number) }

// Before reports whether r is older than other.
func (r Release) Before(other Release) bool {
	return r.Year < other.Year || r.Year == other.Year && r.Number < other.Number
}

var releasePattern = regexp.MustCompile(`^CockroachDB.* v(\d{1,3})\.(\d{1,3})`)

// checkRelease returns an error if version, the result of version(), is that of a CockroachDB that is too old. It accepts other
// databases, and builds of CockroachDB without a release.
func checkRelease(version string) error {
	parts := releasePattern.FindStringSubmatch(version)
	if parts == nil {
		return nil
	}
	var r Release
	r.Year, _ = strconv.Atoi(parts[1]) // the pattern has digits only
	r.Number, _ = strconv.Atoi(parts[2])
	if r.Before(MinimumCockroachDB) {
		return fmt.Errorf("the database is CockroachDB %s: Plaza requires CockroachDB %s or later", r, MinimumCockroachDB)
	}
	return nil
}
