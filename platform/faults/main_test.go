// Package faults takes parts of a running network away, or has many hands pull at it, and looks at what is left: nothing
// that was acknowledged is lost, no count drifts, and nobody waits for a region that their data is not in.
package faults

import (
	"maps"
	"net/http"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
)

// object is a JSON object.
type object = map[string]any

// post sends a body and returns the answer, which has to be good.
func post(t testing.TB, c *apptest.Client, path string, body any) *apptest.Response {
	t.Helper()
	return c.Do(t, http.MethodPost, path, body).OK(t)
}

// newCommunity makes a community at the region that c calls, and returns its id.
func newCommunity(t testing.TB, c *apptest.Client, fields object) string {
	t.Helper()
	body := object{"displayName": apptest.UserID("community")}
	maps.Copy(body, fields)
	return post(t, c, "/api/v3/communities", body).String(t, "communities.0.communityId")
}

// join makes c a member.
func join(t testing.TB, c *apptest.Client, communityID string) {
	t.Helper()
	post(t, c, "/api/v3/communities/"+communityID+"/join", nil)
}

// newPost posts in a community and returns the post's id.
func newPost(t testing.TB, c *apptest.Client, communityID string) string {
	t.Helper()
	return post(t, c, "/api/v4/posts", object{
		"targetType": "community", "targetId": communityID, "data": object{"text": "hello"},
	}).String(t, "posts.0.postId")
}

// newComment comments on a post, or answers the comment parentID, and returns the comment's id.
func newComment(t testing.TB, c *apptest.Client, postID, parentID string) string {
	t.Helper()
	body := object{"referenceType": "post", "referenceId": postID, "data": object{"text": "well"}}
	if parentID != "" {
		body["parentId"] = parentID
	}
	return post(t, c, "/api/v3/comments", body).String(t, "comments.0.commentId")
}

// connect returns a connection to the database, beside those of the servers.
func connect(t testing.TB, n *apptest.Network) *pgx.Conn {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), n.DatabaseURL)
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(t.Context()) })
	return conn
}

// rows returns what a query finds, one map a row.
func rows(t testing.TB, conn *pgx.Conn, sql string, args ...any) []map[string]any {
	t.Helper()
	found, err := conn.Query(t.Context(), sql, args...)
	require.NoError(t, err)
	all, err := pgx.CollectRows(found, pgx.RowToMap)
	require.NoError(t, err, sql)
	return all
}
