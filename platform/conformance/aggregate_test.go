package conformance

import (
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/plaza-social/plaza/platform/apptest"
)

// collection is one list of an aggregate: the fields of its objects and their key.
type collection struct {
	fields resource
	key    []string
}

// collections are the related collections of the contract by name. Those without fields hold resources that no
// operation of this program returns yet.
var collections = map[string]collection{
	"posts":                  {postFields, []string{"postId"}},
	"postChildren":           {postFields, []string{"postId"}},
	"stories":                {storyFields, []string{"storyId"}},
	"comments":               {commentFields, []string{"commentId"}},
	"commentChildren":        {commentFields, []string{"commentId"}},
	"users":                  {userFields, []string{"userId"}},
	"files":                  {fileFields, []string{"fileId"}},
	"communities":            {communityFields, []string{"communityId"}},
	"communityUsers":         {communityUserFields, []string{"communityId", "userId"}},
	"categories":             {categoryFields, []string{"categoryId"}},
	"feeds":                  {feedFields, []string{"feedId"}},
	"roles":                  {roleFields, []string{"roleId"}},
	"joinRequests":           {joinRequestFields, []string{"joinRequestId"}},
	"invitations":            {invitationFields, []string{"invitationId"}},
	"videoStreamings":        {streamFields, []string{"streamId"}},
	"videoStreamingChildren": {streamFields, []string{"streamId"}},
	"rooms":                  {roomFields, []string{"roomId"}},
	"roomChildrens":          {roomFields, []string{"roomId"}},
	"videoStreamModerations": {nil, []string{"moderationId"}},
	"polls":                  {pollFields, []string{"pollId"}},
	"messages":               {messageFields, []string{"messageId"}},
	"messageFeeds":           {messageFeedFields, []string{"messageFeedId"}},
	"channels":               {channelFields, []string{"channelId"}},
	"channelUsers":           {channelUserFields, []string{"channelId", "userId"}},
	"messagePreviews":        {messagePreviewFields, []string{"messageId"}},
	"messageFeedsInfo":       {messageFeedInfoFields, []string{"messageFeedId"}},
}

// The aggregates of the contract, by the names of their collections.
var (
	userAggregate      = []string{"users", "files"}
	categoryAggregate  = []string{"categories", "files"}
	communityAggregate = []string{"communities", "communityUsers", "files", "users", "categories", "feeds"}
	commentAggregate   = []string{"comments", "commentChildren", "communityUsers", "users", "roles", "files"}
	joinAggregate      = []string{"joinRequests", "users", "files"}
	inviteAggregate    = []string{"invitations", "users", "files"}
	postAggregate      = []string{
		"posts", "postChildren", "comments", "users", "files", "communities", "communityUsers", "categories", "feeds",
		"videoStreamings", "videoStreamingChildren", "rooms", "roomChildrens", "polls",
	}
	userFeedAggregate      = []string{"posts", "postChildren", "comments", "users", "files"}
	communityFeedAggregate = []string{
		"posts", "postChildren", "comments", "users", "files", "communities", "communityUsers", "categories",
	}
)

// aggregate is an answer whose objects were checked one by one.
type aggregate struct {
	t     *testing.T
	names []string
	lists map[string][]object
	keys  map[string]map[string]bool
}

// requireAggregate checks that an answer has every collection, that every object has all its fields and occurs once,
// and that everything an object refers to is included. at is the path of the collections: "" or "data.".
func requireAggregate(t *testing.T, r *apptest.Response, at string, names []string) *aggregate {
	t.Helper()
	r.OK(t)
	a := &aggregate{t: t, names: names, lists: map[string][]object{}, keys: map[string]map[string]bool{}}
	for _, name := range names {
		a.read(name, r.List(t, at+name))
	}
	for _, name := range names {
		for i, o := range a.lists[name] {
			a.requireReferences(name+"."+strconv.Itoa(i), name, o)
		}
	}
	return a
}

func (a *aggregate) read(name string, list []any) {
	a.t.Helper()
	c := collections[name]
	a.keys[name] = map[string]bool{}
	for i, item := range list {
		o, ok := item.(map[string]any)
		require.True(a.t, ok, "%s.%d is not an object", name, i)
		requireResource(a.t, name+"."+strconv.Itoa(i), fieldsOf(name, o), item)
		key := ""
		for _, field := range c.key {
			key += text(o, field) + "/"
		}
		require.False(a.t, a.keys[name][key], "%s holds %s twice", name, key)
		a.keys[name][key] = true
		a.lists[name] = append(a.lists[name], o)
	}
}

func fieldsOf(name string, o object) resource {
	if name == "communityUsers" && o["notMemberReason"] == "neverJoined" {
		return neverMemberFields
	}
	return collections[name].fields
}

func text(o object, field string) string {
	s, _ := o[field].(string)
	return s
}

// requireReferences checks that what an object refers to is included in the answer, if the answer has a collection
// for it.
func (a *aggregate) requireReferences(where, name string, o object) {
	a.t.Helper()
	a.requireFiles(where, o)
	switch name {
	case "posts", "postChildren":
		a.requireHas(where, "users", text(o, "postedUserId"))
		a.requireTarget(where, o)
		a.requireHas(where, "feeds", text(o, "feedId"))
		a.requireMentioned(where, o)
		if name == "posts" {
			a.requireAll(where, o, "children", "postChildren", "posts")
			a.requireAll(where, o, "comments", "comments")
		}
	case "comments", "commentChildren":
		a.requireHas(where, "users", text(o, "userId"))
		a.requireMentioned(where, o)
		if name == "comments" && a.keys["commentChildren"] != nil {
			a.requireAll(where, o, "children", "commentChildren", "comments")
		}
	case "stories":
		a.requireHas(where, "users", text(o, "creatorPublicId"))
		a.requireTarget(where, with(o, object{"targetId": o["targetPublicId"]}))
		a.requireAll(where, o, "comments", "comments")
	case "communities":
		a.requireHas(where, "users", text(o, "userId"))
		a.requireAll(where, o, "categoryIds", "categories")
	case "communityUsers":
		a.requireAll(where, o, "roles", "roles")
	case "joinRequests":
		a.requireHas(where, "users", text(o, "requestorId"))
	}
}

// requireFiles checks that every file that an object names in any field is included.
func (a *aggregate) requireFiles(where string, value any) {
	a.t.Helper()
	switch value := value.(type) {
	case []any:
		for _, item := range value {
			a.requireFiles(where, item)
		}
	case map[string]any:
		for field, inner := range value {
			id, isText := inner.(string)
			switch {
			case field == "metadata" || field == "videoUrl": // the latter is an address
			case isText && id != "" && (strings.HasSuffix(field, "ileId") || field == "original"):
				a.requireHas(where+"."+field, "files", id)
			default:
				a.requireFiles(where, inner)
			}
		}
	}
}

func (a *aggregate) requireTarget(where string, o object) {
	a.t.Helper()
	if o["targetType"] == "community" {
		a.requireHas(where, "communities", text(o, "targetId"))
		return
	}
	a.requireHas(where, "users", text(o, "targetId"))
}

// requireMentioned checks that the mentioned users that exist are included: those have an internal id.
func (a *aggregate) requireMentioned(where string, o object) {
	a.t.Helper()
	mentionees, _ := o["mentionees"].([]any)
	for _, m := range mentionees {
		mentionee, _ := m.(map[string]any)
		ids, _ := mentionee["userInternalIds"].([]any)
		for _, id := range ids {
			require.Contains(a.t, a.values("users", "userInternalId"), id, "%s mentions", where)
		}
	}
}

// requireAll checks that each id of a list is in one of the collections.
func (a *aggregate) requireAll(where string, o object, field string, names ...string) {
	a.t.Helper()
	ids, _ := o[field].([]any)
	for _, id := range ids {
		key, _ := id.(string)
		a.requireHas(where+"."+field, names[0], key, names[1:]...)
	}
}

// requireHas checks that the object with the id is in the collection or in one of the others, if the answer has it.
func (a *aggregate) requireHas(where, name, id string, others ...string) {
	a.t.Helper()
	if a.keys[name] == nil {
		return
	}
	found := a.keys[name][id+"/"]
	for _, other := range others {
		found = found || a.keys[other][id+"/"]
	}
	require.True(a.t, found, "%s refers to %s, which is not in %s", where, id, name)
}

// one returns the only object of a collection.
func (a *aggregate) one(name string) object {
	a.t.Helper()
	require.Len(a.t, a.lists[name], 1, name)
	return a.lists[name][0]
}

// find returns the object whose field has the value.
func (a *aggregate) find(name, field, value string) object {
	a.t.Helper()
	for _, o := range a.lists[name] {
		if text(o, field) == value {
			return o
		}
	}
	require.Fail(a.t, "not found", "%s has nothing with %s %s", name, field, value)
	return nil
}

// values returns one field of each object of a collection, in its order.
func (a *aggregate) values(name, field string) []string {
	values := []string{}
	for _, o := range a.lists[name] {
		values = append(values, text(o, field))
	}
	return values
}
