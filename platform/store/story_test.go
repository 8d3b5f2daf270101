package store_test

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db/dbtest"
	"github.com/plaza-social/plaza/platform/store/network"
	"github.com/plaza-social/plaza/platform/store/people"
)

// newStory stores a story on the wall of a user that was created and expires at some seconds after now.
func newStory(t *testing.T, s *store.Store, ownerID string, created, expires int) content.Story {
	t.Helper()
	return newStoryWithID(t, s, region.NewID(homeOf(ownerID)), ownerID, created, expires)
}

func newStoryWithID(t *testing.T, s *store.Store, id, ownerID string, created, expires int) content.Story {
	t.Helper()
	story := content.Story{
		ID: id, TargetType: "user", TargetID: ownerID, TargetPublicID: "anna", AuthorID: ownerID, AuthorPublicID: "anna", DataType: "text",
		Data:  []byte(`{}`),
		Items: []byte(`[]`), Metadata: []byte(`{}`), Mentionees: []byte(`[]`), CreatedAt: later(created), ExpiresAt: later(expires),
	}
	w := s.NewTx(homeOf(id))
	w.InsertStory(story)
	commit(t, w)
	return story
}

func deleteStory(t *testing.T, s *store.Store, story content.Story) {
	t.Helper()
	w := s.NewTx(homeOf(story.ID))
	w.GuardStory(story.ID, refused)
	w.DeleteStory(story, now)
	commit(t, w)
}

// hide hides a row as flags do.
func hide(t *testing.T, conn *pgx.Conn, table, id string) {
	t.Helper()
	_, err := conn.Exec(t.Context(), `UPDATE `+table+` SET hidden_at = now() WHERE id = $1`, id)
	require.NoError(t, err)
}

// TestGuardStory requires that a story is there, and that it is live until it expires. Other stories do not count.
func TestGuardStory(t *testing.T) {
	s := openNew(t)
	owner := region.NewID(region.EU)
	live, deleted := newStory(t, s, owner, 0, 10), newStory(t, s, owner, 0, 10)
	deleteStory(t, s, deleted)
	for name, tc := range map[string]struct {
		id           string
		seconds      int
		live, exists bool
	}{
		"live":         {live.ID, 9, true, true},
		"expired":      {live.ID, 10, false, true},
		"deleted":      {deleted.ID, 9, false, false},
		"no such":      {region.NewID(region.EU), 9, false, false},
		"another kind": {owner, 9, false, false},
	} {
		for _, guard := range []struct {
			passes bool
			fill   func(*store.Tx)
		}{
			{tc.live, func(w *store.Tx) { w.GuardLiveStory(tc.id, later(tc.seconds), refused) }},
			{tc.exists, func(w *store.Tx) { w.GuardStory(tc.id, refused) }},
			{tc.exists || tc.id == deleted.ID, func(w *store.Tx) { w.GuardStoryRow(tc.id, refused) }},
		} {
			w := s.NewTx(region.EU)
			guard.fill(w)
			err := w.Commit(t.Context())
			if guard.passes {
				require.NoError(t, err, name)
			} else {
				require.ErrorIs(t, err, refused, name)
			}
		}
	}
}

// TestCountsOfStories counts the stories of a target that are neither deleted nor hidden, and keeps when the last of them expires.
func TestCountsOfStories(t *testing.T) {
	url := dbtest.New(t)
	s, conn := open(t, url), connect(t, url)
	owner, other := region.NewID(region.EU), region.NewID(region.EU)
	requireTarget := func(n int64, expires time.Time) {
		t.Helper()
		require.Equal(t, n, countsOf(t, s, owner).Of(owner, content.CountStories))
		var targets []content.StoryTarget
		r := s.NewReadBatch()
		r.StoryTargets([]string{owner}, "", &targets)
		run(t, r)
		require.Len(t, targets, 1)
		require.Equal(t, expires, targets[0].LastExpiresAt.UTC())
	}
	first, second, third, hidden := newStory(t, s, owner, 0, 10), newStory(t, s, owner, 0, 20), newStory(t, s, owner, 0, 30),
		newStory(t, s, owner, 0, 40)
	newStory(t, s, other, 0, 50)
	requireTarget(4, later(40))
	hide(t, conn, "stories", hidden.ID)
	deleteStory(t, s, third)
	requireTarget(3, later(20))
	purge := func(story content.Story) {
		t.Helper()
		w := s.NewTx(region.EU)
		w.PurgeStory(story, now)
		commit(t, w)
	}
	for _, story := range []content.Story{second, first} {
		for _, user := range []string{owner, other} {
			w := s.NewTx(region.EU)
			w.InsertViews(content.View{ReferenceType: "story", ReferenceID: story.ID, UserID: user}, []time.Time{now})
			commit(t, w)
		}
	}
	views := func(story content.Story) int {
		t.Helper()
		var found []content.View
		r := s.NewReadBatch()
		r.ListViews(content.ViewList{ReferenceID: story.ID, Limit: 9}, &found)
		run(t, r)
		return len(found)
	}
	purge(second)
	requireTarget(2, later(10))
	require.Zero(t, views(second))
	require.Equal(t, 2, views(first), "of another story")
	for _, story := range []content.Story{third, hidden} {
		purge(story)
		requireTarget(2, later(10))
	}
	require.Equal(t, int64(1), countsOf(t, s, other).Of(other, content.CountStories))
}

// TestPagesOfStories lists the live and the expired stories of a target, without deleted ones, those of other targets, and those that
// are hidden from the viewer.
func TestPagesOfStories(t *testing.T) {
	url := dbtest.New(t)
	s, conn := open(t, url), connect(t, url)
	for isEnded, expires := range map[bool]int{false: 11, true: 10} {
		owner, viewer, ids := region.NewID(region.EU), region.NewID(region.EU), listIDs(region.EU)
		for i, id := range ids {
			newStoryWithID(t, s, id, owner, listSeconds[i], expires)
		}
		newStory(t, s, owner, 2, 21-expires)
		newStory(t, s, viewer, 2, expires)
		deleteStory(t, s, newStory(t, s, owner, 2, expires))
		hide(t, conn, "stories", newStory(t, s, owner, 2, expires).ID)
		list := func(l content.StoryList) (rows []content.Story) {
			t.Helper()
			l.TargetID, l.Ended, l.Now = owner, isEnded, later(10)
			r := s.NewReadBatch()
			r.ListStories(l, &rows)
			run(t, r)
			return rows
		}
		requirePages(t, ids, func(after core.Position, desc bool) []core.Position {
			rows := list(content.StoryList{ViewerID: viewer, Desc: desc, After: after.Time, AfterID: after.ID, Limit: 2})
			return positions(rows, func(s content.Story) (time.Time, string) { return s.CreatedAt, s.ID })
		})
		for _, reader := range []string{"", owner} {
			require.Len(t, list(content.StoryList{ViewerID: reader, DataType: "text", Limit: 9}), 5, "with the hidden one")
		}
		require.Empty(t, list(content.StoryList{DataType: "image", Limit: 9}))
	}
}

// TestAccessToWalls reads whether the owner of a wall blocks a user, and whether the user follows the owner.
func TestAccessToWalls(t *testing.T) {
	s := openNew(t)
	owner, other := region.NewID(region.EU), region.NewID(region.EU)
	story := newStory(t, s, owner, 0, 10)
	newStory(t, s, other, 0, 10)
	w := s.NewTx(region.EU)
	post := aPost(aCommunity(region.EU))
	post.TargetType, post.TargetID = "user", owner
	w.InsertPost(post)
	commit(t, w)
	comment := newComment(t, s, post)
	follow := func(followerID, followeeID, status string) {
		t.Helper()
		w := s.NewTx(region.EU)
		w.MirrorFollow(people.Follow{FollowerID: followerID, FolloweeID: followeeID, Status: status, Version: 1, CreatedAt: now, UpdatedAt: now})
		commit(t, w)
	}
	for name, tc := range map[string]struct {
		status, block string
		want          content.Wall
	}{
		"stranger":  {"", "", content.Wall{}},
		"follower":  {people.FollowAccepted, "", content.Wall{Follows: true}},
		"requestor": {people.FollowPending, "", content.Wall{}},
		"former":    {people.FollowNone, people.BlockNone, content.Wall{}},
		"blocked":   {"", people.BlockBlocked, content.Wall{Blocked: true}},
	} {
		user := region.NewID(region.EU)
		if tc.status != "" {
			follow(user, owner, tc.status)
		}
		if tc.block != "" {
			putBlock(t, s, owner, user, tc.block, now)
		}
		if tc.status != people.FollowAccepted {
			follow(user, other, people.FollowAccepted)
		}
		if tc.block != people.BlockBlocked {
			putBlock(t, s, other, user, people.BlockBlocked, now)
		}
		var walls [4]content.Wall
		r := s.NewReadBatch()
		r.Wall(owner, user, &walls[0])
		r.TargetOf(content.ReferencePost, post.ID, user, new(*communities.Community), new(*communities.Member), &walls[1])
		r.TargetOf(content.ReferenceComment, comment.ID, user, new(*communities.Community), new(*communities.Member), &walls[2])
		r.TargetOf(content.ReferenceStory, story.ID, user, new(*communities.Community), new(*communities.Member), &walls[3])
		run(t, r)
		require.Equal(t, [4]content.Wall{tc.want, tc.want, tc.want, tc.want}, walls, name)
	}
	w = s.NewTx(region.EU)
	w.UpsertSetting(network.SettingRow{Name: "userPrivacySetting", Value: []byte(`"private"`), ChangedAt: now, Origin: "eu"})
	commit(t, w)
	var wall content.Wall
	r := s.NewReadBatch()
	r.TargetOf(content.ReferenceStory, story.ID, region.NewID(region.EU), new(*communities.Community), new(*communities.Member), &wall)
	run(t, r)
	require.Equal(t, content.Wall{Private: true}, wall)
}

// TestFlaggedCommentsOfAStory deletes the comments of a story: it is marked as long as one of them has flags.
func TestFlaggedCommentsOfAStory(t *testing.T) {
	s := openNew(t)
	story, another := newStory(t, s, region.NewID(region.EU), 0, 10), newStory(t, s, region.NewID(region.EU), 0, 10)
	flagged := func(of content.Story) content.Comment {
		t.Helper()
		c := newComment(t, s, content.Post{ID: of.ID, TargetType: "user", TargetID: of.TargetID},
			func(c *content.Comment) { c.ReferenceType = content.ReferenceStory })
		w := s.NewTx(region.EU)
		w.InsertFlag(aFlag(content.FlagComment, c.ID, region.NewID(region.US)), "")
		w.RaiseCommentFlags(c)
		commit(t, w)
		return c
	}
	marked := func(id string) bool {
		t.Helper()
		var found *content.Story
		r := s.NewReadBatch()
		r.Story(id, &found)
		run(t, r)
		return found.HasFlaggedComment
	}
	comments := []content.Comment{flagged(story), flagged(story)}
	flagged(another)
	for i, c := range comments {
		require.True(t, marked(story.ID), "with %d flagged comments", len(comments)-i)
		w := s.NewTx(region.EU)
		w.DeleteCommentsOfStory(story.ID, []string{c.ID})
		commit(t, w)
	}
	require.False(t, marked(story.ID))
	require.True(t, marked(another.ID))
}
