package conformance

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

// This file checks that deleted resources hide their content: lists that keep their position show no text of them or below them.

// TestDeletedPostHidesContent deletes posts with everything that refers to them, and lists them as a stranger.
func TestDeletedPostHidesContent(t *testing.T) {
	t.Parallel()
	const secret = "words-that-are-gone"
	author, reader, outsider := newUser(t, region.EU, "author"), newUser(t, region.US, "reader"), newUser(t, region.SG, "outsider")
	id := newCommunity(t, author)
	join(t, id, reader)
	file := text(upload(t, author, "image", secret+".png", pngOf(t, 3, 3)), "fileId")
	poll := newPoll(t, author, object{"question": secret})
	posts := []string{
		newPost(t, author, id, object{
			"data":       object{"text": secret},
			"mentionees": []object{{"type": "user", "userIds": []string{reader.UserID}}},
		}),
		newPost(t, author, id, object{"data": object{"text": secret}, "attachments": []object{{"type": "image", "fileId": file}}}),
		newPost(t, author, id, object{"dataType": "poll", "data": object{"text": secret, "pollId": poll}}),
	}
	for _, post := range posts {
		comment := newComment(t, reader, post, object{"data": object{"text": secret}})
		newComment(t, reader, post, object{"data": object{"text": secret}, "parentId": comment})
	}
	for _, post := range posts {
		author.Do(t, http.MethodDelete, "/api/v3/posts/"+post, nil).OK(t)
	}
	lists := map[string]string{
		"posts": "/api/v4/posts?targetType=community&targetId=" + id, "new posts": "/api/v5/posts?targetType=community&targetId=" + id,
		"feed": "/api/v3/community-feeds/" + id + "?sortBy=lastCreated",
	}
	for name, path := range lists {
		for _, query := range []string{"&isDeleted=true", "&includeDeleted=true"} {
			for who, by := range map[string]*apptest.Client{"outsider": outsider, "author": author, "admin": admin(t)} {
				t.Run(name+query+" as "+who, func(t *testing.T) {
					r := by.Do(t, http.MethodGet, path+query, nil).OK(t)
					if query == "&isDeleted=true" {
						require.Contains(t, string(r.Body), posts[0], "the place of the post stays")
					}
					require.NotContains(t, string(r.Body), secret)
					require.NotContains(t, string(r.Body), reader.UserID, "users who commented or were mentioned are no longer referred to")
				})
			}
		}
	}
}

// TestDeletedCommentHidesContent deletes a comment that has a reply: it keeps its position, and its text, mentions
// and attachments are hidden.
func TestDeletedCommentHidesContent(t *testing.T) {
	t.Parallel()
	const secret = "words-that-are-gone"
	author, named, outsider := newUser(t, region.EU, "author"), newUser(t, region.US, "named"), newUser(t, region.SG, "outsider")
	post := newPost(t, author, newCommunity(t, author))
	file := text(upload(t, author, "image", secret+".png", pngOf(t, 3, 3)), "fileId")
	comment := newComment(t, author, post, object{
		"data": object{"text": secret}, "attachments": []object{{"type": "image", "fileId": file}},
		"mentionees": []object{{"type": "user", "userIds": []string{named.UserID}}},
	})
	reply := newComment(t, author, post, object{"parentId": comment})
	author.Do(t, http.MethodDelete, "/api/v3/comments/"+comment, nil).OK(t)
	r := outsider.Do(t, http.MethodGet, "/api/v3/comments?referenceType=post&referenceId="+post+"&isDeleted=true", nil).OK(t)
	require.Contains(t, string(r.Body), comment)
	require.NotContains(t, string(r.Body), secret)
	require.NotContains(t, string(r.Body), named.UserID)
	require.Equal(t, reply, outsider.Do(t, http.MethodGet, "/api/v3/comments/"+reply, nil).OK(t).String(t, "comments.0.commentId"),
		"an answer stands for itself")
}

// TestDeletedStoryHidesContent checks that users who still see a deleted story see neither its content nor its
// comments.
func TestDeletedStoryHidesContent(t *testing.T) {
	t.Parallel()
	const secret = "words-that-are-gone"
	author, named := newUser(t, region.EU, "author"), newUser(t, region.US, "named")
	community := newCommunity(t, author)
	id := newStory(t, author, community, object{
		"data": object{"text": secret}, "metadata": object{"key": secret},
		"mentionees": []object{{"type": "user", "userIds": []string{named.UserID}}},
	})
	author.Do(t, http.MethodPost, "/api/v3/comments",
		object{"referenceType": "story", "referenceId": id, "data": object{"text": secret}}).OK(t)
	author.Do(t, http.MethodDelete, storiesPath+"/"+id, nil).OK(t)
	r := admin(t).Do(t, http.MethodGet, storiesPath+"/"+id, nil).OK(t)
	require.Contains(t, string(r.Body), id)
	require.NotContains(t, string(r.Body), secret)
	require.NotContains(t, string(r.Body), named.UserID)
}
