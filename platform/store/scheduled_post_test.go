package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/content"
)

// aScheduledPost returns a waiting post that is due at the time of its creation.
func aScheduledPost(id, authorID string, at time.Time) content.ScheduledPost {
	return content.ScheduledPost{
		ID: id, AuthorID: authorID, AuthorPublicID: "anna", TargetType: "user", TargetID: authorID, TargetPublicID: "anna",
		PostIDs: []string{region.NewID(region.EU)},
		Draft:   []byte(`{}`), Mentions: []byte(`[]`), ScheduledAt: at, Status: content.ScheduleWaiting, CreatedAt: at, UpdatedAt: at,
	}
}

// TestScheduledPostVersions requires of every change that the post is as it was read. A post that was published changes no more, and one
// that has failed can be changed but not published.
func TestScheduledPostVersions(t *testing.T) {
	s := openNew(t)
	author := region.NewID(region.EU)
	read := func(id string) *content.ScheduledPost {
		t.Helper()
		var p *content.ScheduledPost
		r := s.NewReadBatch()
		r.ScheduledPost(id, &p)
		run(t, r)
		return p
	}
	change := func(fill func(*store.Tx)) error {
		w := s.NewTx(region.EU)
		fill(w)
		return w.Commit(t.Context())
	}
	put := func() content.ScheduledPost {
		t.Helper()
		p := aScheduledPost(region.NewID(region.EU), author, now)
		require.NoError(t, change(func(w *store.Tx) { w.InsertScheduledPost(p) }))
		return *read(p.ID)
	}
	changes := map[string]func(*store.Tx, content.ScheduledPost){
		"update": func(w *store.Tx, p content.ScheduledPost) { w.UpdateScheduledPost(p, refused) },
		"delete": func(w *store.Tx, p content.ScheduledPost) { w.DeleteScheduledPost(p, refused) },
		"publish": func(w *store.Tx, p content.ScheduledPost) {
			w.ResolveScheduledPost(p, content.SchedulePosted, "", later(5), refused)
		},
	}
	another := put()
	for name, fill := range changes {
		updated, failed, posted := put(), put(), put()
		p := updated
		p.Status, p.UpdatedAt = content.ScheduleWaiting, later(1)
		require.NoError(t, change(func(w *store.Tx) { w.UpdateScheduledPost(p, refused) }))
		require.Equal(t, updated.Version+1, read(updated.ID).Version)
		require.NoError(t, change(func(w *store.Tx) { w.ResolveScheduledPost(failed, content.ScheduleFailed, "why", later(1), refused) }))
		require.NoError(t, change(func(w *store.Tx) { w.ResolveScheduledPost(posted, content.SchedulePosted, "", later(1), refused) }))
		changed := *read(failed.ID)
		require.Equal(t, []any{content.ScheduleFailed, "why", failed.Version + 1, later(1)},
			[]any{changed.Status, changed.Description, changed.Version, changed.UpdatedAt.UTC()})
		for _, old := range []content.ScheduledPost{updated, failed, posted, *read(posted.ID)} {
			require.ErrorIs(t, change(func(w *store.Tx) { fill(w, old) }), refused, "%s of a %s post with version %d", name, old.Status, old.Version)
		}
		err := change(func(w *store.Tx) { fill(w, changed) })
		if name == "publish" {
			require.ErrorIs(t, err, refused, "it has failed")
		} else {
			require.NoError(t, err, name)
		}
		require.NoError(t, change(func(w *store.Tx) { fill(w, *read(updated.ID)) }), name)
	}
	require.Equal(t, &another, read(another.ID), "another post")
}
