package view

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/people"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// published is the feed of the posts that every reader sees.
const published = "published"

// feedTypes are the feeds of every community, with the counters of their posts.
var feedTypes = []struct {
	name string
	kind core.CounterKind
}{
	{published, core.CountPublished},
	{"reviewing", core.CountReviewing},
	{"declined", core.CountDeclined},
}

// FeedID returns the id of a target's feed. It is derived from the target and the feed type, and has the target's home.
// targetID is the internal id of a community or of a user (for walls). FeedID returns "" if targetID is not an internal
// id.
func FeedID(targetID, feedType string) string {
	if !region.ValidID(targetID) {
		return ""
	}
	sum := sha256.Sum256([]byte(targetID + "|" + feedType))
	return targetID[:2] + hex.EncodeToString(sum[:(region.IDLength-2)/2])
}

// feeds returns the feeds of a community. Only those who review its posts see how many were not published.
func (b *Builder) feeds(c communities.Community, counts core.Counts, reviews bool) []*plazav1.Feed {
	feeds := make([]*plazav1.Feed, 0, len(feedTypes))
	for _, t := range feedTypes {
		var posts int64
		if reviews || t.name == published {
			posts = counts.Of(c.ID, t.kind)
		}
		feeds = append(feeds, &plazav1.Feed{
			TargetId:   c.ID,
			TargetType: "community",
			PostCount:  count(posts),
			FeedType:   t.name,
			FeedId:     FeedID(c.ID, t.name),
			CreatedAt:  ts(c.CreatedAt),
			UpdatedAt:  ts(c.UpdatedAt),
		})
	}
	return feeds
}

// WallFeed returns the feed of a user's wall.
func (b *Builder) WallFeed(u people.User, counts core.Counts) *plazav1.Feed {
	return &plazav1.Feed{
		TargetId:   u.PublicID,
		TargetType: "user",
		PostCount:  count(counts.Of(u.ID, core.CountPublished)),
		FeedType:   "published",
		FeedId:     FeedID(u.ID, "published"),
		CreatedAt:  ts(u.CreatedAt),
		UpdatedAt:  ts(u.UpdatedAt),
	}
}
