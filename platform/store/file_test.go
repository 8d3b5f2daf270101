package store_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/store"
	"github.com/plaza-social/plaza/platform/store/db/dbtest"
	"github.com/plaza-social/plaza/platform/store/media"
)

// newFile stores a file of a user.
func newFile(t *testing.T, s *store.Store, home region.Code, ownerID string) media.File {
	t.Helper()
	f := media.File{
		ID: region.NewID(home), OwnerID: ownerID, Type: "file", AccessType: media.AccessPublic, Exif: []byte(`{}`),
		GPS: []byte(`{}`), CreatedAt: now, UpdatedAt: now,
	}
	w := s.NewTx(home)
	w.InsertUpload(f.ID, later(60), now)
	w.InsertFile(f, refused)
	commit(t, w)
	return f
}

func readFile(t *testing.T, s *store.Store, id string) media.File {
	t.Helper()
	var f *media.File
	r := s.NewReadBatch()
	r.File(id, &f)
	run(t, r)
	require.NotNil(t, f)
	return *f
}

// TestRestrictFiles restricts the files of one user, of any homes, if their uses are recorded.
func TestRestrictFiles(t *testing.T) {
	url := dbtest.New(t)
	s, conn := open(t, url), connect(t, url)
	owner := region.NewID(region.EU)
	own, away, old, other := newFile(t, s, region.EU, owner), newFile(t, s, region.SG, owner), newFile(t, s, region.EU, owner),
		newFile(t, s, region.EU, region.NewID(region.EU))
	unnamed := newFile(t, s, region.EU, owner)
	_, err := conn.Exec(t.Context(), `UPDATE files SET uses_recorded = false WHERE id = $1`, old.ID)
	require.NoError(t, err)
	for home, ids := range s.ByHome([]string{own.ID, away.ID, old.ID, other.ID}) {
		tx := s.NewTx(home)
		tx.RestrictFiles(ids, owner)
		require.NoError(t, tx.Commit(t.Context()))
	}
	for want, files := range map[bool][]media.File{true: {own, away}, false: {old, other, unnamed}} {
		for _, f := range files {
			require.Equal(t, want, readFile(t, s, f.ID).Restricted)
		}
	}
}

// TestUnusedFiles marks a file as unused, which has no effect on one whose uses are not recorded, and requires that it still is.
func TestUnusedFiles(t *testing.T) {
	url := dbtest.New(t)
	s, conn := open(t, url), connect(t, url)
	f, old := newFile(t, s, region.EU, region.NewID(region.EU)), newFile(t, s, region.EU, region.NewID(region.EU))
	_, err := conn.Exec(t.Context(), `UPDATE files SET uses_recorded = false WHERE id = $1`, old.ID)
	require.NoError(t, err)
	mark := func(id string, since time.Time) media.File {
		t.Helper()
		w := s.NewTx(region.EU)
		w.MarkFileUnused(id, since)
		commit(t, w)
		return readFile(t, s, id)
	}
	guard := func(f media.File) error {
		w := s.NewTx(region.EU)
		w.GuardFileUnused(f, refused)
		return w.Commit(t.Context())
	}
	require.Nil(t, mark(old.ID, now).UnusedSince)
	require.ErrorIs(t, guard(f), refused, "it is not marked")
	marked := mark(f.ID, now)
	require.True(t, now.Equal(*marked.UnusedSince))
	require.True(t, now.Equal(*mark(f.ID, later(1)).UnusedSince), "the first time remains")
	require.NoError(t, guard(marked))
	again := later(1)
	other := marked
	other.UnusedSince = &again
	require.ErrorIs(t, guard(other), refused, "it was marked again since it was read")
	_,
		err = conn.Exec(t.Context(),
		`INSERT INTO file_uses (home, object_id, kind, author_id, place_id, file_id) VALUES ('eu', 'o', 'post', '', '', $1)`, f.ID)
	require.NoError(t, err)
	require.ErrorIs(t, guard(marked), refused, "something refers to it")
	require.False(t, marked.Released)
	w := s.NewTx(region.EU)
	w.MarkFileUsed(f.ID)
	commit(t, w)
	used := readFile(t, s, f.ID)
	require.Nil(t, used.UnusedSince)
	require.True(t, used.Released)
	require.False(t, readFile(t, s, old.ID).Released)
}

// TestFileReleases reads the releases that are due, the first ones first, postpones one and deletes one.
func TestFileReleases(t *testing.T) {
	url := dbtest.New(t)
	s, conn := open(t, url), connect(t, url)
	for file, seconds := range map[string]int{"second": 9, "first": 8, "due now": 10, "later": 11} {
		_, err := conn.Exec(t.Context(), `INSERT INTO file_releases (home, file_id, author_id, due_at) VALUES ('eu', $1, 'author', $2)`, file,
			later(seconds))
		require.NoError(t, err)
	}
	due := func(seconds int) (found []media.FileRelease, files []string) {
		t.Helper()
		r := s.NewReadBatch()
		r.FileReleasesDue(region.EU, later(seconds), &found)
		run(t, r)
		for _, f := range found {
			require.Equal(t, "author", f.AuthorID)
			files = append(files, f.FileID)
		}
		return found, files
	}
	found, files := due(10)
	require.Equal(t, []string{"first", "second", "due now"}, files)
	w := s.NewTx(region.EU)
	w.DelayFileRelease(found[0], later(20))
	w.DeleteFileRelease(found[1])
	commit(t, w)
	_, files = due(19)
	require.Equal(t, []string{"due now", "later"}, files)
	_, files = due(20)
	require.Equal(t, []string{"due now", "later", "first"}, files)
}
