package conformance

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

// userFeed returns the list of a user's posts.
func userFeed(by, owner *apptest.Client, sources ...string) listing {
	return listing{
		by: by, path: "/api/v4/user-feeds/" + owner.UserID, query: url.Values{"includePostedFeed[]": sources}, list: "posts", id: "postId",
	}
}

// TestUserFeedSources lists what a user has posted, on the own wall and in communities of all regions.
func TestUserFeedSources(t *testing.T) {
	t.Parallel()
	owner, guest := newUser(t, region.EU, "owner"), newUser(t, region.US, "guest")
	home, abroad := newCommunity(t, owner), newCommunity(t, guest)
	join(t, abroad, owner)
	var onWall, inCommunities, all []string
	for i := range 6 {
		newPost(t, guest, abroad)
		wall, by := newWallPost(t, owner), []string{home, abroad}[i%2]
		posted := newPost(t, owner, by)
		onWall, inCommunities, all = append(onWall, wall), append(inCommunities, posted), append(all, wall, posted)
	}
	byGuest := newWallPost(t, guest, object{"targetId": owner.UserID})
	onWall, all = append(onWall, byGuest), append(all, byGuest)
	for _, code := range region.All() {
		by := guest.At(code)
		userFeed(by, owner).requirePages(t, 2, reversed(onWall))
		userFeed(by, owner, "user").requireOrder(t, reversed(onWall))
		userFeed(by, owner, "community").requirePages(t, 2, reversed(inCommunities))
		userFeed(by, owner, "community", "user").requirePages(t, 3, reversed(all))
	}
	both := userFeed(guest, owner, "user", "community")
	both.with("sortBy", "firstCreated").requirePages(t, 4, all)
	nextMillisecond()
	admin(t).Do(t, http.MethodDelete, "/api/v4/posts/"+inCommunities[0], nil).OK(t)
	both.with("isDeleted", "false").with("sortBy", "firstCreated").requireOrder(t, append([]string{all[0]}, all[2:]...))
	both.with("isDeleted", "true").requireOrder(t, inCommunities[:1])
	both.with("sortBy", "lastUpdated").with("options[limit]", "1").requireOrder(t,
		append(inCommunities[:1:1], reversed(append(all[:1:1], all[2:]...))...))
	requireAggregate(t, both.page(t, nil), "", postAggregate)
	both.requireLimits(t)
}

// TestUserFeedKinds lists a user's posts in communities by what they hold.
func TestUserFeedKinds(t *testing.T) {
	t.Parallel()
	owner := newUser(t, region.SG, "owner")
	community := newCommunity(t, owner)
	text := newPost(t, owner, community)
	photo := newPost(t, owner, community, object{"attachments": photos(t, 1)})
	mixed := newPost(t, owner, community, object{"attachments": attached(t, apptest.Shared(t), "image", "file")})
	feed := userFeed(owner, owner, "community")
	feed.requireOrder(t, []string{mixed, photo, text})
	require.Len(t, feed.ids(t, feed.with("matchingOnlyParentPost", "false").page(t, nil)), 6, "parents and children")
	images := feed.with("dataTypes[]", "image")
	require.Equal(t, []string{"image", "image"}, images.page(t, nil).Strings(t, "posts", "dataType"))
	images = images.with("matchingOnlyParentPost", "true")
	images.requireOrder(t, []string{photo})
	images.with("includeMixedStructure", "true").requireOrder(t, []string{mixed, photo})
	require.Len(t, feed.ids(t, feed.with("dataTypes[]", "image", "file").page(t, nil)), 3)
}

// TestUserFeedOfPrivateCommunities lists posts in private communities for their members only, and no posts that wait for
// approval.
func TestUserFeedOfPrivateCommunities(t *testing.T) {
	t.Parallel()
	owner, member, stranger := newUser(t, region.EU, "owner"), newUser(t, region.US, "member"), newUser(t, region.SG, "stranger")
	boss := newUser(t, region.US, "boss")
	public := newPost(t, owner, newCommunity(t, owner))
	secret := newCommunity(t, boss, object{"isPublic": false, "isDiscoverable": true, "userIds": userIDs(owner, member)})
	inSecret := newPost(t, owner, secret)
	reviewing := newCommunity(t, boss, object{"needApprovalOnPostCreation": true})
	join(t, reviewing, owner)
	newPost(t, owner, reviewing)
	deleted := newCommunity(t, boss)
	join(t, deleted, owner)
	newPost(t, owner, deleted)
	boss.Do(t, http.MethodDelete, communitiesPath+"/"+deleted, nil).OK(t)
	userFeed(stranger, owner, "community").requireOrder(t, []string{public})
	for _, by := range []*apptest.Client{member, owner, admin(t)} {
		userFeed(by, owner, "community").requireOrder(t, []string{inSecret, public})
	}
	boss.Do(t, http.MethodPut, communitiesPath+"/"+secret+"/users/ban", object{"userIds": userIDs(member)}).OK(t)
	userFeed(member, owner, "community").requireOrder(t, []string{public})
}

// TestUserFeedRefusals checks what is refused, whatever the sources are.
func TestUserFeedRefusals(t *testing.T) {
	t.Parallel()
	owner, blocked := newUser(t, region.EU, "owner"), newUser(t, region.US, "blocked")
	newPost(t, owner, newCommunity(t, owner))
	owner.Do(t, http.MethodPost, blocksPath+"/"+blocked.UserID, nil).OK(t)
	var attempts []attempt
	for _, source := range []string{"user", "community"} {
		path := "/api/v4/user-feeds/" + owner.UserID + "?includePostedFeed[]=" + source
		attempts = append(attempts,
			attempt{source + " of a user who blocks the caller", blocked, http.MethodGet, path, nil, notFound},
			attempt{
				source + " of an unknown user", owner, http.MethodGet, "/api/v4/user-feeds/unknown-user?includePostedFeed[]=" + source, nil,
				notFound,
			},
			attempt{source + " anonymously", apptest.Shared(t).Anonymous(region.EU), http.MethodGet, path, nil, unauthorized},
			attempt{source + " by another order", owner, http.MethodGet, path + "&sortBy=customRanking", nil, invalid("sortBy")},
		)
	}
	requireAttempts(t, append(attempts,
		attempt{
			"other source", owner, http.MethodGet, "/api/v4/user-feeds/" + owner.UserID + "?includePostedFeed[]=channel", nil,
			invalid("includePostedFeed[0]"),
		}))
}
