package apptest

import (
	"maps"
	"net/http"
	"testing"
)

// Object is a JSON object of a request.
type Object = map[string]any

// Merge returns an object with the fields of all objects; later fields replace earlier ones.
func Merge(objects ...Object) Object {
	merged := Object{}
	for _, o := range objects {
		maps.Copy(merged, o)
	}
	return merged
}

// NewCommunity creates a community in the client's region and returns its id. Each of fields adds fields to the request or
// replaces them.
func (c *Client) NewCommunity(t testing.TB, fields ...Object) string {
	t.Helper()
	body := Object{"displayName": UserID("community")}
	return c.create(t, "/api/v3/communities/", body, fields).String(t, "communities.0.communityId")
}

// Join makes the client a member of a community.
func (c *Client) Join(t testing.TB, communityID string) {
	t.Helper()
	c.Do(t, http.MethodPost, "/api/v3/communities/"+communityID+"/join", nil).OK(t)
}

// NewPost creates a text post in a community and returns its id; see [Client.NewCommunity] about fields.
func (c *Client) NewPost(t testing.TB, communityID string, fields ...Object) string {
	t.Helper()
	body := Object{"targetType": "community", "targetId": communityID, "data": Object{"text": "a post"}}
	return c.create(t, "/api/v4/posts", body, fields).String(t, "posts.0.postId")
}

// NewComment creates a comment on a post and returns its id; see [Client.NewCommunity] about fields.
func (c *Client) NewComment(t testing.TB, postID string, fields ...Object) string {
	t.Helper()
	body := Object{"referenceType": "post", "referenceId": postID, "data": Object{"text": "a comment"}}
	return c.create(t, "/api/v3/comments", body, fields).String(t, "comments.0.commentId")
}

// NewStory creates a text story in a community and returns its id; see [Client.NewCommunity] about fields.
func (c *Client) NewStory(t testing.TB, communityID string, fields ...Object) string {
	t.Helper()
	return c.create(t, "/api/v4/stories", TextStory(communityID), fields).String(t, "stories.0.storyId")
}

// TextStory returns the request for a text story in a community.
func TextStory(communityID string) Object {
	return Object{"targetType": "community", "targetId": communityID, "dataType": "text", "data": Object{"text": "a story"}}
}

func (c *Client) create(t testing.TB, path string, body Object, fields []Object) *Response {
	t.Helper()
	return c.Do(t, http.MethodPost, path, Merge(append([]Object{body}, fields...)...)).OK(t)
}
