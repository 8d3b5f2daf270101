package comment_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/comment"
	"github.com/plaza-social/plaza/platform/service/internal/servicetest"
	"github.com/plaza-social/plaza/platform/store"
)

// commented is a post with comments, and with replies to the first of them.
type commented struct {
	post              store.Post
	comments, replies []string
}

func insertCommented(t *testing.T, w *servicetest.World, n int) commented {
	t.Helper()
	wall, empty := region.NewID(region.EU), []byte(`{}`)
	c := commented{post: store.Post{
		ID: region.NewID(region.EU), TargetType: "user", TargetID: wall, TargetPublicID: "alice", AuthorID: wall, AuthorPublicID: "alice", IsParent: true,
		FeedType: "published", DataType: "text", StructureType: "text", Data: empty, Metadata: empty, Mentionees: []byte(`[]`), CreatedAt: servicetest.Noon,
	}}
	tx := w.Store.NewTx(region.EU)
	tx.InsertPost(c.post)
	insert := func(parent string, i int) string {
		id := region.NewID(region.EU)
		tx.InsertComment(store.Comment{
			ID: id, ReferenceType: store.ReferencePost, ReferenceID: c.post.ID, TargetType: "user", TargetID: wall, TargetPublicID: "alice", ParentID: parent,
			RootID: id, AuthorID: wall, AuthorPublicID: "alice", Data: fmt.Appendf(nil, `{"text":"%d"}`, i), Metadata: empty, Mentionees: []byte(`[]`),
			Attachments: []byte(`[]`), ApprovalStatus: store.Approved, CreatedAt: servicetest.Noon.Add(time.Duration(i) * time.Second),
		})
		return id
	}
	for i := range n {
		c.comments = append(c.comments, insert("", i))
	}
	for i := range n {
		c.replies = append(c.replies, insert(c.comments[0], i))
	}
	require.NoError(t, tx.Commit(t.Context()))
	return c
}

// latest returns the ids of the latest comments of the post, and of the latest replies to its first comment.
func (c commented) latest(t *testing.T, w *servicetest.World) (comments, replies []string) {
	t.Helper()
	posts, err := service.Read(t.Context(), w.Deps, (*store.ReadBatch).PostsByID, []string{c.post.ID})
	require.NoError(t, err)
	first, err := service.Read(t.Context(), w.Deps, (*store.ReadBatch).CommentsByID, c.comments[:1])
	require.NoError(t, err)
	return posts[0].LatestComments.IDs(), first[0].LatestReplies.IDs()
}

func (c commented) requireLatest(t *testing.T, w *servicetest.World, complete bool) {
	t.Helper()
	comments, replies := c.latest(t, w)
	if !complete {
		require.Empty(t, comments)
		require.Empty(t, replies)
		return
	}
	newest := func(ids []string) []string { return []string{ids[len(ids)-1], ids[len(ids)-2], ids[len(ids)-3]} }
	require.Equal(t, newest(c.comments), comments)
	require.Equal(t, newest(c.replies), replies)
}

// TestBackfillOfLatestComments has the counts of a database as servers wrote them before these kept the latest comments, on more than
// one page. The backfill waits for the end of a rollout, continues after a failed transaction, and runs once.
func TestBackfillOfLatestComments(t *testing.T) {
	t.Parallel()
	w := servicetest.NewWorld(t)
	var all []commented
	for range 170 {
		all = append(all, insertCommented(t, w, 4))
	}
	w.Exec(t, `UPDATE counters SET latest_1 = '', latest_2 = '', latest_3 = ''`)
	require.Equal(t, "true", w.Text(t, `SELECT (count(*) > 500)::text FROM counters`), "more than a page")
	s := comment.New(w.Deps)
	backfill := func() error { return s.Backfill(t.Context(), region.EU) }
	require.NoError(t, backfill())
	w.Set(servicetest.Noon.Add(time.Hour - time.Second))
	require.NoError(t, backfill())
	for _, c := range all {
		c.requireLatest(t, w, false)
	}
	w.Set(servicetest.Noon.Add(time.Hour))
	w.FailAt(3)
	require.ErrorIs(t, backfill(), servicetest.ErrLost)
	w.Set(servicetest.Noon.Add(2 * time.Hour))
	require.NoError(t, backfill())
	for _, c := range all {
		c.requireLatest(t, w, true)
	}
	w.Exec(t, `UPDATE counters SET latest_1 = '', latest_2 = '', latest_3 = ''`)
	w.Set(servicetest.Noon.Add(24 * time.Hour))
	require.NoError(t, backfill())
	all[0].requireLatest(t, w, false)
	require.NoError(t, s.Backfill(t.Context(), region.US), "another home")
}
