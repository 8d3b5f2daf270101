package conformance

import (
	"net/http"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

const schedulePath = "/api/v1/posts/schedule"

var scheduledPostFields = resource{
	"_id": "id", "scheduledAt": "ts", "status": "o", "postData": "o", "userId": "s", "userDisplayName": "s",
	"createdAt": "ts", "updatedAt": "ts", "files": "[]", "communities": "[]",
}

// timeIn returns the time d from now in the format of requests.
func timeIn(d time.Duration) string {
	return time.Now().UTC().Add(d).Format("2006-01-02T15:04:05.000Z")
}

// scheduling returns the body of a request that schedules a post in a community.
func scheduling(at, communityID, text string) object {
	return object{"scheduledAt": at, "postData": object{"targetType": "community", "targetId": communityID, "data": object{"text": text}}}
}

// newScheduled schedules a post and returns its id.
func newScheduled(t *testing.T, c *apptest.Client, body object) string {
	t.Helper()
	r := c.Do(t, http.MethodPost, schedulePath, body)
	require.Equal(t, http.StatusCreated, r.Status, "%s", r.Body)
	id := r.String(t, "data.id")
	require.Regexp(t, idPattern, id)
	return id
}

// requireScheduled checks a page of scheduled posts and returns their ids.
func requireScheduled(t *testing.T, r *apptest.Response) []string {
	t.Helper()
	requireAggregate(t, r, "", []string{"users", "files", "communities", "polls"})
	require.Equal(t, apptest.Shared(t).NetworkID, r.String(t, "networkId"))
	r.String(t, "paging.next")
	r.String(t, "paging.prev")
	ids := []string{}
	for _, item := range r.List(t, "data") {
		requireResource(t, "data", scheduledPostFields, item)
		o, _ := item.(object)
		requireResource(t, "data.postData", postFields, o["postData"])
		requireResource(t, "data.status", resource{"code": "s", "description": "s"}, o["status"])
		for _, c := range o["communities"].([]any) {
			requireResource(t, "data.communities", communityFields, c)
		}
		ids = append(ids, text(o, "_id"))
	}
	return ids
}

// TestScheduledPostIsPublished schedules posts in one region for a community of another region and for two walls.
func TestScheduledPostIsPublished(t *testing.T) {
	t.Parallel()
	author, other := newUser(t, region.EU, "author"), newUser(t, region.US, "other")
	community := newCommunity(t, other)
	join(t, community, author)
	at := timeIn(time.Hour)
	body := with(scheduling(at, community, "later"), object{})
	body["postData"].(object)["attachments"] = attached(t, author.Network, "image")
	body["postData"].(object)["mentionees"] = []object{{"type": "user", "userIds": []string{other.UserID}}}
	id := newScheduled(t, author.At(region.SG), body)
	onOwn := newScheduled(t, author, object{
		"scheduledAt": at,
		"postData":    object{"data": object{"text": "mine", "images": []string{fileOf(t, "image")}}},
	})
	onOther := newScheduled(t, author, object{
		"scheduledAt": at,
		"postData":    object{"targetType": "user", "targetId": other.UserID, "data": object{"title": "T", "text": "x"}},
	})

	notYet := newScheduled(t, author, scheduling(at, community, "much later"))

	r := author.At(region.US).Do(t, http.MethodGet, schedulePath+"?sortBy=firstCreated", nil)
	require.Equal(t, []string{id, onOwn, onOther, notYet}, requireScheduled(t, r))
	require.Equal(t, "WAIT", r.String(t, "data.0.status.code"))
	require.NotEmpty(t, r.String(t, "data.0.status.description"))
	require.Equal(t, author.UserID, r.String(t, "data.0.userId"))
	require.Equal(t, "later", r.String(t, "data.0.postData.data.text"))
	require.Equal(t, author.UserID, r.String(t, "data.0.postData.publisherPublicId"))
	require.Equal(t, author.InternalID, r.String(t, "data.0.postData.publisherId"))
	require.Equal(t, community, r.String(t, "data.0.communities.0.communityId"))
	require.Equal(t, community, r.String(t, "communities.0.communityId"))
	postID := r.String(t, "data.0.postData.postId")
	requireFailure(t, notFound, author.Do(t, http.MethodGet, "/api/v3/posts/"+postID, nil))
	before := other.Do(t, http.MethodGet, "/api/v3/communities/"+community, nil).OK(t).Int(t, "communities.0.postsCount")

	makeDue(t, author.Network, "scheduled_posts", id, onOwn, onOther)
	require.Eventually(t, func() bool {
		return author.Do(t, http.MethodGet, "/api/v3/posts/"+postID, nil).Status == http.StatusOK
	}, apptest.Patience, 50*time.Millisecond)
	post := author.Do(t, http.MethodGet, "/api/v3/posts/"+postID, nil)
	a := requireAggregate(t, post, "", postAggregate)
	require.Equal(t, "later", post.String(t, "posts.0.data.text"))
	require.Equal(t, author.UserID, post.String(t, "posts.0.postedUserId"))
	require.Equal(t, "image", post.String(t, "posts.0.structureType"))
	require.Equal(t, fileOf(t, "image"), a.one("postChildren")["data"].(object)["fileId"])
	require.Equal(t, before+1, other.Do(t, http.MethodGet, "/api/v3/communities/"+community, nil).OK(t).Int(t, "communities.0.postsCount"))
	require.Eventually(t, func() bool {
		r := author.Do(t, http.MethodGet, schedulePath+"?notPostedOnly=true", nil)
		return slices.Equal([]string{notYet}, requireScheduled(t, r))
	}, apptest.Patience, 50*time.Millisecond)
	r = author.Do(t, http.MethodGet, schedulePath, nil)
	require.ElementsMatch(t, []string{id, onOwn, onOther, notYet}, requireScheduled(t, r))
	for _, item := range r.List(t, "data") {
		want := "posted"
		if item.(object)["_id"] == notYet {
			want = "WAIT"
		}
		require.Equal(t, want, item.(object)["status"].(object)["code"])
	}
	wall := author.Do(t, http.MethodGet, "/api/v5/posts?targetType=user&targetId="+author.UserID, nil).OK(t)
	require.Equal(t, "mine", wall.String(t, "posts.0.data.text"))
	require.Equal(t, fileOf(t, "image"), wall.String(t, "postChildren.0.data.fileId"))
	wall = author.Do(t, http.MethodGet, "/api/v5/posts?targetType=user&targetId="+other.UserID, nil).OK(t)
	require.Equal(t, "T", wall.String(t, "posts.0.data.title"))
	for method, body := range map[string]any{http.MethodPut: object{"scheduledAt": timeIn(time.Hour)}, http.MethodDelete: nil} {
		requireFailure(t, failure{status: 400, code: 400000}, author.Do(t, method, schedulePath+"/"+id, body))
	}
}

// TestScheduledPostIsReviewed checks that a scheduled post is reviewed like any other if the community requires it.
func TestScheduledPostIsReviewed(t *testing.T) {
	t.Parallel()
	owner, member := newUser(t, region.EU, "owner"), newUser(t, region.SG, "member")
	community := newCommunity(t, owner, object{"needApprovalOnPostCreation": true})
	join(t, community, member)
	makeDue(t, member.Network, "scheduled_posts", newScheduled(t, member, scheduling(timeIn(time.Hour), community, "please")))
	require.Eventually(t, func() bool {
		r := owner.Do(t, http.MethodGet, "/api/v5/posts?targetId="+community+"&feedType=reviewing", nil).OK(t)
		return len(r.List(t, "posts")) == 1
	}, apptest.Patience, 50*time.Millisecond)
}

// TestScheduledPostFails revokes the right to post before the publication time. The post fails and can be scheduled
// again.
func TestScheduledPostFails(t *testing.T) {
	t.Parallel()
	owner, member := newUser(t, region.EU, "owner"), newUser(t, region.US, "member")
	community, gone := newCommunity(t, owner), newCommunity(t, owner)
	join(t, community, member)
	join(t, gone, member)
	at := timeIn(time.Hour)
	id := newScheduled(t, member, scheduling(at, community, "no more"))
	other := newScheduled(t, member, scheduling(at, gone, "nowhere"))
	banMember(t, owner, community, member)
	owner.Do(t, http.MethodDelete, "/api/v3/communities/"+gone, nil).OK(t)
	makeDue(t, owner.Network, "scheduled_posts", id, other)
	failed := func(id string) bool {
		r := member.Do(t, http.MethodGet, schedulePath+"?notPostedOnly=true", nil).OK(t)
		for _, item := range r.List(t, "data") {
			if o := item.(object); o["_id"] == id {
				status := o["status"].(object)
				return status["code"] == "failed" && status["description"] != ""
			}
		}
		return false
	}
	for _, id := range []string{id, other} {
		require.Eventually(t, func() bool { return failed(id) }, apptest.Patience, 50*time.Millisecond)
	}
	owner.Do(t, http.MethodPut, "/api/v3/communities/"+community+"/users/unban", object{"userIds": []string{member.UserID}}).OK(t)
	join(t, community, member)
	requireFailure(t, invalid("scheduledAt"),
		member.Do(t, http.MethodPut, schedulePath+"/"+id, object{"postData": object{"data": object{"text": "x"}}}))
	member.Do(t, http.MethodPut, schedulePath+"/"+id, object{"scheduledAt": timeIn(time.Hour)}).OK(t)
	makeDue(t, owner.Network, "scheduled_posts", id)
	require.Eventually(t, func() bool {
		r := owner.Do(t, http.MethodGet, "/api/v5/posts?targetId="+community, nil).OK(t)
		return len(r.List(t, "posts")) == 1 && r.String(t, "posts.0.data.text") == "no more"
	}, apptest.Patience, 50*time.Millisecond)
}

func TestChangeScheduledPost(t *testing.T) {
	t.Parallel()
	author, stranger := newUser(t, region.EU, "author"), newUser(t, region.US, "stranger")
	community, elsewhere := newCommunity(t, author), newCommunity(t, author)
	id := newScheduled(t, author, scheduling(timeIn(time.Hour), community, "first"))
	path := schedulePath + "/" + id
	at := timeIn(48 * time.Hour)
	r := author.At(region.SG).Do(t, http.MethodPut, path, object{"scheduledAt": at}).OK(t)
	require.Equal(t, id, r.String(t, "data.id"))
	author.At(region.US).Do(t, http.MethodPut, path,
		object{"postData": object{"data": object{"text": "second"}, "attachments": attached(t, author.Network, "file")}}).OK(t)
	r = author.Do(t, http.MethodGet, schedulePath, nil)
	require.Equal(t, []string{id}, requireScheduled(t, r))
	require.Equal(t, at, r.String(t, "data.0.scheduledAt"))
	require.Equal(t, "second", r.String(t, "data.0.postData.data.text"))
	require.Equal(t, "file", r.String(t, "data.0.postData.structureType"))
	requireAttempts(t, []attempt{
		{"to another target", author, http.MethodPut, path, scheduling(at, elsewhere, "x"), failure{status: 400, code: 400000}},
		{"to nothing", author, http.MethodPut, path, object{}, badRequest},
		{"to the past", author, http.MethodPut, path, object{"scheduledAt": timeIn(-time.Minute)}, invalid("scheduledAt")},
		{"to no post", author, http.MethodPut, path, object{"postData": object{"data": object{}}}, invalid("data.text")},
		{"by a stranger", stranger, http.MethodPut, path, object{"scheduledAt": at}, notFound},
		{"cancelled by a stranger", stranger, http.MethodDelete, path, nil, notFound},
		{"by an anonymous caller", apptest.Shared(t).Anonymous(region.EU), http.MethodDelete, path, nil, unauthorized},
		{"an unknown one", author, http.MethodPut, schedulePath + "/" + unknownID, object{"scheduledAt": at}, notFound},
		{"no id", author, http.MethodDelete, schedulePath + "/nothing", nil, notFound},
		{"by an administrator", admin(t), http.MethodPut, path, object{"scheduledAt": timeIn(time.Hour)}, failure{}},
	})
	require.Empty(t, requireScheduled(t, stranger.Do(t, http.MethodGet, schedulePath, nil)))
	all := admin(t).Do(t, http.MethodGet, schedulePath+"?options[limit]=100&notPostedOnly=true", nil)
	require.Contains(t, requireScheduled(t, all), id)
	require.True(t, author.Do(t, http.MethodDelete, path, nil).OK(t).Bool(t, "success"))
	requireFailure(t, notFound, author.Do(t, http.MethodDelete, path, nil))
	require.Empty(t, requireScheduled(t, author.Do(t, http.MethodGet, schedulePath, nil)))
}

func TestScheduleLimits(t *testing.T) {
	t.Parallel()
	author, stranger := newUser(t, region.EU, "author"), newUser(t, region.US, "stranger")
	community := newCommunity(t, author)
	closed := newCommunity(t, author, object{"onlyAdminCanPost": true})
	join(t, closed, stranger)
	day := 24 * time.Hour
	post := object{"data": object{"text": "x"}}
	created := failure{status: http.StatusCreated}
	for _, c := range []struct {
		name string
		by   *apptest.Client
		body object
		want failure
	}{
		{"30 days ahead", author, scheduling(timeIn(30*day-time.Minute), community, "x"), created},
		{"more than 30 days ahead", author, scheduling(timeIn(30*day+time.Minute), community, "x"), invalid("scheduledAt")},
		{"in the past", author, scheduling(timeIn(-time.Minute), community, "x"), invalid("scheduledAt")},
		{"at no time", author, object{"postData": post}, invalid("scheduledAt")},
		{"at a wrong time", author, object{"scheduledAt": "tomorrow", "postData": post}, invalid("scheduledAt")},
		{"no post", author, object{"scheduledAt": timeIn(day)}, invalid("postData")},
		{"an empty post", author, object{"scheduledAt": timeIn(day), "postData": object{"data": object{}}}, invalid("data.text")},
		{
			"6 tags", author,
			object{"scheduledAt": timeIn(day), "postData": with(post, object{"tags": []string{"a", "b", "c", "d", "e", "f"}})},
			invalid("postData.tags"),
		},
		{"as a stranger", stranger, scheduling(timeIn(day), community, "x"), notMember},
		{"as a member who may not post", stranger, scheduling(timeIn(day), closed, "x"), notAllowed},
		{"in an unknown community", author, scheduling(timeIn(day), unknownID, "x"), notFound},
		{"anonymous", apptest.Shared(t).Anonymous(region.EU), scheduling(timeIn(day), community, "x"), unauthorized},
		{"as an administrator", admin(t), scheduling(timeIn(day), community, "x"), forbidden},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := c.by.Do(t, http.MethodPost, schedulePath, c.body)
			if c.want == created {
				require.Equal(t, http.StatusCreated, r.Status, "%s", r.Body)
				return
			}
			requireFailure(t, c.want, r)
		})
	}
}

// TestListScheduledPosts pages through posts for targets of every region, in each order.
func TestListScheduledPosts(t *testing.T) {
	t.Parallel()
	author := newUser(t, region.EU, "author")
	var ids []string
	for i := range 7 {
		owner := newUser(t, region.All()[i%3], "owner")
		community := newCommunity(t, owner)
		join(t, community, author)
		ids = append(ids, newScheduled(t, author, scheduling(timeIn(time.Hour), community, "x")))
	}
	author.Do(t, http.MethodPut, schedulePath+"/"+ids[2], object{"scheduledAt": timeIn(2 * time.Hour)}).OK(t)
	reversed := func(list []string) []string {
		out := []string{}
		for _, id := range list {
			out = append([]string{id}, out...)
		}
		return out
	}
	updated := []string{ids[0], ids[1], ids[3], ids[4], ids[5], ids[6], ids[2]}
	for order, want := range map[string][]string{
		"": reversed(ids), "lastCreated": reversed(ids), "firstCreated": ids, "lastUpdated": reversed(updated), "firstUpdated": updated,
	} {
		var seen []string
		query := "?sortBy=" + order
		path := schedulePath + query + "&options[limit]=3"
		for path != "" {
			r := author.At(region.SG).Do(t, http.MethodGet, path, nil)
			page := requireScheduled(t, r)
			if len(seen) == 3 {
				back := author.Do(t, http.MethodGet, schedulePath+query+"&options[token]="+url.QueryEscape(r.String(t, "paging.prev")), nil)
				require.Equal(t, seen, requireScheduled(t, back))
			}
			seen = append(seen, page...)
			path = ""
			if next := r.String(t, "paging.next"); next != "" {
				require.LessOrEqual(t, len(next), 1000)
				path = schedulePath + query + "&options[token]=" + url.QueryEscape(next)
			}
		}
		require.Equal(t, want, seen, order)
	}
	requireFailure(t, invalid("sortBy"), author.Do(t, http.MethodGet, schedulePath+"?sortBy=name", nil))
	requireFailure(t, invalid("options.limit"), author.Do(t, http.MethodGet, schedulePath+"?options[limit]=101", nil))
	requireFailure(t, invalid("options.token"), author.Do(t, http.MethodGet, schedulePath+"?options[token]=x", nil))
	requireFailure(t, unauthorized, apptest.Shared(t).Anonymous(region.US).Do(t, http.MethodGet, schedulePath, nil))
}
