package conformance

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/url"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/reflect/protoregistry"

	"github.com/plaza-social/plaza/platform/apptest"
	"github.com/plaza-social/plaza/platform/region"
)

// This file checks that a page token is valid only for the list that returned it.

// pagedList is a list operation with a request that a caller may send.
type pagedList struct {
	row
	by      *apptest.Client
	request object
	nested  bool // the token and the limit are in options
}

// paged returns a request for a page.
func (l pagedList) paged(fields object) object {
	if !l.nested {
		return with(l.request, fields)
	}
	options, _ := l.request["options"].(object)
	return with(l.request, object{"options": with(options, fields)})
}

func (l pagedList) call(t *testing.T, fields object) *apptest.Response {
	t.Helper()
	return l.by.Do(t, http.MethodPost, "/plaza.v1."+l.procedure, l.paged(fields))
}

// pagedLists returns the authorization rows whose operations return page tokens.
func pagedLists(t *testing.T, g *fixture) []pagedList {
	t.Helper()
	var lists []pagedList
	for _, r := range authorizationRows() {
		nested, paged := takesToken(t, r.procedure)
		if !paged || r.header != nil {
			continue
		}
		for _, w := range []principal{moderator, adminToken, member, stranger} {
			if r.want[w] != 0 {
				continue
			}
			l := pagedList{row: r, by: g.principals[w], nested: nested, request: object{}}
			if r.request != nil {
				l.request = r.request(t, g)
			}
			lists = append(lists, l)
			break
		}
	}
	return lists
}

// takesToken reports whether an operation takes page tokens, and whether requests have them in options.
func takesToken(t *testing.T, procedure string) (nested, paged bool) {
	t.Helper()
	found, err := protoregistry.GlobalFiles.FindDescriptorByName(protoreflect.FullName("plaza.v1." + strings.ReplaceAll(procedure, "/", ".")))
	require.NoError(t, err)
	method, ok := found.(protoreflect.MethodDescriptor)
	require.True(t, ok)
	answers := false
	for i := range method.Output().Fields().Len() {
		field := method.Output().Fields().Get(i)
		inner := field.Message()
		answers = answers || strings.HasSuffix(string(field.Name()), "paging") || inner != nil && !field.IsList() &&
			inner.Fields().ByName("paging") != nil
	}
	fields := method.Input().Fields()
	if options := fields.ByName("options"); options != nil && options.Message() != nil && options.Message().Fields().ByName("token") != nil {
		return true, answers
	}
	return false, answers && fields.ByName("token") != nil
}

// nextOf returns the token of the next page; empty if there is none.
func nextOf(t *testing.T, r *apptest.Response) string {
	t.Helper()
	for _, at := range []string{"paging", "data.paging", "results.paging"} {
		if r.Has(t, at+".next") && r.String(t, at+".next") != "" {
			return r.String(t, at+".next")
		}
	}
	return ""
}

// TestPageTokenBelongsToList sends the tokens of every list to every other list.
func TestPageTokenBelongsToList(t *testing.T) {
	t.Parallel()
	g := newFixture(t)
	fillLists(t, g)
	lists := pagedLists(t, g)
	require.Greater(t, len(lists), 30)
	tokens := map[int]string{}
	for i, l := range lists {
		if token := nextOf(t, l.call(t, object{"limit": 1}).OK(t)); token != "" {
			require.LessOrEqual(t, len(token), 1000)
			l.call(t, object{"token": token}).OK(t)
			requireClientTokens(t, l, token)
			tokens[i] = token
		}
	}
	require.Greater(t, len(tokens), 15, "lists with more than one page")
	for i, l := range lists {
		t.Run(strings.TrimSuffix(l.procedure+" "+l.name, " "), func(t *testing.T) {
			for from, token := range tokens {
				if from == i || sameList(lists[from], l) {
					continue
				}
				r := l.call(t, object{"token": token})
				require.Equal(t, http.StatusBadRequest, r.Status, "a token of %s %s: %s", lists[from].procedure, lists[from].name, r.Short())
				require.Contains(t, string(r.Body), "Parameters validation error!", "%s", r.Short())
			}
		})
	}
}

// requireClientTokens decodes a token, and sends it as clients encode it again, as well as the token that they make for the
// first page.
func requireClientTokens(t *testing.T, l pagedList, token string) {
	t.Helper()
	if l.procedure == "FeedService/ListFollowingFeed" {
		return // its tokens have at most 100 characters, and the ranking needs them
	}
	raw, err := base64.StdEncoding.DecodeString(token)
	require.NoError(t, err, l.procedure)
	var decoded struct {
		Skip  string
		Limit int
	}
	require.NoError(t, json.Unmarshal(raw, &decoded), l.procedure)
	require.Equal(t, 1, decoded.Limit, l.procedure)
	for _, made := range []object{
		{"skip": decoded.Skip, "limit": 1}, {"after": decoded.Skip, "limit": 1}, {"limit": 1, "skip": decoded.Skip, "more": "fields"},
	} {
		l.call(t, object{"token": base64Of(t, made)}).OK(t)
	}
	for _, made := range []object{{"skip": 0, "limit": 1}, {"limit": 1}} {
		require.NotEmpty(t, nextOf(t, l.call(t, object{"token": base64Of(t, made)}).OK(t)), "%s %v", l.procedure, made)
	}
	require.Equal(t, http.StatusBadRequest, l.call(t, object{"token": base64Of(t, object{"skip": 0, "limit": 101})}).Status, l.procedure)
	require.Equal(t, http.StatusBadRequest, l.call(t, object{"token": base64Of(t, object{"skip": 1, "limit": 1})}).Status, l.procedure)
}

// base64Of returns the object as clients encode page tokens.
func base64Of(t *testing.T, o object) string {
	t.Helper()
	raw, err := json.Marshal(o)
	require.NoError(t, err)
	return base64.StdEncoding.EncodeToString(raw)
}

// sameList reports whether two rows send the same request to the same operation and thus share its tokens.
func sameList(a, b pagedList) bool {
	return a.procedure == b.procedure && a.by == b.by && reflect.DeepEqual(a.request, b.request)
}

// fillLists creates two of everything that the lists show.
func fillLists(t *testing.T, g *fixture) {
	t.Helper()
	for range 2 {
		post := g.post(t, g.open)
		newComment(t, g.author, post)
		newWallPost(t, g.principals[moderator])
		newStory(t, g.principals[moderator], g.open)
		newCategory(t, g.n.Admin(region.EU), apptest.UserID("category"))
	}
}

// TestPageTokenBelongsToQuery sends tokens with another parent, order, filter and caller, and in another region.
func TestPageTokenBelongsToQuery(t *testing.T) {
	t.Parallel()
	boss, other := newUser(t, region.EU, "boss"), newUser(t, region.US, "other")
	id, elsewhere := newCommunity(t, boss), newCommunity(t, boss)
	for range 3 {
		newPost(t, boss, id)
		newPost(t, boss, elsewhere)
	}
	lists := map[string]listing{
		"posts": {by: boss, path: "/api/v5/posts", list: "posts", id: "postId", query: url.Values{"targetId": {id}, "targetType": {"community"}}},
		"feed":  {by: boss, path: "/api/v3/community-feeds/" + id, list: "data.posts", id: "postId", paging: "data.paging"},
	}
	for name, l := range lists {
		t.Run(name, func(t *testing.T) {
			first := l.page(t, url.Values{"options[limit]": {"1"}})
			token := nextOf(t, first)
			require.NotEmpty(t, token)
			next := url.Values{"options[token]": {token}}
			for _, code := range region.All() {
				at := l
				at.by = boss.At(code)
				require.Len(t, at.ids(t, at.page(t, next)), 1, "at every region")
			}
			refuses := func(l listing) {
				t.Helper()
				query := l.with("options[token]", token).query
				requireFailure(t, invalid("options.token"), l.by.Do(t, http.MethodGet, l.path+"?"+query.Encode(), nil))
			}
			parent := l
			parent.path = strings.ReplaceAll(l.path, id, elsewhere)
			if l.query.Get("targetId") != "" {
				parent = l.with("targetId", elsewhere)
			}
			refuses(parent)
			refuses(l.with("sortBy", "firstCreated"))
			refuses(l.with("sortBy", "lastUpdated"))
			refuses(l.with("isDeleted", "true"))
			stranger := l
			stranger.by = other
			refuses(stranger)
		})
	}
}
