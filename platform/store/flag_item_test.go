package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/core"
)

func TestHasClaim(t *testing.T) {
	t.Parallel()
	until := now.Add(time.Hour)
	claimed := content.FlagItem{State: content.FlagsClaimed, ClaimedUntil: &until}
	require.True(t, claimed.HasClaim(until.Add(-time.Millisecond)))
	require.False(t, claimed.HasClaim(until))
	require.False(t, content.FlagItem{State: content.FlagsOpen}.HasClaim(now))
	require.False(t, content.FlagItem{State: content.FlagsResolved, ClaimedUntil: &until}.HasClaim(now))
}

// TestClearedFlags keeps the flags of a target that are cleared, the first one of each user. Those of other targets stay.
func TestClearedFlags(t *testing.T) {
	s := openNew(t)
	c := newCommunity(t, s, region.EU)
	p, another := newPost(t, s, c), newPost(t, s, c)
	ben, carl := region.NewID(region.US), region.NewID(region.US)
	flag := func(p content.Post, userID, detail string) {
		t.Helper()
		f := aFlag(content.FlagPost, p.ID, userID)
		f.ID, f.Detail = region.NewID(region.EU), detail
		w := s.NewTx(region.EU)
		w.InsertFlag(f, c.ID)
		w.RaisePostFlags(p)
		commit(t, w)
	}
	resolve := func(p content.Post) {
		t.Helper()
		w := s.NewTx(region.EU)
		w.ClearFlags(p.ID, content.FlagResolution{At: now})
		w.RecomputePostFlags(p)
		commit(t, w)
	}
	requireCleared := func(p content.Post, want map[string]string) {
		t.Helper()
		var flags []content.Flag
		r := s.NewReadBatch()
		r.ClearedFlags(p.ID, &flags)
		run(t, r)
		got := map[string]string{}
		for _, f := range flags {
			require.Equal(t, p.ID, f.TargetID)
			got[f.UserID] = f.Detail
		}
		require.Equal(t, want, got)
	}
	flag(another, carl, "another")
	flag(p, ben, "first")
	resolve(p)
	requireCleared(p, map[string]string{ben: "first"})
	requireCleared(another, map[string]string{})
	require.Equal(t, []string{carl}, readPost(t, s, another.ID).Flaggers)
	flag(p, ben, "second")
	flag(p, carl, "third")
	resolve(another)
	resolve(p)
	requireCleared(p, map[string]string{ben: "first", carl: "third"})
	requireCleared(another, map[string]string{carl: "another"})
}

// TestHiddenComments hides a comment that as many users have flagged as the limit, and shows it when the flags are dismissed. The flags of
// one comment do not hide another one.
func TestHiddenComments(t *testing.T) {
	s := openNew(t)
	c := newCommunity(t, s, region.EU)
	p := newPost(t, s, c)
	parent := newComment(t, s, p)
	reply := func(comment *content.Comment) { comment.ParentID, comment.RootID = parent.ID, parent.ID }
	hidden, flagged := newComment(t, s, p, reply), newComment(t, s, p, reply)
	newComment(t, s, p, reply)
	flag := func(comment content.Comment, limit int) {
		t.Helper()
		w := s.NewTx(region.EU)
		w.InsertFlag(aFlag(content.FlagComment, comment.ID, region.NewID(region.US)), c.ID)
		w.RaiseCommentFlags(comment)
		w.ApplyFlagsToComment(comment, limit, later(1))
		commit(t, w)
	}
	requireState := func(step, ofHidden, ofFlagged string, comments, replies int64) {
		t.Helper()
		require.Equal(t, []string{ofHidden, ofFlagged},
			[]string{readComment(t, s, hidden.ID).ApprovalStatus, readComment(t, s, flagged.ID).ApprovalStatus}, step)
		counts := countsOf(t, s, p.ID, parent.ID)
		require.Equal(t, []int64{comments, replies}, []int64{counts.Of(p.ID, core.CountComments), counts.Of(parent.ID, core.CountReplies)},
			step)
	}
	flag(hidden, 2)
	requireState("below the limit", content.Approved, content.Approved, 4, 3)
	flag(hidden, 2)
	requireState("at the limit", content.Pending, content.Approved, 3, 2)
	flag(hidden, 2)
	requireState("hidden already", content.Pending, content.Approved, 3, 2)
	flag(flagged, 2)
	requireState("another comment, below the limit", content.Pending, content.Approved, 3, 2)
	settle := func(comment content.Comment, outcome content.FlagOutcome) {
		t.Helper()
		w := s.NewTx(region.EU)
		w.ClearFlags(comment.ID, content.FlagResolution{Outcome: outcome, At: later(2)})
		w.RecomputeCommentFlags(comment)
		w.ApplyFlagsToComment(comment, 0, later(2))
		commit(t, w)
	}
	settle(flagged, content.FlagsDismissed)
	requireState("the flags of another comment are dismissed", content.Pending, content.Approved, 3, 2)
	settle(hidden, content.FlagsDismissed)
	requireState("dismissed", content.Approved, content.Approved, 4, 3)
}
