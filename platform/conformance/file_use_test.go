package conformance

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

// TestFilesInAnswers checks that answers include the files that every kind of resource refers to. requireAggregate
// checks the same for the answers of all other tests.
func TestFilesInAnswers(t *testing.T) {
	t.Parallel()
	n := apptest.Shared(t)
	boss, reader := newUser(t, region.EU, "boss"), newUser(t, region.US, "reader")
	own := func(c *apptest.Client, accessType string) string {
		return text(upload(t, c, "image", "a.png", pngOf(t, 4, 4), "accessType", accessType), "fileId")
	}
	bossFace, readerFace, sign, field := own(boss, "network"), own(reader, "public"), own(boss, "public"), own(boss, "public")
	for c, face := range map[*apptest.Client]string{boss: bossFace, reader: readerFace} {
		r := c.Do(t, http.MethodPut, "/api/v3/users", object{"avatarFileId": face})
		require.Equal(t, face, requireAggregate(t, r, "", userAggregate).one("files")["fileId"])
	}
	category := newCategory(t, admin(t), apptest.UserID("category"), object{"avatarFileId": field})
	community := newCommunity(t, boss, object{"avatarFileId": sign, "categoryIds": []string{category}})
	join(t, community, reader)
	post := newPost(t, boss, community, object{"attachments": attached(t, n, "image", "video", "file")})
	comment := newComment(t, reader, post, object{"attachments": attached(t, n, "image")})
	boss.Do(t, http.MethodPost, "/api/v2/reactions", object{"referenceId": post, "referenceType": "post", "reactionName": "like"}).OK(t)
	follow(t, reader, boss)
	poll := newPoll(t, boss)
	images := []string{n.File(t, "image", 0), n.File(t, "video", 1), n.File(t, "file", 2)}
	everything := append([]string{bossFace, readerFace, sign, field}, images...)
	for path, want := range map[string][]string{
		"/api/v3/users/" + boss.UserID: {bossFace},
		"/api/v3/users/list?userIds[]=" + boss.UserID + "&userIds[]=" + reader.UserID: {bossFace, readerFace},
		"/api/v3/communities/" + community:                                            {sign, bossFace, readerFace, field},
		"/api/v3/communities/" + community + "/users":                                 {sign, bossFace, readerFace, field},
		"/api/v3/posts/" + post:                                                       everything,
		"/api/v3/comments/" + comment:                                                 {images[0], readerFace},
		"/api/v3/reactions?referenceType=post&referenceId=" + post:                    {bossFace},
		"/api/v4/users/" + boss.UserID + "/followers":                                 {readerFace, bossFace},
		"/api/v3/community-categories/" + category:                                    {field},
		"/api/v1/me/following-feeds?sortBy=lastCreated":                               everything,
	} {
		r := reader.Do(t, http.MethodGet, path, nil).OK(t)
		require.ElementsMatch(t, want, r.Strings(t, "files", "fileId"), path)
		for _, f := range r.List(t, "files") {
			requireFile(t, f)
			n.Anonymous(region.SG).Do(t, http.MethodGet, pathOf(t, f.(object)), nil).OK(t)
		}
	}
	require.Equal(t, []string{bossFace},
		reader.Do(t, http.MethodGet, "/api/v2/reactions?referenceType=post&referenceId="+post, nil).OK(t).Strings(t, "data.files", "fileId"))
	r := reader.Do(t, http.MethodGet, "/api/v3/community-categories/list?categoryId="+category, nil).OK(t)
	require.Equal(t, []string{field}, r.Strings(t, "data.files", "fileId"))
	require.NotEmpty(t, reader.Do(t, http.MethodGet, pollsPath+"/"+poll, nil).OK(t).String(t, "polls.0.answers.2.fileId"))
	session := n.Anonymous(region.EU).With("X-API-Key", n.APIKey).Do(t, http.MethodPost, "/api/v5/sessions", object{
		"userId": boss.UserID, "deviceId": "d", "authToken": authToken(t, n, region.EU, boss.UserID),
	}).OK(t)
	require.Equal(t, []string{bossFace}, session.Strings(t, "files", "fileId"))
	boss.Do(t, http.MethodDelete, filesPath+"/"+bossFace, nil).OK(t)
	gone := reader.Do(t, http.MethodGet, "/api/v3/users/"+boss.UserID, nil).OK(t)
	require.Empty(t, gone.List(t, "files"), "a deleted file is left out")
	require.Equal(t, bossFace, gone.String(t, "users.0.avatarFileId"))
}

// TestInvalidFileReferences checks that references to files must name existing files of the right type.
func TestInvalidFileReferences(t *testing.T) {
	t.Parallel()
	n := apptest.Shared(t)
	alice := newUser(t, region.EU, "alice")
	community, post := newCommunity(t, alice), newWallPost(t, alice)
	picture, film, paper := n.File(t, "image", 0), n.File(t, "video", 0), n.File(t, "file", 0)
	posting := func(kind, id string) object {
		return object{"data": object{"text": "x"}, "attachments": []object{{"type": kind, "fileId": id}}}
	}
	saying := func(kind, id string) object { return with(posting(kind, id), object{"referenceId": post}) }
	answering := func(id string) object {
		return poll(t, object{"answers": []object{{"data": "x"}, {"dataType": "image", "fileId": id}}})
	}
	scheduling := func(kind, id string) object {
		return object{"scheduledAt": timeIn(time.Hour), "postData": posting(kind, id)}
	}
	wrong := invalid("attachments[0].fileId")
	requireAttempts(t, []attempt{
		{"post with an unknown image", alice, http.MethodPost, postsPath, posting("image", unknownID), notFound},
		{"post with no file", alice, http.MethodPost, postsPath, posting("image", "x"), notFound},
		{"post with a film for an image", alice, http.MethodPost, postsPath, posting("image", film), wrong},
		{"post with an image for a film", alice, http.MethodPost, postsPath, posting("video", picture), wrong},
		{"post with an image for a file", alice, http.MethodPost, postsPath, posting("file", picture), wrong},
		{"post with a file for an image", alice, http.MethodPost, postsPath, posting("image", paper), wrong},
		{
			"post with an unknown old image", alice, http.MethodPost, postsPath,
			object{"data": object{"text": "x", "images": []string{unknownID}}},
			notFound,
		},
		{"scheduled post with an unknown image", alice, http.MethodPost, schedulePath, scheduling("image", unknownID), notFound},
		{"scheduled post with a film for an image", alice, http.MethodPost, schedulePath, scheduling("image", film), wrong},
		{"comment with an unknown image", alice, http.MethodPost, commentsPath, saying("image", unknownID), notFound},
		{"comment with an image for a film", alice, http.MethodPost, commentsPath, saying("video", picture), wrong},
		{"poll with an unknown image", alice, http.MethodPost, pollsPath, answering(unknownID), notFound},
		{"poll with a film for an image", alice, http.MethodPost, pollsPath, answering(film), invalid("answers[1].fileId")},
		{"unknown avatar", alice, http.MethodPut, "/api/v3/users", object{"avatarFileId": unknownID}, notFound},
		{"a film for an avatar", alice, http.MethodPut, "/api/v3/users", object{"avatarFileId": film}, forbidden},
		{"no avatar", alice, http.MethodPut, "/api/v3/users", object{"avatarFileId": ""}, failure{}},
		{
			"a community's unknown avatar", alice, http.MethodPost, communitiesPath,
			object{"displayName": "x", "avatarFileId": unknownID},
			notFound,
		},
		{"a film for a community's avatar", alice, http.MethodPost, communitiesPath, object{"displayName": "x", "avatarFileId": film}, forbidden},
		{
			"a community's next unknown avatar", alice, http.MethodPut, communitiesPath + "/" + community,
			object{"avatarFileId": unknownID},
			notFound,
		},
		{
			"a film for a community's next avatar", alice, http.MethodPut, communitiesPath + "/" + community,
			object{"avatarFileId": film},
			forbidden,
		},
		{"a category's unknown avatar", admin(t), http.MethodPost, categoriesPath, object{"name": "x", "avatarFileId": unknownID}, notFound},
		{"a film for a category's avatar", admin(t), http.MethodPost, categoriesPath, object{"name": "x", "avatarFileId": film}, forbidden},
	})
}
