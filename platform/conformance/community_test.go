package conformance

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

const communitiesPath = "/api/v3/communities"

// everything returns all fields that a community can be created with, except categories.
func everything(t *testing.T) object {
	t.Helper()
	return object{
		"displayName": "Gärtner", "description": "about plants", "avatarFileId": fileOf(t, "image"), "isPublic": false,
		"tags": []any{"green", "a b"}, "metadata": object{"deep": object{"list": []any{1.0, "x", nil, true}}},
		"isDiscoverable": true, "requiresJoinApproval": true, "needApprovalOnPostCreation": true,
		"needApprovalOnCommentCreation": true, "onlyAdminCanPost": true, "allowCommentInStory": false,
		"notificationMode": "silent", "type": "event",
	}
}

func TestCreateCommunity(t *testing.T) {
	t.Parallel()
	n := apptest.Shared(t)
	alice, bob := newUser(t, region.US, "alice"), newUser(t, region.EU, "bob")
	for _, code := range region.All() {
		body := with(everything(t), object{"userIds": []string{bob.UserID, alice.UserID, bob.UserID}})
		a := requireAggregate(t, alice.At(code).Do(t, http.MethodPost, communitiesPath+"/", body), "", communityAggregate)
		c := a.one("communities")
		for field, want := range everything(t) {
			require.Equal(t, want, c[field], field)
		}
		id := text(c, "communityId")
		home, err := region.HomeOf(id)
		require.NoError(t, err)
		require.Equal(t, code, home, "a community lives where it was made")
		require.Equal(t, n.NetworkID+"/social/community/"+id, c["path"])
		require.Equal(t, id, c["_id"])
		require.Equal(t, alice.UserID, c["userId"])
		require.Equal(t, alice.UserID, c["userPublicId"])
		require.Equal(t, alice.InternalID, c["userInternalId"])
		require.Equal(t, true, c["isJoined"])
		require.InDelta(t, 2, c["membersCount"], 0)
		require.InDelta(t, 1, c["moderatorMemberCount"], 0)
		require.InDelta(t, 0, c["postsCount"], 0)
		require.ElementsMatch(t, []string{alice.UserID, bob.UserID}, a.values("communityUsers", "userId"))
		mine := a.find("communityUsers", "userId", alice.UserID)
		require.Equal(t, "member", mine["communityMembership"])
		require.Contains(t, mine["roles"], "community-moderator")
		require.Contains(t, mine["roles"], "channel-moderator")
		require.Contains(t, mine["permissions"], "ADD_COMMUNITY_USER")
		require.NotContains(t, a.find("communityUsers", "userId", bob.UserID)["roles"], "community-moderator")
		require.Contains(t, a.values("feeds", "feedType"), "published")
		for _, at := range region.All() {
			got := requireAggregate(t, alice.At(at).Do(t, http.MethodGet, communitiesPath+"/"+id, nil), "", communityAggregate)
			require.Equal(t, c, got.one("communities"), "the same at every region")
		}
	}
}

func TestCommunityDefaults(t *testing.T) {
	t.Parallel()
	alice := newUser(t, region.EU, "alice")
	r := alice.Do(t, http.MethodPost, communitiesPath, object{"displayName": "x"})
	c := requireAggregate(t, r, "", communityAggregate).one("communities")
	for field, want := range (object{
		"isPublic": true, "isDiscoverable": true, "isOfficial": false, "requiresJoinApproval": false, "onlyAdminCanPost": false,
		"needApprovalOnPostCreation": false, "needApprovalOnCommentCreation": false, "allowCommentInStory": true,
		"notificationMode": "default", "type": "default", "tags": []any{}, "categoryIds": []any{}, "metadata": object{},
		"description": "", "hasFlaggedComment": false, "hasFlaggedPost": false, "isDeleted": false,
	}) {
		require.Equal(t, want, c[field], field)
	}
}

func TestUpdateCommunity(t *testing.T) {
	t.Parallel()
	alice := newUser(t, region.EU, "alice")
	category := newCategory(t, admin(t), "category")
	put := func(t *testing.T, id string, body object) object {
		t.Helper()
		r := alice.At(region.SG).Do(t, http.MethodPut, communitiesPath+"/"+id, body)
		return requireAggregate(t, r, "", communityAggregate).one("communities")
	}
	for _, whole := range []bool{true, false} {
		id := newCommunity(t, alice)
		before := put(t, id, object{})
		fields := with(everything(t), object{"categoryIds": []any{category}})
		delete(fields, "type") // which cannot change
		var after object
		if whole {
			after = put(t, id, with(fields, object{"communityId": id}))
		} else {
			for field, value := range fields {
				after = put(t, id, object{field: value})
			}
		}
		for field, want := range with(before, fields) {
			if field != "updatedAt" {
				require.Equal(t, want, after[field], field)
			}
		}
		require.Equal(t, after, requireAggregate(t, alice.Do(t, http.MethodGet, communitiesPath+"/"+id, nil), "",
			communityAggregate).one("communities"))
		require.Empty(t, put(t, id, object{"description": ""})["description"], "an empty text is a text")
	}
	id := newCommunity(t, alice)
	stranger := newUser(t, region.US, "stranger")
	requireAttempts(t, []attempt{
		{"stranger", stranger, http.MethodPut, communitiesPath + "/" + id, object{"displayName": "x"}, notAllowed},
		{"unknown", alice, http.MethodPut, communitiesPath + "/" + unknownID, object{"displayName": "x"}, notFound},
		{"unknown category", alice, http.MethodPut, communitiesPath + "/" + id, object{"categoryIds": []string{unknownID}}, notFound},
		{"official", alice, http.MethodPut, communitiesPath + "/" + id, object{"isOfficial": true}, notAllowed},
		{"official, by an admin", admin(t), http.MethodPut, communitiesPath + "/" + id, object{"isOfficial": true}, failure{}},
		{"official as before", alice, http.MethodPut, communitiesPath + "/" + id, object{"isOfficial": true}, failure{}},
		{"not official any more", alice, http.MethodPut, communitiesPath + "/" + id, object{"isOfficial": false}, notAllowed},
		{"not official any more, by an admin", admin(t), http.MethodPut, communitiesPath + "/" + id, object{"isOfficial": false}, failure{}},
		{"not official as before", alice, http.MethodPut, communitiesPath + "/" + id, object{"isOfficial": false}, failure{}},
		{"id of 900", alice, http.MethodPut, communitiesPath + "/" + strings.Repeat("x", 900), object{}, notFound},
		{"id of 901", alice, http.MethodPut, communitiesPath + "/" + strings.Repeat("x", 901), object{}, invalid("communityId")},
	})
}

// TestDeleteCommunity checks that a deleted community can still be read, says that it is deleted, and refuses every
// other operation.
func TestDeleteCommunity(t *testing.T) {
	t.Parallel()
	alice, bob := newUser(t, region.EU, "alice"), newUser(t, region.US, "bob")
	name := apptest.UserID("Gone")
	id, kept := newCommunity(t, alice, object{"displayName": name}), newCommunity(t, alice, object{"displayName": name})
	post := newPost(t, alice, id)
	requireFailure(t, notAllowed, bob.Do(t, http.MethodDelete, communitiesPath+"/"+id, nil))
	require.JSONEq(t, `{"success":true}`, string(alice.At(region.SG).Do(t, http.MethodDelete, communitiesPath+"/"+id, nil).OK(t).Body))
	for _, code := range region.All() {
		c := requireAggregate(t, alice.At(code).Do(t, http.MethodGet, communitiesPath+"/"+id, nil), "", communityAggregate).one("communities")
		require.Equal(t, true, c["isDeleted"])
	}
	l := listing{by: alice, path: communitiesPath, list: "communities", id: "communityId"}
	require.NotContains(t, l.ids(t, l.with("filter", "member").page(t, nil)), id)
	requireAttempts(t, []attempt{
		{"again", alice, http.MethodDelete, communitiesPath + "/" + id, nil, notFound},
		{"update", alice, http.MethodPut, communitiesPath + "/" + id, object{"displayName": "x"}, notFound},
		{"join", bob, http.MethodPost, communitiesPath + "/" + id + "/join", nil, notFound},
		{"request", bob, http.MethodPost, "/api/v4/communities/" + id + "/join", nil, notFound},
		{"its post", alice, http.MethodGet, "/api/v3/posts/" + post, nil, notFound},
		{
			"a new post", alice, http.MethodPost, "/api/v4/posts",
			object{"targetType": "community", "targetId": id, "data": object{"text": "x"}},
			notFound,
		},
		{"its feed", alice, http.MethodGet, "/api/v3/community-feeds/" + id, nil, notFound},
		{"unknown", alice, http.MethodDelete, communitiesPath + "/" + unknownID, nil, notFound},
		{"id of 901", alice, http.MethodDelete, communitiesPath + "/" + strings.Repeat("x", 901), nil, invalid("communityId")},
		{"deleted ones as a user", bob, http.MethodGet, communitiesPath + "?isDeleted=true", nil, notAllowed},
	})
	deleted := listing{by: admin(t), path: communitiesPath, list: "communities", id: "communityId"}.with("isDeleted", "true")
	require.Contains(t, deleted.ids(t, deleted.page(t, nil)), id)
	named := listing{by: admin(t), path: communitiesPath, list: "communities", id: "communityId"}.with("displayName", name)
	named.requireOrder(t, []string{kept})
	named.with("isDeleted", "false").requireOrder(t, []string{kept})
	named.with("isDeleted", "true").requireOrder(t, []string{id})
}

// TestPrivateCommunities checks that only members see an undiscoverable community and that everyone can read a
// discoverable one.
func TestPrivateCommunities(t *testing.T) {
	t.Parallel()
	boss, member, stranger := newUser(t, region.EU, "boss"), newUser(t, region.US, "member"), newUser(t, region.SG, "stranger")
	name := apptest.UserID("Club")
	secret := newCommunity(t, boss, object{"displayName": name, "isPublic": false, "userIds": []string{member.UserID}})
	findable := newCommunity(t, boss, object{
		"displayName": name, "isPublic": false, "isDiscoverable": true,
		"userIds": []string{member.UserID},
	})
	find := func(t *testing.T, by *apptest.Client, query string) []string {
		t.Helper()
		r := by.Do(t, http.MethodGet, communitiesPath+"?displayName="+url.QueryEscape(name)+query, nil)
		return requireAggregate(t, r, "", communityAggregate).values("communities", "communityId")
	}
	batch := communitiesPath + "/list?communityIds[]=" + secret + "&communityIds[]=" + findable
	for by, want := range map[*apptest.Client][]string{
		stranger: {findable}, member: {secret, findable}, boss: {secret, findable}, admin(t): {secret, findable},
	} {
		require.ElementsMatch(t, want, find(t, by, ""))
		require.Equal(t, want, requireAggregate(t, by.Do(t, http.MethodGet, batch, nil), "", communityAggregate).values("communities",
			"communityId"))
	}
	require.Empty(t, find(t, stranger, "&includeDiscoverablePrivateCommunity=false"))
	require.Len(t, find(t, member, "&includeDiscoverablePrivateCommunity=false"), 2)
	post := newPost(t, member, findable)
	requireAttempts(t, []attempt{
		{"secret", stranger, http.MethodGet, communitiesPath + "/" + secret, nil, notFound},
		{"findable", stranger, http.MethodGet, communitiesPath + "/" + findable, nil, failure{}},
		{"secret, by an admin", admin(t), http.MethodGet, communitiesPath + "/" + secret, nil, failure{}},
		{"join secret", stranger, http.MethodPost, communitiesPath + "/" + secret + "/join", nil, notFound},
		{"join findable", stranger, http.MethodPost, communitiesPath + "/" + findable + "/join", nil, forbidden},
		{"feed of secret", stranger, http.MethodGet, "/api/v3/community-feeds/" + secret, nil, notFound},
		{"feed of findable", stranger, http.MethodGet, "/api/v3/community-feeds/" + findable, nil, notMember},
		{"members of secret", stranger, http.MethodGet, communitiesPath + "/" + secret + "/users", nil, notFound},
		{"members of findable", stranger, http.MethodGet, communitiesPath + "/" + findable + "/users", nil, notMember},
		{"post", stranger, http.MethodGet, "/api/v3/posts/" + post, nil, notMember},
		{"flag", stranger, http.MethodPost, "/api/v3/posts/" + post + "/flag", nil, notMember},
		{"comment", stranger, http.MethodPost, "/api/v3/comments", object{"referenceId": post, "data": object{"text": "x"}}, notMember},
		{"post, as a member", member, http.MethodGet, "/api/v3/posts/" + post, nil, failure{}},
	})
	r := stranger.Do(t, http.MethodGet, "/api/v3/posts/list?postIds[]="+post, nil)
	require.Empty(t, requireAggregate(t, r, "", postAggregate).lists["posts"])
}

// TestListCommunities uses a network of its own because it lists all communities.
func TestListCommunities(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	boss, reader := n.SignIn(t, region.US, "boss"), n.SignIn(t, region.SG, "reader")
	category := newCategory(t, n.Admin(region.SG), "category")
	var byTime, byName, mine, inCategory []string
	ids := map[string]string{}
	for i, name := range []string{"Music", "arts", "Zen", "Éclair", "Books", "cars", "Dance"} {
		fields := object{"displayName": name, "tags": []string{fmt.Sprint("tag", i%2)}}
		if i%2 == 0 {
			fields["userIds"] = []string{"reader"}
		}
		if i > 1 {
			fields["categoryIds"] = []string{category}
		}
		id := newCommunity(t, boss.At(region.All()[i%3]), fields)
		ids[name], byTime = id, append(byTime, id)
		if i%2 == 0 {
			mine = append(mine, id)
		}
		if i > 1 {
			inCategory = append(inCategory, id)
		}
	}
	for _, name := range []string{"arts", "Books", "cars", "Dance", "Music", "Zen", "Éclair"} {
		byName = append(byName, ids[name])
	}
	others := slices.DeleteFunc(slices.Clone(byTime), func(id string) bool { return slices.Contains(mine, id) })
	l := listing{by: reader, path: communitiesPath, list: "communities", id: "communityId"}
	for _, code := range region.All() {
		l.by = reader.At(code)
		l.requireOrder(t, reversed(byTime))
		l.with("sortBy", "lastCreated").requirePages(t, 3, reversed(byTime))
	}
	l.with("sortBy", "firstCreated").requirePages(t, 3, byTime)
	l.with("sortBy", "displayName").requirePages(t, 2, byName)
	for _, parameter := range []string{"filter", "membership"} {
		first := l.with("sortBy", "firstCreated")
		first.with(parameter, "member").requirePages(t, 1, mine)
		first.with(parameter, "notMember").requirePages(t, 1, others)
		first.with(parameter, "all").requireOrder(t, byTime)
	}
	l.with("filter", "member").requirePages(t, 1, reversed(mine))
	l.with("sortBy", "firstCreated").with("categoryId", category).requirePages(t, 2, inCategory)
	l.with("sortBy", "firstCreated").with("tags[]", "tag0").requireOrder(t, mine)
	l.with("sortBy", "firstCreated").with("tags[]", "tag0", "tag1").requireOrder(t, byTime)
	l.with("keyword", "ZE").requireOrder(t, []string{ids["Zen"]})
	l.with("displayName", "boo").requireOrder(t, []string{ids["Books"]})
	l.with("hasFlag", "false").requireOrder(t, reversed(byTime))
	l.requireLimits(t)
	a := requireAggregate(t, reader.Do(t, http.MethodGet, communitiesPath+"?options[limit]=100", nil), "", communityAggregate)
	for _, c := range a.lists["communities"] {
		require.Equal(t, slices.Contains(mine, text(c, "communityId")), c["isJoined"])
		require.InDelta(t, map[bool]int{true: 2, false: 1}[slices.Contains(mine, text(c, "communityId"))], c["membersCount"], 0)
	}
}

// TestFlaggedCommunities lists communities by whether they contain flagged content.
func TestFlaggedCommunities(t *testing.T) {
	t.Parallel()
	boss := newUser(t, region.EU, "boss")
	name := apptest.UserID("Quarrel")
	clean, flagged := newCommunity(t, boss.At(region.US), object{"displayName": name}),
		newCommunity(t, boss.At(region.SG), object{"displayName": name})
	post := newPost(t, boss, flagged)
	comment := newComment(t, boss, post)
	l := listing{by: admin(t), path: communitiesPath, list: "communities", id: "communityId"}.with("displayName", name)
	for noun, id := range map[string]string{"posts": post, "comments": comment} {
		flag(t, boss, noun, id)
		l.with("hasFlag", "true").requireOrder(t, []string{flagged})
		l.with("hasFlag", "false").requireOrder(t, []string{clean})
		require.ElementsMatch(t, []string{clean, flagged}, l.ids(t, l.page(t, nil)), "both by default")
		boss.Do(t, http.MethodDelete, "/api/v3/"+noun+"/"+id+"/flags", nil).OK(t)
		l.with("hasFlag", "true").requireOrder(t, []string{})
		require.Len(t, l.ids(t, l.with("hasFlag", "false").page(t, nil)), 2)
	}
}

func TestBatchGetCommunities(t *testing.T) {
	t.Parallel()
	alice := newUser(t, region.EU, "alice")
	one, two := newCommunity(t, alice.At(region.US)), newCommunity(t, alice.At(region.SG))
	list := func(ids ...string) string {
		return communitiesPath + "/list?" + url.Values{"communityIds[]": ids}.Encode()
	}
	get := func(ids ...string) []string {
		r := alice.Do(t, http.MethodGet, list(ids...), nil)
		return requireAggregate(t, r, "", communityAggregate).values("communities", "communityId")
	}
	require.Equal(t, []string{two, one}, get(two, one), "the order of the request")
	require.Equal(t, []string{one}, get(unknownID, one, one, "no id of ours"))
	found := newCommunity(t, newUser(t, region.US, "boss"), object{"isPublic": false, "isDiscoverable": true})
	require.Equal(t, []string{found, one}, get(found, one))
	public := alice.Do(t, http.MethodGet, list(found, one)+"&includeDiscoverablePrivateCommunity=false", nil)
	require.Equal(t, []string{one}, requireAggregate(t, public, "", communityAggregate).values("communities", "communityId"))
	hundred := slices.Repeat([]string{one}, 100)
	requireAttempts(t, []attempt{
		{"100 ids", alice, http.MethodGet, list(hundred...), nil, failure{}},
		{"101 ids", alice, http.MethodGet, list(append(hundred, one)...), nil, invalid("communityIds")},
		{"no ids", alice, http.MethodGet, communitiesPath + "/list", nil, invalid("communityIds")},
		{"id of 50", alice, http.MethodGet, list(strings.Repeat("x", 50)), nil, failure{}},
		{"id of 51", alice, http.MethodGet, list(strings.Repeat("x", 51)), nil, invalid("communityIds[0]")},
	})
}

func TestUniqueDisplayName(t *testing.T) {
	t.Parallel()
	alice := newUser(t, region.EU, "alice")
	name := apptest.UserID("Only")
	newCommunity(t, alice, object{"displayName": name, "isUniqueDisplayName": true})
	requireFailure(t, exists, alice.Do(t, http.MethodPost, communitiesPath, object{"displayName": name, "isUniqueDisplayName": true}))
	newCommunity(t, alice, object{"displayName": name})
}

func TestCommunityLimits(t *testing.T) {
	t.Parallel()
	alice := newUser(t, region.EU, "alice")
	long := func(length int) string { return strings.Repeat("é", length) }
	words := func(count, length int) []string { return slices.Repeat([]string{long(length)}, count) }
	base := object{"displayName": "x"}
	var attempts []attempt
	post := func(name string, fields object, want failure) {
		attempts = append(attempts, attempt{name, alice, http.MethodPost, communitiesPath, with(base, fields), want})
	}
	post("displayName of 1000", object{"displayName": long(1000)}, failure{})
	post("displayName of 1001", object{"displayName": long(1001)}, invalid("displayName"))
	post("displayName empty", object{"displayName": ""}, invalid("displayName"))
	post("description of 5000", object{"description": long(5000)}, failure{})
	post("description of 5001", object{"description": long(5001)}, invalid("description"))
	post("avatar of 50", object{"avatarFileId": long(50)}, notFound)
	post("avatar of 51", object{"avatarFileId": long(51)}, invalid("avatarFileId"))
	post("10 tags of 100", object{"tags": words(10, 100)}, failure{})
	post("11 tags", object{"tags": words(11, 1)}, invalid("tags"))
	post("tag of 101", object{"tags": words(1, 101)}, invalid("tags[0]"))
	post("empty tag", object{"tags": []string{""}}, invalid("tags[0]"))
	post("11 categories", object{"categoryIds": words(11, 1)}, invalid("categoryIds"))
	post("unknown category", object{"categoryIds": []string{unknownID}}, notFound)
	post("unknown user", object{"userIds": []string{"unknown-user"}}, notFound)
	post("1001 users", object{"userIds": words(1001, 1)}, invalid("userIds"))
	post("other mode", object{"notificationMode": "loud"}, invalid("notificationMode"))
	post("other type", object{"type": "party"}, invalid("type"))
	post("official", object{"isOfficial": true}, notAllowed)
	post("NUL", object{"displayName": "a\x00b"}, invalid("displayName"))
	requireAttempts(t, append(attempts,
		attempt{"no name", alice, http.MethodPost, communitiesPath, object{}, invalid("displayName")},
		attempt{"as an admin", admin(t), http.MethodPost, communitiesPath, base, forbidden},
		attempt{"unknown", alice, http.MethodGet, communitiesPath + "/" + unknownID, nil, notFound},
		attempt{"id of 900", alice, http.MethodGet, communitiesPath + "/" + strings.Repeat("x", 900), nil, notFound},
		attempt{"id of 901", alice, http.MethodGet, communitiesPath + "/" + strings.Repeat("x", 901), nil, invalid("communityId")},
		attempt{"keyword of 101", alice, http.MethodGet, communitiesPath + "?keyword=" + strings.Repeat("x", 101), nil, invalid("keyword")},
		attempt{"other filter", alice, http.MethodGet, communitiesPath + "?filter=some", nil, invalid("filter")},
		attempt{"other sort", alice, http.MethodGet, communitiesPath + "?sortBy=size", nil, invalid("sortBy")},
	))
}
