package store

import (
	"maps"
	"slices"
	"time"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/db"
)

// ErasureWalks returns every walk of an erasure.
func ErasureWalks() []*ErasureWalk {
	return slices.Concat([]*ErasureWalk{
		ErasePosts, EraseComments, EraseStories, EraseMessages, EraseScheduledPosts, EraseReactions, EraseFiles, EraseFollows, EraseFollowers,
		EraseBlocks, EraseBlockedBy, EraseMembers, EraseChannelUsers,
	}, EraseRows)
}

// Start returns a position before every key.
func (w *ErasureWalk) Start() []string { return w.start }

// HasJSON reports whether the table has a JSON column that can refer to users.
func (w *ErasureWalk) HasJSON() bool { return w.json != nil }

// TablesOfUser are the tables whose rows are deleted by the key of the user.
func TablesOfUser() []string { return tablesOfUser }

// NotErased are the tables that an erasure leaves, with the reasons.
var NotErased = notErased

// AuditedTypes returns the types of targets whose values audit events keep.
func AuditedTypes() []string { return slices.Sorted(maps.Keys(auditedValues)) }

// NotExported are the tables that the export of a user does not contain, with the reasons.
var NotExported = notExported

// TablesMoved are the tables whose rows move with a user.
func TablesMoved() []string {
	names := slices.Clone(moveApart)
	for _, t := range MoveTables {
		names = append(names, t.Name)
	}
	return names
}

// NotMoved are the tables whose rows stay when a user moves, with the reasons.
var NotMoved = notMoved

// Rank queues the statements that rank entries of a feed.
func (r *ReadBatch) Rank(home region.Code, entries []*PostFeedEntry, readerID string, asOf time.Time) {
	r.rank(home, entries, readerID, asOf)
}

// FollowedAtHome queues the statement that reads all followed users of a home.
func (r *ReadBatch) FollowedAtHome(home region.Code, readerID string, into *[]string) {
	r.Add(home, sqlFollowersOf, db.Values(into), readerID)
}
