// Package conformance checks that the running program fulfils the contract: black box, over HTTP, one file per noun.
//
// The contract is the service interface. For what it does not specify, the tests check what the public clients of this
// interface expect on the wire. Every test creates the users and communities that it needs, so that the tests can run in
// parallel on one network. Tests that change network settings start a network of their own.
package conformance

import (
	"net/http"
	"os"
	"runtime"
	"testing"
	"time"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

func TestMain(m *testing.M) { os.Exit(apiDoc.report(apiDoc.reportOperations(runWithCoverage(m)))) }

// nextMillisecond waits for the clock's next millisecond, so that the time of a row differs from the times of all
// earlier rows and an order by time is the order of the calls.
func nextMillisecond() {
	for now := time.Now().UnixMilli(); time.Now().UnixMilli() == now; {
		runtime.Gosched()
	}
}

// object is a JSON object of a request.
type object = apptest.Object

// with returns o with the fields of others added or replaced.
func with(o object, others ...object) object {
	return apptest.Merge(append([]object{o}, others...)...)
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
	return c.NewCommunity(t, fields...)
}

// newPost creates a text post in a community and returns its id.
func newPost(t *testing.T, c *apptest.Client, communityID string, fields ...object) string {
	t.Helper()
	nextMillisecond()
	return c.NewPost(t, communityID, fields...)
}

// newWallPost creates a post on the client's own wall and returns its id.
func newWallPost(t *testing.T, c *apptest.Client, fields ...object) string {
	t.Helper()
	return newPost(t, c, c.UserID, append([]object{{"targetType": "user"}}, fields...)...)
}

// newComment creates a comment on a post and returns its id.
func newComment(t *testing.T, c *apptest.Client, postID string, fields ...object) string {
	t.Helper()
	nextMillisecond()
	return c.NewComment(t, postID, fields...)
}

// join adds clients to a community.
func join(t *testing.T, communityID string, clients ...*apptest.Client) {
	t.Helper()
	for _, c := range clients {
		c.Join(t, communityID)
	}
}

// banMember bans a client from a community.
func banMember(t *testing.T, moderator *apptest.Client, communityID string, c *apptest.Client) {
	t.Helper()
	moderator.Do(t, http.MethodPut, "/api/v3/communities/"+communityID+"/users/ban", object{"userIds": []string{c.UserID}}).OK(t)
}

// unknownID is a well-formed id at home eu that does not exist.
const unknownID = "02ffffffffffffffffffffff"
