package store

import "github.com/plaza-social/plaza/platform/store/db"

// shared are the tables whose rows several users update, in the order in which every transaction locks their rows. Counts
// have no lock statement: transactions add to them before their other statements, which locks them.
var shared = db.Share(lockRows, "users", "communities", "channels", "message_feeds", "polls", "rooms", "video_streams", "posts", "stories", "comments",
	"messages", "counters")

var (
	sharedUsers        = shared["users"]
	sharedCommunities  = shared["communities"]
	sharedChannels     = shared["channels"]
	sharedMessageFeeds = shared["message_feeds"]
	sharedPolls        = shared["polls"]
	sharedRooms        = shared["rooms"]
	sharedStreams      = shared["video_streams"]
	sharedPosts        = shared["posts"]
	sharedStories      = shared["stories"]
	sharedComments     = shared["comments"]
	sharedMessages     = shared["messages"]
	sharedCounters     = shared["counters"]
)

// lockRows returns the statement that locks rows of a shared table by their ids.
func lockRows(table string) *db.Statement {
	if table == "counters" {
		return nil
	}
	return stmt("locks."+table, `SELECT id FROM `+table+` WHERE home = $1 AND id = ANY($2::text[]) ORDER BY id FOR UPDATE`)
}

// whichCounts says why statements that count flags do not lock the counts. Where flags are set, lockCounter locks them.
const whichCounts = "the rows depend on the items that the statement reads"
