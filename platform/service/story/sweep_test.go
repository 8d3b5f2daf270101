package story_test

import (
	"log/slog"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/story"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db"
	"github.com/plaza-social/plaza/platform/store/db/dbtest"
	"github.com/plaza-social/plaza/platform/view"
)

// patience is how long tests wait for what must happen. Only a test that fails waits that long.
const patience = 2 * time.Minute

var noon = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// archive is the stories of one target, and a server that sweeps them at noon.
type archive struct {
	t       *testing.T
	store   *store.Store
	stories *story.Service
	target  string
}

func newArchive(t *testing.T) *archive {
	t.Helper()
	quiet := slog.New(slog.DiscardHandler)
	st,
		err := store.Open(t.Context(), db.Config{
		URLs: map[region.Code]string{"": dbtest.New(t)}, PoolSize: 4, StatementTimeout: patience,
		Log: quiet,
	})
	require.NoError(t, err)
	t.Cleanup(st.Close)
	deps := &service.Deps{
		Store: st, View: &view.Builder{}, Region: region.EU, Now: func() time.Time { return noon }, NewID: region.NewID,
		Log: quiet,
	}
	return &archive{t: t, store: st, stories: story.New(deps), target: region.NewID(region.EU)}
}

func (a *archive) commit(change func(*store.Tx)) {
	a.t.Helper()
	w := a.store.NewTx(region.EU)
	change(w)
	require.NoError(a.t, w.Commit(a.t.Context()))
}

// add stores a story that ended so long before noon, with a comment, a flag, a reaction and a view of it.
func (a *archive) add(endedBefore time.Duration) content.Story {
	a.t.Helper()
	id, comment := region.NewID(region.EU), region.NewID(region.EU)
	s := content.Story{
		ID: id, TargetType: "community", TargetID: a.target, TargetPublicID: a.target, AuthorID: "u", AuthorPublicID: "anna", DataType: "text",
		Data: []byte(`{}`), Items: []byte(`[]`), Metadata: []byte(`{}`), Mentionees: []byte(`[]`),
		CreatedAt: noon.Add(-endedBefore - 24*time.Hour), ExpiresAt: noon.Add(-endedBefore),
	}
	a.commit(func(w *store.Tx) {
		w.InsertStory(s)
		w.InsertFlag(content.Flag{TargetType: content.FlagStory, TargetID: id, UserID: "u", CreatedAt: noon}, "")
		w.InsertReaction(content.Reaction{
			ReferenceType: content.ReferenceStory, ReferenceID: id, UserID: "u", Name: "like", ID: comment,
			CreatedAt: noon,
		}, nil)
		w.InsertViews(content.View{ReferenceType: content.ReferenceStory, ReferenceID: id, UserID: "u"}, []time.Time{noon})
	})
	a.commit(func(w *store.Tx) {
		w.InsertComment(content.Comment{
			ID: comment, ReferenceType: content.ReferenceStory, ReferenceID: id, TargetType: "community", TargetID: a.target, RootID: comment,
			AuthorID: "u",
			Data:     []byte(`{}`), Metadata: []byte(`{}`), Mentionees: []byte(`[]`), Attachments: []byte(`[]`), ApprovalStatus: "approved",
			CreatedAt: noon,
		})
	})
	return s
}

// left reads what is there of stories, and how many the target has.
func (a *archive) left(stories ...content.Story) (ids []string, comments, views, counted int64) {
	a.t.Helper()
	var all, refs []string
	for _, s := range stories {
		all = append(all, s.ID)
	}
	var rows []content.Story
	counts := core.Counts{}
	reads := a.store.NewReadBatch()
	reads.StoriesByID(all, &rows)
	reads.CountsOf(append(all, a.target), counts)
	require.NoError(a.t, reads.Run(a.t.Context()))
	for _, s := range rows {
		refs = append(refs, s.ID)
	}
	for _, id := range all {
		comments += counts.Of(id, core.CountComments)
		views += counts.Of(id, content.CountImpressions)
	}
	return refs, comments, views, counts.Of(a.target, content.CountStories)
}

// TestSweep removes what ended thirty days ago, with all that hangs on it, however many servers do it at once.
func TestSweep(t *testing.T) {
	a := newArchive(t)
	live, ended, deleted := a.add(-time.Hour), a.add(30*24*time.Hour), a.add(31*24*time.Hour)
	old := []content.Story{a.add(30*24*time.Hour + time.Second), a.add(400 * 24 * time.Hour), deleted}
	a.commit(func(w *store.Tx) { w.DeleteStory(deleted, noon) })
	everything := append([]content.Story{live, ended}, old...)
	ids, comments, views, counted := a.left(everything...)
	require.Len(t, ids, 5)
	require.Equal(t, []int64{5, 5, 4}, []int64{comments, views, counted})
	var servers sync.WaitGroup
	for range 3 {
		servers.Go(func() {
			if more, err := a.stories.Sweep(t.Context(), region.EU); err != nil || more {
				t.Error(more, err)
			}
		})
	}
	servers.Wait()
	ids, comments, views, counted = a.left(everything...)
	require.ElementsMatch(t, []string{live.ID, ended.ID}, ids)
	require.Equal(t, []int64{2, 2, 2}, []int64{comments, views, counted})
	require.Equal(t, "ended stories", a.stories.Job().Name)
}

// TestSweepInBatches removes more stories than one run takes. A run says that there may be more, and a story that was removed already
// is left out.
func TestSweepInBatches(t *testing.T) {
	a := newArchive(t)
	var old []content.Story
	for range 101 {
		old = append(old, a.add(31*24*time.Hour))
	}
	more, err := a.stories.Sweep(t.Context(), region.EU)
	require.NoError(t, err)
	require.True(t, more)
	left, _, _, _ := a.left(old...)
	require.Len(t, left, 1)
	more, err = a.stories.Sweep(t.Context(), region.EU)
	require.NoError(t, err)
	require.False(t, more)
	left, _, _, _ = a.left(old...)
	require.Empty(t, left)
	require.NoError(t, a.stories.PurgeByID(t.Context(), old[0].ID))
}
