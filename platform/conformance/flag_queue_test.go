package conformance

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

const (
	flagItemsPath  = "/api/v1/moderation/flag-items"
	flagCountsPath = "/api/v1/moderation/flag-item-counts"
)

// requireItem reads the item of a target and checks some of its fields.
func requireItem(t *testing.T, by *apptest.Client, targetID string, want object) *apptest.Response {
	t.Helper()
	r := by.Do(t, http.MethodGet, flagItemsPath+"/"+targetID, nil).OK(t)
	require.Subset(t, r.Get(t, "items.0"), want)
	return r
}

// requireFlagCounts checks the number of items of a query by state, and that the lists contain as many.
func requireFlagCounts(t *testing.T, by *apptest.Client, query string, open, claimed, resolved int) {
	t.Helper()
	counts := by.Do(t, http.MethodGet, flagCountsPath+"?"+query, nil).OK(t)
	for state, want := range map[string]int{"open": open, "claimed": claimed, "resolved": resolved} {
		require.Equal(t, want, counts.Int(t, state), state)
		listed := by.Do(t, http.MethodGet, flagItemsPath+"?options[limit]=100&state="+state+"&"+query, nil).OK(t)
		require.Len(t, listed.List(t, "items"), want, state)
	}
}

// TestFlagQueue flags objects of every kind in every region, and lists and changes their items. It uses a network of its
// own because it lists all items.
func TestFlagQueue(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	author, reader, second := n.NewUser(t, region.US, "author"), n.NewUser(t, region.SG, "reader"), n.NewUser(t, region.EU, "second")
	community := newCommunity(t, author.At(region.EU))
	post := newPost(t, author, community)
	comment := newComment(t, author, post)
	wallPost := newWallPost(t, author)
	story := newStory(t, author, community)
	chat := newChat(t, author, reader, second)
	message := chat.newMessage(t, author, "hello")
	for i, path := range []string{
		"/api/v3/posts/" + post + "/flag", "/api/v3/comments/" + comment + "/flag", "/api/v3/posts/" + wallPost + "/flag",
		storiesPath + "/" + story + "/flags", messagesPath + "/" + message + "/flags", myFlagsPath + author.UserID,
	} {
		nextMillisecond()
		reader.Do(t, http.MethodPost, path, object{"reason": []string{"Spam", "Others"}[i%2], "detail": "because"}).OK(t)
		second.Do(t, http.MethodPost, path, object{"reason": []string{"Spam", "Others"}[i%2]}).OK(t)
	}
	staff := n.NewUser(t, region.EU, "staff")
	n.Admin(region.EU).Do(t, http.MethodPut, "/api/v3/users", object{"userId": staff.UserID, "roles": []string{"moderator"}}).OK(t)
	all := []string{author.InternalID, message, story, wallPost, comment, post}
	for _, by := range []*apptest.Client{staff, n.Admin(region.SG)} {
		l := listing{by: by, path: flagItemsPath, list: "items", id: "targetId"}
		l.requirePages(t, 1, all)
		l.with("sortBy", "firstCreated").requirePages(t, 2, reversed(all))
		l.with("state", "claimed").requireOrder(t, []string{})
		l.with("targetType", "post").requireOrder(t, []string{wallPost, post})
		l.with("reason", "Others").requireOrder(t, []string{author.InternalID, story, comment})
		l.with("reason", "Others").with("targetType", "story").requireOrder(t, []string{story})
		l.with("communityId", community).requireOrder(t, []string{story, comment, post})
		l.with("communityId", community).with("targetType", "comment").requireOrder(t, []string{comment})
		l.with("channelId", chat.id).requireOrder(t, []string{message})
		l.with("region", "eu").requireOrder(t, []string{story, comment, post})
		l.requireLimits(t)
	}
	requireFlagCounts(t, staff, "", 6, 0, 0)
	requireFlagCounts(t, staff, "communityId="+community, 3, 0, 0)
	requireFlagCounts(t, staff, "channelId="+chat.id, 1, 0, 0)
	got := requireItem(t, staff, comment, object{
		"targetType": "comment", "targetId": comment, "region": "eu", "communityId": community, "channelId": "", "state": "open",
		"reason":    "Others",
		"flagCount": 2.0, "claimedBy": "", "outcome": "", "isHidden": false,
	})
	require.Subset(t, got.Get(t, "items.0.flags.1"), object{"userId": reader.UserID, "reason": "Others", "detail": "because"})
	require.ElementsMatch(t, []string{reader.UserID, second.UserID}, got.Strings(t, "users", "userId"))
	for _, id := range all {
		staff.Do(t, http.MethodPost, flagItemsPath+"/"+id+"/claim", nil).OK(t)
		requireItem(t, staff, id, object{"state": "claimed", "claimedBy": staff.UserID})
	}
	requireFlagCounts(t, staff, "", 0, 6, 0)
	require.Empty(t, staff.Do(t, http.MethodGet, flagItemsPath, nil).OK(t).List(t, "items"), "open ones by default")
	for _, id := range all {
		r := staff.Do(t, http.MethodPost, flagItemsPath+"/"+id+"/resolve", object{"outcome": "dismissed"}).OK(t)
		require.Subset(t, r.Get(t, "items.0"), object{
			"state": "resolved", "outcome": "dismissed", "resolvedBy": staff.UserID, "flagCount": 0.0,
			"flags": []any{},
		})
		require.ElementsMatch(t, []string{reader.UserID, second.UserID}, r.Strings(t, "clearedFlags", "userId"))
	}
	requireFlagCounts(t, staff, "", 0, 0, 6)
	require.Empty(t, staff.Do(t, http.MethodGet, flagListPath, nil).OK(t).List(t, "flags"))
	require.Zero(t, staff.Do(t, http.MethodGet, "/api/v3/posts/"+post, nil).OK(t).Int(t, "posts.0.flagCount"))
	reader.Do(t, http.MethodPost, "/api/v3/posts/"+post+"/flag", nil).OK(t)
	requireItem(t, staff, post, object{"state": "open", "outcome": "", "resolvedBy": "", "flagCount": 1.0, "reason": "Others"})
	require.Equal(t, []string{post}, staff.Do(t, http.MethodGet, flagItemsPath, nil).OK(t).Strings(t, "items", "targetId"))
	requireFlagCounts(t, staff, "", 1, 0, 5)
	requireAttempts(t, []attempt{
		{"by a user", reader, http.MethodGet, flagItemsPath, nil, notAllowed},
		{"counts by a user", reader, http.MethodGet, flagCountsPath, nil, notAllowed},
		{"an item by a user", reader, http.MethodGet, flagItemsPath + "/" + post, nil, notFound},
		{"an unknown item", staff, http.MethodGet, flagItemsPath + "/" + community, nil, notFound},
		{"an id of no form", staff, http.MethodGet, flagItemsPath + "/x", nil, notFound},
		{"an unknown community", staff, http.MethodGet, flagItemsPath + "?communityId=" + post, nil, notFound},
		{"two places", staff, http.MethodGet, flagItemsPath + "?communityId=" + community + "&channelId=" + chat.id, nil, invalid("communityId")},
		{"an unknown kind", staff, http.MethodGet, flagItemsPath + "?targetType=room", nil, invalid("targetType")},
		{"an unknown state", staff, http.MethodGet, flagItemsPath + "?state=done", nil, invalid("state")},
		{"an unknown order", staff, http.MethodGet, flagItemsPath + "?sortBy=lastUpdated", nil, invalid("sortBy")},
		{
			"an unknown outcome", staff, http.MethodPost, flagItemsPath + "/" + post + "/resolve",
			object{"outcome": "withdrawn"},
			invalid("outcome"),
		},
		{"a claim by an administrator", n.Admin(region.EU), http.MethodPost, flagItemsPath + "/" + post + "/claim", nil, forbidden},
	})
}

// TestFlagItemsFollowTheirObjects changes objects and flags by other operations than those of the queue.
func TestFlagItemsFollowTheirObjects(t *testing.T) {
	t.Parallel()
	club := newClub(t)
	query := "communityId=" + club.id
	path := func(id, of string) string { return "/api/v3/posts/" + id + of }
	first, second, third := newPost(t, club.member, club.id), newPost(t, club.member, club.id),
		newPost(t, club.member, club.id, object{"attachments": photos(t, 1)})
	child := club.boss.Do(t, http.MethodGet, path(third, ""), nil).OK(t).String(t, "posts.0.children.0")
	comment := newComment(t, club.member, third)
	for _, id := range []string{first, second, third, child} {
		flag(t, club.stranger, "posts", id)
		flag(t, club.stranger, "posts", id)
	}
	flag(t, club.stranger, "comments", comment)
	requireFlagCounts(t, club.boss, query, 5, 0, 0)
	club.stranger.Do(t, http.MethodDelete, path(first, "/unflag"), nil).OK(t)
	requireItem(t, club.boss, first, object{"state": "resolved", "outcome": "withdrawn", "resolvedBy": ""})
	club.boss.Do(t, http.MethodDelete, path(second, "/flags"), nil).OK(t)
	requireItem(t, club.boss, second, object{"state": "resolved", "outcome": "dismissed", "resolvedBy": club.boss.UserID})
	requireFlagCounts(t, club.boss, query, 3, 0, 2)
	club.boss.Do(t, http.MethodPost, flagItemsPath+"/"+child+"/claim", nil).OK(t)
	club.member.Do(t, http.MethodDelete, path(third, ""), nil).OK(t)
	requireItem(t, club.boss, third, object{"state": "resolved", "outcome": "contentRemoved", "resolvedBy": ""})
	requireItem(t, club.boss, child, object{"state": "resolved", "outcome": "contentRemoved", "resolvedBy": club.boss.UserID})
	requireItem(t, club.boss, comment, object{"state": "resolved", "outcome": "contentRemoved"})
	requireFlagCounts(t, club.boss, query, 0, 0, 5)
	flag(t, club.stranger, "posts", first)
	requireFlagCounts(t, club.boss, query, 1, 0, 4)
	club.member.Do(t, http.MethodDelete, path(first, "?permanent=true"), nil).OK(t)
	requireFailure(t, notFound, club.boss.Do(t, http.MethodGet, flagItemsPath+"/"+first, nil))
	requireFlagCounts(t, club.boss, query, 0, 0, 4)
}

// TestFlagItemClaims has moderators of different authority compete for an item.
func TestFlagItemClaims(t *testing.T) {
	t.Parallel()
	club := newClub(t)
	mod, peer, staff := newMember(t, club.id), newMember(t, club.id), newStaff(t, region.SG, "moderator")
	promote(t, club.boss, club.id, mod)
	promote(t, club.boss, club.id, peer)
	post := newPost(t, club.member, club.id)
	flag(t, club.stranger, "posts", post)
	item := flagItemsPath + "/" + post
	held := failure{status: 409, code: 400900}
	done := object{"outcome": "dismissed"}
	requireAttempts(t, []attempt{
		{"claim", mod, http.MethodPost, item + "/claim", nil, failure{}},
		{"claim again", mod, http.MethodPost, item + "/claim", nil, failure{}},
		{"claim by a peer", peer, http.MethodPost, item + "/claim", nil, held},
		{"release by a peer", peer, http.MethodDelete, item + "/claim", nil, held},
		{"resolve by a peer", peer, http.MethodPost, item + "/resolve", done, held},
		{"note by a peer", peer, http.MethodPost, item + "/notes", object{"text": "I have seen this before"}, failure{}},
		{"claim by the creator", club.boss, http.MethodPost, item + "/claim", nil, failure{}},
		{"claim by the one before", mod, http.MethodPost, item + "/claim", nil, held},
		{"claim by staff", staff, http.MethodPost, item + "/claim", nil, failure{}},
		{"release by the creator", club.boss, http.MethodDelete, item + "/claim", nil, held},
		{"release", staff, http.MethodDelete, item + "/claim", nil, failure{}},
		{"release an open item", peer, http.MethodDelete, item + "/claim", nil, failure{}},
		{"resolve an open item", peer, http.MethodPost, item + "/resolve", done, failure{}},
		{"claim a resolved item", peer, http.MethodPost, item + "/claim", nil, failure{status: 400, code: 400000}},
		{"release a resolved item", peer, http.MethodDelete, item + "/claim", nil, failure{status: 400, code: 400000}},
		{"resolve again", peer, http.MethodPost, item + "/resolve", object{"outcome": "userBanned"}, failure{}},
		{"resolve again by a peer", mod, http.MethodPost, item + "/resolve", done, held},
		{"resolve again by the creator", club.boss, http.MethodPost, item + "/resolve", done, failure{}},
		{"resolve again by an administrator", admin(t), http.MethodPost, item + "/resolve", done, failure{}},
		{"resolve again after an administrator", staff, http.MethodPost, item + "/resolve", done, held},
		{
			"removed, but visible", admin(t), http.MethodPost, item + "/resolve",
			object{"outcome": "contentRemoved"},
			failure{status: 400, code: 400000},
		},
	})
	requireFlagCounts(t, club.boss, "communityId="+club.id, 0, 0, 1)
}

// TestMessageItemClaims has moderators of different authority in a channel compete for the item of a message.
func TestMessageItemClaims(t *testing.T) {
	t.Parallel()
	boss, mod, peer := newUser(t, region.EU, "boss"), newUser(t, region.US, "mod"), newUser(t, region.SG, "peer")
	author, other := newUser(t, region.EU, "author"), newUser(t, region.US, "other")
	chat := newChat(t, boss, mod, peer, author, other)
	chat.promote(t, mod, peer)
	message := chat.newMessage(t, author, "hello")
	author.Do(t, http.MethodPost, messagesPath+"/"+message+"/flags", nil).OK(t)
	item := flagItemsPath + "/" + message
	held := failure{status: 409, code: 400900}
	done := object{"outcome": "dismissed"}
	requireAttempts(t, []attempt{
		{"claim by a member", other, http.MethodPost, item + "/claim", nil, notFound},
		{"claim", mod, http.MethodPost, item + "/claim", nil, failure{}},
		{"claim by a peer", peer, http.MethodPost, item + "/claim", nil, held},
		{"resolve by a peer", peer, http.MethodPost, item + "/resolve", done, held},
		{"claim by the creator", boss, http.MethodPost, item + "/claim", nil, failure{}},
		{"claim by the one before", mod, http.MethodPost, item + "/claim", nil, held},
		{"release", boss, http.MethodDelete, item + "/claim", nil, failure{}},
		{"resolve", mod, http.MethodPost, item + "/resolve", done, failure{}},
		{"resolve again by a peer", peer, http.MethodPost, item + "/resolve", done, held},
		{"resolve again by the creator", boss, http.MethodPost, item + "/resolve", done, failure{}},
	})
	requireFlagCounts(t, boss, "channelId="+chat.id, 0, 0, 1)
}

// TestLapsedClaim has a moderator claim an item again whose claim by a moderator of the same authority has lapsed.
func TestLapsedClaim(t *testing.T) {
	t.Parallel()
	club := newClub(t)
	mod, peer := newMember(t, club.id), newMember(t, club.id)
	promote(t, club.boss, club.id, mod)
	promote(t, club.boss, club.id, peer)
	post := newPost(t, club.member, club.id)
	flag(t, club.stranger, "posts", post)
	claim := flagItemsPath + "/" + post + "/claim"
	mod.Do(t, http.MethodPost, claim, nil).OK(t)
	requireFailure(t, failure{status: 409, code: 400900}, peer.Do(t, http.MethodPost, claim, nil))
	conn := connectTo(t, apptest.Shared(t))
	_, err := conn.Exec(t.Context(), `UPDATE flag_items SET claimed_until = claimed_until - INTERVAL '1 hour' WHERE target_id = $1`, post)
	require.NoError(t, err)
	requireFlagCounts(t, club.boss, "communityId="+club.id, 0, 1, 0)
	peer.Do(t, http.MethodPost, claim, nil).OK(t)
	requireItem(t, club.boss, post, object{"state": "claimed", "claimedBy": peer.UserID})
}

// TestOneModeratorClaims has 20 moderators of the same authority claim an item at once, through all regions.
func TestOneModeratorClaims(t *testing.T) {
	t.Parallel()
	club := newClub(t)
	post := newPost(t, club.member, club.id)
	flag(t, club.stranger, "posts", post)
	var requests []*http.Request
	for i := range parallel {
		mod := newMember(t, club.id)
		promote(t, club.boss, club.id, mod)
		requests = append(requests, mod.At(region.All()[i%3]).Request(t, http.MethodPost, flagItemsPath+"/"+post+"/claim", nil))
	}
	found := map[int]int{}
	for _, status := range sendConcurrently(club.boss.Network, requests) {
		found[status]++
	}
	require.Equal(t, map[int]int{http.StatusOK: 1, http.StatusConflict: parallel - 1}, found)
	requireFlagCounts(t, club.boss, "communityId="+club.id, 0, 1, 0)
}

// TestFlagCountsUnderConcurrency flags, unflags and resolves a post at once, and checks the counts.
func TestFlagCountsUnderConcurrency(t *testing.T) {
	t.Parallel()
	club := newClub(t)
	post := newPost(t, club.member, club.id)
	var requests []*http.Request
	for i := range parallel {
		by := newUser(t, region.All()[i%3], "reporter")
		requests = append(requests, by.Request(t, http.MethodPost, "/api/v3/posts/"+post+"/flag", nil),
			by.Request(t, http.MethodDelete, "/api/v3/posts/"+post+"/unflag", nil),
			club.boss.Request(t, http.MethodPost, flagItemsPath+"/"+post+"/resolve", object{"outcome": "dismissed"}))
	}
	sendConcurrently(club.boss.Network, requests)
	counts := club.boss.Do(t, http.MethodGet, flagCountsPath+"?communityId="+club.id, nil).OK(t)
	item := club.boss.Do(t, http.MethodGet, flagItemsPath+"/"+post, nil).OK(t)
	want := map[string]int{"open": 0, "claimed": 0, "resolved": 0}
	want[item.String(t, "items.0.state")] = 1
	for state, n := range want {
		require.Equal(t, n, counts.Int(t, state), state)
	}
	flags := len(item.List(t, "items.0.flags"))
	require.Equal(t, flags, item.Int(t, "items.0.flagCount"))
	require.Equal(t, flags > 0, item.String(t, "items.0.state") == "open")
	require.Equal(t, flags, club.boss.Do(t, http.MethodGet, "/api/v3/posts/"+post, nil).OK(t).Int(t, "posts.0.flagCount"))
}

// TestFlagNotes adds notes up to the limit and one more.
func TestFlagNotes(t *testing.T) {
	t.Parallel()
	club := newClub(t)
	post := newPost(t, club.member, club.id)
	flag(t, club.stranger, "posts", post)
	path := flagItemsPath + "/" + post + "/notes"
	for i := range 50 {
		by := []*apptest.Client{club.boss, admin(t)}[i%2]
		by.Do(t, http.MethodPost, path, object{"text": longText(1000)}).OK(t)
	}
	requireAttempts(t, []attempt{
		{"one more", club.boss, http.MethodPost, path, object{"text": "x"}, failure{status: 400, code: 400000}},
		{"too long", club.boss, http.MethodPost, path, object{"text": longText(1001)}, invalid("text")},
		{"empty", club.boss, http.MethodPost, path, object{"text": ""}, invalid("text")},
		{"by a member", club.member, http.MethodPost, path, object{"text": "x"}, notFound},
	})
	notes := requireItem(t, club.boss, post, nil)
	require.Len(t, notes.List(t, "notes"), 50)
	require.Subset(t, notes.Get(t, "notes.0"), object{"userId": club.boss.UserID, "text": longText(1000)})
	require.Empty(t, notes.String(t, "notes.1.userId"))
}

// TestFlagQueuesArePrivate has moderators of a community and of a channel look for the items of others.
func TestFlagQueuesArePrivate(t *testing.T) {
	t.Parallel()
	mine, others := newClub(t), newClub(t, object{"isPublic": false, "isDiscoverable": false})
	post, elsewhere := newPost(t, mine.member, mine.id), newPost(t, others.member, others.id)
	wallPost := newWallPost(t, mine.boss)
	flag(t, mine.stranger, "posts", post)
	flag(t, others.boss, "posts", elsewhere)
	flag(t, mine.stranger, "posts", wallPost)
	chat, hidden := newChat(t, mine.boss, mine.member), newChatOf(t, others.boss, object{"isPublic": false}, others.member)
	message, unseen := chat.newMessage(t, mine.member, "hello"), hidden.newMessage(t, others.member, "hello")
	for id, by := range map[string]*apptest.Client{message: mine.member, unseen: others.member} {
		by.Do(t, http.MethodPost, messagesPath+"/"+id+"/flags", nil).OK(t)
	}
	requireFlagCounts(t, mine.boss, "communityId="+mine.id, 1, 0, 0)
	requireFlagCounts(t, mine.boss, "channelId="+chat.id, 1, 0, 0)
	item := func(id string) string { return flagItemsPath + "/" + id }
	boss, member := mine.boss, mine.member
	requireAttempts(t, []attempt{
		{"all items", boss, http.MethodGet, flagItemsPath, nil, notAllowed},
		{"all counts", boss, http.MethodGet, flagCountsPath, nil, notAllowed},
		{"another community", boss, http.MethodGet, flagItemsPath + "?communityId=" + others.id, nil, notFound},
		{"counts of another community", boss, http.MethodGet, flagCountsPath + "?communityId=" + others.id, nil, notFound},
		{"another channel", boss, http.MethodGet, flagItemsPath + "?channelId=" + hidden.id, nil, notFound},
		{"an item of another community", boss, http.MethodGet, item(elsewhere), nil, notFound},
		{"claim an item of another community", boss, http.MethodPost, item(elsewhere) + "/claim", nil, notFound},
		{"resolve an item of another community", boss, http.MethodPost, item(elsewhere) + "/resolve", object{"outcome": "dismissed"}, notFound},
		{"an item of another channel", boss, http.MethodGet, item(unseen), nil, notFound},
		{"an item on the own wall", boss, http.MethodGet, item(wallPost), nil, notFound},
		{"a member", member, http.MethodGet, flagItemsPath + "?communityId=" + mine.id, nil, notAllowed},
		{"a banned member", mine.banned, http.MethodGet, flagItemsPath + "?communityId=" + mine.id, nil, notAllowed},
		{"a member of a channel", member, http.MethodGet, flagItemsPath + "?channelId=" + chat.id, nil, notAllowed},
		{"an item by a member", member, http.MethodPost, item(post) + "/claim", nil, notFound},
		{"the own item", boss, http.MethodPost, item(post) + "/claim", nil, failure{}},
		{"a message", boss, http.MethodPost, item(message) + "/resolve", object{"outcome": "dismissed"}, failure{}},
	})
	boss.Do(t, http.MethodDelete, communitiesPath+"/"+mine.id, nil).OK(t)
	requireFailure(t, notFound, boss.Do(t, http.MethodGet, item(post), nil))
}
