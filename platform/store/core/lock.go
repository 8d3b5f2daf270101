package core

import "github.com/plaza-social/plaza/platform/store/db"

// Shared are the tables whose rows several users update, in the order in which every transaction locks their rows: what
// belongs to an object before the object, so that a transaction that waits for a post does not hold up the community.
// Statements that update markers or counts come before the others of their transaction, which locks the rows.
var Shared = db.Share(byID("messages"), byID("comments"), byID("stories"), byID("posts"), byID("polls"), byID("rooms"),
	byID("video_streams"),
	byID("message_feeds"), byID("channels"), byID("communities"), byID("users"), &db.SharedTable{Name: "user_feed_markers"},
	&db.SharedTable{Name: "counters", IsSharded: true})

// The shared tables by name.
var (
	SharedUsers        = Shared["users"]
	SharedCommunities  = Shared["communities"]
	SharedChannels     = Shared["channels"]
	SharedMessageFeeds = Shared["message_feeds"]
	SharedPolls        = Shared["polls"]
	SharedRooms        = Shared["rooms"]
	SharedStreams      = Shared["video_streams"]
	SharedPosts        = Shared["posts"]
	SharedStories      = Shared["stories"]
	SharedComments     = Shared["comments"]
	SharedMessages     = Shared["messages"]
	SharedFeedMarkers  = Shared["user_feed_markers"]
	SharedCounters     = Shared["counters"]
)

// byID returns a shared table whose rows are locked by their ids.
func byID(table string) *db.SharedTable {
	return &db.SharedTable{
		Name: table,
		Lock: db.Register("locks."+table, `SELECT id FROM `+table+` WHERE home = $1 AND id = ANY($2::text[]) ORDER BY id FOR UPDATE`),
	}
}

// CountsOfItems says why statements that count flags do not lock the counts. Where flags are set, LockCounter locks them.
const CountsOfItems = "the rows depend on the items that the statement reads"
