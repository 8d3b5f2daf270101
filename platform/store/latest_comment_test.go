package store_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/content"
)

func TestLatestCommentsScan(t *testing.T) {
	t.Parallel()
	entry := func(at, id, author string) string {
		return strings.Repeat("0", 16-len(at)) + at + strings.Repeat(id, 24) + author + ";"
	}
	comment := func(id, author string) content.LatestComment {
		return content.LatestComment{ID: strings.Repeat(id, 24), AuthorID: author}
	}
	for name, test := range map[string]struct {
		src  any
		want content.LatestComments
	}{
		"no rows":     {nil, nil},
		"no comments": {"", nil},
		"one":         {entry("1", "a", "u"), content.LatestComments{comment("a", "u")}},
		"newest first": {
			entry("1", "a", "u") + entry("3", "c", "w") + entry("2", "b", "v"),
			content.LatestComments{comment("c", "w"), comment("b", "v"), comment("a", "u")},
		},
		"the latest of four": {
			entry("1", "a", "u") + entry("4", "d", "u") + entry("3", "c", "u") + entry("2", "b", "u"),
			content.LatestComments{comment("d", "u"), comment("c", "u"), comment("b", "u")},
		},
		"at the same time": {entry("1", "a", "u") + entry("1", "b", "u"), content.LatestComments{comment("b", "u"), comment("a", "u")}},
		"one in two shards": {
			entry("1", "a", "u") + entry("2", "b", "u") + entry("2", "b", "u"),
			content.LatestComments{comment("b", "u"), comment("a", "u")},
		},
		"of an unknown author": {entry("1", "a", ""), content.LatestComments{comment("a", "")}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got := content.LatestComments{comment("z", "earlier")}
			require.NoError(t, got.Scan(test.src))
			require.Equal(t, test.want, got)
		})
	}
	var l content.LatestComments
	require.ErrorContains(t, l.Scan(1), "int instead of text")
	require.ErrorContains(t, l.Scan("short;"), `"short"`)
}

// latest is a post with comments, of which the test knows those that are shown.
type latest struct {
	*testing.T
	s     *store.Store
	post  content.Post
	shown []content.Comment // oldest first
}

// requireShown compares the latest comments of the post with what the test expects.
func (l *latest) requireShown(after string) {
	l.Helper()
	var want []string
	for _, c := range slices.Backward(l.shown[max(0, len(l.shown)-3):]) {
		want = append(want, c.ID)
	}
	require.Equal(l, want, readPost(l.T, l.s, l.post.ID).LatestComments.IDs(), after)
}

func (l *latest) commit(fill func(*store.Tx)) {
	l.Helper()
	w := l.s.NewTx(region.SG)
	fill(w)
	commit(l.T, w)
}

func TestPostAlone(t *testing.T) {
	s := openNew(t)
	post := newPost(t, s, newCommunity(t, s, region.SG))
	newComment(t, s, post, func(*content.Comment) {})
	want := readPost(t, s, post.ID)
	require.Len(t, want.LatestComments, 1)
	want.LatestComments = nil
	var one *content.Post
	var several []content.Post
	reads := s.NewReadBatch()
	reads.PostAlone(post.ID, &one)
	reads.PostsAlone([]string{post.ID, region.NewID(region.EU)}, &several)
	require.NoError(t, reads.Run(t.Context()))
	require.Equal(t, want, one)
	require.Equal(t, []content.Post{*want}, several)
}

func TestLatestComments(t *testing.T) {
	s := openNew(t)
	l := &latest{T: t, s: s, post: newPost(t, s, newCommunity(t, s, region.SG))}
	l.requireShown("without comments")
	var all []content.Comment
	for i := range 40 {
		c := newComment(t, s, l.post, func(c *content.Comment) { c.CreatedAt = later(i) })
		all, l.shown = append(all, c), append(l.shown, c)
		l.requireShown("a new comment")
	}
	for _, n := range []int{39, 37, 0, 36} {
		l.commit(func(w *store.Tx) { w.DeleteComment(all[n], later(50)) })
		l.shown = slices.DeleteFunc(l.shown, func(c content.Comment) bool { return c.ID == all[n].ID })
		l.requireShown("a deletion")
	}

	pending := newComment(t, s, l.post, func(c *content.Comment) { c.CreatedAt, c.ApprovalStatus = later(37), content.Pending })
	l.requireShown("a pending comment")
	l.commit(func(w *store.Tx) { w.ReviewComment(pending, content.Approved, later(60)) })
	l.shown = slices.Insert(l.shown, len(l.shown)-1, pending)
	l.requireShown("the approval of an older comment")

	declined := newComment(t, s, l.post, func(c *content.Comment) { c.CreatedAt, c.ApprovalStatus = later(70), content.Pending })
	l.commit(func(w *store.Tx) { w.ReviewComment(declined, content.Declined, later(71)) })
	l.requireShown("a declined comment")

	for range len(l.shown) - 2 {
		n := len(l.shown) - 1
		last := l.shown[n]
		last.ApprovalStatus, l.shown = content.Approved, l.shown[:n]
		l.commit(func(w *store.Tx) { w.DeleteComment(last, later(80)) })
		l.requireShown("the deletion of the latest")
	}
	l.commit(func(w *store.Tx) { w.DeleteCommentsOfPost(l.post.ID, []string{l.shown[0].ID, l.shown[1].ID}) })
	l.shown = nil
	l.requireShown("the deletion of all")
}
