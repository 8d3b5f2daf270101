package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/core"
	"github.com/plaza-social/plaza/platform/store/db/dbtest"
)

// TestRankAsOf checks that later reactions, comments and deletions do not change what entries are ranked by.
func TestRankAsOf(t *testing.T) {
	s := open(t, dbtest.New(t))
	post, reader := region.NewID(region.US), region.NewID(region.EU)
	start := time.Now().Add(-time.Hour).Truncate(time.Millisecond)
	react := func(userID string, at time.Time) {
		w := s.NewTx(region.US)
		w.InsertReaction(content.Reaction{
			ReferenceType: "post", ReferenceID: post, UserID: userID, UserPublicID: "u", Name: "like",
			ID: region.NewID(region.US), CreatedAt: at,
		}, core.ErrConflict)
		commit(t, w)
	}
	comment := func(at time.Time, status string) content.Comment {
		c := content.Comment{
			ID: region.NewID(region.US), ReferenceType: "post", ReferenceID: post, TargetType: "user", TargetID: post, RootID: post,
			AuthorID:       reader,
			ApprovalStatus: status, Data: []byte(`{}`), Metadata: []byte(`{}`), Mentionees: []byte(`[]`), Attachments: []byte(`[]`), CreatedAt: at,
			UpdatedAt: at, EditedAt: at,
		}
		w := s.NewTx(region.US)
		w.InsertComment(c)
		commit(t, w)
		return c
	}
	remove := func(c content.Comment, at time.Time) {
		w := s.NewTx(region.US)
		w.DeleteComment(c, at)
		commit(t, w)
	}
	requireRank := func(asOf time.Time, want content.PostFeedEntry) {
		t.Helper()
		e := &content.PostFeedEntry{ID: post}
		r := s.NewReadBatch()
		r.Rank(region.US, []*content.PostFeedEntry{e}, reader, asOf)
		run(t, r)
		want.ID = post
		require.Equal(t, want, *e)
	}
	react(region.NewID(region.SG), start)
	gone := comment(start, "approved")
	later := comment(start, "approved")
	comment(start, "pending")
	remove(gone, start.Add(time.Second))
	asOf := start.Add(time.Minute)
	want := content.PostFeedEntry{Reactions: 1, Comments: 1}
	requireRank(asOf, want)
	react(reader, asOf.Add(time.Second))
	remove(later, asOf.Add(time.Second))
	comment(asOf.Add(time.Second), "approved")
	remove(comment(asOf.Add(time.Second), "approved"), asOf.Add(2*time.Second))
	requireRank(asOf, want)
	requireRank(asOf.Add(time.Minute), content.PostFeedEntry{Reactions: 2, Comments: 1, Mine: true})
}
