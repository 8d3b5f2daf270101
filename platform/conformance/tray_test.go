package conformance

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

const trayPath = "/api/v1/notification-tray"

// trayItem is what the tests look at of an item.
type trayItem struct {
	category, action, reference, text string
	actors                            int
}

// trayOf returns the items of a client's tray, the latest first.
func trayOf(t *testing.T, c *apptest.Client) []trayItem {
	t.Helper()
	var items []trayItem
	r := c.Do(t, http.MethodGet, trayPath, nil).OK(t)
	for i := range r.List(t, "notificationTrayItems") {
		at := fmt.Sprint("notificationTrayItems.", i, ".")
		item := trayItem{
			action: r.String(t, at+"actionType"), reference: r.String(t, at+"referenceId"), text: r.String(t, at+"text"),
			actors: r.Int(t, at+"actorsCount"),
		}
		if r.Has(t, at+"trayItemCategory") {
			item.category = r.String(t, at+"trayItemCategory")
		}
		items = append(items, item)
	}
	return items
}

// requireTray waits until the tray has exactly these items, because notices are delivered in the background.
func requireTray(t *testing.T, c *apptest.Client, want ...trayItem) {
	t.Helper()
	require.Eventually(t, func() bool {
		got := trayOf(t, c)
		if !slices.Equal(want, got) {
			t.Logf("the tray has %v", got)
		}
		return slices.Equal(want, got)
	}, apptest.Patience, 20*time.Millisecond, "want %v", want)
}

// rename gives users display names.
func rename(t *testing.T, clients map[string]*apptest.Client) {
	t.Helper()
	for name, c := range clients {
		c.Do(t, http.MethodPut, "/api/v3/users", object{"userId": c.UserID, "displayName": name}).OK(t)
	}
}

func mentioning(clients ...*apptest.Client) object {
	ids := make([]string, len(clients))
	for i, c := range clients {
		ids[i] = c.UserID
	}
	return object{"mentionees": []object{{"type": "user", "userIds": ids}}}
}

// TestTray does what users are told about, across regions, and checks the trays of those whom it concerns.
func TestTray(t *testing.T) {
	t.Parallel()
	us, eu, sg := newUserPerRegion(t, apptest.Shared(t))
	rename(t, map[string]*apptest.Client{"Uma": us, "Eva": eu, "Sam": sg})
	community := newCommunity(t, us)
	join(t, community, eu, sg)

	post := newPost(t, eu, community, mentioning(us, eu))
	requireTray(t, us, trayItem{"mention_in_post", "mention", post, "Eva mentioned you in a post", 1})
	comment := newComment(t, us, post)
	requireTray(t, eu, trayItem{"", "comment", post, "Uma commented on your post", 1})
	newComment(t, sg, post, object{"parentId": comment})
	requireTray(t, us,
		trayItem{"", "reply", comment, "Sam replied to your comment", 1},
		trayItem{"mention_in_post", "mention", post, "Eva mentioned you in a post", 1})
	requireTray(t, eu, trayItem{"", "comment", post, "Sam and Uma commented on your post", 2})
	newComment(t, eu, post, object{"parentId": comment}, mentioning(sg))
	requireTray(t, sg, trayItem{"mention_in_reply", "mention", post, "Eva mentioned you in a reply", 1})
	requireTray(t, us,
		trayItem{"", "reply", comment, "Eva and Sam replied to your comment", 2},
		trayItem{"mention_in_post", "mention", post, "Eva mentioned you in a post", 1})
	requireTray(t, eu, trayItem{"", "comment", post, "Sam and Uma commented on your post", 2})

	react := func(c *apptest.Client, kind, id, name string) {
		t.Helper()
		nextMillisecond()
		c.Do(t, http.MethodPost, "/api/v2/reactions", object{"referenceId": id, "referenceType": kind, "reactionName": name}).OK(t)
	}
	react(us, "post", post, "like")
	react(us, "post", post, "love")
	react(sg, "post", post, "like")
	react(eu, "post", post, "like")
	react(eu, "comment", comment, "like")
	requireTray(t, eu,
		trayItem{"reaction_on_post", "reaction", post, "Sam and Uma reacted to your post", 2},
		trayItem{"", "comment", post, "Sam and Uma commented on your post", 2})
	require.Eventually(t, func() bool {
		return trayOf(t, us)[0] == trayItem{"reaction_on_comment", "reaction", comment, "Eva reacted to your comment", 1}
	}, apptest.Patience, 20*time.Millisecond)
	follow(t, eu, sg)
	require.Eventually(t, func() bool {
		item := trayOf(t, sg)[0]
		return item.category == "follow" && item.text == "Eva started following you"
	}, apptest.Patience, 20*time.Millisecond)
}

// TestTrayOfCommunity checks the items about join requests and invitations.
func TestTrayOfCommunity(t *testing.T) {
	t.Parallel()
	us, eu, sg := newUserPerRegion(t, apptest.Shared(t))
	rename(t, map[string]*apptest.Client{"Uma": us, "Eva": eu, "Sam": sg})
	community := newApprovalCommunity(t, us)
	path := "/api/v4/communities/" + community + "/join"
	eu.Do(t, http.MethodPost, path, nil).OK(t)
	nextMillisecond()
	sg.Do(t, http.MethodPost, path, nil).OK(t)
	requireTray(t, us, trayItem{"", "join_request", community, "Sam and Eva requested to join your community", 2})
	us.Do(t, http.MethodPost, path+"/approve", object{"userId": eu.UserID}).OK(t)
	us.Do(t, http.MethodPost, path+"/reject", object{"userId": sg.UserID}).OK(t)
	requireTray(t, eu, trayItem{"respond_on_join_request", "join_request", community, "Uma approved your request to join a community", 1})
	requireTray(t, sg, trayItem{"respond_on_join_request", "join_request", community, "Uma declined your request to join a community", 1})
	nextMillisecond()
	newInvitation(t, us, object{
		"type": "communityMemberInvite", "targetType": "community", "targetId": community,
		"userIds": []string{sg.UserID},
	})
	requireTray(t, sg,
		trayItem{"", "user", community, "Uma invited you to a community", 1},
		trayItem{"respond_on_join_request", "join_request", community, "Uma declined your request to join a community", 1})
}

// TestTrayTellsNoSecrets checks that users are not told about what they may not see and about users whom they block.
func TestTrayTellsNoSecrets(t *testing.T) {
	t.Parallel()
	us, eu, sg := newUserPerRegion(t, apptest.Shared(t))
	rename(t, map[string]*apptest.Client{"Uma": us, "Eva": eu, "Sam": sg})
	private := newCommunity(t, us, object{"isPublic": false})
	reviewed := newCommunity(t, us, object{"needApprovalOnPostCreation": true})
	join(t, reviewed, eu)
	newPost(t, us, private, mentioning(sg))
	waiting := newPost(t, eu, reviewed, mentioning(sg))
	wall := newWallPost(t, eu)
	block(t, eu, sg)
	open := newPost(t, us, newCommunity(t, us), mentioning(sg))
	sg.Do(t, http.MethodPost, "/api/v2/reactions", object{"referenceId": wall, "referenceType": "post", "reactionName": "like"})
	requireTray(t, sg, trayItem{"mention_in_post", "mention", open, "Uma mentioned you in a post", 1})
	eu.Do(t, http.MethodDelete, "/api/v4/me/user-blocks/"+sg.UserID, nil).OK(t)
	us.Do(t, http.MethodPost, "/api/v3/posts/"+waiting+"/approve", nil).OK(t)
	requireTray(t, sg,
		trayItem{"mention_in_post", "mention", waiting, "Eva mentioned you in a post", 1},
		trayItem{"mention_in_post", "mention", open, "Uma mentioned you in a post", 1})
	require.Empty(t, trayOf(t, eu))
}

// TestTraySeen reads a tray by page and marks it and its items as seen.
func TestTraySeen(t *testing.T) {
	t.Parallel()
	us, eu, sg := newUserPerRegion(t, apptest.Shared(t))
	state := us.Do(t, http.MethodGet, trayPath+"/tray/seen", nil).OK(t)
	require.Nil(t, state.Get(t, "lastTraySeenAt"))
	require.Nil(t, state.Get(t, "lastTrayOccurredAt"))
	post := newWallPost(t, us)
	newComment(t, eu, post)
	newComment(t, sg, newWallPost(t, us))
	follow(t, sg, us)
	require.Eventually(t, func() bool { return len(trayOf(t, us)) == 3 }, apptest.Patience, 20*time.Millisecond)

	var ids []string
	query := url.Values{"options[limit]": {"2"}}
	for range 2 {
		r := us.Do(t, http.MethodGet, trayPath+"?"+query.Encode(), nil).OK(t)
		ids = append(ids, r.Strings(t, "notificationTrayItems", "_id")...)
		query = url.Values{"options[token]": {r.String(t, "paging.next")}}
	}
	require.Len(t, ids, 3)
	first := us.Do(t, http.MethodGet, trayPath, nil).OK(t)
	require.Equal(t, ids, first.Strings(t, "notificationTrayItems", "_id"))
	require.ElementsMatch(t, []string{eu.UserID, sg.UserID}, first.Strings(t, "users", "userId"))
	require.Equal(t, sg.UserID, first.String(t, "notificationTrayItems.0.actors.0.publicId"))
	require.Nil(t, first.Get(t, "notificationTrayItems.0.lastSeenAt"))

	occurred := us.Do(t, http.MethodGet, trayPath+"/tray/seen", nil).OK(t).String(t, "lastTrayOccurredAt")
	require.Equal(t, first.String(t, "notificationTrayItems.0.lastOccurredAt"), occurred)
	seen := us.Do(t, http.MethodPost, trayPath+"/tray/seen", object{"lastSeenAt": "2999-01-01T00:00:00.000Z"}).OK(t).String(t, "lastSeenAt")
	require.Greater(t, seen, occurred)
	require.Less(t, seen, "2999")
	us.Do(t, http.MethodPost, trayPath+"/tray/seen", object{"lastSeenAt": "2020-01-01T00:00:00.000Z"}).OK(t)
	require.Equal(t, seen, us.Do(t, http.MethodGet, trayPath+"/tray/seen", nil).OK(t).String(t, "lastTraySeenAt"))

	items := []object{{"id": ids[0], "lastSeenAt": seen}, {"id": region.NewID(region.US)}}
	r := us.Do(t, http.MethodPost, trayPath+"/items/seen", object{"trayItems": items}).OK(t)
	require.Equal(t, []string{ids[0]}, r.Strings(t, "trayItems", "id"))
	require.Equal(t, seen, us.Do(t, http.MethodGet, trayPath, nil).OK(t).String(t, "notificationTrayItems.0.lastSeenAt"))
	require.Empty(t, eu.Do(t, http.MethodPost, trayPath+"/items/seen", object{"trayItems": items[:1]}).OK(t).List(t, "trayItems"))
	requireFailure(t, invalid("trayItems"), us.Do(t, http.MethodPost, trayPath+"/items/seen", object{"trayItems": []object{}}))
	requireFailure(t, invalid("trayItems[0].id"),
		us.Do(t, http.MethodPost, trayPath+"/items/seen", object{"trayItems": []object{{"id": "x"}}}))
}

// TestTrayOfErasedActors checks that an item is left out when all of its actors were erased, and that others stay.
func TestTrayOfErasedActors(t *testing.T) {
	t.Parallel()
	eva, uma, bob := newUser(t, region.EU, "eva"), newUser(t, region.US, "uma"), newUser(t, region.EU, "bob")
	community := newCommunity(t, eva)
	join(t, community, uma, bob)
	first, second := newPost(t, eva, community), newPost(t, eva, community)
	for _, c := range []*apptest.Client{uma, bob} {
		newComment(t, c, first)
	}
	newComment(t, uma, second)
	actors := func() map[string]int {
		all := map[string]int{}
		for _, item := range trayOf(t, eva) {
			if item.action == "comment" {
				all[item.reference] = item.actors
			}
		}
		return all
	}
	require.Eventually(t, func() bool { return maps.Equal(map[string]int{first: 2, second: 1}, actors()) }, apptest.Patience,
		20*time.Millisecond)
	conn := connectTo(t, apptest.Shared(t))
	_, err := conn.Exec(t.Context(), "DELETE FROM tray_actors WHERE home = 'eu' AND actor_id = $1", uma.InternalID)
	require.NoError(t, err)
	require.Equal(t, map[string]int{first: 1}, actors())
}

// TestTrayOfManyActs checks the trays of two users whose posts others react to and comment on at the same time, so that notices are
// delivered together: each act counts once, except those of a user who is blocked.
func TestTrayOfManyActs(t *testing.T) {
	t.Parallel()
	const actors = 9
	eva, uma := newUser(t, region.EU, "eva"), newUser(t, region.US, "uma")
	community := newCommunity(t, eva)
	join(t, community, uma)
	byEva, byUma := newPost(t, eva, community), newPost(t, uma, community)
	var others []*apptest.Client
	for i := range actors {
		others = append(others, newUser(t, region.All()[i%3], fmt.Sprint("actor", i)))
	}
	join(t, community, others...)
	var g sync.WaitGroup
	for _, c := range others {
		for _, post := range []string{byEva, byUma} {
			g.Go(func() {
				reaction := c.Do(t, http.MethodPost, "/api/v2/reactions", object{"referenceId": post, "referenceType": "post", "reactionName": "like"})
				comment := c.Do(t, http.MethodPost, commentsPath, object{"referenceId": post, "referenceType": "post", "data": object{"text": "c"}})
				if reaction.Status != http.StatusOK || comment.Status != http.StatusOK {
					t.Errorf("the answers are %s and %s", reaction.Short(), comment.Short())
				}
			})
		}
	}
	g.Wait()
	for author, post := range map[*apptest.Client]string{eva: byEva, uma: byUma} {
		require.Eventually(t, func() bool {
			counts := map[string]int{}
			for _, item := range trayOf(t, author) {
				counts[item.action+item.reference] += item.actors
			}
			return counts["reaction"+post] == actors && counts["comment"+post] == actors
		}, apptest.Patience, 50*time.Millisecond)
	}

	block(t, uma, others[0])
	second := newPost(t, eva, community)
	for _, c := range others[:2] {
		newComment(t, c, second, mentioning(uma))
	}
	require.Eventually(t, func() bool {
		items := trayOf(t, uma)
		return items[0].category == "mention_in_comment" && items[0].actors == 1
	}, apptest.Patience, 50*time.Millisecond)
}
