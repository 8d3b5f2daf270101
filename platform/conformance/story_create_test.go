package conformance

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

const storiesPath = "/api/v4/stories"

var (
	storyFields = resource{
		"storyId": "id", "data": "o", "path": "s", "creatorId": "id", "creatorPublicId": "s", "targetId": "id", "targetPublicId": "s",
		"items": "[]", "metadata": "o", "flagCount": "i", "hashFlag": "hashFlag?", "createdAt": "ts", "updatedAt": "ts", "expiresAt": "ts",
		"reactions": "counts", "reactionsCount": "i", "myReactions": "s[]", "commentsCount": "i", "isDeleted": "b", "hasFlaggedComment": "b",
		"mentionedUsers": "[]", "impression": "i", "reach": "i",
		"targetType": "s", "dataType": "s", "referenceId": "s", "comments": "s[]", // read by public clients
	}
	storyTargetFields = resource{
		"targetId": "id", "targetType": "s", "targetPublicId": "s", "targetUpdatedAt": "ts?", "lastStoryExpiresAt": "ts?",
		"lastStorySeenExpiresAt": "ts?",
	}
	storyAggregate = []string{"stories", "comments", "files", "users", "communities", "communityUsers", "categories"}
)

// textStory returns the body of a request for a story in a community.
func textStory(communityID string, more ...object) object {
	reference := object{"referenceId": "0b5f8f6e-0000-4000-8000-000000000001"}
	return with(apptest.TextStory(communityID), append([]object{reference}, more...)...)
}

// newStory creates a story in a community and returns its id.
func newStory(t *testing.T, c *apptest.Client, communityID string, more ...object) string {
	t.Helper()
	nextMillisecond()
	return c.Do(t, http.MethodPost, storiesPath, textStory(communityID, more...)).OK(t).String(t, "stories.0.storyId")
}

// newWallStory creates a story on the client's own wall.
func newWallStory(t *testing.T, c *apptest.Client, more ...object) string {
	t.Helper()
	return newStory(t, c, c.UserID, append([]object{{"targetType": "user"}}, more...)...)
}

// getStory reads a story.
func getStory(t *testing.T, c *apptest.Client, id string) object {
	t.Helper()
	return requireAggregate(t, c.Do(t, http.MethodGet, storiesPath+"/"+id, nil), "", storyAggregate).one("stories")
}

func TestStoryInCommunity(t *testing.T) {
	t.Parallel()
	club := newClub(t, object{"categoryIds": []string{newCategory(t, admin(t), "stories")}})
	item := object{
		"type": "hyperlink", "data": object{"url": "https://example.com/a?b=c", "customText": "here"},
		"placement": object{"width": 0.5, "height": 0.1, "transform": object{"translate_x": 1.0, "rotate": 0.25}},
	}
	body := textStory(club.id, object{
		"items": []object{item}, "metadata": object{"colour": "red"}, "syncState": "syncing",
		"mentionees": []object{{"type": "user", "userIds": []string{club.member.UserID, "unknown-user"}}},
	})
	r := club.boss.At(region.SG).Do(t, http.MethodPost, storiesPath, body)
	a := requireAggregate(t, r, "", storyAggregate)
	s := a.one("stories")
	id := text(s, "storyId")
	home, err := region.HomeOf(id)
	require.NoError(t, err)
	require.Equal(t, region.EU, home, "a story lives with its community")
	require.Subset(t, s, object{
		"data": map[string]any{"text": "a story"}, "creatorId": club.boss.InternalID, "creatorPublicId": club.boss.UserID, "targetId": club.id,
		"targetPublicId": club.id, "targetType": "community", "dataType": "text", "metadata": map[string]any{"colour": "red"}, "flagCount": 0.0,
		"hashFlag": nil, "isDeleted": false, "hasFlaggedComment": false, "commentsCount": 0.0, "reactionsCount": 0.0, "impression": 0.0,
		"reach":       0.0,
		"referenceId": body["referenceId"],
	})
	require.Equal(t, []any{item}, s["items"])
	require.True(t, strings.HasSuffix(text(s, "path"), "/social/community/"+club.id+"/story/"+id))
	require.Equal(t, []any{map[string]any{
		"type": "user", "userIds": []any{club.member.InternalID}, "userPublicIds": []any{club.member.UserID},
	}}, s["mentionedUsers"])
	a.requireHas("mentioned", "users", club.member.UserID)
	created, err := time.Parse(time.RFC3339, text(s, "createdAt"))
	require.NoError(t, err)
	require.Equal(t, created.Add(24*time.Hour).Format("2006-01-02T15:04:05.000Z"), text(s, "expiresAt"),
		"a day, unless the network says otherwise")
	for _, c := range []*apptest.Client{club.boss, club.member.At(region.US), club.stranger, club.banned, admin(t)} {
		require.Equal(t, s, getStory(t, c, id))
	}
}

func TestStoryOnWall(t *testing.T) {
	t.Parallel()
	anna, ben := newUser(t, region.SG, "anna"), newUser(t, region.US, "ben")
	id := newWallStory(t, anna.At(region.EU))
	a := requireAggregate(t, ben.Do(t, http.MethodGet, storiesPath+"/"+id, nil), "", storyAggregate)
	s := a.one("stories")
	require.Subset(t, s, object{"targetId": anna.InternalID, "targetPublicId": anna.UserID, "targetType": "user"})
	require.Empty(t, a.lists["communities"])
	a.requireHas("owner", "users", anna.UserID)
	requireFailure(t, notAllowed, ben.Do(t, http.MethodPost, storiesPath, textStory(anna.UserID, object{"targetType": "user"})))
	ben.At(region.US).Do(t, http.MethodPost, "/api/v4/me/user-blocks/"+anna.UserID, nil).OK(t)
	anna.Do(t, http.MethodPost, "/api/v4/me/user-blocks/"+ben.UserID, nil).OK(t)
	requireFailure(t, notFound, ben.Do(t, http.MethodGet, storiesPath+"/"+id, nil))
	require.Equal(t, s, getStory(t, anna, id))
}

// TestWhoMakesStories checks that managers of a community's stories may create them, and members if the network
// allows it.
func TestWhoMakesStories(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	boss, member, stranger, bannedMember := n.NewUser(t, region.EU, "boss"), n.NewUser(t, region.US, "member"),
		n.NewUser(t, region.SG, "stranger"), n.NewUser(t, region.EU, "outcast")
	id := newCommunity(t, boss, object{"userIds": []string{member.UserID, bannedMember.UserID}})
	banMember(t, boss, id, bannedMember)
	try := func(name string, c *apptest.Client, want failure) attempt {
		return attempt{name, c, http.MethodPost, storiesPath, textStory(id), want}
	}
	requireAttempts(t, []attempt{
		try("moderator", boss, failure{}), try("member", member, notAllowed), try("stranger", stranger, notMember),
		try("banned", bannedMember, banned), try("administrator", n.Admin(region.EU), forbidden),
		try("anonymous", n.Anonymous(region.EU), unauthorized),
	})
	r := n.Admin(region.US).Do(t, http.MethodPut, "/api/v3/network-settings/social", object{"allowAllUserToCreateStory": true}).OK(t)
	require.True(t, r.Bool(t, "story.allowAllUserToCreateStory"))
	require.True(t, r.Bool(t, "socialNetworkSetting.story.allowAllUserToCreateStory"))
	require.Eventually(t, func() bool {
		return member.Do(t, http.MethodPost, storiesPath, textStory(id)).Status == http.StatusOK
	}, apptest.Patience, 20*time.Millisecond)
	requireAttempts(t, []attempt{try("stranger still", stranger, notMember), try("banned still", bannedMember, banned)})
}

// TestStoryLife checks that the network's setting determines how long new stories last.
func TestStoryLife(t *testing.T) {
	t.Parallel()
	n := apptest.Start(t)
	boss := n.NewUser(t, region.EU, "boss")
	id := newCommunity(t, boss)
	before := getStory(t, boss, newStory(t, boss, id))
	path := "/api/v3/network-settings/social"
	set := func(minutes int) object { return object{"storyExpiryTimeMinutes": minutes} }
	requireAttempts(t, []attempt{
		{"as a user", boss, http.MethodPut, path, set(60), notAllowed},
		{"59 minutes", n.Admin(region.EU), http.MethodPut, path, set(59), invalid("storyExpiryTimeMinutes")},
		{"1441 minutes", n.Admin(region.EU), http.MethodPut, path, set(1441), invalid("storyExpiryTimeMinutes")},
		{"1440 minutes", n.Admin(region.EU), http.MethodPut, path, set(1440), failure{}},
		{"60 minutes", n.Admin(region.EU), http.MethodPut, path, set(60), failure{}},
	})
	require.Equal(t, 60, boss.Do(t, http.MethodGet, path, nil).OK(t).Int(t, "story.expiryTimeMinutes"))
	after := getStory(t, boss, newStory(t, boss, id))
	life := func(s object) time.Duration {
		created, err := time.Parse(time.RFC3339, text(s, "createdAt"))
		require.NoError(t, err)
		expires, err := time.Parse(time.RFC3339, text(s, "expiresAt"))
		require.NoError(t, err)
		return expires.Sub(created)
	}
	require.Equal(t, 24*time.Hour, life(before))
	require.Equal(t, time.Hour, life(after))
	require.Equal(t, before, getStory(t, boss, text(before, "storyId")))
}

func TestStoryLimits(t *testing.T) {
	t.Parallel()
	club := newClub(t)
	link := func(url string) object { return object{"type": "hyperlink", "data": object{"url": url}} }
	long := func(n int) string { return "https://example.com/" + strings.Repeat("a", n-len("https://example.com/")) }
	items := func(n int, item object) object {
		var all []object
		for range n {
			all = append(all, item)
		}
		return object{"items": all}
	}
	data := func(fields object) object { return object{"data": fields} }
	var attempts []attempt
	for name, c := range map[string]struct {
		more object
		want failure
	}{
		"no text":                     {data(object{}), invalid("data.text")},
		"empty text":                  {data(object{"text": ""}), invalid("data.text")},
		"text of another type":        {data(object{"text": 1}), invalid("data.text")},
		"no data":                     {data(nil), invalid("data")},
		"10 KB of data":               {data(object{"text": strings.Repeat("a", 10*1024-len(`{"text":""}`))}), failure{}},
		"more than 10 KB of data":     {data(object{"text": strings.Repeat("a", 10*1024-len(`{"text":""}`)+1)}), invalid("data")},
		"5 KB of metadata":            {object{"metadata": object{"a": strings.Repeat("a", 5*1024-len(`{"a":""}`))}}, failure{}},
		"more than 5 KB of metadata":  {object{"metadata": object{"a": strings.Repeat("a", 5*1024-len(`{"a":""}`)+1)}}, invalid("metadata")},
		"an image without file":       {object{"dataType": "image"}, invalid("data.fileId")},
		"a video without file":        {object{"dataType": "video"}, invalid("data.videoFileId.original")},
		"a file id of 100 characters": {object{"dataType": "image", "data": object{"fileId": strings.Repeat("é", 100)}}, notFound},
		"a file id of 101 characters": {
			object{"dataType": "image", "data": object{"fileId": strings.Repeat("é", 101)}},
			invalid("data.fileId"),
		},
		"a video's id of 100": {object{
			"dataType": "video",
			"data":     object{"videoFileId": object{"original": strings.Repeat("é", 100)}},
		}, notFound},
		"a video's id of 101": {object{
			"dataType": "video",
			"data":     object{"videoFileId": object{"original": strings.Repeat("é", 101)}},
		}, invalid("data.videoFileId.original")},
		"another type":                {object{"dataType": "poll"}, invalid("dataType")},
		"no type":                     {object{"dataType": ""}, invalid("dataType")},
		"another target type":         {object{"targetType": "content"}, invalid("targetType")},
		"no target":                   {object{"targetId": ""}, invalid("targetId")},
		"an unknown target":           {object{"targetId": unknownID}, notFound},
		"a target with an invalid id": {object{"targetId": "x"}, notFound},
		"fill":                        {data(object{"text": "x", "imageDisplayMode": "fill"}), failure{}},
		"another display mode":        {data(object{"text": "x", "imageDisplayMode": "stretch"}), invalid("data.imageDisplayMode")},
		"one hyperlink":               {items(1, link("http://example.com")), failure{}},
		"two hyperlinks":              {items(2, link("http://example.com")), invalid("items")},
		"eleven items":                {items(11, link("http://example.com")), invalid("items")},
		"an item of another type":     {items(1, object{"type": "sticker", "data": object{"url": "http://example.com"}}), invalid("items")},
		"an item without data":        {items(1, object{"type": "hyperlink"}), invalid("items")},
		"an item without type":        {items(1, object{"data": object{"url": "http://example.com"}}), failure{}},
		"url of 1000 characters":      {items(1, link(long(1000))), failure{}},
		"url of 1001 characters":      {items(1, link(long(1001))), invalid("items")},
		"url without scheme":          {items(1, link("example.com")), invalid("items[0].data.url")},
		"url of a script":             {items(1, link("javascript:alert(1)")), invalid("items[0].data.url")},
		"empty url":                   {items(1, link("")), invalid("items")},
		"custom text of 30 characters": {
			items(1, object{"data": object{"url": "http://a.b", "customText": strings.Repeat("é", 30)}}),
			failure{},
		},
		"custom text of 31 characters": {
			items(1, object{"data": object{"url": "http://a.b", "customText": strings.Repeat("é", 31)}}),
			invalid("items"),
		},
		"reference of 100 characters":   {object{"referenceId": strings.Repeat("r", 100)}, failure{}},
		"reference of 101 characters":   {object{"referenceId": strings.Repeat("r", 101)}, invalid("referenceId")},
		"no reference, as older admins": {object{"referenceId": ""}, failure{}},
	} {
		attempts = append(attempts, attempt{name, club.boss, http.MethodPost, storiesPath, textStory(club.id, c.more), c.want})
	}
	requireAttempts(t, attempts)
}

// TestStoryIDs checks that an id has 24 lowercase hexadecimal characters and anything else is a validation error.
func TestStoryIDs(t *testing.T) {
	t.Parallel()
	anna := newUser(t, region.EU, "anna")
	calls := map[string]string{"": http.MethodGet, "/flags": http.MethodDelete, "/flags/all": http.MethodDelete}
	for suffix, method := range calls {
		for _, id := range []string{"x", strings.ToUpper(unknownID), unknownID[1:], unknownID + "0", "02fffffffffffffffffffffg"} {
			requireFailure(t, invalid("storyId"), anna.Do(t, method, storiesPath+"/"+id+suffix, nil))
		}
		for _, id := range []string{unknownID, "ffffffffffffffffffffffff"} {
			requireFailure(t, notFound, anna.Do(t, method, storiesPath+"/"+id+suffix, nil))
		}
	}
	requireFailure(t, invalid("storyId"), anna.Do(t, http.MethodPost, storiesPath+"/x/flags", object{}))
	requireFailure(t, invalid("storyId"), anna.Do(t, http.MethodDelete, storiesPath+"/x", nil))
}

// TestDeleteStory checks that the author and managers of the community's stories may delete a story, with its
// comments and reactions.
func TestDeleteStory(t *testing.T) {
	t.Parallel()
	club := newClub(t)
	for _, permanent := range []string{"", "?permanent=true", "?permanent=false"} {
		id := newStory(t, club.boss, club.id)
		comment := newStoryComment(t, club.member, id)
		for _, c := range []*apptest.Client{club.member, club.stranger} {
			requireFailure(t, notAllowed, c.Do(t, http.MethodDelete, storiesPath+"/"+id+permanent, nil))
		}
		r := club.boss.At(region.US).Do(t, http.MethodDelete, storiesPath+"/"+id+permanent, nil).OK(t)
		require.True(t, r.Bool(t, "success"))
		if permanent == "?permanent=true" {
			requireFailure(t, notFound, admin(t).Do(t, http.MethodGet, storiesPath+"/"+id, nil)) // for other users see TestDeletedStory
		}
		for _, c := range []*apptest.Client{club.boss, club.member} {
			requireFailure(t, notFound, c.Do(t, http.MethodGet, storiesPath+"/"+id, nil))
			requireFailure(t, notFound, c.Do(t, http.MethodDelete, storiesPath+"/"+id+permanent, nil))
			requireFailure(t, notFound, c.Do(t, http.MethodGet, "/api/v3/comments/"+comment, nil))
		}
		requireFailure(t, notFound, club.member.Do(t, http.MethodGet, "/api/v3/comments?referenceType=story&referenceId="+id, nil))
	}
	require.Empty(t, listStories(t, club.boss, club.id, ""))
	wall := newWallStory(t, club.member)
	requireFailure(t, notAllowed, club.boss.Do(t, http.MethodDelete, storiesPath+"/"+wall, nil))
	club.member.Do(t, http.MethodDelete, storiesPath+"/"+wall, nil).OK(t)
	admin(t).Do(t, http.MethodDelete, storiesPath+"/"+newWallStory(t, club.member)+"?permanent=true", nil).OK(t)
}

// TestDeletedStory checks that users who may view all stories see a deleted one and can delete it permanently.
func TestDeletedStory(t *testing.T) {
	t.Parallel()
	boss := newUser(t, region.EU, "boss")
	id := newStory(t, boss, newCommunity(t, boss))
	path := storiesPath + "/" + id
	require.Equal(t, false, requireAggregate(t, admin(t).Do(t, http.MethodGet, path, nil), "", storyAggregate).one("stories")["isDeleted"])
	boss.Do(t, http.MethodDelete, path, nil).OK(t)
	requireFailure(t, notFound, boss.Do(t, http.MethodGet, path, nil))
	for _, code := range region.All() {
		story := requireAggregate(t, admin(t).At(code).Do(t, http.MethodGet, path, nil), "", storyAggregate).one("stories")
		require.Equal(t, true, story["isDeleted"])
		require.Equal(t, id, story["storyId"])
	}
	requireFailure(t, notFound, admin(t).Do(t, http.MethodDelete, path, nil))
	requireFailure(t, notFound, boss.Do(t, http.MethodDelete, path+"?permanent=true", nil))
	admin(t).Do(t, http.MethodDelete, path+"?permanent=true", nil).OK(t)
	requireFailure(t, notFound, admin(t).Do(t, http.MethodGet, path, nil))
}
