package store_test

import (
	"time"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/core"
)

// storyWorld is when the last story of the big community was made; a story lasts a day.
var storyWorld = worldStart.Add(20_000 * 60 * time.Second)

// The first community has 20,000 stories, one a minute, of which a day's worth last; so do those of 10,000 other
// targets, one each. 20,000 users viewed the first post, and one viewed most others.
var _ = planned((*collector).collectStories,
	`INSERT INTO stories (home, id, target_type, target_id, target_public_id, author_id, author_public_id, data_type, data, items, metadata,
		mentionees,
			flaggers, flag_count, created_at, updated_at, expires_at, deleted_at)
		SELECT 'us', ID(t, n, 3), 'community', ID(c, 3, 3), ID(c, 3, 3), ID(u, n, n), 'user-' || n::text, CASE WHEN n % 2 = 0 THEN 'image'
		ELSE 'text' END,
			'{}', '[]', '{}', '[]', '{}', 0, AT(n, 60), AT(n, 60), AT(n, 60) + INTERVAL '1 day', CASE WHEN n % 100 = 7 THEN AT(n, 60) END
		FROM generate_series(1, 20000) AS n`,
	`INSERT INTO stories (home, id, target_type, target_id, target_public_id, author_id, author_public_id, data_type, data, items, metadata,
		mentionees,
			created_at, updated_at, expires_at)
		SELECT HOME(n), ID(w, n, n), 'user', ID(u, n, n), 'user-' || n::text, ID(u, n, n), 'user-' || n::text, 'text', '{}', '[]', '{}', '[]',
			AT(20000, 60), AT(20000, 60), AT(20000, 60) + INTERVAL '1 day' FROM generate_series(1, 10000) AS n`,
	`INSERT INTO story_targets (home, target_id, target_type, target_public_id, last_expires_at, updated_at)
		SELECT HOME(n), ID(u, n, n), 'user', 'user-' || n::text, AT(20000, 60) + INTERVAL '1 day', AT(20000, 60) FROM generate_series(1, 10000)
		AS n`,
	`INSERT INTO story_targets (home, target_id, target_type, target_public_id, last_expires_at, updated_at)
		SELECT HOME(n), ID(c, n, n), 'community', ID(c, n, n), AT(20000, 60) + INTERVAL '1 day', AT(20000, 60) FROM generate_series(1, 10000)
		AS n`,
	`INSERT INTO story_seen (home, user_id, target_id, seen_expires_at)
		SELECT 'us', ID(u, n, n), ID(c, 3, 3), AT(n, 60) FROM generate_series(1, 20000) AS n`,
	`INSERT INTO views (home, reference_id, user_id, reference_type, n, first_at, last_at)
		SELECT 'us', ID(p, 4, 3), ID(u, n, n), 'post', 1, AT(n, 3), AT(n, 3) FROM generate_series(1, 20000) AS n`,
	`INSERT INTO views (home, reference_id, user_id, reference_type, n, first_at, last_at)
		SELECT 'us', ID(p, (4 * n), 3), ID(u, 1, 1), 'post', 1, AT(n, 28), AT(n, 28) FROM generate_series(2, 20000) AS n`,
)

func storyID(n int) string { return worldID("t", n, 3) }

func (c *collector) collectStories() {
	id, big := storyID(19_998), communityID(bigCommunity)
	c.collectStoryReads(id)
	var rows []content.Story
	var targets []content.StoryTarget
	var views []content.View
	at := storyWorld.Add(-6 * time.Hour)
	defer c.windows("stories.listLive", "stories.listEnded")
	for _, desc := range []bool{true, false} {
		for _, kind := range []string{"", "image"} {
			for _, ended := range []bool{false, true} {
				l := content.StoryList{
					TargetID: big, DataType: kind, Ended: ended, Now: storyWorld, Desc: desc, After: at, AfterID: "02",
					Limit: pageRows,
				}
				if ended {
					l.After = worldStart.Add(10_000 * 60 * time.Second)
				}
				c.reads(func(r *store.ReadBatch) { r.ListStories(l, &rows) })
			}
		}
		for _, seen := range []string{"all", "seen", "unseen"} {
			l := content.StoryTargetList{
				ReaderID: userID(3), Communities: []string{big, communityID(6)}, SeenState: seen, Now: storyWorld, Desc: desc, After: at,
				AfterID: "02", Limit: pageRows,
			}
			c.reads(func(r *store.ReadBatch) { r.ListStoryTargets(l, &targets) })
		}
	}
	both(20_000*3/2, func(desc bool, at time.Time, after string) {
		l := content.ViewList{ReferenceID: postID(bigPost), Desc: desc, After: at, AfterID: after, Limit: pageRows}
		c.reads(func(r *store.ReadBatch) { r.ListViews(l, &views) })
	})
	c.collectStoryWrites(id)
}

func (c *collector) collectStoryReads(id string) {
	var story *content.Story
	var rows []content.Story
	var targets []content.StoryTarget
	var community *communities.Community
	var member *communities.Member
	var wall content.Wall
	c.reads(func(r *store.ReadBatch) { r.Story(id, &story) })
	c.reads(func(r *store.ReadBatch) { r.StoriesByID([]string{id, storyID(19_997), storyID(4)}, &rows) })
	c.reads(func(r *store.ReadBatch) { r.StoryHeads([]string{id, storyID(19_997), storyID(4)}, &rows) })
	c.reads(func(r *store.ReadBatch) { r.StoryOfComment(commentID(15), &story) })
	for kind, ids := range map[string][]string{
		content.ReferencePost: {postID(4)}, content.ReferenceComment: {commentID(5), commentID(bigThread)},
		content.ReferenceStory: {id, worldID("w", 3, 3)},
	} {
		for _, id := range ids {
			c.reads(func(r *store.ReadBatch) { r.TargetOf(kind, id, userID(3), &community, &member, &wall) })
			c.reads(func(r *store.ReadBatch) { r.TargetOf(kind, id, userID(6), &community, &member, &wall) })
		}
	}
	c.reads(func(r *store.ReadBatch) {
		r.StoryTargets([]string{communityID(bigCommunity), communityID(6), userID(9)}, userID(3), &targets)
	})
	c.reads(func(r *store.ReadBatch) { r.StoriesEndedBefore(region.US, worldStart.Add(48*time.Hour), 100, &rows) })
}

func (c *collector) collectStoryWrites(id string) {
	var story *content.Story
	row := content.Story{
		ID: region.NewID(region.US), TargetType: "community", TargetID: communityID(bigCommunity), AuthorID: userID(3), DataType: "text",
		Data:  []byte(`{}`),
		Items: []byte(`[]`), Metadata: []byte(`{}`), Mentionees: []byte(`[]`), CreatedAt: storyWorld,
		ExpiresAt: storyWorld.Add(content.MaxStoryLifetime),
	}
	old := row
	old.ID = id
	flag := content.Flag{TargetType: content.FlagStory, TargetID: id, UserID: userID(3), Reason: "Others", CreatedAt: storyWorld}
	comment := content.Comment{
		ID: commentID(15), ReferenceType: content.ReferenceStory, ReferenceID: id, TargetType: "community", TargetID: communityID(bigCommunity),
	}
	c.write(func(w *store.Tx) {
		w.InsertStory(row)
		w.GuardLiveStory(id, storyWorld, core.ErrConflict)
		w.InsertFlag(flag, "")
		w.RecomputeStoryFlags(id)
		w.GuardFlag(id, userID(3), core.ErrConflict)
		w.RaiseCommentFlags(comment)
		w.RecomputeCommentFlags(comment)
		w.SelectStory(id, &story)
		w.InsertViews(content.View{ReferenceType: content.ReferenceStory, ReferenceID: id, UserID: userID(3)},
			[]time.Time{storyWorld, storyWorld.Add(time.Second)})
		w.UpsertStorySeen(userID(3), communityID(bigCommunity), row.ExpiresAt)
		w.GuardStory(id, core.ErrConflict)
		w.DeleteStory(old, storyWorld)
		w.GuardStoryRow(id, core.ErrConflict)
		w.DeleteCommentsOfStory(id, []string{commentID(15)})
		w.PurgeStory(old, storyWorld)
	})
}
