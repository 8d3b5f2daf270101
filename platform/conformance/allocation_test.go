package conformance

import (
	"fmt"
	"io"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"
	"google.golang.org/protobuf/types/descriptorpb"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/page"
	"github.com/plaza-social/plaza/platform/region"
)

const (
	// maxAllocated is how many bytes a request may allocate for each byte that it answers.
	maxAllocated = 8
	// besides is what a small request may allocate: it is more than all loops of the servers allocate in the meantime.
	besides = 4 << 20
	// largestObject is the size of the largest objects, as JSON.
	largestObject = 100 << 10
)

// manyZeros is the JSON of an object with as many values as possible: each takes two bytes.
var manyZeros = `{"a":[` + strings.Repeat("0,", largestObject/2-10) + `0]}`

// freeFormReads returns the operations that only read and whose answers have free-form objects.
func freeFormReads() map[string]bool {
	found := map[string]bool{}
	protoregistry.GlobalFiles.RangeFilesByPackage("plaza.v1", func(file protoreflect.FileDescriptor) bool {
		for i := range file.Services().Len() {
			methods := file.Services().Get(i).Methods()
			for j := range methods.Len() {
				method := methods.Get(j)
				options, _ := method.Options().(*descriptorpb.MethodOptions)
				if options.GetIdempotencyLevel() == descriptorpb.MethodOptions_NO_SIDE_EFFECTS &&
					hasFreeForm(method.Output(), map[protoreflect.FullName]bool{}) {
					found[fmt.Sprintf("%s/%s", method.Parent().Name(), method.Name())] = true
				}
			}
		}
		return true
	})
	return found
}

func hasFreeForm(message protoreflect.MessageDescriptor, seen map[protoreflect.FullName]bool) bool {
	if message == nil || seen[message.FullName()] {
		return false
	}
	seen[message.FullName()] = true
	for i := range message.Fields().Len() {
		if hasFreeForm(message.Fields().Get(i).Message(), seen) {
			return true
		}
	}
	return message.FullName() == "google.protobuf.Struct"
}

// answered is what a request answered, and the bytes that the process allocated for it.
type answered struct{ status, bytes, allocated int }

// measured sends a request twice, and measures the second one: the first one fills caches.
func measured(t *testing.T, c *apptest.Client, method, path string, body object) (a answered) {
	t.Helper()
	transport := &http.Transport{DisableCompression: true} // the client of the other tests decodes each answer to check it
	defer transport.CloseIdleConnections()
	discarded := make([]byte, 1<<20)
	for range 2 {
		request := c.Request(t, method, path, body)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		response, err := transport.RoundTrip(request)
		require.NoError(t, err)
		a = answered{status: response.StatusCode}
		for err == nil {
			var n int
			n, err = response.Body.Read(discarded)
			a.bytes += n
		}
		require.ErrorIs(t, err, io.EOF)
		require.NoError(t, response.Body.Close())
		runtime.ReadMemStats(&after)
		a.allocated = int(after.TotalAlloc - before.TotalAlloc)
	}
	return a
}

func (a answered) requireBounded(t *testing.T, name string) {
	t.Helper()
	t.Logf("%s: answers %d, allocates %d: %.1f", name, a.bytes, a.allocated, float64(a.allocated)/float64(a.bytes))
	require.LessOrEqual(t, a.allocated, maxAllocated*a.bytes+besides, "%s: answers %d bytes with status %d, and allocates %d", name, a.bytes,
		a.status, a.allocated)
}

// enlarge gives all objects of a network free-form objects of the largest size.
func enlarge(t *testing.T, n *apptest.Network) {
	t.Helper()
	for _, table := range []string{
		"users", "communities", "categories", "channels", "posts", "comments", "stories", "messages", "rooms", "video_streams", "planned_events",
	} {
		execute(t, n, "UPDATE "+table+" SET metadata = $1::jsonb", manyZeros)
	}
	for _, table := range []string{"posts", "comments", "stories", "messages"} {
		execute(t, n, "UPDATE "+table+" SET data = data || $1::jsonb", manyZeros)
	}
}

// TestAllocations calls every operation that returns free-form objects as a user, a visitor and an administrator, where these are as
// large as possible, and compares what the request allocates with what it answers. It does not run in parallel with other tests,
// because it reads what the whole process allocates.
func TestAllocations(t *testing.T) {
	g := newFixture(t)
	visitor, _ := newGuest(t, g.n, region.EU, "visitor", "allocations")
	callers := map[string]*apptest.Client{
		"user": g.principals[member], "moderator": g.principals[moderator], "visitor": visitor,
		"administrator": g.principals[adminToken],
	}
	reads, large := freeFormReads(), map[string]bool{}
	rows := slices.DeleteFunc(authorizationRows(),
		func(r row) bool { return !reads[r.procedure] || r.want[member] != 0 && r.want[adminToken] != 0 })
	bodies := make([]object, len(rows))
	for i, r := range rows {
		if r.request != nil {
			bodies[i] = r.request(t, g)
		}
	}
	enlarge(t, g.n)
	for i, r := range rows {
		for name, by := range callers {
			a := measured(t, by.With(r.header...), http.MethodPost, "/plaza.v1."+r.procedure, with(bodies[i]))
			a.requireBounded(t, r.procedure+" "+r.name+" as "+name)
			large[r.procedure] = large[r.procedure] || a.status == http.StatusOK && a.bytes > largestObject*9/10
		}
	}
	var small []string
	for procedure := range reads {
		if !large[procedure] {
			small = append(small, procedure)
		}
	}
	require.ElementsMatch(t, answersSmall, small, "the operations without a row whose answer has a large object")
}

// answersSmall are the operations whose rows list nothing, or only small objects.
var answersSmall = []string{
	"AnalyticsService/ListViewers", "AuditService/ListAuditEvents", "CommentService/ListComments",
	"EventService/GetMyEventRsvp", "EventService/ListMyEventRsvps", "FeedService/ListContentFeed", "FileService/GetFile",
	"FollowService/ListBlockedUsers", "FollowService/ListFollowers", "FollowService/ListFollowing",
	"FollowService/ListMyFollowers", "FollowService/ListMyFollowing", "InvitationService/ListInvitations",
	"InvitationService/ListMyInvitations", "JoinRequestService/ListJoinRequests", "NotificationService/ListTrayItems",
	"PinService/ListCommunityPins", "PinService/ListGlobalPins", "PostService/ListPendingEdits",
	"ReactionService/ListReactions", "ReactionService/ListWrappedReactions", "RoomService/ListLiveRooms",
	"ScheduledPostService/ListScheduledPosts", "SearchService/RankPosts", "SearchService/SearchPosts",
}

// TestBatchAllocations gets as many large objects as possible by their ids, over REST and as binary messages.
func TestBatchAllocations(t *testing.T) {
	n := apptest.Start(t)
	author := n.NewUser(t, region.EU, "author")
	chat := newChatOf(t, author, object{"isPublic": true})
	community := newCommunity(t, author)
	var messages, posts []string
	for range 100 {
		messages = append(messages, chat.newMessage(t, author, "x"))
		posts = append(posts, newPost(t, author, community))
	}
	enlarge(t, n)
	visitor, _ := newGuest(t, n, region.EU, "visitor", "batch")
	fitting := page.MaxReadBytes / len(manyZeros) / 2 / 2
	for name, path := range map[string]string{
		"messages v3": "/api/v3/messages/list?messageIds[]=" + strings.Join(messages, "&messageIds[]="),
		"messages v5": "/api/v5/messages/list?messageIds[]=" + strings.Join(messages, "&messageIds[]="),
		"posts":       "/api/v3/posts/list?postIds[]=" + strings.Join(posts, "&postIds[]="),
	} {
		some := strings.Join(strings.Split(path, "&")[:fitting], "&")
		for caller, by := range map[string]*apptest.Client{"user": author, "administrator": n.Admin(region.EU), "visitor": visitor} {
			a := measured(t, by, http.MethodGet, some, nil)
			if caller != "visitor" || name == "posts" {
				require.Equal(t, http.StatusOK, a.status, "%s as %s", name, caller)
				require.Greater(t, a.bytes, fitting*largestObject*2*9/10)
			}
			a.requireBounded(t, name+" as "+caller)
			a = measured(t, by, http.MethodGet, path, nil)
			require.Less(t, a.allocated, page.MaxReadBytes+besides, "too many %s as %s: rows are not read any more once they are too large", name,
				caller)
			if caller != "visitor" || name == "posts" {
				requireFailure(t, failure{status: 422, code: 500000}, by.Do(t, http.MethodGet, path, nil))
			}
		}
	}
	var activities []object
	for _, id := range posts {
		activities = append(activities, activity("post", id, time.Now()))
	}
	for caller, by := range map[string]*apptest.Client{"a user": author, "a visitor": visitor} {
		a := measured(t, by, http.MethodPost, activitiesPath, object{"activities": activities})
		require.Less(t, a.allocated, besides, "activities of 100 posts, reported by %s: their rows are %d bytes large", caller,
			2*len(posts)*largestObject)
	}
}
