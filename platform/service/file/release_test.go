package file_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/region"
	"github.com/plaza-social/plaza/platform/service/file"
	"github.com/plaza-social/plaza/platform/store/content"
	"github.com/plaza-social/plaza/platform/store/media"
)

const settleTime = time.Minute

// newFile uploads a file and returns its id.
func (w *world) newFile(content string) string {
	w.t.Helper()
	files, err := w.start(content).Finish(w.admin, file.Form{})
	require.NoError(w.t, err)
	w.exec(`UPDATE files SET owner_id = '` + uploader + `'`) // it was an administrator
	return files[0].GetFileId()
}

// uploader is the user who uploads the files and writes the posts.
var uploader = region.NewID(region.EU)

// post inserts a post at home that refers to a file, and returns its id.
func (w *world) post(home region.Code, fileID string) string {
	w.t.Helper()
	return w.postBy(uploader, home, fileID)
}

func (w *world) postBy(author string, home region.Code, fileID string) string {
	w.t.Helper()
	id := region.NewID(home)
	tx := w.Store.NewTx(home)
	tx.InsertPost(content.Post{
		ID: id, TargetType: "user", TargetID: region.NewID(home), AuthorID: author, IsParent: true, FeedType: "published",
		DataType: "image", StructureType: "image", Data: fmt.Appendf(nil, `{"fileId":%q}`, fileID), Metadata: []byte("{}"),
		Mentionees: []byte("[]"), CreatedAt: w.now(),
	})
	require.NoError(w.t, tx.Commit(w.t.Context()))
	return id
}

// purge deletes a post for good.
func (w *world) purge(home region.Code, postID string) {
	w.t.Helper()
	tx := w.Store.NewTx(home)
	tx.PurgePosts([]string{postID})
	require.NoError(w.t, tx.Commit(w.t.Context()))
}

// deleteReleased runs the job in every home until nothing is due.
func (w *world) deleteReleased() {
	w.t.Helper()
	for _, home := range region.All() {
		for more := true; more; {
			var err error
			more, err = w.DeleteReleased(w.t.Context(), home)
			require.NoError(w.t, err)
		}
	}
}

// releases returns the number of files that wait in a home.
func (w *world) releases(home region.Code) int {
	w.t.Helper()
	var rows []media.FileRelease
	reads := w.Store.NewReadBatch()
	reads.FileReleasesDue(home, w.now().Add(time.Hour), &rows)
	require.NoError(w.t, reads.Run(w.t.Context()))
	return len(rows)
}

// TestFileIsUsedDuringDeletion has something refer to a file after the job has read that nothing does: the file remains.
func TestFileIsUsedDuringDeletion(t *testing.T) {
	w := newWorld(t)
	id := w.newFile("kept")
	w.purge(region.EU, w.post(region.EU, id))
	w.deleteReleased()
	w.pass(2 * settleTime)
	w.Before("files.guardUnused", func() { w.exec(`UPDATE files SET unused_since = NULL`) })
	w.deleteReleased()
	require.False(t, w.Pending())
	require.Equal(t, 1, w.objects())
}

// TestDeleteReleased deletes the last post with a file, which is stored at another home.
func TestDeleteReleased(t *testing.T) {
	w := newWorld(t)
	kept, shared := w.newFile("kept"), w.newFile("shared")
	w.post(region.EU, kept)
	first, second := w.post(region.EU, shared), w.post(region.SG, shared)
	w.deleteReleased()
	w.purge(region.EU, first)
	w.deleteReleased()
	w.pass(2 * settleTime)
	w.deleteReleased()
	require.Equal(t, 2, w.objects(), "a post at another home refers to the file")
	require.Zero(t, w.releases(region.EU))
	w.purge(region.SG, second)
	w.deleteReleased()
	w.pass(settleTime - time.Millisecond)
	w.deleteReleased()
	require.Equal(t, 2, w.objects(), "a request may be about to refer to the file")
	w.pass(time.Millisecond)
	w.deleteReleased()
	require.Equal(t, 1, w.objects())
	require.Zero(t, w.releases(region.SG))
}

// TestReleasedInTwoHomes deletes the posts with a file at two homes. The job of the second one finds the file marked, and waits until
// every request that may have read it before the mark has ended.
func TestReleasedInTwoHomes(t *testing.T) {
	w := newWorld(t)
	id := w.newFile("x")
	first, second := w.post(region.EU, id), w.post(region.SG, id)
	w.purge(region.EU, first)
	w.purge(region.SG, second)
	for _, home := range []region.Code{region.EU, region.SG} {
		_, err := w.DeleteReleased(t.Context(), home)
		require.NoError(t, err)
		w.pass(settleTime / 4)
	}
	require.Equal(t, 1, w.releases(region.SG))
	w.pass(settleTime/2 - time.Millisecond)
	w.deleteReleased()
	require.Equal(t, 1, w.objects(), "a request may be about to refer to the file")
	w.pass(time.Millisecond)
	w.deleteReleased()
	require.Zero(t, w.objects())
	require.Zero(t, w.releases(region.EU)+w.releases(region.SG))
}

// TestReleasedFileIsUsedAgain inserts a post by a request that had read the file before it was marked.
func TestReleasedFileIsUsedAgain(t *testing.T) {
	for _, home := range []region.Code{region.EU, region.SG} {
		t.Run(home.String(), func(t *testing.T) {
			w := newWorld(t)
			id := w.newFile("x")
			w.purge(region.EU, w.post(region.EU, id))
			w.deleteReleased()
			require.NotNil(t, w.row(id).UnusedSince)
			last := w.post(home, id)
			w.pass(2 * settleTime)
			w.deleteReleased()
			require.Equal(t, 1, w.objects())
			require.Nil(t, w.row(id).UnusedSince, "others may refer to the file again")
			w.purge(home, last)
			w.deleteReleased()
			w.pass(2 * settleTime)
			w.deleteReleased()
			require.Zero(t, w.objects())
		})
	}
}

// TestDeleteReleasedResumes loses the connection when the file is marked, and when it is deleted.
func TestDeleteReleasedResumes(t *testing.T) {
	lost := errors.New("connection lost")
	for _, marked := range []bool{false, true} {
		w := newWorld(t)
		id := w.newFile("x")
		w.purge(region.EU, w.post(region.EU, id))
		if marked {
			w.deleteReleased()
			w.pass(settleTime)
		}
		w.fault.Store(&lost)
		_, err := w.DeleteReleased(t.Context(), region.EU)
		require.ErrorIs(t, err, lost)
		w.fault.Store(nil)
		for range 3 {
			w.pass(2 * settleTime)
			w.deleteReleased()
		}
		require.Zero(t, w.objects())
		require.Zero(t, w.releases(region.EU))
	}
}

// TestFileWithoutRecordedUses keeps a file of an earlier version, whose uses are not recorded.
func TestFileWithoutRecordedUses(t *testing.T) {
	w := newWorld(t)
	id := w.newFile("x")
	post := w.post(region.EU, id)
	w.exec(`UPDATE files SET uses_recorded = false`)
	w.purge(region.EU, post)
	for range 3 {
		w.deleteReleased()
		w.pass(2 * settleTime)
	}
	require.Equal(t, 1, w.objects())
	require.Zero(t, w.releases(region.EU))
}

// TestFileOfAnotherUser checks that a user who refers to another user's file cannot have it deleted, unless its
// uploader has released it.
func TestFileOfAnotherUser(t *testing.T) {
	w := newWorld(t)
	id, other := w.newFile("x"), region.NewID(region.EU)
	wait := func() {
		w.deleteReleased()
		w.pass(2 * settleTime)
		w.deleteReleased()
	}
	w.purge(region.EU, w.postBy(other, region.EU, id))
	wait()
	require.Equal(t, 1, w.objects(), "a sticker")
	own, copied := w.post(region.EU, id), w.postBy(other, region.EU, id)
	w.purge(region.EU, own)
	wait()
	require.Equal(t, 1, w.objects())
	w.purge(region.EU, copied)
	wait()
	require.Zero(t, w.objects())
}

// TestManyReleasedFiles deletes one more file than a run of the job takes.
func TestManyReleasedFiles(t *testing.T) {
	w := newWorld(t)
	for range media.MaxFileReleases + 1 {
		w.purge(region.EU, w.post(region.EU, region.NewID(region.EU)))
	}
	more, err := w.DeleteReleased(t.Context(), region.EU)
	require.NoError(t, err)
	require.True(t, more)
	require.Equal(t, 1, w.releases(region.EU))
}

// row returns the row of a file.
func (w *world) row(id string) *media.File {
	w.t.Helper()
	var f *media.File
	reads := w.Store.NewReadBatch()
	reads.File(id, &f)
	require.NoError(w.t, reads.Run(w.t.Context()))
	require.NotNil(w.t, f)
	return f
}

// exec runs a statement on the database.
func (w *world) exec(sql string) {
	w.t.Helper()
	conn, err := pgx.Connect(w.t.Context(), w.url)
	require.NoError(w.t, err)
	_, err = conn.Exec(w.t.Context(), sql)
	require.NoError(w.t, errors.Join(err, conn.Close(w.t.Context())))
}
