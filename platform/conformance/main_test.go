// Package conformance holds the running program to the contract: black box, over HTTP, one file a noun.
//
// The contract is the service interface. Where it does not show something, the tests hold what the public clients of this
// interface expect on the wire. Every test makes the users and communities that it needs, so that all share one network;
// those that change network settings run one of their own.
package conformance

import (
	"maps"
	"net/http"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

func TestMain(m *testing.M) { os.Exit(apiDoc.report(runWithCoverage(m))) }

// nextMillisecond waits for the clock's next millisecond, so that the time of a row differs from the times of all
// earlier rows and an order by time is the order of the calls.
func nextMillisecond() {
	for now := time.Now().UnixMilli(); time.Now().UnixMilli() == now; {
		runtime.Gosched()
	}
}

// object is a JSON object of a request.
type object = map[string]any

// with returns o with the fields of others added or replaced.
func with(o object, others ...object) object {
	merged := object{}
	for _, fields := range append([]object{o}, others...) {
		maps.Copy(merged, fields)
	}
	return merged
}

// newUser returns a user whom no other test uses; the id begins with name.
func newUser(t *testing.T, code region.Code, name string) *apptest.Client {
	t.Helper()
	return apptest.Shared(t).NewUser(t, code, name)
}

func admin(t *testing.T) *apptest.Client {
	t.Helper()
	return apptest.Shared(t).Admin(region.EU)
}

// newCommunity creates a community in the client's region and returns its id.
func newCommunity(t *testing.T, c *apptest.Client, fields ...object) string {
	t.Helper()
	nextMillisecond()
	body := with(object{"displayName": apptest.UserID("community")}, fields...)
	return c.Do(t, http.MethodPost, "/api/v3/communities/", body).OK(t).String(t, "communities.0.communityId")
}

// newPost creates a text post in a community and returns its id.
func newPost(t *testing.T, c *apptest.Client, communityID string, fields ...object) string {
	t.Helper()
	nextMillisecond()
	body := with(object{"targetType": "community", "targetId": communityID, "data": object{"text": "a post"}}, fields...)
	return c.Do(t, http.MethodPost, "/api/v4/posts", body).OK(t).String(t, "posts.0.postId")
}

// newWallPost creates a post on the client's own wall and returns its id.
func newWallPost(t *testing.T, c *apptest.Client, fields ...object) string {
	t.Helper()
	nextMillisecond()
	body := with(object{"targetType": "user", "targetId": c.UserID, "data": object{"text": "a post"}}, fields...)
	return c.Do(t, http.MethodPost, "/api/v4/posts", body).OK(t).String(t, "posts.0.postId")
}

// newComment creates a comment on a post and returns its id.
func newComment(t *testing.T, c *apptest.Client, postID string, fields ...object) string {
	t.Helper()
	nextMillisecond()
	body := with(object{"referenceType": "post", "referenceId": postID, "data": object{"text": "a comment"}}, fields...)
	return c.Do(t, http.MethodPost, "/api/v3/comments", body).OK(t).String(t, "comments.0.commentId")
}

// join makes clients members of a community.
func join(t *testing.T, communityID string, clients ...*apptest.Client) {
	t.Helper()
	for _, c := range clients {
		c.Do(t, http.MethodPost, "/api/v3/communities/"+communityID+"/join", nil).OK(t)
	}
}

// banMember bans a client from a community.
func banMember(t *testing.T, moderator *apptest.Client, communityID string, c *apptest.Client) {
	t.Helper()
	moderator.Do(t, http.MethodPut, "/api/v3/communities/"+communityID+"/users/ban", object{"userIds": []string{c.UserID}}).OK(t)
}

// unknownID is a well-formed id at home eu that does not exist.
const unknownID = "02ffffffffffffffffffffff"
