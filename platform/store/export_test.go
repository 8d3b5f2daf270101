package store

import (
	"maps"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/db"
)

// Start returns a position before every key.
func (w *ErasureWalk) Start() []string { return w.start }

// HasJSON reports whether the table has a JSON column that can refer to users.
func (w *ErasureWalk) HasJSON() bool { return w.json != nil }

// TablesOfUser are the tables whose rows are deleted by the key of the user.
func TablesOfUser() []string {
	return namesOf(func(t table) bool { return t.kept == "" && t.users == "" })
}

// NotErased are the tables that an erasure leaves.
func NotErased() []string { return namesOf(func(t table) bool { return t.kept != "" }) }

func namesOf(match func(table) bool) []string {
	return selectTables(match, func(t table) string { return t.name })
}

// AuditedTypes returns the types of targets whose values audit events keep.
func AuditedTypes() []string { return slices.Sorted(maps.Keys(auditedValues)) }

// NotExported are the tables that the export of a user does not contain.
func NotExported() []string { return namesOf(func(t table) bool { return t.hidden != "" }) }

// NotMoved are the tables whose rows stay, or move by statements of their own.
func NotMoved() []string { return namesOf(func(t table) bool { return t.stays != "" }) }

// Rank queues the statements that rank entries of a feed.
func (r *ReadBatch) Rank(home region.Code, entries []*PostFeedEntry, readerID string, asOf time.Time) {
	r.rank(home, entries, readerID, asOf)
}

// FollowedAtHome queues the statement that reads all followed users of a home.
func (r *ReadBatch) FollowedAtHome(home region.Code, readerID string, into *[]string) {
	r.Add(home, sqlFollowersOf, db.Values(into), readerID)
}
