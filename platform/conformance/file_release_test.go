package conformance

import (
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

// TestDeletingContentDeletesFiles deletes content of each kind for good, and then searches the storage for the files
// that it had, in all of their sizes.
func TestDeletingContentDeletesFiles(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	author, guest := n.NewUser(t, region.EU, "author"), n.NewUser(t, region.SG, "guest")
	image := func(c *apptest.Client) string {
		return text(upload(t, c, "image", "a.png", pngOf(t, 1000, 800)), "fileId")
	}
	pictured := func(id string, more object) object {
		return with(object{"data": object{"text": "x"}, "attachments": []object{{"type": "image", "fileId": id}}}, more)
	}
	community, chat := newCommunity(t, author), newChatOf(t, author, nil, guest).id
	join(t, community, guest)
	inCommunity := func(more object) object {
		return with(object{"targetType": "community", "targetId": community}, more)
	}
	deleted, kept := map[string]string{}, map[string]string{}

	deleted["post"] = image(guest) // its home is not that of the community
	post := guest.Do(t, http.MethodPost, postsPath, pictured(deleted["post"], inCommunity(nil))).OK(t).String(t, "posts.0.postId")
	deleted["comment of the post"] = image(author)
	newComment(t, author, post, pictured(deleted["comment of the post"], nil))
	kept["post, also an avatar"] = image(author)
	author.Do(t, http.MethodPut, "/api/v3/users", object{"avatarFileId": kept["post, also an avatar"]}).OK(t)
	shared := author.Do(t, http.MethodPost, postsPath, pictured(kept["post, also an avatar"], nil)).OK(t).String(t, "posts.0.postId")
	kept["comment, also a message elsewhere"] = image(guest)
	newComment(t, guest, shared, pictured(kept["comment, also a message elsewhere"], nil))
	sendImage(t, guest, chat, kept["comment, also a message elsewhere"])
	deleted["message"] = image(guest)
	message := sendImage(t, guest, chat, deleted["message"])
	deleted["story"] = image(author)
	story := author.Do(t, http.MethodPost, storiesPath, inCommunity(object{
		"dataType": "image", "data": object{"fileId": deleted["story"]}, "referenceId": "c56a4180-65aa-42ec-a945-5fd21dec0538",
	})).OK(t).String(t, "stories.0.storyId")
	deleted["scheduled post"] = image(author)
	scheduled := author.Do(t, http.MethodPost, schedulePath,
		object{"scheduledAt": timeIn(time.Hour), "postData": pictured(deleted["scheduled post"], nil)}).
		String(t, "data.id")
	deleted["former avatar"] = image(guest)
	for _, id := range []string{deleted["former avatar"], ""} {
		guest.Do(t, http.MethodPut, "/api/v3/users", object{"avatarFileId": id}).OK(t)
	}
	doomed, closed := newCommunity(t, author), newChatOf(t, author, nil).id
	deleted["deleted community"] = image(author)
	author.Do(t, http.MethodPost, postsPath,
		pictured(deleted["deleted community"], object{"targetType": "community", "targetId": doomed})).OK(t)
	deleted["deleted channel"] = image(author)
	sendImage(t, author, closed, deleted["deleted channel"])
	kept["post that can be restored"] = image(author)
	soft := author.Do(t, http.MethodPost, postsPath, pictured(kept["post that can be restored"], nil)).OK(t).String(t, "posts.0.postId")
	kept["not used yet"] = image(author)
	all := len(deleted) + len(kept)
	require.Len(t, storedFiles(t, n), all)
	for _, objects := range storedFiles(t, n) {
		require.Equal(t, 3, objects, "full, medium and small")
	}

	for _, path := range []string{
		postsPath + "/" + shared + "?permanent=true", postsPath + "/" + soft,
		messagesPath + "/" + message + "?permanent=true", storiesPath + "/" + story + "?permanent=true",
		schedulePath + "/" + scheduled, communitiesPath + "/" + doomed, channelsPath + "/" + closed,
	} {
		author.Do(t, http.MethodDelete, path, nil).OK(t)
	}
	guest.Do(t, http.MethodDelete, postsPath+"/"+post+"?permanent=true", nil).OK(t)
	require.Eventually(t, func() bool {
		settleReleases(t, n)
		return len(storedFiles(t, n)) == len(kept)
	}, apptest.Patience, 250*time.Millisecond)
	for name, id := range kept {
		require.Contains(t, storedFiles(t, n), id, name)
	}
	for _, id := range deleted {
		requireFailure(t, notFound, author.Do(t, http.MethodGet, filesPath+"/"+id, nil))
	}
}

// storedFiles returns the number of objects in the storage of each file.
func storedFiles(t *testing.T, n *apptest.Network) map[string]int {
	t.Helper()
	found := map[string]int{}
	require.NoError(t, filepath.WalkDir(n.Files, func(_ string, entry fs.DirEntry, err error) error {
		if err == nil && !entry.IsDir() {
			id, _, _ := strings.Cut(entry.Name(), "-")
			found[id]++
		}
		return nil // it may be deleted now
	}))
	return found
}

// sendImage sends a message with an image and returns the id of the message.
func sendImage(t *testing.T, c *apptest.Client, feedID, fileID string) string {
	t.Helper()
	body := object{"messageFeedId": feedID, "dataType": "image", "fileId": fileID, "data": object{"caption": ""}}
	return c.Do(t, http.MethodPost, messagesPath, body).OK(t).String(t, "messages.0.messageId")
}

// settleReleases lets the servers take the next step of the deletion of released files now: requests that may have read the files before
// have ended.
func settleReleases(t *testing.T, n *apptest.Network) {
	t.Helper()
	execute(t, n, "UPDATE files SET unused_since = now() - INTERVAL '1 hour' WHERE unused_since > now() - INTERVAL '1 hour'")
	execute(t, n, "UPDATE file_releases SET due_at = now()")
}
