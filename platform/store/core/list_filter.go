package core

import (
	"cmp"
	"time"
)

// Deleted filters by whether rows are deleted.
type Deleted string

// The values of Deleted, which are parameters of statements.
const (
	DeletedAny  Deleted = "any"
	DeletedOnly Deleted = "deleted"
	DeletedNone Deleted = "live"
)

// Includes reports whether the filter includes a row that was deleted at a time, or was not if it is nil.
func (d Deleted) Includes(deletedAt *time.Time) bool {
	return d == DeletedAny || (d == DeletedOnly) == (deletedAt != nil)
}

// Flagged filters by whether rows are flagged.
type Flagged int

// The values of Flagged.
const (
	FlaggedAny Flagged = iota
	FlaggedOnly
	FlaggedNone
)

// FlaggedNames are what the names of statements contain for a filter.
var FlaggedNames = map[Flagged]string{FlaggedAny: "", FlaggedOnly: "Flagged", FlaggedNone: "Unflagged"}

// Wanted returns the parameter of a filter; nil, which is NULL, for any.
func (f Flagged) Wanted() *bool {
	yes := f == FlaggedOnly
	if f == FlaggedAny {
		return nil
	}
	return &yes
}

// CompareKeys compares the positions of two rows in a list by time.
func CompareKeys(at time.Time, aID string, bt time.Time, bID string) int {
	return cmp.Or(at.Compare(bt), cmp.Compare(aID, bID))
}

// OrAll returns the wanted values of a filter, or all of them if it names none.
func OrAll(wanted, all []string) []string {
	if len(wanted) == 0 {
		return all
	}
	return wanted
}
