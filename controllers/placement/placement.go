// Package placement is the stage that reports where the database stores the rows of the tables, as the servers found it. The
// operator has no connection to the database and changes nothing there.
package placement

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/controllers/stage"
	"github.com/plaza-social/plaza/platform/statusz"
)

// maxTablesNamed is how many tables a message names.
const maxTablesNamed = 10

// Stage reports the placement of rows.
type Stage struct{}

// Condition returns RegionsPinned.
func (Stage) Condition() string { return v1alpha1.ConditionRegionsPinned }

// Run uses the newest check of the database that a server reports. There is one database, so a newer check replaces an older
// one of another server; checks against other settings than the spec's are ignored.
func (Stage) Run(_ context.Context, p *stage.Pass) stage.Outcome {
	var newest, failed *statusz.Placement
	answered, unreachable := false, ""
	for _, region := range p.SN.Spec.Regions {
		for _, report := range p.Reports[region.Code] {
			if report.Err != nil {
				unreachable = fmt.Sprintf("pod %s: %s", report.Pod, report.Err)
				continue
			}
			answered = true
			placement := report.Status.Placement
			switch {
			case !matches(placement.Want, p.SN.Spec.Database):
			case placement.State == statusz.Unknown:
				failed = newer(failed, &placement)
			case placement.State == statusz.Pinned, placement.State == statusz.NotPinned:
				newest = newer(newest, &placement)
			}
		}
	}
	switch {
	case newest != nil:
		return checked(newest)
	case failed != nil:
		return notChecked(failed)
	case answered:
		return stage.Unknown(v1alpha1.ReasonPlacementNotChecked, "The servers still run with other placement settings than the spec's.")
	case unreachable != "":
		return stage.Unknown(v1alpha1.ReasonServersSilent, "No server answers: "+unreachable+".")
	default:
		return stage.Unknown(v1alpha1.ReasonNoServers, "No server is ready yet.")
	}
}

// matches reports whether a server compares the database with the settings of the spec.
func matches(want statusz.PlacementWanted, db v1alpha1.Database) bool {
	for code, locality := range db.Localities {
		if want.Localities[code] != locality {
			return false
		}
	}
	return want.Survive == cmp.Or(db.Survive, "zone") && want.Primary == string(cmp.Or(db.PrimaryRegion, v1alpha1.RegionUS))
}

func newer(a, b *statusz.Placement) *statusz.Placement {
	if a == nil || b.CheckedAt.After(a.CheckedAt) {
		return b
	}
	return a
}

// checked returns the outcome of a completed check.
func checked(p *statusz.Placement) stage.Outcome {
	if p.State == statusz.Pinned {
		message := fmt.Sprintf("The rows of all %d tables are stored where the spec requires.", p.Tables)
		if p.Message != "" {
			message = fmt.Sprintf("The rows of all %d tables are stored as the spec requires: %s.", p.Tables, p.Message)
		}
		return stage.True(v1alpha1.ReasonAllTablesPinned, message)
	}
	reason := v1alpha1.ReasonTablesNotPinned
	if p.Reason == statusz.ReasonDatabaseRegionsDiffer {
		reason = v1alpha1.ReasonDatabaseRegionsDiffer
	}
	return stage.False(reason, notPinned(p))
}

// notPinned lists the tables with their actual placement.
func notPinned(p *statusz.Placement) string {
	var named []string
	tables := 0
	for _, row := range p.NotPinned {
		table := "table " + row.Table
		if row.Table == "" {
			table = "the database"
		} else {
			tables++
		}
		if len(named) < maxTablesNamed {
			named = append(named, fmt.Sprintf("%s has %s", table, row.Has))
		}
	}
	if rest := len(p.NotPinned) - len(named); rest > 0 {
		named = append(named, fmt.Sprintf("and %d more", rest))
	}
	return fmt.Sprintf("%d of %d tables are not stored where the spec requires: %s.", tables, p.Tables, strings.Join(named, "; "))
}

// notChecked returns the outcome of a check that did not complete.
func notChecked(p *statusz.Placement) stage.Outcome {
	switch p.Reason {
	case statusz.ReasonNoPlacement:
		return stage.Unknown(v1alpha1.ReasonPostgreSQLHasNoPlacement, "The database is PostgreSQL, which stores all rows in one place.")
	case statusz.ReasonNotRegional:
		return stage.Unknown(v1alpha1.ReasonCockroachDBHasNoRegions,
			"The database is a CockroachDB whose nodes have no localities, so it stores rows anywhere.")
	case statusz.ReasonCheckFailed:
		return stage.Unknown(v1alpha1.ReasonPlacementCheckFailed, "The placement could not be read from the database: "+p.Message+".")
	default:
		return stage.Unknown(v1alpha1.ReasonPlacementNotChecked, "No server has checked the placement yet.")
	}
}
