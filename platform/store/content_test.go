package store_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/fail"
	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
	"github.com/plaza-social/plaza/platform/store/network"
	"github.com/plaza-social/plaza/platform/store/people"
)

func readPost(t *testing.T, s *store.Store, id string) *content.Post {
	t.Helper()
	var p *content.Post
	r := s.NewReadBatch()
	r.Post(id, &p)
	run(t, r)
	return p
}

func readComment(t *testing.T, s *store.Store, id string) *content.Comment {
	t.Helper()
	var c *content.Comment
	r := s.NewReadBatch()
	r.Comment(id, &c)
	run(t, r)
	return c
}

// album is a post with three pictures.
func album(t *testing.T, s *store.Store, c communities.Community) (parent content.Post, children []content.Post) {
	t.Helper()
	parent = aPost(c)
	for range 3 {
		child := aPost(c)
		child.ParentID, child.IsParent, child.DataType = parent.ID, false, "image"
		parent.Children = append(parent.Children, child.ID)
		children = append(children, child)
	}
	w := s.NewTx(region.EU)
	for _, p := range append([]content.Post{parent}, children...) {
		w.InsertPost(p)
	}
	w.Count(parent.TargetID, core.CountPublished, +1)
	commit(t, w)
	return parent, children
}

func TestPostsAndTheirChildren(t *testing.T) {
	s := openNew(t)
	c := newCommunity(t, s, region.EU)
	parent, children := album(t, s, c)
	remove := func(p content.Post) error {
		w := s.NewTx(region.EU)
		w.GuardPost(p, fail.NotFound())
		w.DeletePost(p, later(1))
		return w.Commit(t.Context())
	}
	require.NoError(t, remove(children[1]))
	require.Equal(t, []string{children[0].ID, children[2].ID}, readPost(t, s, parent.ID).Children, "the others keep their order")
	require.Equal(t, int64(1), countsOf(t, s, c.ID).Of(c.ID, core.CountPublished), "children are not counted")
	require.ErrorIs(t, remove(children[1]), fail.NotFound())

	require.NoError(t, remove(parent))
	require.NotNil(t, readPost(t, s, children[0].ID).DeletedAt)
	var family []string
	r := s.NewReadBatch()
	r.ChildIDs(parent.ID, &family)
	run(t, r)
	require.ElementsMatch(t, parent.Children, family, "deleted ones too")
	require.Zero(t, countsOf(t, s, c.ID).Of(c.ID, core.CountPublished))
	w := s.NewTx(region.EU)
	for _, p := range []content.Post{parent, children[2]} {
		w.InsertViews(content.View{ReferenceType: "post", ReferenceID: p.ID, UserID: p.AuthorID}, []time.Time{now})
	}
	w.PurgePosts([]string{children[0].ID, parent.ID})
	commit(t, w)
	require.Nil(t, readPost(t, s, parent.ID))
	var views, others []content.View
	r = s.NewReadBatch()
	r.ListViews(content.ViewList{ReferenceID: parent.ID, Limit: 9}, &views)
	r.ListViews(content.ViewList{ReferenceID: children[2].ID, Limit: 9}, &others)
	run(t, r)
	require.Empty(t, views)
	require.Len(t, others, 1, "the views of another post")

	kept := newPost(t, s, c)
	w = s.NewTx(region.EU)
	w.PurgePosts([]string{kept.ID})
	commit(t, w)
	require.NotNil(t, readPost(t, s, kept.ID), "what is not deleted is not purged")
}

func TestMovePost(t *testing.T) {
	s := openNew(t)
	c := newCommunity(t, s, region.EU)
	p := newPost(t, s, c, func(p *content.Post) { p.FeedType = "reviewing" })
	w := s.NewTx(region.EU)
	w.GuardPost(p, refused)
	w.UpdatePostFeedType(p, "published", later(1))
	commit(t, w)
	counts := countsOf(t, s, c.ID)
	require.Zero(t, counts.Of(c.ID, core.CountReviewing))
	require.Equal(t, int64(1), counts.Of(c.ID, core.CountPublished))
	w = s.NewTx(region.EU)
	w.GuardPost(p, refused)
	w.UpdatePostFeedType(p, "declined", later(2))
	require.ErrorIs(t, w.Commit(t.Context()), refused, "it is not under review any more")
}

func TestCommentsAndReplies(t *testing.T) {
	s := openNew(t)
	p := newPost(t, s, newCommunity(t, s, region.SG))
	var ids []string
	for i := range 5 {
		ids = append(ids, newComment(t, s, p, func(c *content.Comment) { c.CreatedAt = later(i) }).ID)
	}
	reply := newComment(t, s, p, func(c *content.Comment) { c.ParentID, c.RootID = ids[0], ids[0] })
	require.Equal(t, []string{ids[4], ids[3], ids[2]}, readPost(t, s, p.ID).LatestComments.IDs(), "the latest three of the first level")
	require.Equal(t, []string{reply.ID}, readComment(t, s, ids[0]).LatestReplies.IDs())
	counts := countsOf(t, s, p.ID, ids[0])
	require.Equal(t, int64(6), counts.Of(p.ID, core.CountComments))
	require.Equal(t, int64(1), counts.Of(ids[0], core.CountReplies))

	w := s.NewTx(region.SG)
	w.GuardCommentStatus(reply, refused)
	w.DeleteComment(reply, later(9))
	commit(t, w)
	counts = countsOf(t, s, p.ID, ids[0])
	require.Equal(t, int64(5), counts.Of(p.ID, core.CountComments))
	require.Equal(t, int64(6), counts.Of(p.ID, core.CountSegment), "numbers are not given twice")
	require.Zero(t, counts.Of(ids[0], core.CountReplies))
	w = s.NewTx(region.SG)
	w.GuardComment(reply.ID, refused)
	require.ErrorIs(t, w.Commit(t.Context()), refused)
	w = s.NewTx(region.SG)
	w.PurgeComments([]string{reply.ID, ids[1]})
	commit(t, w)
	require.Nil(t, readComment(t, s, reply.ID))
	require.NotNil(t, readComment(t, s, ids[1]), "what is not deleted is not purged")

	var some []string
	r := s.NewReadBatch()
	r.SomeCommentIDs(p.ID, &some)
	run(t, r)
	require.ElementsMatch(t, ids, some)
	w = s.NewTx(region.SG)
	w.DeleteCommentsOfPost(p.ID, some)
	commit(t, w)
	require.Nil(t, readComment(t, s, ids[0]))
}

func aFlag(target content.FlagTarget, id, userID string) content.Flag {
	return content.Flag{TargetType: target, TargetID: id, UserID: userID, Reason: "Others", CreatedAt: now}
}

func TestFlagsBubble(t *testing.T) {
	s := openNew(t)
	c := newCommunity(t, s, region.EU)
	parent, children := album(t, s, c)
	comment := newComment(t, s, children[0])
	ben := region.NewID(region.US)
	change := func(f func(w *store.Tx)) {
		t.Helper()
		w := s.NewTx(region.EU)
		f(w)
		commit(t, w)
	}
	requireMarks := func(hasFlaggedChildren, childHasFlaggedComment, communityPost, communityComment bool) {
		t.Helper()
		require.Equal(t, hasFlaggedChildren, readPost(t, s, parent.ID).HasFlaggedChildren)
		require.Equal(t, childHasFlaggedComment, readPost(t, s, children[0].ID).HasFlaggedComment)
		require.Equal(t, communityPost, readCommunity(t, s, c.ID).HasFlaggedPost)
		require.Equal(t, communityComment, readCommunity(t, s, c.ID).HasFlaggedComment)
	}
	for range 2 { // again changes nothing
		change(func(w *store.Tx) {
			w.InsertFlag(aFlag(content.FlagPost, children[0].ID, ben), c.ID)
			w.RaisePostFlags(children[0])
		})
		require.Equal(t, []string{ben}, readPost(t, s, children[0].ID).Flaggers)
		require.Equal(t, int64(1), readPost(t, s, children[0].ID).FlagCount)
	}
	requireMarks(true, false, true, false)
	change(func(w *store.Tx) {
		w.InsertFlag(aFlag(content.FlagComment, comment.ID, ben), c.ID)
		w.RaiseCommentFlags(comment)
	})
	requireMarks(true, true, true, true)
	change(func(w *store.Tx) { w.DeleteFlag(children[0].ID, ben, now); w.RecomputePostFlags(children[0]) })
	requireMarks(false, true, false, true)
	change(func(w *store.Tx) { w.DeleteComment(comment, later(1)) })
	requireMarks(false, false, false, false)

	change(func(w *store.Tx) {
		w.InsertFlag(aFlag(content.FlagPost, parent.ID, ben), c.ID)
		w.RaisePostFlags(parent)
	})
	requireMarks(false, false, true, false)
	change(func(w *store.Tx) {
		w.ClearFlags(parent.ID, content.FlagResolution{At: now})
		w.RecomputePostFlags(parent)
	})
	requireMarks(false, false, false, false)
	change(func(w *store.Tx) {
		w.InsertFlag(aFlag(content.FlagPost, parent.ID, ben), c.ID)
		w.RaisePostFlags(parent)
	})
	change(func(w *store.Tx) { w.DeletePost(parent, later(2)) })
	require.False(t, readCommunity(t, s, c.ID).HasFlaggedPost)
}

func TestFlagLimit(t *testing.T) {
	s := openNew(t)
	p := newPost(t, s, newCommunity(t, s, region.EU))
	var users []string
	flag := func(userID string, limit int) error {
		w := s.NewTx(region.EU)
		f := aFlag(content.FlagPost, p.ID, userID)
		w.GuardFlagLimit(f, limit, refused)
		w.InsertFlag(f, p.TargetID)
		w.RaisePostFlags(p)
		return w.Commit(t.Context())
	}
	for range 3 {
		users = append(users, region.NewID(region.US))
		require.NoError(t, flag(users[len(users)-1], 3))
	}
	require.ErrorIs(t, flag(region.NewID(region.US), 3), refused)
	require.NoError(t, flag(users[0], 3), "one's own again is no new one")
	require.NoError(t, flag(users[0], 1), "even where the limit was lowered")
	require.Equal(t, int64(3), readPost(t, s, p.ID).FlagCount)
	var mine, other bool
	r := s.NewReadBatch()
	r.FlaggedBy(p.ID, users[0], &mine)
	r.FlaggedBy(p.ID, region.NewID(region.US), &other)
	run(t, r)
	require.True(t, mine)
	require.False(t, other)
}

// TestSettingsOfEveryOrder has a home hear of the same changes in every order, each twice: all end up alike.
func TestSettingsOfEveryOrder(t *testing.T) {
	s := openNew(t)
	changes := []network.SettingRow{
		{Name: "flagLimit", Value: []byte(`7`), ChangedAt: now, Origin: "us"},
		{Name: "flagLimit", Value: []byte(`8`), ChangedAt: later(1), Origin: "us"},
		{Name: "flagLimit", Value: []byte(`9`), ChangedAt: later(1), Origin: "eu"},
		{Name: "isReportEnabled", Value: []byte(`false`), ChangedAt: now, Origin: "sg"},
	}
	for _, order := range permutations(len(changes)) {
		wipe := s.NewTx(region.SG)
		wipe.Exec(&db.Statement{SQL: `DELETE FROM settings WHERE home = $1`})
		commit(t, wipe)
		for _, i := range append(order, order...) {
			w := s.NewTx(region.SG)
			w.UpsertSetting(changes[i])
			commit(t, w)
		}
		var settings network.Settings
		r := s.NewReadBatch()
		r.Settings(region.SG, &settings)
		run(t, r)
		want := network.DefaultSettings()
		want.FlagLimit, want.IsReportEnabled = 8, false // of two at the same moment the greater origin
		require.Equal(t, want, settings, "%v", order)
	}
	var elsewhere network.Settings
	r := s.NewReadBatch()
	r.Settings(region.US, &elsewhere)
	run(t, r)
	require.Equal(t, network.DefaultSettings(), elsewhere)
}

func TestCounts(t *testing.T) {
	s := openNew(t)
	ref, other := region.NewID(region.US), region.NewID(region.US)
	w := s.NewTx(region.US)
	for range 50 { // over all shards
		w.Count(ref, core.CountMembers, 2)
	}
	w.Count(ref, core.CountMembers, -1)
	w.Count(ref, core.CountModerators, 1)
	commit(t, w)
	counts := countsOf(t, s, ref, other)
	require.Equal(t, int64(99), counts.Of(ref, core.CountMembers))
	require.Equal(t, int64(1), counts.Of(ref, core.CountModerators))
	require.Zero(t, counts.Of(other, core.CountMembers))
}

func TestOutboxRows(t *testing.T) {
	s := openNew(t)
	w := s.NewTx(region.EU)
	lanes := map[int64][]string{}
	for i := range 40 {
		row := w.Emit("topic", strconv.Itoa(i), now, later(i))
		require.Equal(t, region.EU, homeOf(row.ID))
		lanes[row.Lane] = append(lanes[row.Lane], row.ID)
	}
	commit(t, w)
	all := []int64{0, 1, 2, 3}
	due, err := s.DueOutboxRows(t.Context(), region.EU, all, time.Time{}, later(100))
	require.NoError(t, err)
	got := map[int64][]string{}
	for lane, rows := range due {
		for _, row := range rows {
			got[lane] = append(got[lane], row.ID)
		}
	}
	require.Equal(t, lanes, got, "in the order of their times")
	some, err := s.DueOutboxRows(t.Context(), region.EU, []int64{1, 3}, time.Time{}, later(100))
	require.NoError(t, err)
	for lane := range int64(core.OutboxLanes) {
		if lane%2 == 1 {
			require.Equal(t, due[lane], some[lane])
		} else {
			require.Empty(t, some[lane])
		}
	}
	for _, rows := range due {
		require.NoError(t, s.DelayOutboxRows(t.Context(), region.EU, rows[:1], rows[0].ID, later(1000)))
		require.NoError(t, s.DeleteOutboxRows(t.Context(), region.EU, rows[1:]))
	}
	left, err := s.DueOutboxRows(t.Context(), region.EU, all, time.Time{}, later(100))
	require.NoError(t, err)
	require.Empty(t, left)
	left, err = s.DueOutboxRows(t.Context(), region.EU, all, time.Time{}, later(1000))
	require.NoError(t, err)
	require.Len(t, left, len(due))
	for lane, rows := range left {
		require.Len(t, rows, 1)
		require.Equal(t, due[lane][0].ID, rows[0].ID)
		require.Equal(t, int64(1), rows[0].Attempts)
	}
}

// TestDueOutboxRowsOfALane reads at most MaxDueOutboxRows rows of each lane.
func TestDueOutboxRowsOfALane(t *testing.T) {
	s := openNew(t)
	for _, n := range []int{core.MaxDueOutboxRows, 1} {
		w := s.NewTx(region.EU)
		for range n {
			w.EmitInOrder("0", "topic", "payload", now, now)
		}
		w.EmitInOrder("1", "topic", "payload", now, now)
		commit(t, w)
	}
	due, err := s.DueOutboxRows(t.Context(), region.EU, []int64{0, 1, 2, 3}, time.Time{}, now)
	require.NoError(t, err)
	require.Len(t, due['0'%core.OutboxLanes], core.MaxDueOutboxRows)
	require.Len(t, due['1'%core.OutboxLanes], 2)
}

// TestOutboxRowsOfKeys reads the rows of keys in the order in which they were written. Rows without a key are not among them.
func TestOutboxRowsOfKeys(t *testing.T) {
	s := openNew(t)
	want := map[string][]string{}
	for i := range 3 {
		for _, key := range []string{"a", "b", "c", "", "d", "e"} {
			w := s.NewTx(region.EU)
			id := w.EmitInOrder(key, "topic", "payload", now, later(-i)).ID
			commit(t, w)
			if i < 2 && key != "" {
				want[key] = append(want[key], id)
			}
		}
	}
	for n := 1; n <= 5; n++ {
		keys := []string{"a", "b", "c", "d", "e"}[:n]
		found, err := s.OutboxRowsOfKeys(t.Context(), region.EU, keys, 2)
		require.NoError(t, err)
		require.Len(t, found, n)
		for _, key := range keys {
			got := make([]string, len(found[key]))
			for i, row := range found[key] {
				got[i] = row.ID
			}
			require.Equal(t, want[key], got, key)
		}
	}
}

func TestDirectoryEntries(t *testing.T) {
	s := openNew(t)
	first := people.DirectoryEntry{Hash: []byte("hash"), UserID: region.NewID(region.US)}
	second := people.DirectoryEntry{Hash: first.Hash, UserID: region.NewID(region.EU)}
	for _, e := range []people.DirectoryEntry{first, second} {
		var stands []people.DirectoryEntry
		w := s.NewTx(region.SG)
		w.InsertDirectoryEntry(e, now, &stands)
		commit(t, w)
		require.Equal(t, []people.DirectoryEntry{first}, stands)
	}
	var found []people.DirectoryEntry
	r := s.NewReadBatch()
	r.Directory(region.SG, [][]byte{first.Hash, []byte("other")}, &found)
	run(t, r)
	require.Equal(t, []people.DirectoryEntry{first}, found)

	another := people.DirectoryEntry{Hash: []byte("another hash"), UserID: first.UserID}
	w := s.NewTx(region.SG)
	w.UpsertDirectoryCopy(another, now)
	w.DeleteDirectoryEntry(second)
	commit(t, w)
	for _, want := range [][]people.DirectoryEntry{{first, another}, {another}} {
		r = s.NewReadBatch()
		r.Directory(region.SG, [][]byte{first.Hash, another.Hash}, &found)
		run(t, r)
		require.ElementsMatch(t, want, found, "only the entry of the hash and the user is deleted")
		w = s.NewTx(region.SG)
		w.DeleteDirectoryEntry(first)
		commit(t, w)
	}
}
