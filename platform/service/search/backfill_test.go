package search_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service/internal/servicetest"
	"github.com/plaza-social/plaza/platform/service/search"
	"github.com/plaza-social/plaza/platform/store"
)

// insertSearchable inserts posts, more than are processed at a time, and a community, all with the word rope.
func insertSearchable(t *testing.T, w *servicetest.World) {
	t.Helper()
	wall, empty := region.NewID(region.EU), []byte(`{}`)
	tx := w.Store.NewTx(region.EU)
	for i := range 70 {
		p := store.Post{
			ID: region.NewID(region.EU), TargetType: "content", TargetID: wall, TargetPublicID: "x", AuthorID: wall, AuthorPublicID: "alice", IsParent: true,
			FeedType: "published", DataType: "text", StructureType: "text", Data: fmt.Appendf(nil, `{"text":"Rope %d"}`, i), Metadata: empty,
			Mentionees: []byte(`[]`), CreatedAt: servicetest.Noon.Add(time.Duration(i) * time.Second),
		}
		tx.InsertPost(p)
	}
	tx.InsertCommunity(store.Community{ID: region.NewID(region.EU), DisplayName: "Rope", IsPublic: true, Metadata: empty}, nil, servicetest.Noon)
	require.NoError(t, tx.Commit(t.Context()))
}

// found returns the numbers of posts and communities that a search for rope finds.
func found(t *testing.T, w *servicetest.World) (posts, communities int) {
	t.Helper()
	var p, c []store.SearchHit
	page := store.SearchPage{Desc: true, After: servicetest.Noon.Add(time.Hour * 24), AfterID: "g", Limit: 100}
	page.SearchWord = store.SearchWord{Key: store.SearchKey(store.SearchPosts, "rope"), Word: "rope"}
	reads := w.Store.NewReadBatch()
	reads.SearchPosts(store.PostSearch{SearchPage: page}, &p)
	page.SearchWord = store.SearchWord{Key: store.SearchKey(store.SearchCommunities, "rope"), Word: "rope"}
	reads.SearchCommunities(store.CommunitySearch{SearchPage: page}, &c)
	require.NoError(t, reads.Run(t.Context()))
	return len(p), len(c)
}

// TestBackfillOfSearchWords has posts and a community as servers wrote them before these kept words. The backfill waits for the end
// of a rollout, continues after a failed transaction, leaves deleted posts out and runs once.
func TestBackfillOfSearchWords(t *testing.T) {
	t.Parallel()
	w := servicetest.NewWorld(t)
	insertSearchable(t, w)
	posts, communities := found(t, w)
	require.Equal(t, []int{70, 1}, []int{posts, communities})
	w.Exec(t, `DELETE FROM search_words`)
	w.Exec(t, `UPDATE posts SET deleted_at = now() WHERE id = (SELECT max(id) FROM posts)`)
	s := search.New(w.Deps)
	requireFound := func(wantPosts, wantCommunities int) {
		t.Helper()
		posts, communities := found(t, w)
		require.Equal(t, []int{wantPosts, wantCommunities}, []int{posts, communities})
	}
	require.NoError(t, s.Backfill(t.Context(), region.EU))
	w.Set(servicetest.Noon.Add(time.Hour - time.Second))
	require.NoError(t, s.Backfill(t.Context(), region.EU))
	requireFound(0, 0)
	w.Set(servicetest.Noon.Add(time.Hour))
	w.FailAt(3)
	require.Error(t, s.Backfill(t.Context(), region.EU))
	w.FailAt(-1)
	w.Set(servicetest.Noon.Add(2 * time.Hour))
	require.NoError(t, s.Backfill(t.Context(), region.EU))
	requireFound(69, 1)
	w.Exec(t, `DELETE FROM search_words`)
	require.NoError(t, s.Backfill(t.Context(), region.EU))
	requireFound(0, 0)
}

// TestBackfillMeetsChanges has a post and a community change after the backfill has read them: it does not index what they contained,
// but reads the page again.
func TestBackfillMeetsChanges(t *testing.T) {
	t.Parallel()
	for statement, tc := range map[string]struct {
		change                     string
		wantPosts, wantCommunities int
	}{
		"posts.guardUnchanged":       {`UPDATE posts SET deleted_at = now()`, 0, 1},
		"communities.guardUnchanged": {`UPDATE communities SET deleted_at = now(), updated_at = now()`, 70, 0},
	} {
		t.Run(statement, func(t *testing.T) {
			t.Parallel()
			w := servicetest.NewWorld(t)
			insertSearchable(t, w)
			w.Exec(t, `DELETE FROM search_words`)
			s := search.New(w.Deps)
			require.NoError(t, s.Backfill(t.Context(), region.EU))
			w.Set(servicetest.Noon.Add(time.Hour))
			w.Before(statement, func() { w.Exec(t, tc.change) })
			require.Error(t, s.Backfill(t.Context(), region.EU))
			require.False(t, w.Pending())
			w.Set(servicetest.Noon.Add(2 * time.Hour))
			require.NoError(t, s.Backfill(t.Context(), region.EU))
			posts, communities := found(t, w)
			require.Equal(t, []int{tc.wantPosts, tc.wantCommunities}, []int{posts, communities})
		})
	}
}

// TestBackfillOnTwoServers has another server store the progress of the backfill first: the progress is not stored twice.
func TestBackfillOnTwoServers(t *testing.T) {
	t.Parallel()
	w := servicetest.NewWorld(t)
	insertSearchable(t, w)
	s := search.New(w.Deps)
	require.NoError(t, s.Backfill(t.Context(), region.EU))
	w.Set(servicetest.Noon.Add(time.Hour))
	w.Before("backfills.update", func() {
		w.Exec(t, `UPDATE backfills SET version = version + 1, step = 'of the other server', due_at = now() + INTERVAL '1 year'`)
	})
	require.NoError(t, s.Backfill(t.Context(), region.EU), "it is left to the other server")
	require.Equal(t, "of the other server", w.Text(t, `SELECT step FROM backfills`))
}
