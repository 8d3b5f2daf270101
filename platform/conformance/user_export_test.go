package conformance

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

func exportPath(userID string) string { return "/api/v4/users/" + userID + "/export" }

// awaitExport waits until the export of a user is ready.
func awaitExport(t *testing.T, c *apptest.Client, userID string) object {
	t.Helper()
	var export object
	require.Eventually(t, func() bool {
		export = c.Do(t, http.MethodGet, exportPath(userID), nil).OK(t).Get(t, "export").(object)
		return text(export, "state") == "ready"
	}, apptest.Patience, 100*time.Millisecond)
	return export
}

// unzip returns the files of an archive.
func unzip(t *testing.T, content []byte) map[string]string {
	t.Helper()
	archive, err := zip.NewReader(bytes.NewReader(content), int64(len(content)))
	require.NoError(t, err)
	files := map[string]string{}
	for _, file := range archive.File {
		from, err := file.Open()
		require.NoError(t, err)
		content, err := io.ReadAll(from)
		require.NoError(t, err)
		files[file.Name] = string(content)
	}
	return files
}

// objectsOf returns the objects in the storage that belong to an id.
func objectsOf(t *testing.T, n *apptest.Network, id string) []string {
	t.Helper()
	var found []string
	require.NoError(t, filepath.WalkDir(n.Files, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && strings.HasPrefix(entry.Name(), id) {
			found = append(found, path)
		}
		if errors.Is(err, fs.ErrNotExist) { // deleted in the meantime
			return nil
		}
		return err
	}))
	return found
}

// awaitOneObject waits until the archive of a user is the only object of the export: its parts are deleted after it is ready.
func awaitOneObject(t *testing.T, n *apptest.Network, id string) {
	t.Helper()
	require.Eventually(t, func() bool { return len(objectsOf(t, n, id)) == 1 }, apptest.Patience, 10*time.Millisecond)
	require.Contains(t, objectsOf(t, n, id)[0], "archive.zip")
}

// TestUserExport exports a user who left traces in every table, and then erases the user.
func TestUserExport(t *testing.T) {
	t.Parallel()
	f := newErasureFixture(t)
	secret := newPost(t, f.friend, f.community, object{"data": object{"text": "words of the friend"}})
	newComment(t, f.user, secret)
	first := f.do(t, f.user, http.MethodPost, exportPath(erasedID), nil).Get(t, "export").(object)
	require.Equal(t, erasedID, first["userId"])
	require.Empty(t, first["archivePath"], "not before it is ready")

	ready := awaitExport(t, f.user.At(region.SG), erasedID)
	require.Equal(t, f.user.InternalID, ready["requestedBy"])
	require.Empty(t, ready["step"])
	again := f.do(t, f.user, http.MethodPost, exportPath(erasedID), nil).Get(t, "export").(object)
	require.Equal(t, ready, again, "one export a day")

	r := f.do(t, f.user.At(region.US), http.MethodGet, text(ready, "archivePath"), nil)
	require.Equal(t, "application/zip", r.Header.Get("Content-Type"))
	require.Regexp(t, `^attachment; filename=.+\.zip$`, r.Header.Get("Content-Disposition"))
	require.Equal(t, "no-store", r.Header.Get("Cache-Control"))
	require.Equal(t, http.StatusNotModified,
		f.user.With("If-None-Match", r.Header.Get("Etag")).Do(t, http.MethodGet, text(ready, "archivePath"), nil).Status)
	require.Len(t, r.Body, int(ready["bytes"].(float64)))
	f.requireArchive(t, unzip(t, r.Body), ready["exported"].(object))
	awaitOneObject(t, f.n, f.user.InternalID)

	part := f.user.With("Range", "bytes=0-3").Do(t, http.MethodGet, text(ready, "archivePath"), nil)
	require.Equal(t, http.StatusPartialContent, part.Status)
	require.Equal(t, "PK\x03\x04", string(part.Body))

	f.awaitErasure(t, f.do(t, f.user, http.MethodDelete, "/api/v4/users/"+erasedID, nil).String(t, "erasureId"))
	require.Empty(t, objectsOf(t, f.n, f.user.InternalID))
	requireFailure(t, notFound, f.n.Admin(region.EU).Do(t, http.MethodGet, exportPath(erasedID), nil))
}

// requireArchive checks that an archive contains what the user wrote, and nothing of others.
func (f *erasureFixture) requireArchive(t *testing.T, files map[string]string, counts object) {
	t.Helper()
	for kind, n := range counts {
		var rows []object
		require.NoError(t, json.Unmarshal([]byte(files[kind+".json"]), &rows), kind)
		require.Len(t, rows, int(n.(float64)), kind)
		require.Contains(t, files["README.txt"], kind+".json")
	}
	for _, kind := range []string{
		"users", "posts", "comments", "stories", "messages", "scheduled_posts", "files", "flags", "polls", "video_streams", "rooms",
		"planned_events",
	} {
		require.Contains(t, files[kind+".json"], planted, kind)
	}
	for _, kind := range []string{
		"sessions", "reactions", "follows", "followers", "blocks", "invitations", "join_requests", "community_members", "channel_users",
		"communities", "channels", "event_rsvps",
	} {
		require.NotZero(t, counts[kind], kind)
	}
	var uploaded []string
	for name, content := range files {
		require.NotContains(t, content, "words of the friend", name)
		require.NotContains(t, content, "blocker-", name)
		if strings.HasPrefix(name, "files/") {
			uploaded = append(uploaded, content)
		}
	}
	require.Len(t, uploaded, 2)
	require.Contains(t, strings.Join(uploaded, ""), "the content of "+planted)
}

// TestUserExportAccess checks who may export whom, and download the archive.
func TestUserExportAccess(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	user, other, admin := n.NewUser(t, region.EU, "user"), n.NewUser(t, region.EU, "other"), n.Admin(region.SG)
	requireFailure(t, notFound, user.Do(t, http.MethodGet, exportPath(user.UserID), nil))
	requireFailure(t, notFound, admin.Do(t, http.MethodPost, exportPath("unknown"), nil))
	admin.Do(t, http.MethodPost, exportPath(user.UserID), nil).OK(t)
	require.Empty(t, awaitExport(t, admin, user.UserID)["requestedBy"])
	archive := exportPath(user.UserID) + "/archive"
	for _, path := range []string{exportPath(user.UserID), archive} {
		requireFailure(t, forbidden, other.Do(t, http.MethodGet, path, nil))
		requireFailure(t, unauthorized, n.Anonymous(region.EU).Do(t, http.MethodGet, path, nil))
		user.Do(t, http.MethodGet, path, nil).OK(t)
		admin.Do(t, http.MethodGet, path, nil).OK(t)
	}
	requireFailure(t, forbidden, other.Do(t, http.MethodPost, exportPath(user.UserID), nil))
	execute(t, n, "UPDATE users SET deleted_at = now() WHERE id = $1", other.InternalID) // as between a deletion and its erasure
	requireFailure(t, notFound, admin.Do(t, http.MethodPost, exportPath(other.UserID), nil))

	execute(t, n, "UPDATE user_exports SET due_at = now() - INTERVAL '1 second'")
	require.Eventually(t, func() bool {
		return user.Do(t, http.MethodGet, exportPath(user.UserID), nil).Status == http.StatusNotFound &&
			len(objectsOf(t, n, user.InternalID)) == 0
	}, apptest.Patience, 100*time.Millisecond, "the archive is deleted when it expires")
}
