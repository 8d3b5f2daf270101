package community

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service"
	"github.com/plaza-social/plaza/platform/service/internal/servicetest"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/content"
)

// trendWorld is a world with communities and posts.
type trendWorld struct {
	*servicetest.World
	*testing.T
	names map[string]string // of communities, by id
}

// create creates a community with a post of each author, the given hours before noon.
func (w *trendWorld) create(name string, home region.Code, created float64, posts map[string]float64) {
	w.Helper()
	ago := func(hours float64) time.Time {
		return servicetest.Noon.Add(-time.Duration(hours * float64(time.Hour)))
	}
	id := region.NewID(home)
	w.names[id] = name
	tx := w.Store.NewTx(home)
	tx.InsertCommunity(communities.Community{
		ID: id, DisplayName: name, CreatorID: "creator", NotificationMode: "default", Type: "default", IsPublic: true, Metadata: []byte(`{}`),
	}, nil, ago(created))
	for author, hours := range posts {
		for range 3 { // an author counts once
			tx.InsertPost(content.Post{
				ID: region.NewID(home), TargetType: "community", TargetID: id, TargetPublicID: id, AuthorID: author, AuthorPublicID: author,
				IsParent: true, FeedType: "published", DataType: "text", StructureType: "text", Data: []byte(`{}`), Metadata: []byte(`{}`),
				Mentionees: []byte(`[]`), CreatedAt: ago(hours),
			})
		}
	}
	require.NoError(w, tx.Commit(w.Context()))
}

func TestTrends(t *testing.T) {
	t.Parallel()
	w := &trendWorld{servicetest.NewWorld(t), t, map[string]string{}}
	w.create("crowd", region.US, 2400, map[string]float64{"a": 0.5, "b": 24, "c": 25.5})
	w.create("one author", region.EU, 2400, map[string]float64{"creator": 0})
	w.create("new", region.SG, 23, nil)
	w.create("old", region.EU, 2400, map[string]float64{"a": 200, "b": 168})
	w.create("from now on", region.US, -1, nil)
	s := New(w.Deps)
	w.Set(servicetest.Noon)
	names := func(list []ranked) []string {
		return service.Map(list, func(c ranked) string { return w.names[c.ID] })
	}
	t1, err := s.trendsAt(t.Context(), time.Time{})
	require.NoError(t, err)
	require.Equal(t, []string{"crowd", "one author", "new", "old"}, names(t1.list))
	scores := service.Map(t1.list, func(c ranked) int64 { return c.score })
	hour := func(h int64) int64 { return (24_000_000 + (24+h)/2) / (24 + h) }
	require.InDelta(t, hour(0)+hour(24)+hour(25)+hour(2400), scores[0], 4, "authors and the creator count once, by full hours")
	require.Equal(t, []int64{hour(0), hour(23)}, scores[1:3])

	s.RankingAge = 10 * time.Second
	w.create("younger", region.EU, 0, map[string]float64{"a": 0, "b": 0, "c": 0, "d": 0})
	w.Set(servicetest.Noon.Add(9 * time.Second))
	cached, err := s.trendsAt(t.Context(), time.Time{})
	require.NoError(t, err)
	require.Equal(t, t1.list, cached.list, "trends are read again after the age")
	later := servicetest.Noon.Add(2 * time.Hour)
	w.Set(later)
	t2, err := s.trendsAt(t.Context(), time.Time{})
	require.NoError(t, err)
	require.Equal(t, []string{"younger", "crowd", "from now on"}, names(t2.list)[:3])
	again, err := s.trendsAt(t.Context(), later)
	require.NoError(t, err)
	require.Same(t, t2.reads, again.reads, "the pages of a list share its trends")
	past, err := s.trendsAt(t.Context(), servicetest.Noon.Add(-30*time.Minute))
	require.NoError(t, err)
	require.Equal(t, []string{"crowd", "new", "old"}, names(past.list)[:3], "a page of an earlier list")
	_, isLatest := s.trends.get(later, later)
	require.True(t, isLatest, "trends of the past do not replace those of now")
}
