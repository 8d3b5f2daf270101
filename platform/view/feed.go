package view

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	plazav1 "github.com/plaza-social/plaza/proto/gen/plaza/v1"
)

// feedTypes are the feeds that every community has, with what counts their posts.
var feedTypes = []struct {
	name string
	kind store.CounterKind
}{
	{"published", store.CountPublished},
	{"reviewing", store.CountReviewing},
	{"declined", store.CountDeclined},
}

// FeedID is the id of a feed: always the same for a target and a feed type, and in the target's home. targetID is the
// internal id of a community or of the user whose wall it is. A target without a home has no feed, and "" is its id.
func FeedID(targetID, feedType string) string {
	if !region.ValidID(targetID) {
		return ""
	}
	sum := sha256.Sum256([]byte(targetID + "|" + feedType))
	return targetID[:2] + hex.EncodeToString(sum[:(region.IDLength-2)/2])
}

// Feeds are the feeds of a community.
func (b *Builder) Feeds(c store.Community, counts store.Counts) []*plazav1.Feed {
	feeds := make([]*plazav1.Feed, 0, len(feedTypes))
	for _, t := range feedTypes {
		feeds = append(feeds, &plazav1.Feed{
			TargetId:   c.ID,
			TargetType: "community",
			PostCount:  count(counts.Of(c.ID, t.kind)),
			FeedType:   t.name,
			FeedId:     FeedID(c.ID, t.name),
			CreatedAt:  ts(c.CreatedAt),
			UpdatedAt:  ts(c.UpdatedAt),
		})
	}
	return feeds
}
