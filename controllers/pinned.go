package controllers

import (
	"context"
	"fmt"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/plaza-social/plaza/api/v1alpha1"
	"github.com/plaza-social/plaza/platform/statusz"
)

// maxTablesNamed is how many tables a message names.
const maxTablesNamed = 10

// Pinned is the stage that tells where the database keeps the tables' rows, as the servers found it. The operator has no
// connection to the database, and changes nothing there.
type Pinned struct{}

// Condition is RegionsPinned.
func (Pinned) Condition() string { return v1alpha1.ConditionRegionsPinned }

// Run takes the newest answer that a server has from the database. There is one database, so a newer answer counts more than
// an older one of another server; an answer to another spec than today's does not count.
func (Pinned) Run(_ context.Context, w *World) Outcome {
	var newest, unknown *statusz.Placement
	asked, silent := 0, ""
	for _, region := range w.SN.Spec.Regions {
		for _, report := range w.Reports[region.Code] {
			if report.Err != nil {
				silent = fmt.Sprintf("pod %s: %s", report.Pod, report.Err)
				continue
			}
			asked++
			placement := report.Status.Placement
			switch {
			case !asksFor(placement.Want, w.SN.Spec.Database):
			case placement.State == statusz.Unknown:
				unknown = newerOf(unknown, &placement)
			case placement.State == statusz.Pinned, placement.State == statusz.NotPinned:
				newest = newerOf(newest, &placement)
			}
		}
	}
	switch {
	case newest != nil:
		return answered(newest)
	case unknown != nil:
		return notAnswered(unknown)
	case asked > 0:
		return Unknown(v1alpha1.ReasonPlacementNotChecked, "The servers still run with another placement than the spec's.")
	case silent != "":
		return Unknown(v1alpha1.ReasonServersSilent, "No server answers: "+silent+".")
	default:
		return Unknown(v1alpha1.ReasonNoServers, "No server is ready yet.")
	}
}

// asksFor is true when a server compares the database with what the spec says.
func asksFor(want statusz.PlacementWanted, db v1alpha1.Database) bool {
	for code, locality := range db.Localities {
		if want.Localities[code] != locality {
			return false
		}
	}
	survive := db.Survive
	if survive == "" {
		survive = "zone"
	}
	primary := db.PrimaryRegion
	if primary == "" {
		primary = v1alpha1.RegionUS
	}
	return want.Survive == survive && want.Primary == string(primary)
}

func newerOf(have, other *statusz.Placement) *statusz.Placement {
	if have == nil || other.CheckedAt.After(have.CheckedAt) {
		return other
	}
	return have
}

// answered is the outcome of what the database said.
func answered(p *statusz.Placement) Outcome {
	if p.State == statusz.Pinned {
		return True(v1alpha1.ReasonAllTablesPinned, fmt.Sprintf("The rows of all %d tables are kept where the spec says.", p.Tables))
	}
	reason := v1alpha1.ReasonTablesNotPinned
	if p.Reason == statusz.ReasonDatabaseRegionsDiffer {
		reason = v1alpha1.ReasonDatabaseRegionsDiffer
	}
	return Outcome{Status: metav1.ConditionFalse, Reason: reason, Message: notPinned(p)}
}

// notPinned names the tables, and what each has.
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
	if left := len(p.NotPinned) - len(named); left > 0 {
		named = append(named, fmt.Sprintf("and %d more", left))
	}
	return fmt.Sprintf("%d of %d tables are not where the spec says: %s.", tables, p.Tables, strings.Join(named, "; "))
}

// notAnswered is the outcome where the database did not say.
func notAnswered(p *statusz.Placement) Outcome {
	switch p.Reason {
	case statusz.ReasonNoPlacement:
		return Unknown(v1alpha1.ReasonPostgreSQLHasNoPlacement, "The database is PostgreSQL, which keeps every row in one place.")
	case statusz.ReasonCheckFailed:
		return Unknown(v1alpha1.ReasonPlacementCheckFailed, "The database could not be asked: "+p.Message+".")
	default:
		return Unknown(v1alpha1.ReasonPlacementNotChecked, "No server has asked the database yet.")
	}
}
