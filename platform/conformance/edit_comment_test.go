package conformance

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

// editComment updates a comment and returns the answer.
func editComment(t *testing.T, by *apptest.Client, id string, body object) *aggregate {
	t.Helper()
	nextMillisecond()
	return requireAggregate(t, by.Do(t, http.MethodPut, commentsPath+"/"+id, body), "", commentAggregate)
}

// TestEditComment checks that given fields change, absent fields stay, and every region shows the same.
func TestEditComment(t *testing.T) {
	t.Parallel()
	mentioned := newUser(t, region.SG, "mentioned")
	for i, home := range region.All() {
		t.Run(home.String(), func(t *testing.T) {
			author := newUser(t, region.EU, "author")
			post := newPost(t, author, newCommunity(t, author.At(home)))
			id := newComment(t, author, post, object{
				"metadata": object{"a": 1.0}, "attachments": photos(t, 1),
				"mentionees": []object{{"userIds": []string{mentioned.UserID}}},
			})
			before := getComment(t, author, id).one("comments")
			far := author.At(region.All()[(i+1)%3])
			c := editComment(t, far, id, object{"data": object{"text": "new"}}).one("comments")
			require.Equal(t, object{"text": "new"}, c["data"])
			for _, field := range []string{
				"metadata", "attachments", "mentionees", "dataTypes", "createdAt", "approvalStatus", "segmentNumber",
				"userId",
			} {
				require.Equal(t, before[field], c[field], "%s stays", field)
			}
			require.Greater(t, c["editedAt"], before["editedAt"])
			require.Greater(t, c["updatedAt"], before["updatedAt"])
			for _, code := range region.All() {
				require.Equal(t, c, getComment(t, author.At(code), id).one("comments"))
			}
			quiet := editComment(t, far, id, object{"metadata": object{"b": true}, "mentionees": []object{}}).one("comments")
			require.Equal(t, object{"b": true}, quiet["metadata"])
			require.Equal(t, []any{}, quiet["mentionees"])
			require.Equal(t, c["editedAt"], quiet["editedAt"], "the content is as it was")
			bare := editComment(t, far, id, object{"attachments": []object{}}).one("comments")
			require.Equal(t, []any{}, bare["attachments"])
			require.Equal(t, []any{"text"}, bare["dataTypes"])
			require.Greater(t, bare["editedAt"], quiet["editedAt"])
			pictures := editComment(t, far, id, object{
				"data":        object{},
				"attachments": attached(t, apptest.Shared(t), "image", "video"),
			}).one("comments")
			require.Equal(t, []any{"image", "video"}, pictures["dataTypes"])
			require.Equal(t, 1, author.Do(t, http.MethodGet, "/api/v3/posts/"+post, nil).OK(t).Int(t, "posts.0.commentsCount"))
		})
	}
}

func TestEditCommentLimits(t *testing.T) {
	t.Parallel()
	author := newUser(t, region.EU, "author")
	post := newWallPost(t, author)
	id, gone := newComment(t, author, post), newComment(t, author, post)
	author.Do(t, http.MethodDelete, "/api/v4/comments/"+gone, nil).OK(t)
	long := func(length int) string { return strings.Repeat("é", length) }
	put := func(name, id string, body object, want failure) attempt {
		return attempt{name, author, http.MethodPut, commentsPath + "/" + id, body, want}
	}
	requireAttempts(t, []attempt{
		put("text of 50000", id, object{"data": object{"text": long(50000)}}, failure{}),
		put("text of 50001", id, object{"data": object{"text": long(50001)}}, invalid("data.text")),
		put("text that is a number", id, object{"data": object{"text": 7}}, invalid("data.text")),
		put("no text", id, object{"data": object{}}, invalid("data.text")),
		put("nothing", id, object{}, failure{}),
		put("10 attachments", id, object{"attachments": photos(t, 10)}, failure{}),
		put("11 attachments", id, object{"attachments": photos(t, 11)}, invalid("attachments")),
		put("file", id, object{"attachments": []object{{"type": "file", "fileId": fileOf(t, "file")}}}, invalid("attachments[0].type")),
		put("unknown file", id, object{"attachments": []object{{"type": "image", "fileId": unknownID}}}, notFound),
		put("neither text nor pictures", id, object{"data": object{}, "attachments": []object{}}, invalid("data.text")),
		put("deleted", gone, object{"data": object{"text": "x"}}, notFound),
		put("unknown", unknownID, object{"data": object{"text": "x"}}, notFound),
		put("of 900", strings.Repeat("x", 900), object{}, notFound),
		put("of 901", strings.Repeat("x", 901), object{}, invalid("commentId")),
	})
}

func TestWhoMayEditComments(t *testing.T) {
	t.Parallel()
	club := newClub(t)
	post := newPost(t, club.boss, club.id)
	owner := newUser(t, region.EU, "owner")
	mine, onWall := newComment(t, club.member, post), newComment(t, club.member, newWallPost(t, owner))
	put := func(name string, by *apptest.Client, id string, want failure) attempt {
		return attempt{name, by, http.MethodPut, commentsPath + "/" + id, object{"data": object{"text": name}}, want}
	}
	requireAttempts(t, []attempt{
		put("stranger", club.stranger, mine, notAllowed),
		put("other member", newMember(t, club.id), mine, notAllowed),
		put("author", club.member, mine, failure{}),
		put("moderator", club.boss, mine, failure{}),
		put("admin", admin(t), mine, failure{}),
		put("owner of the wall", owner, onWall, notAllowed),
		put("author on a wall", club.member, onWall, failure{}),
	})
}
