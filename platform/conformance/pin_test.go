package conformance

import (
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

const (
	globalPins    = "/api/v1/pinned-posts/global"
	communityPins = "/api/v1/pinned-posts/communities/"
)

var pinAggregate = []string{
	"posts", "postChildren", "comments", "users", "files", "communities", "communityUsers", "categories", "feeds",
	"videoStreamings", "polls",
}

var (
	pinFields       = resource{"referenceId": "id", "referenceType": "s", "placement": "s", "pinnedBy": "s", "pinnedAt": "ts"}
	pinTargetFields = resource{"targetId": "id", "targetType": "s", "lastPinsUpdatedAt": "ts"}
)

// requirePins checks an answer with pins and returns the ids of the pinned posts in its order.
func requirePins(t *testing.T, r *apptest.Response, targetID, targetType string) []string {
	t.Helper()
	a := requireAggregate(t, r, "", pinAggregate)
	targets := r.List(t, "pinTargets")
	require.Len(t, targets, 1)
	requireResource(t, "pinTargets", pinTargetFields, targets[0])
	require.Equal(t, targetID, r.String(t, "pinTargets.0.targetId"))
	require.Equal(t, targetType, r.String(t, "pinTargets.0.targetType"))
	for _, p := range r.List(t, "pins") {
		requireResource(t, "pins", pinFields, p)
		pin, _ := p.(object)
		require.Equal(t, "post", pin["referenceType"])
		a.requireHas("pins", "posts", text(pin, "referenceId"))
	}
	return r.Strings(t, "pins", "referenceId")
}

func setMaxGlobalPins(t *testing.T, n *apptest.Network, limit int) {
	t.Helper()
	for _, code := range region.All() {
		n.Admin(code).Do(t, http.MethodPut, "/api/v3/network-settings/social", object{"maxGlobalPinnedPost": limit}).OK(t)
	}
}

// TestGlobalPins pins posts of communities in every region, each through another region.
func TestGlobalPins(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	setMaxGlobalPins(t, n, 3)
	reader := n.NewUser(t, region.SG, "reader")
	var posts []string
	for i, code := range region.All() {
		author := n.NewUser(t, code, "author")
		posts = append(posts, newPost(t, author, newCommunity(t, author)))
		admin := n.Admin(region.All()[(i+1)%3])
		r := admin.Do(t, http.MethodPost, globalPins+"/"+posts[i], nil)
		require.Equal(t, []string{posts[i]}, requirePins(t, r, n.NetworkID, "network"))
		require.Equal(t, "global", r.String(t, "pins.0.placement"))
		require.Equal(t, posts[i], r.String(t, "posts.0.postId"))
		again := admin.Do(t, http.MethodPost, globalPins+"/"+posts[i], nil).OK(t)
		require.Equal(t, r.Get(t, "pins"), again.Get(t, "pins"), "a second time changes nothing")
	}
	newestFirst := []string{posts[2], posts[1], posts[0]}
	for _, code := range region.All() {
		require.Equal(t, newestFirst, requirePins(t, reader.At(code).Do(t, http.MethodGet, globalPins+"?includeMixedStructure=true", nil),
			n.NetworkID, "network"))
	}
	require.Equal(t, posts, requirePins(t, reader.Do(t, http.MethodGet, globalPins+"?options[sortBy]=createdAt&options[orderBy]=asc", nil),
		n.NetworkID, "network"))
	require.Equal(t, newestFirst, requirePins(t, reader.Do(t, http.MethodGet, globalPins+"?sortBy=lastCreated", nil), n.NetworkID, "network"))

	setMaxGlobalPins(t, n, 1)
	again := n.Admin(region.US).Do(t, http.MethodPost, globalPins+"/"+posts[0], nil)
	require.Equal(t, []string{posts[0]}, requirePins(t, again, n.NetworkID, "network"), "with a lower limit than there are pins")
	require.Equal(t, newestFirst, requirePins(t, reader.Do(t, http.MethodGet, globalPins, nil), n.NetworkID, "network"))
	setMaxGlobalPins(t, n, 3)
	author := n.NewUser(t, region.US, "author")
	fourth := newPost(t, author, newCommunity(t, author))
	r := n.Admin(region.US).Do(t, http.MethodPost, globalPins+"/"+fourth, nil)
	requireFailure(t, forbidden, r)
	require.Contains(t, r.String(t, "message"), "at most")

	r = n.Admin(region.US).Do(t, http.MethodDelete, globalPins+"/"+posts[1], nil)
	require.Empty(t, requirePins(t, r, n.NetworkID, "network"))
	require.Equal(t, posts[1], r.String(t, "posts.0.postId"))
	requireFailure(t, notFound, n.Admin(region.US).Do(t, http.MethodDelete, globalPins+"/"+posts[1], nil))
	require.Equal(t, []string{fourth}, requirePins(t, n.Admin(region.EU).Do(t, http.MethodPost, globalPins+"/"+fourth, nil), n.NetworkID,
		"network"),
		"not the other post at its home")
	require.Equal(t, []string{fourth, posts[2], posts[0]},
		requirePins(t, reader.Do(t, http.MethodGet, globalPins, nil), n.NetworkID, "network"))

	n.Admin(region.SG).Do(t, http.MethodDelete, "/api/v4/posts/"+posts[2], nil).OK(t)
	require.Equal(t, []string{fourth, posts[0]}, requirePins(t, reader.Do(t, http.MethodGet, globalPins, nil), n.NetworkID, "network"),
		"a deleted post is pinned no more")
	require.Empty(t, requirePins(t, n.Admin(region.SG).Do(t, http.MethodDelete, globalPins, nil), n.NetworkID, "network"))
	require.Empty(t, requirePins(t, reader.Do(t, http.MethodGet, globalPins, nil), n.NetworkID, "network"))
}

// TestGlobalPinLimitHolds pins posts of all homes concurrently. At most the limit succeed and stay pinned.
func TestGlobalPinLimitHolds(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	for range 5 {
		var wg sync.WaitGroup
		var mu sync.Mutex
		succeeded := 0
		for _, code := range region.All() {
			author := n.NewUser(t, code, "author")
			post := newPost(t, author, newCommunity(t, author))
			admin := n.Admin(code)
			wg.Go(func() {
				if admin.Do(t, http.MethodPost, globalPins+"/"+post, nil).Status == http.StatusOK {
					mu.Lock()
					succeeded++
					mu.Unlock()
				}
			})
		}
		wg.Wait()
		require.LessOrEqual(t, succeeded, 1)
		require.Len(t, n.Admin(region.EU).Do(t, http.MethodGet, globalPins, nil).OK(t).List(t, "pins"), succeeded)
		n.Admin(region.EU).Do(t, http.MethodDelete, globalPins, nil).OK(t)
	}
}

func TestGlobalPinRefusals(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	require.Equal(t, 1, n.Admin(region.EU).Do(t, http.MethodGet, settingsPath, nil).OK(t).Int(t, "maxGlobalPinnedPost"))
	author := n.NewUser(t, region.EU, "author")
	community := newCommunity(t, author)
	post := newPost(t, author, community)
	withImage := author.Do(t, http.MethodPost, "/api/v4/posts", object{
		"targetType": "community", "targetId": community, "data": object{"text": "x"},
		"attachments": attached(t, n, "image"),
	}).OK(t)
	deleted := newPost(t, author, community)
	author.Do(t, http.MethodDelete, "/api/v4/posts/"+deleted, nil).OK(t)
	private := newCommunity(t, author, object{"isPublic": false})
	reviewed := newCommunity(t, author, object{"needApprovalOnPostCreation": true})
	member := n.NewUser(t, region.US, "member")
	join(t, reviewed, member)
	badPost := failure{status: 400, code: 400000}
	admin := n.Admin(region.SG)
	pinning := func(id string) string { return globalPins + "/" + id }
	requireAttempts(t, []attempt{
		{"a child post", admin, http.MethodPost, pinning(withImage.String(t, "postChildren.0.postId")), nil, badPost},
		{"a deleted post", admin, http.MethodPost, pinning(deleted), nil, notFound},
		{"an unapproved post", admin, http.MethodPost, pinning(newPost(t, member, reviewed)), nil, badPost},
		{"of a private community", admin, http.MethodPost, pinning(newPost(t, author, private)), nil, forbidden},
		{"on a wall", admin, http.MethodPost, pinning(newWallPost(t, author)), nil, forbidden},
		{"an unknown post", admin, http.MethodPost, pinning(unknownID), nil, notFound},
		{"no id at all", admin, http.MethodPost, pinning("nothing"), nil, notFound},
		{"a postId of 900", admin, http.MethodPost, pinning(strings.Repeat("a", 900)), nil, notFound},
		{"a postId of 901", admin, http.MethodPost, pinning(strings.Repeat("a", 901)), nil, invalid("postId")},
		{"as a user", author, http.MethodPost, pinning(post), nil, notAllowed},
		{"anonymous", n.Anonymous(region.EU), http.MethodPost, pinning(post), nil, unauthorized},
		{"unpin what is not pinned", admin, http.MethodDelete, pinning(post), nil, notFound},
		{"unpin as a user", author, http.MethodDelete, pinning(post), nil, notAllowed},
		{"unpin all as a user", author, http.MethodDelete, globalPins, nil, notAllowed},
		{"list anonymously", n.Anonymous(region.EU), http.MethodGet, globalPins, nil, unauthorized},
		{"list in no order", author, http.MethodGet, globalPins + "?sortBy=name", nil, invalid("sortBy")},
		{"a setting of 0", admin, http.MethodPut, settingsPath, object{"maxGlobalPinnedPost": 0}, invalid("maxGlobalPinnedPost")},
		{"a setting of 21", admin, http.MethodPut, settingsPath, object{"maxGlobalPinnedPost": 21}, invalid("maxGlobalPinnedPost")},
		{"a setting of 20", admin, http.MethodPut, settingsPath, object{"maxGlobalPinnedPost": 20}, failure{}},
		{"with the form of an empty body", admin, http.MethodPost, pinning(post), apptest.Form(""), failure{}},
	})
	author.Do(t, http.MethodPut, "/api/v3/communities/"+community, object{"isPublic": false}).OK(t)
	require.Empty(t, author.Do(t, http.MethodGet, globalPins, nil).OK(t).List(t, "pins"), "the community went private")
	author.Do(t, http.MethodPut, "/api/v3/communities/"+community, object{"isPublic": true}).OK(t)
	require.Len(t, author.Do(t, http.MethodGet, globalPins, nil).OK(t).List(t, "pins"), 1)
	author.Do(t, http.MethodDelete, "/api/v3/communities/"+community, nil).OK(t)
	require.Empty(t, admin.Do(t, http.MethodGet, globalPins, nil).OK(t).List(t, "pins"))
}

// TestPinOrders lists pins by the time of the pin, which is the default, and by the age of the post, in both directions.
func TestPinOrders(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	setMaxGlobalPins(t, n, 2)
	author := n.NewUser(t, region.EU, "author")
	community := newCommunity(t, author)
	first := newPost(t, author, community)
	nextMillisecond()
	second := newPost(t, author, community)
	for _, id := range []string{second, first} {
		nextMillisecond()
		n.Admin(region.EU).Do(t, http.MethodPost, globalPins+"/"+id, nil).OK(t)
		author.Do(t, http.MethodPost, communityPins+community+"/default/"+id, nil).OK(t)
	}
	for _, target := range [][3]string{
		{globalPins, n.NetworkID, "network"},
		{communityPins + community, community, "community"},
		{communityPins + community + "/default", community, "community"},
	} {
		for query, want := range map[string][]string{
			"": {first, second}, "?sortBy=lastPinned": {first, second}, "?options[orderBy]=desc": {first, second},
			"?options[orderBy]=asc": {second, first},
			"?sortBy=lastCreated":   {second, first}, "?sortBy=lastCreated&options[orderBy]=asc": {first, second},
		} {
			require.Equal(t, want, requirePins(t, author.Do(t, http.MethodGet, target[0]+query, nil), target[1], target[2]), target[0]+query)
		}
	}
}

// TestCommunityPins pins at both placements, through a region that is not the community's home.
func TestCommunityPins(t *testing.T) {
	t.Parallel()
	author := newUser(t, region.EU, "author")
	member := newUser(t, region.US, "member")
	community := newCommunity(t, author)
	join(t, community, member)
	path := communityPins + community
	require.Empty(t, member.Do(t, http.MethodGet, path, nil).OK(t).List(t, "pinTargets"), "nothing was pinned yet")
	first, second := newPost(t, member, community), newPost(t, author, community)
	r := author.At(region.SG).Do(t, http.MethodPost, path+"/announcement/"+second, nil)
	require.Equal(t, []string{second}, requirePins(t, r, community, "community"))
	require.Equal(t, "announcement", r.String(t, "pins.0.placement"))
	require.Equal(t, author.UserID, r.String(t, "pins.0.pinnedBy"))
	for _, id := range []string{second, first} {
		author.At(region.SG).Do(t, http.MethodPost, path+"/default/"+id, nil).OK(t)
	}
	for _, c := range []struct {
		path string
		want []string
	}{
		{path, []string{first, second, second}},
		{path + "/default", []string{first, second}},
		{path + "/default?sortBy=lastCreated", []string{second, first}},
		{path + "/default?options[sortBy]=createdAt&options[orderBy]=asc", []string{second, first}},
		{path + "/announcement", []string{second}},
	} {
		require.Equal(t, c.want, requirePins(t, member.Do(t, http.MethodGet, c.path, nil), community, "community"), c.path)
	}
	r = author.Do(t, http.MethodDelete, path+"/default/"+first, nil)
	require.Empty(t, requirePins(t, r, community, "community"))
	require.Equal(t, []string{second}, requirePins(t, member.Do(t, http.MethodGet, path+"/default", nil), community, "community"))
	require.True(t, author.Do(t, http.MethodDelete, path+"/announcement", nil).OK(t).Bool(t, "success"))
	require.Equal(t, []string{second}, requirePins(t, member.Do(t, http.MethodGet, path, nil), community, "community"))
	require.True(t, author.Do(t, http.MethodDelete, path, nil).OK(t).Bool(t, "success"))
	require.Empty(t, requirePins(t, member.Do(t, http.MethodGet, path, nil), community, "community"))
}

func TestCommunityPinRefusals(t *testing.T) {
	t.Parallel()
	author := newUser(t, region.EU, "author")
	member, stranger := newUser(t, region.US, "member"), newUser(t, region.SG, "stranger")
	community, other := newCommunity(t, author), newCommunity(t, author)
	private := newCommunity(t, author, object{"isPublic": false, "isDiscoverable": true})
	join(t, community, member)
	post := newPost(t, author, community)
	path := communityPins + community
	requireAttempts(t, []attempt{
		{"as a member", member, http.MethodPost, path + "/default/" + post, nil, notAllowed},
		{"as a stranger", stranger, http.MethodPost, path + "/default/" + post, nil, notAllowed},
		{"unpin as a member", member, http.MethodDelete, path + "/default/" + post, nil, notAllowed},
		{"unpin all as a member", member, http.MethodDelete, path, nil, notAllowed},
		{"unpin a placement as a member", member, http.MethodDelete, path + "/default", nil, notAllowed},
		{"as an administrator", admin(t), http.MethodPost, path + "/default/" + post, nil, failure{}},
		{"elsewhere", author, http.MethodPost, path + "/elsewhere/" + post, nil, invalid("placement")},
		{"list elsewhere", author, http.MethodGet, path + "/elsewhere", nil, invalid("placement")},
		{"in another community", author, http.MethodPost, communityPins + other + "/default/" + post, nil, notFound},
		{"unpin what is not pinned", author, http.MethodDelete, path + "/announcement/" + post, nil, notFound},
		{"list an unknown community", author, http.MethodGet, communityPins + unknownID, nil, notFound},
		{"list no id", author, http.MethodGet, communityPins + "nothing", nil, notFound},
		{"unpin all of no id", author, http.MethodDelete, communityPins + "nothing", nil, notFound},
		{"list a private community", stranger, http.MethodGet, communityPins + private, nil, notMember},
		{"list anonymously", apptest.Shared(t).Anonymous(region.EU), http.MethodGet, path, nil, unauthorized},
		{"a communityId of 901", author, http.MethodGet, communityPins + strings.Repeat("a", 901), nil, invalid("communityId")},
	})
	for range 19 {
		author.Do(t, http.MethodPost, path+"/default/"+newPost(t, author, community), nil).OK(t)
	}
	r := author.Do(t, http.MethodPost, path+"/default/"+newPost(t, author, community), nil)
	requireFailure(t, forbidden, r)
	require.Contains(t, r.String(t, "message"), "at most")
	author.Do(t, http.MethodPost, path+"/default/"+post, nil).OK(t)
	author.Do(t, http.MethodPost, path+"/announcement/"+post, nil).OK(t)
}

// TestPinPostUnderReview checks that pinning reveals no more about a post than reading it: to a member who cannot see it, a post that
// waits for approval does not exist.
func TestPinPostUnderReview(t *testing.T) {
	t.Parallel()
	author, member, other := newUser(t, region.EU, "author"), newUser(t, region.EU, "member"), newUser(t, region.US, "other")
	community := newCommunity(t, author, object{"needApprovalOnPostCreation": true})
	join(t, community, member)
	join(t, community, other)
	waiting := newPost(t, member, community)
	path := communityPins + community + "/default/"
	requireAttempts(t, []attempt{
		{"a member who cannot see it", other, http.MethodPost, path + waiting, nil, notFound},
		{"an unknown post", other, http.MethodPost, path + unknownID, nil, notFound},
		{"its author, without the permission", member, http.MethodPost, path + waiting, nil, notAllowed},
		{
			"a moderator", author, http.MethodPost, path + waiting, nil,
			failure{status: 400, code: 400000, message: "A post that is not approved cannot be pinned"},
		},
	})
}
