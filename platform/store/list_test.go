package store_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/messaging"
)

// TestListsWithKeys queues every combination of the lists whose statements are looked up by a key.
func TestListsWithKeys(t *testing.T) {
	s := open(t, "postgresql://nobody@127.0.0.1:1/nothing")
	id := region.NewID(region.US)
	for _, flagged := range []core.Flagged{core.FlaggedAny, core.FlaggedOnly, core.FlaggedNone} {
		for i := range 1 << 4 {
			first, second, byUpdate, desc := i&1 != 0, i&2 != 0, i&4 != 0, i&8 != 0
			r := s.NewReadBatch()
			r.ListComments(content.CommentList{ReferenceID: id, EveryLevel: first, Flagged: flagged, ByUpdate: byUpdate, Desc: desc},
				new([]content.Comment))
			r.ListMessages(messaging.MessageList{FeedID: id, EveryLevel: first, Flagged: flagged, Desc: desc}, new([]messaging.Message))
			posts := content.PostList{TargetID: id, EveryPost: first, ParentsOnly: second, Flagged: flagged, ByUpdate: byUpdate, Desc: desc}
			r.ListPosts(posts, new([]content.Post))
			posts.DataTypes = []string{"text", "image"}
			r.ListPosts(posts, new([]content.Post))
			require.GreaterOrEqual(t, len(r.Queued()), 5)
		}
	}
	for _, targets := range []int64{1, 5000} {
		for i := range 1 << 3 {
			q := content.PostFeedQuery{
				ReaderID: id, Following: true, FollowedAt: map[region.Code]int64{region.US: targets}, Everyone: i&1 != 0, Ranked: i&2 != 0,
				Desc: i&4 != 0, Limit: 21,
			}
			r := s.NewReadBatch()
			r.ListPostFeed(q, new([]content.PostFeedEntry))
			require.NotEmpty(t, r.Queued())
		}
	}
}
