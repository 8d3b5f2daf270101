package feed

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/service/internal/servicetest"
	"github.com/plaza-social/plaza/platform/service/internal/visibility"
	"github.com/plaza-social/plaza/platform/store/communities"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/core"
)

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func TestScore(t *testing.T) {
	entry := func(age time.Duration, reactions, comments int64) content.PostFeedEntry {
		return content.PostFeedEntry{ID: "01", AuthorID: "a", TargetID: "t", CreatedAt: noon.Add(-age), Reactions: reactions, Comments: comments}
	}
	for _, c := range []struct {
		name  string
		entry content.PostFeedEntry
		liked int
		want  float64
	}{
		{"fresh and unanswered", entry(0, 0, 0), 0, 1},
		{"of the future", entry(-time.Minute, 0, 0), 0, 1},
		{"a reaction", entry(0, 1, 0), 0, 2},
		{"three reactions", entry(0, 3, 0), 0, 3},
		{"a comment is two reactions", entry(0, 1, 1), 0, 3},
		{"liked once", entry(0, 0, 0), 1, 1.25},
		{"liked nine times", entry(0, 0, 0), 9, 1.45},
		{"six hours", entry(6*time.Hour, 0, 0), 0, 0.435275},
		{"six hours and as many answers as count", entry(6*time.Hour, 100, 100), 0, 4.019166},
		{"a year", entry(365*24*time.Hour, 0, 0), 0, 0.000159},
	} {
		t.Run(c.name, func(t *testing.T) {
			require.InDelta(t, c.want, float64(score(c.entry, c.liked, noon))/1e6, 1.1e-6)
		})
	}
}

func TestRank(t *testing.T) {
	entry := func(id, author, target string, mine bool) content.PostFeedEntry {
		return content.PostFeedEntry{ID: id, AuthorID: author, TargetID: target, CreatedAt: noon, Mine: mine}
	}
	got := rank([]content.PostFeedEntry{
		entry("01", "dull", "dull", false), entry("02", "friend", "friend", true), entry("03", "friend", "club", false),
		entry("04", "other", "other", false), entry("05", "x", "club", false),
	}, noon)
	var ids []string
	for _, r := range got {
		ids = append(ids, r.ID)
	}
	require.Equal(t, []string{"03", "05", "04", "02", "01"}, ids,
		"what the reader likes goes first; what the reader reacted to says nothing of itself; of equals the greater id goes first")
}

// TestLikes counts an entry on its author's wall once.
func TestLikes(t *testing.T) {
	entries := []content.PostFeedEntry{
		{ID: "01", AuthorID: "a", TargetID: "a", Mine: true},
		{ID: "02", AuthorID: "a", TargetID: "club", Mine: true},
		{ID: "03", AuthorID: "b", TargetID: "club"},
	}
	liked := likes(entries)
	require.Equal(t, likedBy{"a": 2, "club": 1}, liked)
	for i, want := range []int{1, 1, 1} {
		require.Equal(t, want, liked.excluding(entries[i]), i)
	}
}

// TestVisiblePosts leaves out posts that are not published any more, and those that the caller may not see any more.
func TestVisiblePosts(t *testing.T) {
	public, private := &communities.Community{ID: "public", IsPublic: true}, &communities.Community{ID: "private"}
	targets := visibility.Targets{"public": {Community: public}, "private": {Community: private}}
	var entries []content.PostFeedEntry
	var rows []content.Post
	for id, post := range map[string]content.Post{
		"4": {TargetID: "public", FeedType: "published"}, "3": {TargetID: "public", FeedType: "reviewing"},
		"2": {TargetID: "private", FeedType: "published"}, "1": {TargetID: "public", FeedType: "published"},
		"0": {TargetID: "public", FeedType: "published", DeletedAt: &noon},
	} {
		post.ID, post.TargetType, post.AuthorID = id, "community", "me"
		rows, entries = append(rows, post), append(entries, content.PostFeedEntry{ID: id})
	}
	slices.SortFunc(entries, func(a, b content.PostFeedEntry) int { return strings.Compare(b.ID, a.ID) })
	var ids []string
	for _, p := range visiblePosts(servicetest.User(t, "me"), append(entries, content.PostFeedEntry{ID: "gone"}), rows, targets) {
		ids = append(ids, p.ID)
	}
	require.Equal(t, []string{"4", "1"}, ids)
}

func TestRankToken(t *testing.T) {
	c := rankCursor{
		limit: 100, back: true, asOf: noon, high: top(noon), low: place{noon.Add(-time.Hour), strings.Repeat("01", 12)},
		score: 14_999_999, id: strings.Repeat("03", 12),
	}
	require.LessOrEqual(t, len(c.token()), page.MaxToken)
	got, err := parseRank(c.token())
	require.NoError(t, err)
	require.Equal(t, c, got)
	start := rankCursor{limit: 1, asOf: noon, high: top(noon)}
	got, err = parseRank(start.token())
	require.NoError(t, err)
	require.Equal(t, start, got)
	for _, wrong := range []string{
		"", "x", strings.Repeat("A", 90), start.token() + "A", start.token()[1:], "\n" + start.token(),
		page.Cursor{Limit: 1, Time: noon, ID: c.id}.Token(),
		rankCursor{limit: 101, asOf: noon, high: top(noon)}.token(),
		rankCursor{limit: 0, asOf: noon, high: top(noon)}.token(),
		rankCursor{limit: 1, high: top(noon)}.token(), rankCursor{limit: 1, asOf: noon}.token(),
	} {
		_, err := parseRank(wrong)
		require.Error(t, err, wrong)
	}
}

// feed is a store of entries, newest first, that answers queries as the database does.
type feed []content.PostFeedEntry

func (f feed) read(q content.PostFeedQuery) []content.PostFeedEntry {
	var found []content.PostFeedEntry
	after := place{q.After, q.AfterID}
	for _, e := range f {
		at := place{e.CreatedAt, e.ID}
		if (q.Desc && after.newer(at)) || (!q.Desc && at.newer(after)) {
			found = append(found, e)
		}
	}
	if !q.Desc {
		slices.Reverse(found)
	}
	return found[:min(len(found), q.Limit)]
}

// TestWindows walks feeds of several sizes there and back.
func TestWindows(t *testing.T) {
	for _, size := range []int{0, 1, 7, 199, 200, 201, 640, 1000} {
		for _, limit := range []int{1, 7, 20, 100} {
			t.Run(fmt.Sprintf("%d by %d", size, limit), func(t *testing.T) {
				var f feed
				var all []string
				for i := range size {
					f = append(f, content.PostFeedEntry{
						ID: fmt.Sprintf("01%022x", size-i), CreatedAt: noon.Add(-time.Duration(i/3) * time.Minute), Reactions: int64(i * 7 % 11),
					})
					all = append(all, f[i].ID)
				}
				first := rankCursor{limit: limit, asOf: noon, high: top(noon)}
				pages := walk(t, f, first, true)
				require.ElementsMatch(t, all, slices.Concat(pages...))
				for _, page := range pages[:max(0, len(pages)-1)] {
					require.Len(t, page, limit)
				}
			})
		}
	}
}

// TestUntilStop has several homes stop: the page ends where the first one stopped in the direction of reading.
func TestUntilStop(t *testing.T) {
	var down []content.PostFeedEntry
	for i := range 10 {
		down = append(down, content.PostFeedEntry{ID: fmt.Sprintf("01%022x", 10-i), CreatedAt: noon.Add(-time.Duration(i) * time.Minute)})
	}
	up := slices.Clone(down)
	slices.Reverse(up)
	at := func(i int) core.Position { return core.Position{Time: down[i].CreatedAt, ID: down[i].ID} }
	for name, test := range map[string]struct {
		entries []content.PostFeedEntry
		stops   []core.Position
		upwards bool
		left    int
		stop    int
	}{
		"downwards":            {down, []core.Position{at(6), at(3), at(8)}, false, 4, 3},
		"downwards, in order":  {down, []core.Position{at(3), at(6)}, false, 4, 3},
		"upwards":              {up, []core.Position{at(3), at(6), at(2)}, true, 4, 6},
		"upwards, in order":    {up, []core.Position{at(6), at(3)}, true, 4, 6},
		"after the last entry": {down[:2], []core.Position{at(6), at(3)}, false, 2, 3},
	} {
		entries, stop := untilStop(test.entries, test.stops, test.upwards)
		require.Equal(t, test.entries[:test.left], entries, name)
		require.Equal(t, &place{down[test.stop].CreatedAt, down[test.stop].ID}, stop, name)
	}
	entries, stop := untilStop(down, nil, false)
	require.Equal(t, down, entries)
	require.Nil(t, stop)
}

// TestWindowsThatStop walks feeds of which most posts are filtered out there and back: each read looks at some posts and stops.
func TestWindowsThatStop(t *testing.T) {
	const size, look = 1000, 90
	for _, every := range []int{3, 100, 400, 2 * size} {
		for _, limit := range []int{1, 20} {
			t.Run(fmt.Sprintf("1 of %d by %d", every, limit), func(t *testing.T) {
				var f feed
				var wanted []string
				for i := range size {
					f = append(f, content.PostFeedEntry{
						ID: fmt.Sprintf("01%022x", size-i), CreatedAt: noon.Add(-time.Duration(i) * time.Minute),
						Reactions: int64(i % 7),
					})
					if i%every == every-1 {
						wanted = append(wanted, f[i].ID)
					}
				}
				read := func(c rankCursor) ([]string, string, string) {
					q := c.query(content.PostFeedQuery{})
					q.Limit = look
					entries := f.read(q)
					var stops []core.Position
					if len(entries) == look {
						stops = []core.Position{{Time: entries[look-1].CreatedAt, ID: entries[look-1].ID}}
					}
					entries = slices.DeleteFunc(entries, func(e content.PostFeedEntry) bool { return !slices.Contains(wanted, e.ID) })
					rows, next, previous := c.window(entries, stops).page()
					return idsOf(rows), next, previous
				}
				found, next, last := read(rankCursor{limit: limit, asOf: noon, high: top(noon)})
				first, pages := len(found), 1
				for ; next != ""; pages++ {
					var rows []string
					rows, next, last = read(parsed(t, next))
					found = append(found, rows...)
					require.Less(t, pages, size)
				}
				require.ElementsMatch(t, wanted, found)
				require.Greater(t, pages, size/look)
				require.LessOrEqual(t, first, limit)
				var back []string
				for previous := last; previous != ""; pages-- {
					var rows []string
					rows, _, previous = read(parsed(t, previous))
					back = append(back, rows...)
					require.Positive(t, pages)
				}
				require.Subset(t, wanted, back)
				if limit == 1 && len(wanted) > 0 {
					require.Contains(t, back, wanted[0])
				}
			})
		}
	}
}

// TestChangesWhileReading has a post created and most of the first ones deleted while a user reads a feed to its end and back, which
// shows no newer posts.
func TestChangesWhileReading(t *testing.T) {
	var f feed
	for i := range 640 {
		f = append(f, content.PostFeedEntry{ID: fmt.Sprintf("01%022x", 640-i), CreatedAt: noon.Add(-time.Duration(i) * time.Minute)})
	}
	read := func(c rankCursor) ([]string, string, string) {
		rows, next, previous := c.window(f.read(c.query(content.PostFeedQuery{})), nil).page()
		return idsOf(rows), next, previous
	}
	shown, next, previous := read(rankCursor{limit: 20, asOf: noon, high: top(noon)})
	for next != "" {
		var rows []string
		rows, next, previous = read(parsed(t, next))
		shown = append(shown, rows...)
	}
	require.Len(t, shown, len(f))
	newer := "02" + strings.Repeat("0", 22)
	f = slices.Concat(feed{{ID: newer, CreatedAt: noon.Add(time.Minute)}}, f[:5], f[200:])
	var back []string
	for previous != "" {
		var rows []string
		rows, _, previous = read(parsed(t, previous))
		back = append(back, rows...)
	}
	require.True(t, slices.Contains(back, f[1].ID), "the beginning")
	require.False(t, slices.Contains(back, newer))
}

func walk(t *testing.T, f feed, c rankCursor, andBack bool) [][]string {
	t.Helper()
	var pages [][]string
	var last string
	for c := c; ; {
		rows, next, previous := c.window(f.read(c.query(content.PostFeedQuery{})), nil).page()
		pages, last = append(pages, idsOf(rows)), previous
		if next == "" {
			break
		}
		c = parsed(t, next)
	}
	var back [][]string
	for token := last; andBack && token != ""; {
		c := parsed(t, token)
		rows, _, previous := c.window(f.read(c.query(content.PostFeedQuery{})), nil).page()
		back, token = append(back, idsOf(rows)), previous
	}
	slices.Reverse(back)
	require.Len(t, back, len(pages)-1)
	for i := range back {
		require.Equal(t, pages[i], back[i], "page %d", i)
	}
	return pages
}

func parsed(t *testing.T, token string) rankCursor {
	t.Helper()
	c, err := parseRank(token)
	require.NoError(t, err)
	return c
}

func idsOf(rows []ranked) []string {
	ids := make([]string, len(rows))
	for i, r := range rows {
		ids[i] = r.ID
	}
	return ids
}

// FuzzParseRank checks that page tokens are parsed without a panic, and that an accepted one is what its cursor is encoded as.
func FuzzParseRank(f *testing.F) {
	at := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	f.Add("")
	f.Add(rankCursor{limit: 10, asOf: at, high: top(at)}.token())
	f.Add(rankCursor{
		limit: 100, back: true, asOf: at, high: top(at), low: place{at, "01aabbccddeeff0011223344"}, score: -1,
		id: "02aabbccddeeff0011223344",
	}.token())
	f.Fuzz(func(t *testing.T, token string) {
		c, err := parseRank(token)
		if err == nil {
			require.Equal(t, token, c.token())
			require.True(t, c.limit >= 1 && c.limit <= 100)
		}
	})
}
