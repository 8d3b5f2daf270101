package conformance

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

// hidingFixture is a network in which two flags hide content, with a community.
type hidingFixture struct {
	n            *apptest.Network
	boss, author *apptest.Client
	staff        *apptest.Client
	reporters    []*apptest.Client
	community    string
}

func newHidingFixture(t *testing.T) *hidingFixture {
	t.Helper()
	n := apptest.Start(t)
	f := &hidingFixture{
		n: n, boss: n.NewUser(t, region.EU, "boss"), author: n.NewUser(t, region.US, "author"), staff: n.Admin(region.SG),
		reporters: []*apptest.Client{n.NewUser(t, region.SG, "first"), n.NewUser(t, region.EU, "second"), n.NewUser(t, region.US, "third")},
	}
	f.community = newCommunity(t, f.boss, object{"userIds": []string{f.author.UserID}})
	f.limit(t, 2)
	return f
}

// limit sets flagHideLimit in all regions.
func (f *hidingFixture) limit(t *testing.T, limit int) {
	t.Helper()
	for _, code := range region.All() {
		f.n.Admin(code).Do(t, http.MethodPut, "/api/v3/network-settings", object{"flagHideLimit": limit}).OK(t)
	}
}

// flag has the first n reporters flag an object.
func (f *hidingFixture) flag(t *testing.T, noun, id string, n int) {
	t.Helper()
	for _, c := range f.reporters[:n] {
		flag(t, c, noun, id)
	}
}

func (f *hidingFixture) resolve(t *testing.T, id, outcome string) {
	t.Helper()
	f.boss.Do(t, http.MethodPost, flagItemsPath+"/"+id+"/resolve", object{"outcome": outcome}).OK(t)
}

// requirePost checks who sees a post in a community, wherever it is shown, and that the counts agree.
func (f *hidingFixture) requirePost(t *testing.T, id, feedType string, published, reviewing, declined int) {
	t.Helper()
	reader := f.reporters[0]
	list := "/api/v4/posts?targetType=community&targetId=" + f.community
	listed := reader.Do(t, http.MethodGet, list, nil).OK(t).Strings(t, "posts", "postId")
	feed := reader.Do(t, http.MethodGet, "/api/v3/community-feeds/"+f.community, nil).OK(t).Strings(t, "data.posts", "postId")
	read := reader.Do(t, http.MethodGet, "/api/v3/posts/"+id, nil)
	if feedType == "published" {
		require.Contains(t, listed, id)
		require.Contains(t, feed, id)
		read.OK(t)
	} else {
		require.NotContains(t, listed, id)
		require.NotContains(t, feed, id)
		requireFailure(t, notFound, read)
		require.Contains(t, f.boss.Do(t, http.MethodGet, list+"&feedType="+feedType, nil).OK(t).Strings(t, "posts", "postId"), id)
	}
	for _, c := range []*apptest.Client{f.author, f.boss, f.staff} {
		c.Do(t, http.MethodGet, "/api/v3/posts/"+id, nil).OK(t)
	}
	community := f.boss.Do(t, http.MethodGet, communitiesPath+"/"+f.community, nil).OK(t)
	require.Equal(t, published, community.Int(t, "communities.0.postsCount"))
	counts := map[string]float64{}
	for _, feed := range community.List(t, "feeds") {
		counts[text(feed.(object), "feedType")] = feed.(object)["postCount"].(float64)
	}
	require.Equal(t, map[string]float64{"published": float64(published), "reviewing": float64(reviewing), "declined": float64(declined)},
		counts)
}

// TestFlagsHidePosts flags a post once less than the limit and up to the limit, and resolves its item in every way.
func TestFlagsHidePosts(t *testing.T) {
	t.Parallel()
	f := newHidingFixture(t)
	post := newPost(t, f.author, f.community, object{"attachments": attached(t, f.n, "image")})
	pins := communityPins + f.community + "/default"
	f.boss.Do(t, http.MethodPost, pins+"/"+post, nil).OK(t)
	pinned := func() []string {
		return f.reporters[0].Do(t, http.MethodGet, pins, nil).OK(t).Strings(t, "pins", "referenceId")
	}
	f.flag(t, "posts", post, 1)
	f.flag(t, "posts", post, 1)
	require.Equal(t, []string{post}, pinned())
	f.requirePost(t, post, "published", 1, 0, 0)
	requireItem(t, f.boss, post, object{"isHidden": false})
	flag(t, f.reporters[1], "posts", post)
	f.requirePost(t, post, "reviewing", 0, 1, 0)
	require.Empty(t, pinned())
	requireItem(t, f.boss, post, object{"isHidden": true, "flagCount": 2.0})
	f.resolve(t, post, "dismissed")
	f.requirePost(t, post, "published", 1, 0, 0)
	requireItem(t, f.boss, post, object{"isHidden": false})
	f.flag(t, "posts", post, 3)
	f.requirePost(t, post, "published", 1, 0, 0) // two of the users have flagged it before
	requireItem(t, f.boss, post, object{"isHidden": false, "flagCount": 3.0, "state": "open"})
	flag(t, f.n.NewUser(t, region.EU, "fourth"), "posts", post)
	f.requirePost(t, post, "reviewing", 0, 1, 0)
	f.resolve(t, post, "userBanned")
	f.requirePost(t, post, "declined", 0, 0, 1)
	requireItem(t, f.boss, post, object{"isHidden": false, "outcome": "userBanned"})
	f.resolve(t, post, "contentRemoved")
}

// TestReviewOfHiddenPosts approves and declines hidden posts by the operations of the review.
func TestReviewOfHiddenPosts(t *testing.T) {
	t.Parallel()
	f := newHidingFixture(t)
	approved, declined := newPost(t, f.author, f.community), newPost(t, f.author, f.community)
	for _, id := range []string{approved, declined} {
		f.flag(t, "posts", id, 2)
		require.Contains(t, f.boss.Do(t, http.MethodGet, "/api/v4/posts?targetType=community&feedType=reviewing&targetId="+f.community,
			nil).OK(t).Strings(t, "posts", "postId"), id)
	}
	f.boss.Do(t, http.MethodPost, "/api/v3/posts/"+approved+"/approve", nil).OK(t)
	f.boss.Do(t, http.MethodPost, "/api/v3/posts/"+declined+"/decline", nil).OK(t)
	f.requirePost(t, approved, "published", 1, 0, 1)
	f.requirePost(t, declined, "declined", 1, 0, 1)
	requireItem(t, f.boss, approved, object{
		"state": "resolved", "outcome": "dismissed", "isHidden": false, "flagCount": 0.0,
		"resolvedBy": f.boss.UserID,
	})
	requireItem(t, f.boss, declined, object{"state": "resolved", "outcome": "contentRemoved", "isHidden": false})
	require.Zero(t, f.boss.Do(t, http.MethodGet, "/api/v3/posts/"+approved, nil).OK(t).Int(t, "posts.0.flagCount"))
}

// TestFlagsOfChildPostsHideTheParent flags the photo of a post.
func TestFlagsOfChildPostsHideTheParent(t *testing.T) {
	t.Parallel()
	f := newHidingFixture(t)
	post := newPost(t, f.author, f.community, object{"attachments": attached(t, f.n, "image")})
	child := f.boss.Do(t, http.MethodGet, "/api/v3/posts/"+post, nil).OK(t).String(t, "posts.0.children.0")
	f.flag(t, "posts", child, 2)
	f.requirePost(t, post, "reviewing", 0, 1, 0)
	requireFailure(t, notFound, f.reporters[0].Do(t, http.MethodGet, "/api/v3/posts/"+child, nil))
	f.resolve(t, child, "dismissed")
	f.requirePost(t, post, "published", 1, 0, 0)
	f.reporters[0].Do(t, http.MethodGet, "/api/v3/posts/"+child, nil).OK(t)
}

// TestFlagsHideComments is TestFlagsHidePosts for a reply to a comment.
func TestFlagsHideComments(t *testing.T) {
	t.Parallel()
	f := newHidingFixture(t)
	post := newPost(t, f.author, f.community)
	parent := newComment(t, f.boss, post)
	reply := newComment(t, f.author, post, object{"parentId": parent})
	require := func(visible bool) {
		t.Helper()
		f.requireComment(t, post, parent, reply, visible)
	}
	f.flag(t, "comments", reply, 1)
	require(true)
	f.flag(t, "comments", reply, 2)
	require(false)
	f.resolve(t, reply, "dismissed")
	require(true)
	f.flag(t, "comments", reply, 3)
	require(true)
	flag(t, f.n.NewUser(t, region.EU, "fourth"), "comments", reply)
	require(false)
	f.boss.Do(t, http.MethodPost, commentsPath+"/"+reply+"/approve", nil).OK(t)
	require(true)
	for _, name := range []string{"fifth", "sixth"} {
		flag(t, f.n.NewUser(t, region.SG, name), "comments", reply)
	}
	require(false)
	f.resolve(t, reply, "contentRemoved")
	require(false)
	f.author.Do(t, http.MethodDelete, "/api/v4/comments/"+reply, nil).OK(t)
	require(false)
}

func (f *hidingFixture) requireComment(t *testing.T, post, parent, reply string, visible bool) {
	t.Helper()
	reader := f.reporters[0]
	listed := reader.Do(t, http.MethodGet, commentsPath+"?filterByParentId=false&referenceId="+post, nil).OK(t).Strings(t, "comments",
		"commentId")
	count := map[bool]int{true: 1}[visible]
	require.Equal(t, visible, reader.Do(t, http.MethodGet, commentsPath+"/"+reply, nil).Status == http.StatusOK)
	if visible {
		require.Contains(t, listed, reply)
	} else {
		require.NotContains(t, listed, reply)
	}
	require.Equal(t, count+1, reader.Do(t, http.MethodGet, "/api/v3/posts/"+post, nil).OK(t).Int(t, "posts.0.commentsCount"))
	require.Equal(t, count, reader.Do(t, http.MethodGet, commentsPath+"/"+parent, nil).OK(t).Int(t, "comments.0.childrenNumber"))
}

// TestFlagHideLimit checks the bounds of the setting, that 0 hides nothing, and that flags at once hide a post once.
func TestFlagHideLimit(t *testing.T) {
	t.Parallel()
	f := newHidingFixture(t)
	path := "/api/v3/network-settings"
	requireAttempts(t, []attempt{
		{"below", f.staff, http.MethodPut, path, object{"flagHideLimit": -1}, invalid("flagHideLimit")},
		{"above", f.staff, http.MethodPut, path, object{"flagHideLimit": 1001}, invalid("flagHideLimit")},
		{"the highest", f.staff, http.MethodPut, path, object{"flagHideLimit": 1000}, failure{}},
	})
	f.limit(t, 0)
	post := newPost(t, f.author, f.community)
	f.flag(t, "posts", post, 3)
	f.requirePost(t, post, "published", 1, 0, 0)
	f.limit(t, 3)
	other := newPost(t, f.author, f.community)
	var requests []*http.Request
	for i := range parallel {
		by := f.n.NewUser(t, region.All()[i%3], "reporter")
		requests = append(requests, by.Request(t, http.MethodPost, "/api/v3/posts/"+other+"/flag", nil))
	}
	sendConcurrently(f.n, requests)
	f.requirePost(t, other, "reviewing", 1, 1, 0)
}

// TestHiddenWallPosts checks that a hidden post on a wall is not in feeds, and that a network moderator decides about it.
func TestHiddenWallPosts(t *testing.T) {
	t.Parallel()
	f := newHidingFixture(t)
	reader := f.reporters[2]
	reader.Do(t, http.MethodPost, "/api/v4/me/following/"+f.author.UserID, nil).OK(t)
	post := newWallPost(t, f.author)
	shown := func() []string {
		return append(
			reader.Do(t, http.MethodGet, "/api/v1/me/following-feeds", nil).OK(t).Strings(t, "posts", "postId"),
			reader.Do(t, http.MethodGet, "/api/v3/user-feeds/"+f.author.UserID, nil).OK(t).Strings(t, "data.posts", "postId")...)
	}
	require.Equal(t, []string{post, post}, shown())
	f.flag(t, "posts", post, 2)
	require.Empty(t, shown())
	f.author.Do(t, http.MethodGet, "/api/v3/posts/"+post, nil).OK(t)
	f.staff.Do(t, http.MethodPost, flagItemsPath+"/"+post+"/resolve", object{"outcome": "dismissed"}).OK(t)
	require.Equal(t, []string{post, post}, shown())
}

// TestFlagsHideStories is TestFlagsHidePosts for a story, which its author and moderators still see.
func TestFlagsHideStories(t *testing.T) {
	t.Parallel()
	f := newHidingFixture(t)
	story := f.boss.NewStory(t, f.community)
	kept := f.boss.NewStory(t, f.community)
	requireVisible := func(visible bool) {
		t.Helper()
		f.requireStory(t, story, kept, visible)
	}
	flagStory := func(by ...*apptest.Client) {
		for _, c := range by {
			c.Do(t, http.MethodPost, "/api/v4/stories/"+story+"/flags", nil).OK(t)
		}
	}
	flagStory(f.reporters[0])
	requireVisible(true)
	flagStory(f.reporters[1])
	requireVisible(false)
	requireItem(t, f.boss, story, object{"isHidden": true, "flagCount": 2.0})
	f.staff.Do(t, http.MethodPost, flagItemsPath+"/"+story+"/resolve", object{"outcome": "dismissed"}).OK(t)
	requireVisible(true)
	flagStory(f.reporters...)
	requireVisible(true)
	flagStory(f.n.NewUser(t, region.EU, "fourth"))
	requireVisible(false)
	f.staff.Do(t, http.MethodPost, flagItemsPath+"/"+story+"/resolve", object{"outcome": "userBanned"}).OK(t)
	requireVisible(false)
	f.boss.Do(t, http.MethodDelete, "/api/v4/stories/"+story, nil).OK(t)
	count := f.boss.Do(t, http.MethodGet, "/api/v4/stories/count?targetType=community&targetId="+f.community, nil).OK(t).Int(t, "count")
	require.Equal(t, 1, count)
}

func (f *hidingFixture) requireStory(t *testing.T, story, kept string, visible bool) {
	t.Helper()
	list := "/api/v4/stories?targetType=community&targetId=" + f.community
	reader := f.reporters[0]
	listed := reader.Do(t, http.MethodGet, list, nil).OK(t).Strings(t, "stories", "storyId")
	require.Contains(t, listed, kept)
	require.Equal(t, visible, slices.Contains(listed, story))
	require.Equal(t, visible, reader.Do(t, http.MethodGet, "/api/v4/stories/"+story, nil).Status == http.StatusOK)
	require.Contains(t, f.boss.Do(t, http.MethodGet, list, nil).OK(t).Strings(t, "stories", "storyId"), story)
	for _, c := range []*apptest.Client{f.boss, f.staff} {
		c.Do(t, http.MethodGet, "/api/v4/stories/"+story, nil).OK(t)
	}
	count := reader.Do(t, http.MethodGet, "/api/v4/stories/count?targetType=community&targetId="+f.community, nil).OK(t).Int(t, "count")
	require.Equal(t, map[bool]int{true: 2, false: 1}[visible], count)
}

// TestFlagsHideMessages is TestFlagsHidePosts for a message, which its author and moderators still read. Others receive
// it as a deleted one, so that segments have no gaps.
func TestFlagsHideMessages(t *testing.T) {
	t.Parallel()
	f := newHidingFixture(t)
	c := newChat(t, f.boss, append(f.reporters, f.author)...)
	kept := c.newMessage(t, f.boss, "kept")
	message := c.newMessage(t, f.author, "secret", object{"tags": []string{"secret"}, "metadata": object{"secret": "yes"}})
	requireVisible := func(visible bool) {
		t.Helper()
		f.requireMessage(t, c, message, kept, visible)
	}
	flagMessage := func(by ...*apptest.Client) {
		for _, c := range by {
			c.Do(t, http.MethodPost, messagesPath+"/"+message+"/flags", nil).OK(t)
		}
	}
	flagMessage(f.reporters[0])
	requireVisible(true)
	flagMessage(f.reporters[1])
	requireVisible(false)
	requireItem(t, f.boss, message, object{"isHidden": true, "flagCount": 2.0})
	f.resolve(t, message, "dismissed")
	requireVisible(true)
	flagMessage(f.reporters...)
	requireVisible(true) // two of the users have flagged it before
	fourth := f.n.NewUser(t, region.EU, "fourth")
	f.boss.Do(t, http.MethodPost, c.path("/users"), object{"userIds": userIDs(fourth)}).OK(t)
	flagMessage(fourth)
	requireVisible(false)
	f.resolve(t, message, "contentRemoved")
	requireVisible(false)
}

// TestFlagsEscalateUsers checks that flags at the limit do not hide a user but escalate the item once, that moderators
// list the escalated items by the time of their escalation, and that flags which were dismissed do not escalate it again.
func TestFlagsEscalateUsers(t *testing.T) {
	t.Parallel()
	f := newHidingFixture(t)
	post, second, third := newPost(t, f.author, f.community), f.n.NewUser(t, region.EU, "second author"),
		f.n.NewUser(t, region.SG, "third author")
	flagUser := func(c *apptest.Client, by ...*apptest.Client) {
		for _, reporter := range by {
			nextMillisecond()
			reporter.Do(t, http.MethodPost, myFlagsPath+c.UserID, object{"reason": "Spam"}).OK(t)
		}
	}
	l := listing{by: f.staff, path: flagItemsPath, list: "items", id: "targetId"}.with("isEscalated", "true")
	requireEscalated := func(want bool, c *apptest.Client) {
		t.Helper()
		r := f.staff.Do(t, http.MethodGet, flagItemsPath+"/"+c.InternalID, nil).OK(t)
		require.Equal(t, want, r.Get(t, "items.0.escalatedAt") != nil)
		require.Equal(t, false, r.Get(t, "items.0.isHidden"))
	}
	flagUser(f.author, f.reporters[0])
	flagUser(second, f.reporters[0])
	flag(t, f.reporters[0], "posts", post)
	requireEscalated(false, f.author)
	l.requireOrder(t, []string{})

	flagUser(second, f.reporters[1])
	flagUser(f.author, f.reporters[1])
	flagUser(third, f.reporters[:2]...)
	at := f.staff.Do(t, http.MethodGet, flagItemsPath+"/"+second.InternalID, nil).OK(t).String(t, "items.0.escalatedAt")
	flagUser(second, f.reporters[2])
	requireItem(t, f.staff, second.InternalID, object{"escalatedAt": at, "flagCount": 3.0})
	l.requirePages(t, 1, []string{third.InternalID, f.author.InternalID, second.InternalID})
	l.with("sortBy", "firstCreated").requirePages(t, 1, []string{second.InternalID, f.author.InternalID, third.InternalID})
	for _, every := range []listing{{by: f.staff, path: flagItemsPath, list: "items", id: "targetId"}, l.with("isEscalated", "false")} {
		require.ElementsMatch(t, []string{post, second.InternalID, f.author.InternalID, third.InternalID}, every.ids(t, every.page(t, nil)))
	}
	l.with("targetType", "post").requireOrder(t, []string{})
	l.with("reason", "Spam").with("region", "us").requireOrder(t, []string{f.author.InternalID})
	l.with("state", "claimed").requireOrder(t, []string{})
	for _, by := range []*apptest.Client{f.reporters[0], second, f.staff} {
		by.Do(t, http.MethodGet, "/api/v3/users/"+f.author.UserID, nil).OK(t)
		by.Do(t, http.MethodGet, "/api/v3/posts/"+post, nil).OK(t)
	}

	f.staff.Do(t, http.MethodPost, flagItemsPath+"/"+f.author.InternalID+"/resolve", object{"outcome": "dismissed"}).OK(t)
	l.with("state", "resolved").requireOrder(t, []string{f.author.InternalID})
	flagUser(f.author, f.reporters[:2]...)
	requireEscalated(false, f.author)
	flagUser(f.author, f.reporters[2])
	requireEscalated(false, f.author)
	flagUser(f.author, second)
	requireEscalated(true, f.author)
	f.limit(t, 0)
	flagUser(f.boss, f.reporters...)
	requireEscalated(false, f.boss)
}

// TestHiddenMessagesInLists checks that hidden messages are deleted ones in the lists of ordinary users, whose pages are full,
// and that of these users only the author reads their files.
func TestHiddenMessagesInLists(t *testing.T) {
	t.Parallel()
	f := newHidingFixture(t)
	c := newChat(t, f.boss, append(f.reporters, f.author)...)
	picture := text(upload(t, f.author, "image", "a.png", pngOf(t, 9, 9)), "fileId")
	all := []string{sendImage(t, f.author, c.id, picture)}
	for range 9 {
		all = append(all, c.newMessage(t, f.author, "text"))
	}
	reader, shown := f.reporters[0], messagesPath+"/"+all[0]
	address := addressIn(t, reader, shown, picture)
	requirePicture := func(want failure, by ...*apptest.Client) {
		t.Helper()
		for _, c := range by {
			requireAttempts(t, []attempt{{"by the id", c, http.MethodGet, filesPath + "/" + picture + "/download", nil, want}})
		}
	}
	requirePicture(failure{}, reader, f.author, f.boss, f.staff)
	f.n.Anonymous(region.EU).Do(t, http.MethodGet, address, nil).OK(t)

	visible, hidden := []string{}, []string{}
	for i, id := range all { // the first one and three in the middle
		if i != 0 && (i < 4 || i > 6) {
			visible = append(visible, id)
			continue
		}
		hidden = append(hidden, id)
		for _, by := range f.reporters[:2] {
			by.Do(t, http.MethodPost, messagesPath+"/"+id+"/flags", nil).OK(t)
		}
	}
	list := listing{by: reader, path: messagesPath, list: "messages", id: "messageId"}.with("messageFeedId", c.id)
	live, deleted := list.with("isDeleted", "false"), list.with("isDeleted", "true")
	live.requirePages(t, 2, reversed(visible))
	live.with("options[sortBy]", "segmentAsc").requirePages(t, 1, visible)
	around := live.with("options[around]", all[5]).page(t, url.Values{"options[limit]": {"4"}})
	require.Equal(t, reversed(visible[1:5]), around.Strings(t, "messages", "messageId"))
	deleted.requireOrder(t, reversed(hidden))
	list.requireOrder(t, reversed(all))
	for _, by := range []*apptest.Client{f.author, f.boss, f.staff} {
		live.as(by).requirePages(t, 3, reversed(all))
		deleted.as(by).requireOrder(t, []string{})
	}

	requirePicture(forbidden, reader)
	requireFailure(t, failure{status: 403, code: 400300}, f.n.Anonymous(region.EU).Do(t, http.MethodGet, address, nil))
	requirePicture(failure{}, f.author, f.boss, f.staff)
	f.n.Anonymous(region.EU).Do(t, http.MethodGet, addressIn(t, f.boss, shown, picture), nil).OK(t)
	f.resolve(t, all[0], "dismissed")
	requirePicture(failure{}, reader)
}

// requireMessage checks who reads a message, the last one of a channel: alone, in lists and as a preview.
func (f *hidingFixture) requireMessage(t *testing.T, c *chat, id, kept string, visible bool) {
	t.Helper()
	list := messagesPath + "?messageFeedId=" + c.id
	reader := f.reporters[0]
	for _, path := range []string{messagesPath + "/" + id, messagesPath + "/list?messageIds=" + id, list + "&options[limit]=1"} {
		for _, by := range []*apptest.Client{reader, f.author, f.boss, f.staff} {
			r := by.Do(t, http.MethodGet, path, nil).OK(t)
			require.Equal(t, id, r.String(t, "messages.0.messageId"))
			require.Equal(t, visible || by != reader, strings.Contains(string(r.Body), "secret"), path)
			require.Equal(t, !visible && by == reader, r.Get(t, "messages.0.isDeleted"), path)
		}
	}
	feed := f.author.Do(t, http.MethodGet, "/api/v5/message-feeds/"+c.id, nil).OK(t)
	require.Equal(t, map[bool]string{true: id, false: kept}[visible], feed.String(t, "messageFeeds.0.lastMessageId"))
}
